//! Parses numbers from bytes without allocation, locale or floating point.

use crate::cursor::Cursor;
use crate::record::Record;
use crate::reject::Reason;
use crate::units::TimeUnit;

/// The reason why bytes are not a usable number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberFault {
    /// The bytes are not a number of the expected shape.
    Malformed,
    /// The number is beyond the range of its type.
    TooLarge,
}

impl NumberFault {
    /// The reason to report. `malformed` names the field; a number that is too large has its own
    /// reason.
    pub(crate) fn reason(self, malformed: Reason) -> Reason {
        match self {
            NumberFault::Malformed => malformed,
            NumberFault::TooLarge => Reason::TooLarge,
        }
    }
}

/// Number of digits of a decimal `u64` that cannot overflow.
const SAFE_DIGITS: usize = 19;

/// Reads decimal digits only.
#[inline]
pub(crate) fn decimal(bytes: &[u8]) -> Result<u64, NumberFault> {
    if bytes.len() >= 8 {
        let mut cursor = Cursor::new(bytes);
        if let (Some(value), []) = (cursor.number(), cursor.rest()) {
            return Ok(value);
        }
    }
    decimal_by_digit(bytes)
}

/// Does what [`decimal`] does. Used for short numbers and for bytes that are not digits.
#[inline]
fn decimal_by_digit(bytes: &[u8]) -> Result<u64, NumberFault> {
    if bytes.is_empty() {
        return Err(NumberFault::Malformed);
    }
    let (head, tail) = bytes.split_at(bytes.len().min(SAFE_DIGITS));
    let mut value = 0_u64;
    for byte in head {
        value = value * 10 + digit(*byte)?;
    }
    if tail.is_empty() { Ok(value) } else { decimal_tail(value, tail) }
}

/// Continues with the digits that may overflow.
#[cold]
fn decimal_tail(head: u64, tail: &[u8]) -> Result<u64, NumberFault> {
    let mut value = Some(head);
    for byte in tail {
        let digit = digit(*byte)?;
        value = value.and_then(|value| value.checked_mul(10)?.checked_add(digit));
    }
    value.ok_or(NumberFault::TooLarge)
}

#[inline]
fn digit(byte: u8) -> Result<u64, NumberFault> {
    let digit = byte.wrapping_sub(b'0');
    if digit <= 9 { Ok(u64::from(digit)) } else { Err(NumberFault::Malformed) }
}

/// The placement identifier in a field; an empty field names none.
pub(crate) fn placement(bytes: &[u8]) -> Result<Option<u8>, Reason> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let id = decimal(bytes).ok().and_then(|id| u8::try_from(id).ok());
    let id = id.filter(|id| *id <= Record::PLACEMENT_MAX).ok_or(Reason::BadPlacement)?;
    Ok(Some(id))
}

/// Reads decimal digits, or hexadecimal digits after `0x` or `0X`.
#[inline]
pub(crate) fn decimal_or_hex(bytes: &[u8]) -> Result<u64, NumberFault> {
    match bytes {
        [b'0', b'x' | b'X', digits @ ..] => hex(digits),
        _ => decimal(bytes),
    }
}

fn hex(digits: &[u8]) -> Result<u64, NumberFault> {
    if digits.is_empty() {
        return Err(NumberFault::Malformed);
    }
    let mut value = 0_u64;
    let mut fits = true;
    for byte in digits {
        let digit = char::from(*byte).to_digit(16).ok_or(NumberFault::Malformed)?;
        fits &= value >> 60 == 0;
        value = (value << 4) | u64::from(digit);
    }
    if fits { Ok(value) } else { Err(NumberFault::TooLarge) }
}

/// Reads a device number, decimal or hexadecimal.
#[inline]
pub(crate) fn device(bytes: &[u8]) -> Result<u32, Reason> {
    let number = decimal_or_hex(bytes).map_err(|fault| fault.reason(Reason::BadDevice))?;
    u32::try_from(number).map_err(|_| Reason::TooLarge)
}

/// Bits of the minor number of a Linux device.
const MINOR_BITS: u32 = 20;

/// Joins the major and minor number of a Linux device as blktrace does: the minor number has 20
/// bits.
pub(crate) fn linux_device(major: &[u8], minor: &[u8]) -> Result<u32, Reason> {
    let number = |field| decimal(field).map_err(|fault| fault.reason(Reason::BadDevice));
    joined_device(number(major)?, number(minor)?)
}

/// Does what [`linux_device`] does, for numbers in place of texts.
#[inline]
pub(crate) fn joined_device(major: u64, minor: u64) -> Result<u32, Reason> {
    if major >= 1 << (32 - MINOR_BITS) || minor >= 1 << MINOR_BITS {
        return Err(Reason::TooLarge);
    }
    Ok((major << MINOR_BITS | minor) as u32)
}

/// Reads an integer time. Returns picoseconds.
#[inline]
pub(crate) fn integer_time(bytes: &[u8], unit: TimeUnit) -> Result<u128, Reason> {
    let count = decimal(bytes).map_err(|fault| fault.reason(Reason::BadTime))?;
    Ok(u128::from(count) * u128::from(unit.picoseconds()))
}

/// Reads a time with an optional decimal fraction. Returns picoseconds; digits below 1 ps are
/// dropped.
#[inline]
pub(crate) fn fractional_time(bytes: &[u8], unit: TimeUnit) -> Result<u128, Reason> {
    let mut cursor = Cursor::new(bytes);
    if let Some(whole) = cursor.number() {
        let fraction =
            if cursor.take(b'.') { cursor.fraction(unit.fraction_digits()) } else { Some(0) };
        if let (Some(fraction), []) = (fraction, cursor.rest()) {
            return Ok(u128::from(whole) * u128::from(unit.picoseconds()) + u128::from(fraction));
        }
    }
    fractional_time_by_digit(bytes, unit)
}

/// Does what [`fractional_time`] does, for times of an unusual shape.
#[cold]
fn fractional_time_by_digit(bytes: &[u8], unit: TimeUnit) -> Result<u128, Reason> {
    let bad = |fault: NumberFault| fault.reason(Reason::BadTime);
    let Some(point) = bytes.iter().position(|byte| *byte == b'.') else {
        let whole = decimal_by_digit(bytes).map_err(bad)?;
        return Ok(u128::from(whole) * u128::from(unit.picoseconds()));
    };
    let (whole, fraction) = (&bytes[..point], &bytes[point + 1..]);
    if whole.is_empty() && fraction.is_empty() {
        return Err(Reason::BadTime);
    }
    let whole = if whole.is_empty() { 0 } else { decimal(whole).map_err(bad)? };
    let room = unit.fraction_digits() as usize;
    let (kept, dropped) = fraction.split_at(fraction.len().min(room));
    for byte in dropped {
        digit(*byte).map_err(bad)?;
    }
    let mut picoseconds = 0;
    for byte in kept {
        picoseconds = picoseconds * 10 + digit(*byte).map_err(bad)?;
    }
    for _ in kept.len()..room {
        picoseconds *= 10;
    }
    Ok(u128::from(whole) * u128::from(unit.picoseconds()) + u128::from(picoseconds))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_up_to_the_last_u64() {
        assert_eq!(decimal(b"0"), Ok(0));
        assert_eq!(decimal(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(decimal(b"18446744073709551616"), Err(NumberFault::TooLarge));
        assert_eq!(decimal(b"000000000000000000000000000042"), Ok(42));
        for bad in
            [&b""[..], b"-1", b"+1", b"1.0", b"1e5", b" 1", b"0x10", b"99999999999999999999x"]
        {
            assert_eq!(decimal(bad), Err(NumberFault::Malformed), "{bad:?}");
        }
    }

    #[test]
    fn hexadecimals_up_to_the_last_u64() {
        assert_eq!(decimal_or_hex(b"0x1F"), Ok(31));
        assert_eq!(decimal_or_hex(b"0XffffFFFFffffFFFF"), Ok(u64::MAX));
        assert_eq!(decimal_or_hex(b"0x10000000000000000"), Err(NumberFault::TooLarge));
        assert_eq!(decimal_or_hex(b"0x"), Err(NumberFault::Malformed));
        assert_eq!(decimal_or_hex(b"0xg"), Err(NumberFault::Malformed));
    }

    #[test]
    fn devices_fit_u32() {
        assert_eq!(device(b"4294967295"), Ok(u32::MAX));
        assert_eq!(device(b"4294967296"), Err(Reason::TooLarge));
        assert_eq!(device(b"sda"), Err(Reason::BadDevice));
    }

    #[test]
    fn fractions_are_exact_to_the_picosecond() {
        let ms = TimeUnit::Milliseconds;
        assert_eq!(fractional_time(b"0.221", ms), Ok(221_000_000));
        assert_eq!(fractional_time(b"7", ms), Ok(7_000_000_000));
        assert_eq!(fractional_time(b".5", ms), Ok(500_000_000));
        assert_eq!(fractional_time(b"5.", ms), Ok(5_000_000_000));
        assert_eq!(fractional_time(b"0.0000000019", ms), Ok(1));
        let seconds = TimeUnit::Seconds;
        assert_eq!(
            fractional_time(b"1456095145.133076000", seconds),
            Ok(1_456_095_145_133_076_000_000)
        );
        for bad in [&b"."[..], b"1.2.3", b"1,5", b"-0.1", b"1.28E+17", b"nan", b"1.0000000000x"] {
            assert_eq!(fractional_time(bad, ms), Err(Reason::BadTime), "{bad:?}");
        }
        assert_eq!(fractional_time(b"99999999999999999999.1", ms), Err(Reason::TooLarge));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn quick_and_careful_agree(text in r"[0-9]{0,22}(\.[0-9]{0,14})?x?") {
            let bytes = text.as_bytes();
            prop_assert_eq!(decimal(bytes), decimal_by_digit(bytes));
            for unit in TimeUnit::ALL {
                let careful = fractional_time_by_digit(bytes, unit);
                prop_assert_eq!(fractional_time(bytes, unit), careful);
            }
        }
    }
}
