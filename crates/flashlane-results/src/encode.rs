//! Fast encoding of whole numbers in columns for Parquet.
//!
//! Source: the format's `Encodings.md`: dictionary and run-length encoding (`RLE_DICTIONARY`),
//! differences (`DELTA_BINARY_PACKED`), plain bits of a Boolean.

/// Most distinct values of a column with a dictionary.
const DICTIONARY_MAX: usize = 1 << 10;
/// Size of the hash table of values, in bits.
const TABLE_BITS: u32 = 12;
/// A place without a value.
const EMPTY: u16 = u16::MAX;

const _: () = assert!(DICTIONARY_MAX * 2 <= 1 << TABLE_BITS, "a search ends at an empty place");

/// Differences in a block, and in each of its parts; each part has its own width.
const BLOCK: usize = 128;
const PART: usize = 32;

/// A column as indices into a list of its values.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    /// The values in the order of their first occurrence.
    pub(crate) values: Vec<u64>,
    /// Index for each row.
    pub(crate) places: Vec<u16>,
    table: Vec<u16>,
}

impl Dictionary {
    /// Fills the dictionary from a column. False if it has too many distinct values.
    pub(crate) fn fill(&mut self, column: &[u64]) -> bool {
        self.values.clear();
        self.places.clear();
        self.table.clear();
        self.table.resize(1 << TABLE_BITS, EMPTY);
        // Many columns have a single value in all rows; comparing is faster than looking it up.
        let first = column.first().copied().unwrap_or_default();
        let same = column.iter().take_while(|value| **value == first).count();
        let again = same.saturating_sub(1);
        self.places.resize(again, 0);
        for &value in &column[again..] {
            let hash = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - TABLE_BITS);
            let mut at = hash as usize;
            let place = loop {
                let place = self.table[at];
                if place == EMPTY {
                    if self.values.len() == DICTIONARY_MAX {
                        return false;
                    }
                    self.table[at] = self.values.len() as u16;
                    self.values.push(value);
                    break self.table[at];
                }
                if self.values[usize::from(place)] == value {
                    break place;
                }
                at = (at + 1) % (1 << TABLE_BITS);
            };
            self.places.push(place);
        }
        true
    }
}

/// Indices into a dictionary of `count` values, as a page has them: the width, and one run of equal
/// indices or of packed bits.
pub(crate) fn places(rows: &[u16], count: usize) -> Vec<u8> {
    let width = (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1);
    let mut page = vec![width as u8];
    if let Some(&first) = rows.first().filter(|first| rows.iter().all(|row| row == *first)) {
        varint(&mut page, (rows.len() as u64) << 1);
        page.extend_from_slice(&first.to_le_bytes()[..width.div_ceil(8) as usize]);
        return page;
    }
    let groups = rows.len().div_ceil(8);
    varint(&mut page, (groups as u64) << 1 | 1);
    let whole = page.len() + groups * width as usize;
    let mut part = [0; PART];
    for rows in rows.chunks(PART) {
        part.fill(0);
        for (wide, &row) in part.iter_mut().zip(rows) {
            *wide = u64::from(row);
        }
        pack(&mut page, &part, width);
    }
    page.truncate(whole);
    page
}

/// Numbers as differences, each block relative to its least difference.
pub(crate) fn differences(column: &[u64]) -> Vec<u8> {
    let mut page = Vec::with_capacity(column.len() * 4);
    varint(&mut page, BLOCK as u64);
    varint(&mut page, (BLOCK / PART) as u64);
    varint(&mut page, column.len() as u64);
    varint(&mut page, zigzag(column.first().map_or(0, |&first| first as i64)));
    let mut block = [0_i64; BLOCK];
    let (from, to) = (column, column.get(1..).unwrap_or_default());
    for (from, to) in from.chunks(BLOCK).zip(to.chunks(BLOCK)) {
        let count = to.len();
        for (difference, (&from, &to)) in block.iter_mut().zip(from.iter().zip(to)) {
            *difference = to.wrapping_sub(from) as i64;
        }
        let least = block[..count].iter().copied().fold(i64::MAX, i64::min);
        varint(&mut page, zigzag(least));
        let mut over = [0_u64; BLOCK];
        for (over, difference) in over.iter_mut().zip(&block[..count]) {
            *over = difference.wrapping_sub(least) as u64;
        }
        let (parts, _) = over.as_chunks::<PART>();
        let widths = parts.iter().map(|part| {
            let all = part.iter().fold(0, |all, value| all | value);
            (u64::BITS - all.leading_zeros()) as u8
        });
        let at = page.len();
        page.extend(widths);
        for (index, part) in parts.iter().take(count.div_ceil(PART)).enumerate() {
            let width = u32::from(page[at + index]);
            pack(&mut page, part, width);
        }
    }
    page
}

/// A column of flags as bits.
pub(crate) fn bits(column: &[bool]) -> Vec<u8> {
    let byte = |rows: &[bool]| rows.iter().rev().fold(0, |byte, &row| byte << 1 | u8::from(row));
    column.chunks(8).map(byte).collect()
}

/// Numbers of eight bytes each.
pub(crate) fn plain(column: &[u64]) -> Vec<u8> {
    column.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Texts, each after its length.
pub(crate) fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
    let mut page = Vec::new();
    for text in texts {
        page.extend((text.len() as u32).to_le_bytes());
        page.extend(text.as_bytes());
    }
    page
}

/// Appends the low `width` bits of each value. Invariant: the values have no more bits.
#[inline]
fn pack(page: &mut Vec<u8>, values: &[u64; PART], width: u32) {
    if width == 0 {
        return;
    }
    let mut packed = [0; PART * 8];
    let (words, _) = packed.as_chunks_mut::<8>();
    let (mut word, mut filled, mut at) = (0_u64, 0, 0);
    for &value in values {
        word |= value << filled;
        filled += width;
        if filled >= u64::BITS {
            words[at] = word.to_le_bytes();
            at += 1;
            filled -= u64::BITS;
            // The part that did not fit; nothing if the value ended with the word.
            word = value.checked_shr(width - filled).unwrap_or(0);
        }
    }
    if filled > 0 {
        words[at] = word.to_le_bytes();
    }
    page.extend_from_slice(&packed[..width as usize * PART / 8]);
}

/// A number with seven bits a byte, lowest first.
fn varint(page: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        page.push(value as u8 | 0x80);
        value >>= 7;
    }
    page.push(value as u8);
}

/// Maps small numbers of either sign to small numbers.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test values that follow a simple rule.
    fn column(rows: usize, different: u64, spread: u64) -> Vec<u64> {
        let value = |row: u64| (row.wrapping_mul(row).wrapping_mul(7_919) % different) * spread;
        (0..rows as u64).map(value).collect()
    }

    /// Takes a number from the front.
    fn take_varint(page: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (byte, rest) = page.split_first().expect("another byte");
            *page = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }

    fn take_bits(page: &mut &[u8], count: usize, width: u32) -> Vec<u64> {
        let (packed, rest) = page.split_at((count * width as usize).div_ceil(8));
        *page = rest;
        let bit = |at: usize| u64::from(packed[at / 8] >> (at % 8) & 1);
        let value = |row: usize| {
            (0..width as usize).map(|low| bit(row * width as usize + low) << low).sum()
        };
        (0..count).map(value).collect()
    }

    fn unzigzag(value: u64) -> u64 {
        value >> 1 ^ 0_u64.wrapping_sub(value & 1)
    }

    fn read_differences(mut page: &[u8]) -> Vec<u64> {
        let page = &mut page;
        assert_eq!((take_varint(page), take_varint(page)), (128, 4));
        let count = take_varint(page) as usize;
        let mut values = vec![unzigzag(take_varint(page))];
        while values.len() < count {
            let least = unzigzag(take_varint(page));
            let (widths, rest) = page.split_at(4);
            *page = rest;
            for &width in widths {
                if values.len() < count {
                    for over in take_bits(page, 32, width.into()) {
                        let last = *values.last().expect("the first one");
                        values.push(last.wrapping_add(least).wrapping_add(over));
                    }
                }
            }
        }
        assert!(page.is_empty(), "{} bytes left", page.len());
        values.truncate(count);
        values
    }

    #[test]
    fn differences_come_back_whatever_their_width() {
        for rows in [1, 2, 32, 33, 128, 129, 130, 1_000] {
            for (different, spread) in [(1, 0), (2, 1), (50, 3), (1 << 20, 1), (1 << 40, 1 << 22)] {
                let values = column(rows, different, spread);
                assert_eq!(read_differences(&differences(&values)), values, "{rows} {different}");
            }
        }
        let extremes = [0, i64::MAX as u64, 0, 1, i64::MAX as u64];
        assert_eq!(read_differences(&differences(&extremes)), extremes);
    }

    #[test]
    fn places_lead_back_to_the_values() {
        let mut dictionary = Dictionary::default();
        for (rows, different) in [(1, 1), (70, 1), (9, 2), (1_000, 3), (5_000, 1_024)] {
            let mut values = column(rows, different, 1_000);
            values.extend(&vec![values[0]; 5]);
            assert!(dictionary.fill(&values));
            let found: Vec<u64> = dictionary
                .places
                .iter()
                .map(|&place| dictionary.values[usize::from(place)])
                .collect();
            assert_eq!(found, values);
            let page = places(&dictionary.places, dictionary.values.len());
            let (&width, mut page) = page.split_first().expect("a width");
            let run = take_varint(&mut page);
            let read = if run & 1 == 1 {
                take_bits(&mut page, run as usize / 2 * 8, width.into())
            } else {
                let value = take_bits(&mut page, 1, width.into());
                vec![value[0]; run as usize / 2]
            };
            assert!(page.is_empty() && read.len() < values.len() + 8);
            assert!(
                read.iter().zip(&dictionary.places).all(|(read, place)| *read == u64::from(*place))
            );
        }
    }

    #[test]
    fn a_dictionary_has_an_end() {
        let mut dictionary = Dictionary::default();
        let values: Vec<u64> = (0..1_025).collect();
        assert!(dictionary.fill(&values[..1_024]));
        assert!(!dictionary.fill(&values));
        assert!(dictionary.fill(&[u64::MAX, 0, u64::MAX]), "it begins anew");
        assert_eq!(dictionary.places, [0, 1, 0]);
    }

    #[test]
    fn flags_are_bits_from_the_lowest() {
        let flags = [true, false, false, true, false, false, false, false, true];
        assert_eq!(bits(&flags), [0b1001, 1]);
        assert_eq!(texts(["ab", ""]), [2, 0, 0, 0, b'a', b'b', 0, 0, 0, 0]);
    }
}
