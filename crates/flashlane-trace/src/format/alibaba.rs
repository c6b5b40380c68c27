//! Alibaba block traces of 2020.
//!
//! Source: github.com/alibaba/block-traces: `device_id,opcode,offset,length,timestamp`, no header;
//! offset and length in bytes, the timestamp in microseconds since 1970, `R` or `W`. One file holds
//! many volumes in order of time: [`devices`](crate::TraceOptions::devices) chooses some.

use super::FormatInfo;
use super::columns::{self, Columns};
use crate::lines::trim;
use crate::options::Reading;
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "alibaba",
    description: "device,R|W,offset,length,timestamp: bytes, us since 1970",
    example: "419,W,8792731648,16384,1577808144360767",
    time_unit: TimeUnit::Microseconds,
    recognises,
    ..FormatInfo::PLAIN
};

const MAP: &str = "t=5[us],op=2,off=3[B],len=4[B],dev=1;sep=comma;read=R;write=W";
/// Number of digits of a time in microseconds from 2001 to 2286.
const TIME_DIGITS: usize = 16;

pub(super) fn parser(reading: &Reading) -> Columns {
    columns::fixed(MAP, reading)
}

/// True for five columns of which the second is `R` or `W` and the last is a present-day time in
/// microseconds. No other format has such lines.
fn recognises(line: &[u8]) -> bool {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b',').map(trim).collect();
    let [device, op, offset, length, time] = fields[..] else { return false };
    let is_number = |field: &[u8]| !field.is_empty() && field.iter().all(u8::is_ascii_digit);
    matches!(op, b"R" | b"W")
        && [device, offset, length, time].into_iter().all(is_number)
        && time.len() == TIME_DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Op, Record};
    use crate::test_support::{message, read};
    use crate::{Format, TraceOptions};

    #[test]
    fn a_line_describes_itself() {
        let text = "419,W,8192,16384,1577808144360767\n7,R,0,512,1577808144360769\n";
        let found = read(text, &TraceOptions::default()).expect("a trace");
        let second = Record {
            time_ps: 2_000_000,
            op: Op::Read,
            offset_bytes: 0,
            length_bytes: 512,
            device: 7,
            placement: None,
        };
        assert_eq!((found[0].device, found[0].op, found[1]), (419, Op::Write, second));
    }

    #[test]
    fn other_columns_are_not_taken_for_it() {
        for line in ["419,W,8192,16384,1577808144", "1,R,x,1,1577808144360767", "0.5,R,0,512,0"] {
            assert!(!recognises(line.as_bytes()), "{line}");
        }
        let bad = message(read("419,X,0,512,1\n", &TraceOptions::new(Format::Alibaba)));
        assert!(bad.contains("line 1: unknown operation"), "{bad}");
    }
}
