//! fio's iolog, version 3 (fio 3.31 and later).
//!
//! Source: fio's HOWTO ("Trace file format v3"), and fio 3.33 writing and reading such files. The
//! first line is `fio version 3 iolog`; then `timestamp file action [offset length]`: microseconds
//! since the start of the job, bytes.

use super::fio_log::{Files, Line};
use super::five_columns::next_field;
use super::{FormatInfo, LineParser};
use crate::number;
use crate::options::Reading;
use crate::record::RawRecord;
use crate::reject::Reason;
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "fio-v3",
    description: "fio iolog v3: us file action offset length in bytes",
    example: "157 /dev/nvme0n1 read 61440 4096",
    time_unit: TimeUnit::Microseconds,
    recognises: |line| line == HEADER,
    ..FormatInfo::PLAIN
};

/// The first line.
pub(super) const HEADER: &[u8] = b"fio version 3 iolog";

pub(super) struct FioV3 {
    unit: TimeUnit,
    files: Files,
}

pub(super) fn parser(reading: &Reading) -> FioV3 {
    FioV3 { unit: reading.time_unit, files: Files::default() }
}

impl LineParser for FioV3 {
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        if line == HEADER {
            return Ok(None);
        }
        let mut rest = line;
        let time = next_field(&mut rest).ok_or(Reason::FieldCount)?;
        let time_ps = number::integer_time(time, self.unit)?;
        match self.files.parse(rest)? {
            Line::Request(record) => Ok(Some(RawRecord { time_ps, ..record })),
            Line::File => Ok(None),
            // Times say when; waits are of version 2.
            Line::Wait(_) => Err(Reason::UnknownOp),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TraceOptions;
    use crate::record::Op;
    use crate::test_support::read;

    #[test]
    fn a_log_as_fio_writes_it() {
        let log = "fio version 3 iolog\n29 b.0.0 add\n150 b.0.0 open\n157 b.0.0 read 61440 4096\n\
            183 b.0.0 write 491520 4096\n190 b.0.0 sync 0 0\n200 b.0.0 close\n";
        let found = read(log, &TraceOptions::default()).expect("a trace");
        let brief: Vec<_> = found.iter().map(|r| (r.time_ps / 1_000_000, r.op)).collect();
        assert_eq!(brief, [(0, Op::Read), (26, Op::Write), (33, Op::Flush)]);
        assert_eq!((found[1].offset_bytes, found[1].length_bytes), (491_520, 4096));
    }

    #[test]
    fn bad_lines_give_their_reason() {
        let mut parser = parser(&crate::test_support::reading(TimeUnit::Microseconds));
        let cases = [
            ("5", Reason::FieldCount),
            ("/a read 0 8", Reason::BadTime),
            ("5 /a wait 7", Reason::UnknownOp),
            ("5 /a read 0", Reason::FieldCount),
            ("99999999999999999999 /a read 0 8", Reason::TooLarge),
        ];
        for (line, reason) in cases {
            assert_eq!(parser.parse(line.as_bytes()), Err(reason), "{line}");
        }
    }
}
