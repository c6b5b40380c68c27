//! MQSim ASCII traces.
//!
//! Source: the layout in MQSim's README and its sample traces. Differs from MQSim: the device
//! column is kept (MQSim ignores it), and a time unit other than ns can be named (MQSim's reader
//! ignores it).

use super::FormatInfo;
use super::five_columns::{Clock, FiveColumns, write_0_read_1};
use crate::options::Reading;
use crate::units::{SpaceUnit, TimeUnit};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "mqsim",
    description: "time device lba size type: integer ns, 512-byte sectors, 0 = write, 1 = read",
    example: "938513000 4 264719034 16 0",
    time_unit: TimeUnit::Nanoseconds,
    fixed_clock: false,
    size_unit: Some(SpaceUnit::Sectors),
    ..FormatInfo::PLAIN
};

pub(super) fn parser(reading: &Reading) -> FiveColumns {
    FiveColumns::new(reading, Clock::Integer, write_0_read_1)
}

#[cfg(test)]
mod tests {
    use super::super::LineParser;
    use super::*;
    use crate::record::{Op, RawRecord};
    use crate::reject::Reason;
    use crate::test_support::reading;

    fn parse(line: &str) -> Result<Option<RawRecord>, Reason> {
        parser(&reading(TimeUnit::Nanoseconds)).parse(line.as_bytes())
    }

    #[test]
    fn a_line_becomes_a_record() {
        let expected = RawRecord {
            time_ps: 938_513_000_000,
            op: Op::Write,
            offset_bytes: 264_719_034 * 512,
            length_bytes: 8192,
            device: 4,
            tag: 0,
            placement: None,
        };
        assert_eq!(parse("938513000 4 264719034 16 0"), Ok(Some(expected)));
        assert_eq!(parse("938513000\t4  0xfc74aba 0x10 0"), Ok(Some(expected)));
        let read = parse("0 0 0 1 1").expect("a good line").expect("a request");
        assert_eq!((read.op, read.length_bytes), (Op::Read, 512));
    }

    #[test]
    fn bad_lines_give_their_reason() {
        let cases = [
            ("1 2 3 4", Reason::FieldCount),
            ("1 2 3 4 1 6", Reason::FieldCount),
            ("1,2,3,4,1", Reason::FieldCount),
            ("1.5 0 0 8 1", Reason::BadTime),
            ("-1 0 0 8 1", Reason::BadTime),
            ("1 x 0 8 1", Reason::BadDevice),
            ("1 0 0y 8 1", Reason::BadOffset),
            ("1 0 0 8k 1", Reason::BadLength),
            ("1 0 0 8 2", Reason::UnknownOp),
            ("1 0 0 8 R", Reason::UnknownOp),
            ("1 0 0 0 1", Reason::ZeroLength),
            ("99999999999999999999 0 0 8 1", Reason::TooLarge),
            ("1 4294967296 0 8 1", Reason::TooLarge),
            ("1 0 36028797018963968 8 1", Reason::TooLarge),
            ("1 0 0 0xffffffffffffffffff 1", Reason::TooLarge),
        ];
        for (line, reason) in cases {
            assert_eq!(parse(line), Err(reason), "{line}");
        }
    }
}
