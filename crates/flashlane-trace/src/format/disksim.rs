//! DiskSim ASCII traces.
//!
//! Source: the default trace format of DiskSim: arrival in decimal milliseconds, flags with bit 0 =
//! read.

use super::FormatInfo;
use super::five_columns::{Clock, FiveColumns};
use crate::options::Reading;
use crate::record::Op;
use crate::units::{SpaceUnit, TimeUnit};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "disksim",
    description: "time device lba size flags: decimal ms, 512-byte sectors, flags bit 0 = read",
    example: "0.221 5 162947904 16 1",
    time_unit: TimeUnit::Milliseconds,
    fixed_clock: false,
    size_unit: Some(SpaceUnit::Sectors),
    ..FormatInfo::PLAIN
};

pub(super) fn parser(reading: &Reading) -> FiveColumns {
    FiveColumns::new(reading, Clock::Decimal, operation)
}

/// Bit 0 is the direction; the other bits (asynchronous, time-critical) do not matter here.
fn operation(flags: u64) -> Option<Op> {
    Some(if flags & 1 == 1 { Op::Read } else { Op::Write })
}

#[cfg(test)]
mod tests {
    use super::super::LineParser;
    use super::*;
    use crate::reject::Reason;
    use crate::test_support::reading;

    #[test]
    fn flags_and_decimal_milliseconds() {
        let mut parser = parser(&reading(TimeUnit::Milliseconds));
        let mut parse = |line: &str| parser.parse(line.as_bytes());
        let record = parse("143068.077 5 175985024 16 1").expect("a good line").expect("a request");
        assert_eq!(record.time_ps, 143_068_077_000_000);
        assert_eq!((record.op, record.device), (Op::Read, 5));
        let op = |line: &str| parser_op(line);
        assert_eq!(op("0 0 0 8 0"), Some(Op::Write));
        assert_eq!(op("0 0 0 8 3"), Some(Op::Read));
        assert_eq!(op("0 0 0 8 0x4"), Some(Op::Write));
        assert_eq!(parse("0 0 0 8 W"), Err(Reason::UnknownOp));
    }

    fn parser_op(line: &str) -> Option<Op> {
        parser(&reading(TimeUnit::Milliseconds)).parse(line.as_bytes()).ok().flatten().map(|r| r.op)
    }
}
