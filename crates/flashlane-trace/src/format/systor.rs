//! Traces of SYSTOR'17: virtual desktops.
//!
//! Source: SNIA IOTTA 4964 (Lee et al., SYSTOR 2017): header
//! `Timestamp,Response,IOType,LUN,Offset,Size`; the timestamp in decimal seconds since 1970, the
//! response time in seconds (measured on the traced system, not read), `R`, `W` or nothing, offset
//! and size in bytes. Lines without a type are other commands: they are skipped and counted. Lines
//! are only nearly in order, so records wait in a buffer of 65,536 and leave it by time.

use super::columns::{self, Columns};
use super::five_columns::range;
use super::order::ByArrival;
use super::{FormatInfo, LineParser};
use crate::cursor::Cursor;
use crate::options::Reading;
use crate::record::{Op, RawRecord};
use crate::reject::Reason;
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "systor",
    description: "Timestamp,Response,IOType,LUN,Offset,Size: decimal s since 1970, R|W, bytes",
    example: "1455591804.310701000,0.006475000,R,0,203468398592,32768",
    time_unit: TimeUnit::Seconds,
    recognises: |line| line == HEADER,
    ..FormatInfo::PLAIN
};

const HEADER: &[u8] = b"Timestamp,Response,IOType,LUN,Offset,Size";
const MAP: &str = "t=1[s],op=3,off=5[B],len=6[B],dev=4;sep=comma;read=R;write=W";

pub(super) struct Systor {
    unit: TimeUnit,
    columns: Columns,
    waiting: ByArrival,
    skipped: u64,
}

pub(super) fn parser(reading: &Reading) -> Systor {
    let columns = columns::fixed(MAP, reading);
    Systor { unit: reading.time_unit, columns, waiting: ByArrival::default(), skipped: 0 }
}

impl LineParser for Systor {
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        if let Some(record) = quick(line, self.unit) {
            self.waiting.push(record);
            return Ok(None);
        }
        match self.columns.parse(line) {
            Ok(Some(record)) => self.waiting.push(record),
            Err(Reason::UnknownOp) if has_no_type(line) => self.skipped += 1,
            Err(_) if line == HEADER => {}
            Err(reason) => return Err(reason),
            Ok(None) => {}
        }
        Ok(None)
    }

    fn held(&mut self) -> Option<&mut ByArrival> {
        Some(&mut self.waiting)
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// Reads a line of the usual shape, without blanks. Invariant: the column map reads every such line
/// as the same record.
#[inline]
fn quick(line: &[u8], unit: TimeUnit) -> Option<RawRecord> {
    let mut cursor = Cursor::new(line);
    let seconds = cursor.number()?;
    cursor.expect(b'.')?;
    let fraction_ps = cursor.fraction(unit.fraction_digits())?;
    cursor.expect(b',')?;
    cursor.skip_past(b',')?;
    let op = if cursor.take_word(b"R,") {
        Op::Read
    } else if cursor.take_word(b"W,") {
        Op::Write
    } else {
        return None;
    };
    let device = u32::try_from(cursor.number()?).ok()?;
    cursor.expect(b',')?;
    let offset = cursor.number()?;
    cursor.expect(b',')?;
    let length = cursor.number()?;
    if !matches!(cursor.rest().first(), None | Some(b',')) {
        return None;
    }
    let time_ps = u128::from(seconds) * u128::from(unit.picoseconds()) + u128::from(fraction_ps);
    let (offset_bytes, length_bytes) = range(op, offset, length, 1, 1).ok()?;
    Some(RawRecord::of(time_ps, op, (offset_bytes, length_bytes), device))
}

fn has_no_type(line: &[u8]) -> bool {
    line.split(|byte| *byte == b',').nth(2).is_some_and(<[u8]>::is_empty)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{TempTrace, message, read, reading};
    use crate::{Format, TraceOptions, TraceReader};

    #[test]
    fn the_header_tells_the_format_and_lines_come_in_order() {
        let text = "Timestamp,Response,IOType,LUN,Offset,Size\n\
            5.000002000,0.1,R,0,0,512\n5.000001000,0.1,W,3,8,8\n5.000003000,0.1,,0,0,0\n";
        let file = TempTrace::new(text);
        let mut reader = TraceReader::open(file.path(), &TraceOptions::default()).expect("a trace");
        let found: Vec<_> = reader.by_ref().map(|record| record.expect("a record")).collect();
        assert_eq!((found[0].time_ps, found[0].device, found[1].time_ps), (0, 3, 1_000_000));
        assert_eq!((reader.skipped_count(), reader.rejected().count()), (1, 0));
        let named = TraceOptions::new(Format::Systor);
        assert_eq!(read(INFO.example, &named).expect("no header is needed").len(), 1);
        assert!(message(read("1.0,0.1,X,0,0,512\n", &named)).contains("line 1: unknown operation"));
        assert!(quick(INFO.example.as_bytes(), TimeUnit::Seconds).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn both_ways_agree(
            line in concat!(
                r"[0-9]{1,20}(\.[0-9]{0,13})?,([0-9]\.[0-9]{1,9})?, ?(R|W|X|),([0-9]{1,11}|0x1)",
                r", ?[0-9]{1,20},[0-9]{1,3}[ ,x]?",
            ),
        ) {
            let map = columns::fixed(MAP, &reading(TimeUnit::Seconds)).parse(line.as_bytes());
            if let Some(record) = quick(line.as_bytes(), TimeUnit::Seconds) {
                prop_assert_eq!(map, Ok(Some(record)));
            }
        }
    }
}
