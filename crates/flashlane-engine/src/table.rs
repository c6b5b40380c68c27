//! Large flat arrays of 32-bit numbers: page tables.

use crate::memory::{Memory, Sealed, Section, prefetch};

/// Size of a number. Unit: bytes.
const WIDTH: usize = size_of::<u32>();

/// Smallest table whose memory copies share. Unit: bytes.
const SHARED_MIN: usize = 1 << 16;

/// Largest table that gets large pages of memory although only some of it is written. Unit: bytes.
const LARGE_PAGES_MAX: usize = 1 << 24;

/// How a table will be used. This affects its memory, never its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The table is written here and there. Large pages of memory would only fill up, unless the
    /// table is small.
    Sparse,
    /// Most of the table is about to be written: large pages of memory pay off if the system has
    /// them.
    Filled,
    /// The table is frozen later, and then copied.
    Copied,
}

/// Numbers that start as 0, in private memory that costs nothing until it is written.
#[derive(Debug)]
pub struct Table {
    memory: Memory,
}

impl Table {
    /// `len` zeros.
    ///
    /// # Panics
    ///
    /// If there is not enough memory.
    #[must_use]
    pub fn new(len: usize, purpose: Use) -> Self {
        let bytes = len.checked_mul(WIDTH).expect("the memory for a table has a size").max(1);
        let to_share = purpose == Use::Copied && bytes >= SHARED_MIN;
        let shared = to_share.then(|| Memory::to_share(bytes).ok()).flatten();
        let memory = shared.unwrap_or_else(|| Memory::own(bytes));
        if purpose != Use::Sparse || bytes <= LARGE_PAGES_MAX {
            memory.prefer_large_pages();
        }
        Self { memory }
    }

    /// Moves the numbers to private memory if they are in a file that another process wants to
    /// write. That process waits until then, but no longer than the system allows (Linux: 45 s).
    pub fn let_go(&mut self) {
        self.memory.let_go();
    }

    /// A copy of the numbers in memory for another use.
    #[must_use]
    pub fn moved(&self, purpose: Use) -> Self {
        let mut moved = Self::new(self.len(), purpose);
        moved.memory.copy_from_slice(&self.memory);
        moved
    }

    /// Ends all changes, so that the table can be copied.
    #[must_use]
    pub fn freeze(self) -> Frozen {
        match self.memory.seal() {
            Ok(sealed) => Frozen(Contents::Shared(sealed)),
            Err(memory) => Frozen(Contents::Own(Self { memory })),
        }
    }

    /// Number of numbers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.memory.len() / WIDTH
    }

    /// True if there is no number.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory of all numbers. Unit: bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.len() * WIDTH
    }

    /// The number at an index.
    ///
    /// # Panics
    /// If the index is beyond the end.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, index: u32) -> u32 {
        // Bytes need no proof of their alignment; this is the same load as an index into a slice.
        let at = index as usize * WIDTH;
        u32::from_ne_bytes(self.memory[at..at + WIDTH].try_into().expect("as wide as a number"))
    }

    /// Sets the number at an index.
    ///
    /// # Panics
    /// If the index is beyond the end.
    #[inline(always)]
    pub fn set(&mut self, index: u32, number: u32) {
        let at = index as usize * WIDTH;
        self.memory[at..at + WIDTH].copy_from_slice(&number.to_ne_bytes());
    }

    /// Numbers in a row, as bytes in the byte order of the machine.
    ///
    /// # Panics
    /// If the index is beyond the end.
    #[inline]
    #[must_use]
    pub fn row(&self, first: u32, count: u32) -> &[[u8; WIDTH]] {
        let at = first as usize * WIDTH;
        self.memory[at..at + count as usize * WIDTH].as_chunks().0
    }

    /// Numbers in a row, for writing, as bytes in the byte order of the machine.
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[inline]
    pub fn row_mut(&mut self, first: u32, count: u32) -> &mut [[u8; WIDTH]] {
        let at = first as usize * WIDTH;
        self.memory[at..at + count as usize * WIDTH].as_chunks_mut().0
    }

    /// All numbers, as bytes in the byte order of the machine.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.memory[..self.bytes()]
    }

    /// All numbers, for writing, as bytes in the byte order of the machine.
    pub(crate) fn as_mut_bytes(&mut self) -> &mut [u8] {
        let bytes = self.bytes();
        &mut self.memory[..bytes]
    }

    /// Prefetches a number.
    #[inline(always)]
    pub fn prefetch(&self, index: u32) {
        prefetch(&self.memory, index as usize * WIDTH);
    }
}

impl Clone for Table {
    fn clone(&self) -> Self {
        self.moved(Use::Filled)
    }
}

/// A table that changes no more, and can be copied.
#[derive(Debug)]
pub struct Frozen(Contents);

/// Storage of the numbers of a frozen table.
#[derive(Debug)]
enum Contents {
    /// Copies share this memory, except for the pages that they change.
    Shared(Sealed),
    /// Copies share a mapped file, except for the pages that they change.
    Kept(Section),
    /// Copies have private memory.
    Own(Table),
}

impl Frozen {
    /// Number of numbers.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Contents::Shared(sealed) => sealed.len() / WIDTH,
            Contents::Kept(section) => section.len() / WIDTH,
            Contents::Own(table) => table.len(),
        }
    }

    /// True if there is no number.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A table whose numbers are in a file.
    pub(crate) fn kept(section: Section) -> Self {
        Self(Contents::Kept(section))
    }

    /// A table that starts with these numbers.
    ///
    /// # Panics
    ///
    /// If there is no memory for it.
    #[must_use]
    pub fn copy(&self) -> Table {
        match &self.0 {
            Contents::Shared(sealed) => {
                Table { memory: sealed.copy().expect("there is memory for the tables") }
            }
            Contents::Kept(section) => {
                Table { memory: section.copy().expect("there is memory for the tables") }
            }
            Contents::Own(table) => table.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_places() {
        for purpose in [Use::Sparse, Use::Filled, Use::Copied] {
            let mut table = Table::new(3_000_000, purpose);
            assert_eq!((table.len(), table.bytes()), (3_000_000, 12_000_000));
            table.set(2_999_999, 7);
            table.set(0, u32::MAX);
            table.row_mut(1, 2)[1] = 5_u32.to_ne_bytes();
            assert_eq!(table.row(2, 2), [5_u32, 0].map(u32::to_ne_bytes));
            table.prefetch(1);
            table.prefetch(u32::MAX);
            let found = [0, 1, 2, 3, 2_999_999].map(|at| table.get(at));
            assert_eq!(found, [u32::MAX, 0, 5, 0, 7]);
            let copy = table.clone();
            table.set(0, 1);
            assert_eq!((copy.get(0), table.get(0)), (u32::MAX, 1), "a copy is on its own");
        }
    }

    #[test]
    fn copies_of_a_frozen_table_are_on_their_own() {
        for (len, purpose) in [(3_000_000, Use::Copied), (1000, Use::Copied), (1000, Use::Filled)] {
            let mut table = Table::new(len, purpose);
            table.set(0, 3);
            table.set(999, 4);
            let frozen = table.freeze();
            let (mut one, two) = (frozen.copy(), frozen.copy());
            one.set(0, 5);
            one.set(500, 6);
            for copy in [two, frozen.copy()] {
                assert_eq!([0, 500, 999].map(|at| copy.get(at)), [3, 0, 4]);
                assert_eq!((copy.len(), frozen.len()), (len, len));
            }
            drop(frozen);
            assert_eq!([0, 500, 999].map(|at| one.get(at)), [5, 6, 4], "a copy needs nobody else");
        }
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn copies_of_large_tables_share_their_memory() {
        let shared = |len: usize, purpose: Use| {
            matches!(Table::new(len, purpose).freeze().0, Contents::Shared(_))
        };
        assert!(shared(3_000_000, Use::Copied));
        assert!(!shared(3_000_000, Use::Filled) && !shared(1000, Use::Copied));
    }

    #[test]
    fn an_empty_table_is_a_table() {
        let table = Table::new(0, Use::Copied).freeze().copy();
        assert!(table.is_empty() && table.bytes() == 0);
    }

    #[test]
    #[should_panic(expected = "the memory for a table has a size")]
    fn tables_beyond_the_end_of_memory_are_refused() {
        // This many numbers have 2^64 bytes, which as a number of 64 bits is 0.
        let _ = Table::new(1 << (usize::BITS - 2), Use::Sparse);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn an_index_beyond_the_end_is_refused() {
        let _ = Table::new(100, Use::Sparse).get(100);
    }
}
