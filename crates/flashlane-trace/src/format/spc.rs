//! Traces in the format of the Storage Performance Council: UMass Financial and WebSearch.
//!
//! Source: SPC trace file format specification, revision 1.0.1:
//! `ASU,LBA,Size,Opcode,Timestamp[,...]`; the address in 512-byte blocks within its application
//! storage unit (ASU), the size in bytes, opcode `r` or `w` in either case, the time in decimal
//! seconds from the start. Further columns are ignored. An ASU becomes a device, so each has an
//! address space of its own.

use super::FormatInfo;
use super::columns::{self, Columns};
use crate::lines::trim;
use crate::options::Reading;
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "spc",
    description: "asu,lba,size,opcode,timestamp: 512-byte blocks, bytes, r|w, decimal s",
    example: "0,20941264,8192,W,0.551706",
    time_unit: TimeUnit::Seconds,
    recognises,
    ..FormatInfo::PLAIN
};

const MAP: &str = "t=5[s],op=4,off=2[sector],len=3[B],dev=1;sep=comma;read=r|R;write=w|W";

pub(super) fn parser(reading: &Reading) -> Columns {
    columns::fixed(MAP, reading)
}

/// True for five columns or more of which the fourth is a single `r` or `w` and the fifth a decimal
/// fraction. No other format has such lines.
fn recognises(line: &[u8]) -> bool {
    let mut fields = line.split(|byte| *byte == b',').map(trim);
    let mut next = || fields.next().unwrap_or_default();
    let numbers = [next(), next(), next()];
    let (op, time) = (next(), next());
    let digits = |field: &[u8]| !field.is_empty() && field.iter().all(u8::is_ascii_digit);
    let mut halves = time.splitn(2, |byte| *byte == b'.');
    let mut half = || halves.next().is_some_and(digits);
    numbers.into_iter().all(digits) && matches!(op, b"r" | b"R" | b"w" | b"W") && half() && half()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Op, Record};
    use crate::test_support::{message, read};
    use crate::{Format, TraceOptions};

    #[test]
    fn lines_of_either_case_with_blanks_and_more_columns() {
        let text = "0, 303567, 3584, w, 0.026214\n1,8,512,R,0.026216,9,9\n";
        let found = read(text, &TraceOptions::default()).expect("a trace");
        let first = Record {
            time_ps: 0,
            op: Op::Write,
            offset_bytes: 303_567 * 512,
            length_bytes: 3584,
            device: 0,
            placement: None,
        };
        assert_eq!(found[0], first);
        assert_eq!((found[1].time_ps, found[1].op, found[1].device), (2_000_000, Op::Read, 1));
    }

    #[test]
    fn only_a_decimal_time_is_recognised() {
        assert!(recognises(INFO.example.as_bytes()));
        for line in ["0,1,512,W,5", "0,1,512,Write,5.0", "0.5,1,512,W,5.0", "0,1,512", "0,1,2,R,.5"]
        {
            assert!(!recognises(line.as_bytes()), "{line}");
        }
        let bad = message(read("0,1,0,W,1.0\n", &TraceOptions::new(Format::Spc)));
        assert!(bad.contains("line 1: length 0 in"), "{bad}");
    }
}
