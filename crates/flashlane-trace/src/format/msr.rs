//! MSR Cambridge traces.
//!
//! Source: SNIA IOTTA trace sets 387 and 388:
//! `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, no header, timestamps as Windows
//! filetime. The response time was measured on the traced system and is not read. Every volume has
//! a file of its own, so the host name is not kept either.

use super::five_columns::range;
use super::{FormatInfo, LineParser};
use crate::cursor::Cursor;
use crate::lines::trim;
use crate::number;
use crate::options::Reading;
use crate::record::{Op, RawRecord};
use crate::reject::Reason;
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "msr",
    description: "filetime,host,disk,Read|Write,offset,size,response: 100 ns since 1601, bytes",
    example: "128166385295514663,hm,0,Write,9056014336,2048,2833",
    time_unit: TimeUnit::Filetime,
    recognises,
    ..FormatInfo::PLAIN
};

pub(super) struct Msr {
    unit: TimeUnit,
}

pub(super) fn parser(reading: &Reading) -> Msr {
    Msr { unit: reading.time_unit }
}

impl LineParser for Msr {
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        match self.quick(line) {
            Some(record) => Ok(Some(record)),
            None => self.careful(line).map(Some),
        }
    }
}

impl Msr {
    /// Reads a line of the usual shape, without blanks.
    /// Invariant: what this reads, [`Msr::careful`] reads as the same record.
    #[inline]
    fn quick(&self, line: &[u8]) -> Option<RawRecord> {
        let mut cursor = Cursor::new(line);
        let time = cursor.number()?;
        cursor.expect(b',')?;
        cursor.skip_past(b',')?;
        let device = u32::try_from(cursor.number()?).ok()?;
        let op = if cursor.take_word(b",Read,") {
            Op::Read
        } else if cursor.take_word(b",Write,") {
            Op::Write
        } else {
            return None;
        };
        let offset = cursor.number()?;
        cursor.expect(b',')?;
        let length = cursor.number()?;
        cursor.expect(b',')?;
        if cursor.rest().contains(&b',') {
            return None;
        }
        let time_ps = u128::from(time) * u128::from(self.unit.picoseconds());
        let (offset_bytes, length_bytes) = range(op, offset, length, 1, 1).ok()?;
        Some(RawRecord::of(time_ps, op, (offset_bytes, length_bytes), device))
    }

    /// Reads any line, or says why it is none.
    #[cold]
    fn careful(&self, line: &[u8]) -> Result<RawRecord, Reason> {
        let [time, _host, disk, op, offset, size, _response] =
            fields(line).ok_or(Reason::FieldCount)?;
        let time_ps = number::integer_time(time, self.unit)?;
        let device = number::device(disk)?;
        let op = operation(op).ok_or(Reason::UnknownOp)?;
        let offset = number::decimal(offset).map_err(|f| f.reason(Reason::BadOffset))?;
        let length = number::decimal(size).map_err(|f| f.reason(Reason::BadLength))?;
        let (offset_bytes, length_bytes) = range(op, offset, length, 1, 1)?;
        Ok(RawRecord::of(time_ps, op, (offset_bytes, length_bytes), device))
    }
}

/// The seven fields, if there are exactly seven.
#[inline]
fn fields(line: &[u8]) -> Option<[&[u8]; 7]> {
    let mut fields = line.split(|byte| *byte == b',').map(trim);
    let mut all = [&b""[..]; 7];
    for field in &mut all {
        *field = fields.next()?;
    }
    fields.next().is_none().then_some(all)
}

fn operation(field: &[u8]) -> Option<Op> {
    match field {
        b"Read" => Some(Op::Read),
        b"Write" => Some(Op::Write),
        _ => None,
    }
}

/// Seven columns of which the fourth is `Read` or `Write`: no other format looks like this.
fn recognises(line: &[u8]) -> bool {
    fields(line).is_some_and(|fields| operation(fields[3]).is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::reading;

    fn parse(line: &str) -> Result<Option<RawRecord>, Reason> {
        parser(&reading(TimeUnit::Filetime)).parse(line.as_bytes())
    }

    #[test]
    fn a_line_becomes_a_record() {
        let expected = RawRecord {
            time_ps: 128_166_385_295_514_663 * 100_000,
            op: Op::Write,
            offset_bytes: 9_056_014_336,
            length_bytes: 2048,
            device: 0,
            tag: 0,
            placement: None,
        };
        assert_eq!(parse(INFO.example), Ok(Some(expected)));
        assert_eq!(
            parse("128166385295514663, hm, 0, Write, 9056014336, 2048, 2833"),
            Ok(Some(expected))
        );
    }

    #[test]
    fn bad_lines_give_their_reason() {
        let cases = [
            ("1,hm,0,Read,0,512", Reason::FieldCount),
            ("1,hm,0,Read,0,512,9,9", Reason::FieldCount),
            ("x,hm,0,Read,0,512,9", Reason::BadTime),
            ("1,hm,a,Read,0,512,9", Reason::BadDevice),
            ("1,hm,0,read,0,512,9", Reason::UnknownOp),
            ("1,hm,0,Read,,512,9", Reason::BadOffset),
            ("1,hm,0,Read,0,-512,9", Reason::BadLength),
            ("1,hm,0,Read,0,0,9", Reason::ZeroLength),
            ("1,hm,0,Read,18446744073709551615,1,9", Reason::TooLarge),
        ];
        for (line, reason) in cases {
            assert_eq!(parse(line), Err(reason), "{line}");
        }
    }

    #[test]
    fn only_seven_columns_with_a_named_operation_are_recognised() {
        assert!(recognises(INFO.example.as_bytes()));
        assert!(!recognises(b"0.000,134,1,4096,42242048,0.100,4096"));
        assert!(!recognises(b"1,Read"));
        assert!(!recognises(b""));
    }

    #[test]
    fn usual_lines_go_the_quick_way() {
        assert!(parser(&reading(TimeUnit::Filetime)).quick(INFO.example.as_bytes()).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn both_ways_agree(
            line in concat!(
                "[0-9]{1,21},h?,[0-9]{1,11},(Read|Write|Red) ?,",
                "[0-9]{0,21},[0-9]{1,12},?[0-9,]{0,2}",
            ),
        ) {
            let parser = parser(&reading(TimeUnit::Filetime));
            if let Some(record) = parser.quick(line.as_bytes()) {
                prop_assert_eq!(parser.careful(line.as_bytes()), Ok(record));
            }
        }
    }
}
