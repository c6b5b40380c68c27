//! fio's iolog, version 2.
//!
//! Source: fio's HOWTO ("Trace file format v2"), and what fio 3.33 does with such files. The first
//! line is `fio version 2 iolog`; then `file action offset length` in bytes, and `file wait N`. The
//! HOWTO and fio differ about the waits. fio (3.33, measured) waits until N **milliseconds after
//! the start of the job**, and waits are read in this way here. With `time_unit = "us"` waits are
//! read as in the HOWTO, as microseconds after the request above. A request arrives at the time of
//! the wait above it; without waits all arrive at 0.

use super::fio_log::{Files, Line};
use super::{FormatInfo, LineParser};
use crate::options::Reading;
use crate::record::RawRecord;
use crate::reject::Reason;
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "fio-v2",
    description: "fio iolog v2: file action offset length in bytes; file wait N (ms since the start)",
    example: "/dev/nvme0n1 write 65536 4096",
    time_unit: TimeUnit::Milliseconds,
    fixed_clock: false,
    recognises: |line| line == HEADER,
    ..FormatInfo::PLAIN
};

/// The first line.
pub(super) const HEADER: &[u8] = b"fio version 2 iolog";

pub(super) struct FioV2 {
    unit: TimeUnit,
    files: Files,
    now_ps: u128,
}

pub(super) fn parser(reading: &Reading) -> FioV2 {
    FioV2 { unit: reading.time_unit, files: Files::default(), now_ps: 0 }
}

impl LineParser for FioV2 {
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        if line == HEADER {
            return Ok(None);
        }
        match self.files.parse(line)? {
            Line::Request(record) => Ok(Some(RawRecord { time_ps: self.now_ps, ..record })),
            Line::File => Ok(None),
            Line::Wait(time) => {
                let time_ps = u128::from(time) * u128::from(self.unit.picoseconds());
                let is_relative = self.unit == TimeUnit::Microseconds;
                self.now_ps = if is_relative { self.now_ps + time_ps } else { time_ps };
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Op;
    use crate::test_support::{message, read};
    use crate::{Format, TraceOptions};

    const LOG: &str = "fio version 2 iolog\n/a add\n/a open\n/b open\n/a read 0 4096\n\
        /a wait 200 0\n/b write 4096 512\n/a wait 300\n/a datasync\n/a trim 8 8\n/a close\n";

    #[test]
    fn waits_are_milliseconds_since_the_start() {
        let found = read(LOG, &TraceOptions::default()).expect("a trace");
        let brief: Vec<_> =
            found.iter().map(|r| (r.time_ps / 1_000_000_000, r.op, r.device)).collect();
        assert_eq!(
            brief,
            [(0, Op::Read, 0), (200, Op::Write, 1), (300, Op::Flush, 0), (300, Op::Trim, 0)]
        );
        assert_eq!((found[1].offset_bytes, found[1].length_bytes), (4096, 512));
    }

    #[test]
    fn in_microseconds_they_are_relative() {
        let unit = Some(TimeUnit::Microseconds);
        let options = TraceOptions { time_unit: unit, ..TraceOptions::new(Format::FioV2) };
        let found = read(LOG, &options).expect("a trace");
        assert_eq!((found[1].time_ps, found[2].time_ps), (200_000_000, 500_000_000));
    }

    #[test]
    fn bad_lines_give_their_reason() {
        let mut parser = parser(&crate::test_support::reading(TimeUnit::Milliseconds));
        let cases = [
            ("/a", Reason::FieldCount),
            ("/a read 0", Reason::FieldCount),
            ("/a read 0 8 8", Reason::FieldCount),
            ("/a wait", Reason::FieldCount),
            ("/a wait x", Reason::BadTime),
            ("/a read x 8", Reason::BadOffset),
            ("/a read 0 x", Reason::BadLength),
            ("/a read 0 0", Reason::ZeroLength),
            ("/a verify 0 8", Reason::UnknownOp),
            ("5 /a add", Reason::UnknownOp),
        ];
        for (line, reason) in cases {
            assert_eq!(parser.parse(line.as_bytes()), Err(reason), "{line}");
        }
        let third = format!("{}\n{}", "fio version 3 iolog", "5 /a read 0 512\n");
        let wrong = message(read(third, &TraceOptions::new(Format::FioV2)));
        assert!(wrong.contains("line 1"), "{wrong}");
    }
}
