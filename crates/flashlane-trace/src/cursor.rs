//! A fast way over lines of the usual shape, eight digits at a time.
//!
//! Telling digits one by one costs a mispredicted branch at the end of each number, which is most of the time
//! of reading a trace. Here eight bytes are looked at as one word. Whatever is unusual (a number of 20 digits,
//! a hexadecimal, two blanks in a row) is `None`, and the caller reads the line again in the careful way, which
//! alone knows the reasons of a rejection.

/// A place in a line.
pub(crate) struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

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
        Cursor { line, at: 0 }
    }

    /// What has not been read.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.line[self.at..]
    }

    /// Steps over `byte`, which must come next.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// Steps over `byte` if it comes next.
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.line.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    /// Steps over `word` if it comes next.
    #[inline]
    pub(crate) fn take_word(&mut self, word: &[u8]) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Steps over everything up to and including the next `byte`.
    #[inline]
    pub(crate) fn skip_past(&mut self, byte: u8) -> Option<()> {
        self.at += self.rest().iter().position(|other| *other == byte)? + 1;
        Some(())
    }

    /// Reads a decimal number of 1 to 19 digits.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let (mut value, mut count) = self.digits();
        if count == 0 {
            return None;
        }
        if count == 8 {
            let (more, more_count) = self.digits();
            value = value * POWERS_OF_TEN[more_count] + more;
            count += more_count;
        }
        if count == 16 {
            let (more, more_count) = self.digits();
            if more_count > 3 {
                return None;
            }
            value = value * POWERS_OF_TEN[more_count] + more;
        }
        Some(value)
    }

    /// Reads the digits behind a decimal point, at most 7 and at most `width` of them, as if there were `width`.
    #[inline]
    pub(crate) fn fraction(&mut self, width: u32) -> Option<u64> {
        let (value, count) = self.digits();
        let missing = (width as usize).checked_sub(count)?;
        if count == 8 { None } else { Some(value * *POWERS_OF_TEN.get(missing)?) }
    }

    /// Steps over up to eight digits. Returns their value and count.
    #[inline]
    fn digits(&mut self) -> (u64, usize) {
        let (value, count) = leading_digits(self.word());
        self.at += count;
        (value, count)
    }

    /// The next eight bytes, the first one lowest; zeros behind the end of the line.
    #[inline]
    fn word(&self) -> u64 {
        if let Some(bytes) = self.rest().first_chunk::<8>() {
            return u64::from_le_bytes(*bytes);
        }
        let left = self.rest().len();
        match self.line.last_chunk::<8>() {
            // The last eight bytes of the line, without those that have been read.
            Some(bytes) if left > 0 => u64::from_le_bytes(*bytes) >> (8 * (8 - left)),
            Some(_) => 0,
            None => self.rest().iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte)),
        }
    }
}

/// Value and count of the decimal digits at the low end of `word`.
#[inline]
fn leading_digits(word: u64) -> (u64, usize) {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    // A digit becomes 0 to 9. A carry out of a byte only reaches the bytes behind it, which do not count then.
    let values = word ^ 0x3030_3030_3030_3030;
    let beyond_9 = (values.wrapping_add(0x7676_7676_7676_7676) | values) & HIGH_BITS;
    let count = (beyond_9.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // Digits move to the high end: zeros lead. Then neighbours join to pairs, fours and eight.
    let digits = values << (8 * (8 - count));
    let pairs = (digits & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(10 * 256 + 1) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(100 * 65_536 + 1) >> 16;
    let eight = (fours & 0x0000_ffff_0000_ffff).wrapping_mul(10_000 * 4_294_967_296 + 1) >> 32;
    (eight, count)
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
        assert_eq!(Cursor::new(b"12345678").fraction(12), None);
        assert_eq!(Cursor::new(b"1").fraction(12), Some(100_000_000_000));
    }

    #[test]
    fn words_and_bytes_are_stepped_over() {
        let mut cursor = Cursor::new(b"hm,Read,7");
        assert_eq!(cursor.skip_past(b','), Some(()));
        assert!(!cursor.take_word(b"Write") && cursor.take_word(b"Read"));
        assert_eq!((cursor.expect(b';'), cursor.expect(b',')), (None, Some(())));
        assert_eq!((cursor.number(), cursor.rest()), (Some(7), &b""[..]));
        assert_eq!(cursor.skip_past(b','), None);
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
