//! The shape that MQSim, DiskSim and SSDSim share: `time device lba size operation`, separated by blanks.

use super::LineParser;
use crate::number;
use crate::record::{Op, RawRecord};
use crate::reject::Reason;
use crate::units::TimeUnit;

/// Unit of the lba and size columns. Unit: bytes.
const SECTOR_BYTES: u64 = 512;

/// Reads the time column. Returns picoseconds.
pub(super) type ReadTime = fn(&[u8], TimeUnit) -> Result<u128, Reason>;

/// Parser of five columns, with the two things in which the formats differ.
pub(super) struct FiveColumns {
    pub(super) unit: TimeUnit,
    pub(super) read_time: ReadTime,
    /// Meaning of the last column.
    pub(super) read_op: fn(&[u8]) -> Option<Op>,
}

impl LineParser for FiveColumns {
    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        let mut rest = line;
        let mut field = || next_field(&mut rest).ok_or(Reason::FieldCount);
        let [time, device, lba, size, op] = [field()?, field()?, field()?, field()?, field()?];
        if next_field(&mut rest).is_some() {
            return Err(Reason::FieldCount);
        }
        let time_ps = (self.read_time)(time, self.unit)?;
        let device = number::device(device)?;
        let offset = number::decimal_or_hex(lba).map_err(|f| f.reason(Reason::BadOffset))?;
        let length = number::decimal_or_hex(size).map_err(|f| f.reason(Reason::BadLength))?;
        let op = (self.read_op)(op).ok_or(Reason::UnknownOp)?;
        let (offset_bytes, length_bytes) = range(op, offset, length, SECTOR_BYTES, SECTOR_BYTES)?;
        Ok(Some(RawRecord { time_ps, op, offset_bytes, length_bytes, device }))
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
pub(super) fn write_0_read_1(field: &[u8]) -> Option<Op> {
    match field {
        b"0" => Some(Op::Write),
        b"1" => Some(Op::Read),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
