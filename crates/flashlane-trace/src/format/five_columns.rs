//! The shape that MQSim, DiskSim and SSDSim share: `time device lba size operation`, separated by
//! blanks.

use super::LineParser;
use crate::cursor::Cursor;
use crate::number;
use crate::options::Reading;
use crate::record::{Op, RawRecord};
use crate::reject::Reason;
use crate::units::TimeUnit;

/// Shape of the time column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// Digits only.
    Integer,
    /// Digits, perhaps with a decimal fraction.
    Decimal,
}

/// Parser of five columns, with the things in which the formats differ.
pub(super) struct FiveColumns {
    unit: TimeUnit,
    /// Unit of the lba and size columns. Unit: bytes.
    size_bytes: u64,
    clock: Clock,
    /// Meaning of the last column.
    operation: fn(u64) -> Option<Op>,
}

impl LineParser for FiveColumns {
    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        match self.quick(line) {
            Some(record) => Ok(Some(record)),
            None => self.careful(line).map(Some),
        }
    }
}

impl FiveColumns {
    pub(super) fn new(
        reading: &Reading,
        clock: Clock,
        operation: fn(u64) -> Option<Op>,
    ) -> FiveColumns {
        let size_bytes = reading.size_unit.bytes();
        FiveColumns { unit: reading.time_unit, size_bytes, clock, operation }
    }

    /// Reads a line of the usual shape: plain decimal numbers with one space between them.
    /// Invariant: what this reads, [`FiveColumns::careful`] reads as the same record.
    #[inline]
    fn quick(&self, line: &[u8]) -> Option<RawRecord> {
        let mut cursor = Cursor::new(line);
        let whole = cursor.number()?;
        let fraction_ps = if self.clock == Clock::Decimal && cursor.take(b'.') {
            cursor.fraction(self.unit.fraction_digits())?
        } else {
            0
        };
        let mut next = || {
            cursor.expect(b' ')?;
            cursor.number()
        };
        let [device, lba, size, op] = [next()?, next()?, next()?, next()?];
        if !cursor.rest().is_empty() {
            return None;
        }
        let time_ps =
            u128::from(whole) * u128::from(self.unit.picoseconds()) + u128::from(fraction_ps);
        let device = u32::try_from(device).ok()?;
        let op = (self.operation)(op)?;
        let (offset_bytes, length_bytes) =
            range(op, lba, size, self.size_bytes, self.size_bytes).ok()?;
        Some(RawRecord::of(time_ps, op, (offset_bytes, length_bytes), device))
    }

    /// Reads any line, or says why it is none.
    #[cold]
    fn careful(&self, line: &[u8]) -> Result<RawRecord, Reason> {
        let mut rest = line;
        let mut field = || next_field(&mut rest).ok_or(Reason::FieldCount);
        let [time, device, lba, size, op] = [field()?, field()?, field()?, field()?, field()?];
        if next_field(&mut rest).is_some() {
            return Err(Reason::FieldCount);
        }
        let time_ps = match self.clock {
            Clock::Integer => number::integer_time(time, self.unit)?,
            Clock::Decimal => number::fractional_time(time, self.unit)?,
        };
        let device = number::device(device)?;
        let offset = number::decimal_or_hex(lba).map_err(|f| f.reason(Reason::BadOffset))?;
        let length = number::decimal_or_hex(size).map_err(|f| f.reason(Reason::BadLength))?;
        let code = number::decimal_or_hex(op).map_err(|_| Reason::UnknownOp)?;
        let op = (self.operation)(code).ok_or(Reason::UnknownOp)?;
        let (offset_bytes, length_bytes) =
            range(op, offset, length, self.size_bytes, self.size_bytes)?;
        Ok(RawRecord::of(time_ps, op, (offset_bytes, length_bytes), device))
    }
}

/// Cuts the next field off `rest`, which is separated by any number of spaces and tabs.
#[inline]
pub(super) fn next_field<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let bytes: &'a [u8] = rest;
    let is_blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let start = bytes.iter().position(|byte| !is_blank(byte))?;
    let field = &bytes[start..];
    let length = field.iter().position(is_blank).unwrap_or(field.len());
    let (field, behind) = field.split_at(length);
    *rest = behind;
    Some(field)
}

/// Offset and length in bytes, checked: some length unless it is a flush, and an end within `u64`.
#[inline]
pub(super) fn range(
    op: Op,
    offset: u64,
    length: u64,
    offset_unit_bytes: u64,
    length_unit_bytes: u64,
) -> Result<(u64, u64), Reason> {
    if length == 0 && op != Op::Flush {
        return Err(Reason::ZeroLength);
    }
    let offset = offset.checked_mul(offset_unit_bytes).ok_or(Reason::TooLarge)?;
    let length = length.checked_mul(length_unit_bytes).ok_or(Reason::TooLarge)?;
    offset.checked_add(length).ok_or(Reason::TooLarge)?;
    Ok((offset, length))
}

/// The codes of MQSim and SSDSim: 0 = write, 1 = read.
#[inline]
pub(super) fn write_0_read_1(code: u64) -> Option<Op> {
    match code {
        0 => Some(Op::Write),
        1 => Some(Op::Read),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::reading;

    #[test]
    fn fields_are_separated_by_any_blanks() {
        let mut rest = &b"1  22\t \t333"[..];
        let mut fields = Vec::new();
        while let Some(field) = next_field(&mut rest) {
            fields.push(field);
        }
        assert_eq!(fields, [&b"1"[..], b"22", b"333"]);
        assert_eq!(next_field(&mut &b"  "[..]), None);
    }

    #[test]
    fn ranges_end_within_u64() {
        assert_eq!(range(Op::Read, u64::MAX - 1, 1, 1, 1), Ok((u64::MAX - 1, 1)));
        assert_eq!(range(Op::Read, u64::MAX, 1, 1, 1), Err(Reason::TooLarge));
        assert_eq!(range(Op::Read, u64::MAX / 2, 1, 512, 1), Err(Reason::TooLarge));
        assert_eq!(range(Op::Read, 0, u64::MAX / 2, 1, 512), Err(Reason::TooLarge));
        assert_eq!(range(Op::Trim, 0, 0, 1, 1), Err(Reason::ZeroLength));
        assert_eq!(range(Op::Flush, 0, 0, 1, 1), Ok((0, 0)));
    }

    fn parser(clock: Clock, unit: TimeUnit) -> FiveColumns {
        FiveColumns::new(&reading(unit), clock, write_0_read_1)
    }

    #[test]
    fn usual_lines_go_the_quick_way() {
        let decimal = parser(Clock::Decimal, TimeUnit::Milliseconds);
        let integer = parser(Clock::Integer, TimeUnit::Nanoseconds);
        assert!(decimal.quick(b"143068.077 5 175985024 16 1").is_some());
        assert!(decimal.quick(b"0 5 175985024 16 1").is_some());
        assert!(integer.quick(b"938513000 4 264719034 16 0").is_some());
        assert!(integer.quick(b"938513000.0 4 264719034 16 0").is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn both_ways_agree(
            line in concat!(
                r"([0-9]{1,21}(\.[0-9]{0,14})?|\.5|x)",
                r"( [0-9]{1,11}| {1,2}[0-9]{1,20}| 0x1f){3}",
                r"( {1,2}[0-3]| 00)[ x]?",
            ),
            unit in prop::sample::select(TimeUnit::ALL.to_vec()),
        ) {
            for clock in [Clock::Integer, Clock::Decimal] {
                let parser = parser(clock, unit);
                if let Some(record) = parser.quick(line.as_bytes()) {
                    prop_assert_eq!(parser.careful(line.as_bytes()), Ok(record));
                }
            }
        }
    }
}
