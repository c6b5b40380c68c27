//! A fast parser for lines of the usual shape, which reads eight digits at a time.
//!
//! A loop over single digits costs a mispredicted branch at the end of each number, and these
//! branches take most of the time of reading a trace. The cursor therefore looks at eight bytes as
//! one word. For anything unusual (a number of 20 digits, a hexadecimal number, two blanks in a
//! row) it returns `None`. The caller then reads the line again with the careful parser, which also
//! knows the reasons for a rejection.

use crate::lines::find;

/// A position in a line.
pub(crate) struct Cursor<'a> {
    line: &'a [u8],
    /// The unread part of the line. Invariant: a suffix of `line`.
    rest: &'a [u8],
}

/// A space in every byte.
const SPACES: u64 = 0x2020_2020_2020_2020;

/// The highest bit of every byte.
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Powers of ten for the digits of one word, and for the widest fraction.
const POWERS_OF_TEN: [u64; 13] = {
    let mut powers = [1; 13];
    let mut index = 1;
    while index < powers.len() {
        powers[index] = powers[index - 1] * 10;
        index += 1;
    }
    powers
};

impl<'a> Cursor<'a> {
    #[inline]
    pub(crate) fn new(line: &'a [u8]) -> Cursor<'a> {
        Cursor { line, rest: line }
    }

    /// The unread part of the line.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Steps over `byte`, which must come next.
    #[inline(always)]
    pub(crate) fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// Steps over `byte` if it comes next.
    #[inline(always)]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        match self.rest {
            [first, rest @ ..] if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Steps over `word` if it comes next.
    #[inline(always)]
    pub(crate) fn take_word(&mut self, word: &[u8]) -> bool {
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Steps over everything before the next `byte`, or before the end, and returns it.
    #[inline]
    pub(crate) fn until(&mut self, byte: u8) -> &'a [u8] {
        // Operations mostly have one letter.
        if let [first, second, ..] = self.rest
            && *second == byte
            && *first != byte
        {
            let (before, rest) = self.rest.split_at(1);
            self.rest = rest;
            return before;
        }
        let length = find(self.rest, byte).unwrap_or(self.rest.len());
        let (before, rest) = self.rest.split_at(length);
        self.rest = rest;
        before
    }

    /// Steps over everything up to and including the next `byte`. Returns `None` if there is none.
    #[inline]
    pub(crate) fn skip_past(&mut self, byte: u8) -> Option<()> {
        let index = find(self.rest, byte)?;
        self.rest = &self.rest[index + 1..];
        Some(())
    }

    /// Reads a decimal number of 1 to 19 digits.
    #[inline(always)]
    pub(crate) fn number(&mut self) -> Option<u64> {
        // Device numbers and operation codes mostly have one digit.
        if let [digit @ b'0'..=b'9', rest @ ..] = self.rest
            && !rest.first().is_some_and(u8::is_ascii_digit)
        {
            self.rest = rest;
            return Some(u64::from(digit - b'0'));
        }
        match self.digits() {
            (_, 0) => None,
            (value, 8) => self.longer_number(value),
            (value, _) => Some(value),
        }
    }

    /// Continues after the first eight digits of a number.
    #[inline(always)]
    fn longer_number(&mut self, head: u64) -> Option<u64> {
        let (middle, count) = self.digits();
        let value = head * POWERS_OF_TEN[count] + middle;
        if count < 8 {
            return Some(value);
        }
        match self.digits() {
            (tail, count @ 0..=3) => Some(value * POWERS_OF_TEN[count] + tail),
            _ => None,
        }
    }

    /// Reads the digits after a decimal point, at most 12 and at most `width`. Returns them as a
    /// number of exactly `width` digits.
    #[inline(always)]
    pub(crate) fn fraction(&mut self, width: u32) -> Option<u64> {
        let (mut value, mut count) = self.digits();
        if count == 8 {
            let (tail, more) = self.digits();
            value = value * POWERS_OF_TEN[more] + tail;
            count += more;
        }
        let missing = (width as usize).checked_sub(count)?;
        Some(value * POWERS_OF_TEN.get(missing)?)
    }

    /// Reads a hexadecimal number of 1 to 16 digits behind `0x`.
    #[inline(always)]
    pub(crate) fn hexadecimal(&mut self) -> Option<u64> {
        let [b'0', b'x' | b'X', digits @ ..] = self.rest else { return None };
        self.rest = digits;
        let (head, count) = self.hex_digits();
        if count < 8 {
            return (count > 0).then_some(head);
        }
        let (tail, more) = self.hex_digits();
        let ends = more < 8 || self.hex_digits().1 == 0;
        ends.then_some(head << (4 * more) | tail)
    }

    /// Steps over up to eight hexadecimal digits. Returns their value and count.
    #[inline(always)]
    fn hex_digits(&mut self) -> (u64, usize) {
        let (value, count) = leading_hex_digits(self.word());
        self.step(count);
        (value, count)
    }

    /// Steps over a field of any bytes, at least one, and the spaces after it. Returns `None` if
    /// the field ends with another blank.
    #[inline(always)]
    pub(crate) fn skip_field(&mut self) -> Option<()> {
        let mut length = 0;
        loop {
            let word = self.word();
            // Marks the bytes that are a space or below. A borrow marks further bytes only behind
            // the first match, which is the one that counts.
            let blanks = word.wrapping_sub(0x2121_2121_2121_2121) & !word & HIGH_BITS;
            let count = (blanks.trailing_zeros() / 8) as usize;
            length += count;
            if count < 8 {
                let others = (word ^ SPACES) >> (8 * count);
                let spaces = (others.trailing_zeros() / 8) as usize;
                self.step(count + spaces.min(8 - count));
                if length == 0 || spaces == 0 {
                    return None;
                }
                if count + spaces >= 8 {
                    self.skip_spaces();
                }
                return Some(());
            }
            self.step(count);
        }
    }

    /// Steps over spaces. Returns true if there was one.
    #[inline(always)]
    pub(crate) fn skip_spaces(&mut self) -> bool {
        let before = self.rest.len();
        loop {
            let others = self.word() ^ SPACES;
            let count = (others.trailing_zeros() / 8) as usize;
            self.step(count);
            if count < 8 {
                return self.rest.len() < before;
            }
        }
    }

    /// Steps over up to eight digits. Returns their value and count.
    #[inline(always)]
    fn digits(&mut self) -> (u64, usize) {
        let (value, count) = leading_digits(self.word());
        self.step(count);
        (value, count)
    }

    /// Steps over `count` bytes, at most to the end of the line.
    #[inline(always)]
    fn step(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    /// The next eight bytes, with the first byte lowest. Bytes after the end of the line are zero.
    #[inline(always)]
    fn word(&self) -> u64 {
        if let Some(bytes) = self.rest.first_chunk::<8>() {
            return u64::from_le_bytes(*bytes);
        }
        let left = self.rest.len();
        match self.line.last_chunk::<8>() {
            // Takes the last eight bytes of the line and drops those that were already read.
            Some(bytes) if left > 0 => u64::from_le_bytes(*bytes) >> (8 * (8 - left)),
            Some(_) => 0,
            None => self.rest.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte)),
        }
    }
}

/// Value and count of the decimal digits at the low end of `word`.
#[inline]
fn leading_digits(word: u64) -> (u64, usize) {
    // A digit becomes 0 to 9. A carry out of a byte only changes later bytes, which do not count.
    let values = word ^ 0x3030_3030_3030_3030;
    let beyond_9 = (values.wrapping_add(0x7676_7676_7676_7676) | values) & HIGH_BITS;
    let count = (beyond_9.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // The digits move to the high end, so that zeros lead. Neighbours are then joined to pairs,
    // fours and eight.
    let digits = values << (8 * (8 - count));
    let pairs = digits.wrapping_mul(10 * 256 + 1) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(100 * 65_536 + 1) >> 16;
    let eight = (fours & 0x0000_ffff_0000_ffff).wrapping_mul(10_000 * 4_294_967_296 + 1) >> 32;
    (eight, count)
}

/// Value and count of the hexadecimal digits at the low end of `word`.
#[inline]
fn leading_hex_digits(word: u64) -> (u64, usize) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // Sets the high bit of each byte from `first` to `last`. `word` must have no high bits.
    let between = |word: u64, first: u8, last: u8| {
        (word + ONES * u64::from(0x80 - first)) & !(word + ONES * u64::from(0x7f - last))
    };
    let ascii = word & !HIGH_BITS;
    // Bit 5 turns capitals into small letters.
    let letters = between(ascii | SPACES, b'a', b'f');
    let digits = between(ascii, b'0', b'9');
    let others = (!(letters | digits) | word) & HIGH_BITS;
    let count = (others.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // A letter is 9 more than its low bits. The digits move to the high end, so that the first
    // digit is the highest.
    let letters = (letters & HIGH_BITS) >> 7;
    let values = (ascii & (ONES * 0x0f)) + letters * 9;
    let values = (values << (8 * (8 - count))).swap_bytes();
    let pairs = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    ((fours | fours >> 16) & 0xffff_ffff, count)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn digits_end_at_anything_else() {
        for (text, expected) in [
            (b"00000000", (0, 8)),
            (b"12345678", (12_345_678, 8)),
            (b"1234567 ", (1_234_567, 7)),
            (b"9 999999", (9, 1)),
            (b"1:345678", (1, 1)),
            (b"1/345678", (1, 1)),
            (b"12\xff\xff\xff\xff\xff\xff", (12, 2)),
            (b"\0\0\0\0\0\0\0\0", (0, 0)),
        ] {
            assert_eq!(leading_digits(u64::from_le_bytes(*text)), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_of_more_than_19_digits_are_left_to_others() {
        let nineteen = Cursor::new(b"9999999999999999999").number();
        assert_eq!(nineteen, Some(9_999_999_999_999_999_999));
        assert_eq!(Cursor::new(b"18446744073709551615").number(), None);
        assert_eq!(Cursor::new(b"").number(), None);
        assert_eq!(Cursor::new(b"x").number(), None);
    }

    #[test]
    fn fractions_fill_up_to_their_width() {
        assert_eq!(Cursor::new(b"221 ").fraction(9), Some(221_000_000));
        assert_eq!(Cursor::new(b"").fraction(3), Some(0));
        assert_eq!(Cursor::new(b"1234").fraction(3), None);
        assert_eq!(Cursor::new(b"12345678").fraction(12), Some(123_456_780_000));
        assert_eq!(Cursor::new(b"123456789012 ").fraction(12), Some(123_456_789_012));
        assert_eq!(Cursor::new(b"1234567890123").fraction(12), None);
        assert_eq!(Cursor::new(b"12345678901234567").fraction(12), None);
        assert_eq!(Cursor::new(b"12345678").fraction(7), None);
        assert_eq!(Cursor::new(b"1").fraction(12), Some(100_000_000_000));
    }

    proptest! {
        #[test]
        fn hexadecimal_digits_are_told_from_all_other_bytes(bytes in prop::array::uniform8(
            prop_oneof![
                4 => prop::sample::select(b"0123456789abcdefABCDEF".to_vec()),
                1 => any::<u8>(),
            ],
        )) {
            let count = bytes.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            let text = str::from_utf8(&bytes[..count]).expect("digits");
            let value = u64::from_str_radix(text, 16).unwrap_or(0);
            prop_assert_eq!(leading_hex_digits(u64::from_le_bytes(bytes)), (value, count));
        }

        #[test]
        fn fields_end_with_a_space(bytes in prop::collection::vec(
            prop_oneof![6 => any::<u8>(), 1 => Just(b' '), 1 => Just(b'\t')], 0..30,
        )) {
            let length = bytes.iter().position(|byte| *byte <= b' ').unwrap_or(bytes.len());
            let ends = bytes.get(length) == Some(&b' ') && length > 0;
            let mut cursor = Cursor::new(&bytes);
            prop_assert_eq!(cursor.skip_field().is_some(), ends);
            if ends {
                let blanks = bytes[length..].iter().take_while(|byte| **byte == b' ').count();
                prop_assert_eq!(cursor.rest(), &bytes[length + blanks..]);
            }
        }
    }

    #[test]
    fn hexadecimals_have_1_to_16_digits() {
        let read = |text: &str| {
            let mut cursor = Cursor::new(text.as_bytes());
            (cursor.hexadecimal(), cursor.rest().len())
        };
        assert_eq!(read("0x1fB,"), (Some(0x1fb), 1));
        assert_eq!(read("0Xffffffffffffffff"), (Some(u64::MAX), 0));
        for bad in ["0x", "0xg", "1f", "0x10000000000000000", "x1"] {
            assert_eq!(read(bad).0, None, "{bad}");
        }
    }

    #[test]
    fn spaces_are_stepped_over_however_many() {
        for count in 0..20 {
            let line = format!("a{}b", " ".repeat(count));
            let mut cursor = Cursor::new(line.as_bytes());
            assert!(cursor.take(b'a'));
            assert_eq!((cursor.skip_spaces(), cursor.rest()), (count > 0, &b"b"[..]));
        }
        let mut cursor = Cursor::new(b"        ");
        assert_eq!((cursor.skip_spaces(), cursor.rest()), (true, &b""[..]));
        assert!(!cursor.skip_spaces());
    }

    #[test]
    fn words_and_bytes_are_stepped_over() {
        let mut cursor = Cursor::new(b"hm,Read,7");
        assert_eq!(cursor.skip_past(b','), Some(()));
        assert!(!cursor.take_word(b"Write") && cursor.take_word(b"Read"));
        assert_eq!((cursor.expect(b';'), cursor.expect(b',')), (None, Some(())));
        assert_eq!((cursor.number(), cursor.rest()), (Some(7), &b""[..]));
        assert_eq!(cursor.skip_past(b','), None);
        let mut cursor = Cursor::new(b"ab,c");
        assert_eq!((cursor.until(b','), cursor.until(b',')), (&b"ab"[..], &b""[..]));
        assert_eq!((cursor.take(b','), cursor.until(b',')), (true, &b"c"[..]));
    }

    proptest! {
        #[test]
        fn every_u64_of_19_digits_is_read(
            before in "[a-z ]{0,9}",
            value in 0..10_u64.pow(19),
            cut in 0..19_u32,
            after in "([a-z .,].{0,9})?",
        ) {
            let value = value / 10_u64.pow(cut);
            let line = format!("{before}|{value}{after}");
            let mut cursor = Cursor::new(line.as_bytes());
            prop_assert_eq!(cursor.skip_past(b'|'), Some(()));
            prop_assert_eq!(cursor.number(), Some(value));
            prop_assert_eq!(cursor.rest(), after.as_bytes());
        }
    }
}
