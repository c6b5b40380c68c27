//! SSDSim ASCII traces.
//!
//! Source: the sample trace of SSDSim. Same shape as MQSim's; kept apart because the name is what
//! users know.

use super::FormatInfo;
use super::five_columns::{Clock, FiveColumns, write_0_read_1};
use crate::options::Reading;
use crate::units::{SpaceUnit, TimeUnit};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "ssdsim",
    description: "time device lsn size op: integer ns, 512-byte sectors, op 0 = write, 1 = read",
    example: "26214000 0 303574 7 0",
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
    use crate::record::Op;
    use crate::test_support::reading;

    #[test]
    fn time_is_in_the_unit_that_was_asked_for() {
        let mut parser = parser(&reading(TimeUnit::Microseconds));
        let record =
            parser.parse(b"979 0 287641400 128 1").expect("a good line").expect("a request");
        assert_eq!(record.time_ps, 979_000_000);
        assert_eq!((record.op, record.length_bytes), (Op::Read, 65536));
    }
}
