//! Large flat arrays of 32-bit numbers: page tables.

use memmap2::MmapMut;

use crate::memory::prefetch;

/// Bytes of a number.
const WIDTH: usize = size_of::<u32>();

/// Numbers that start as 0, in memory of their own that costs nothing until it is written.
#[derive(Debug)]
pub struct Table {
    memory: MmapMut,
}

impl Table {
    /// So many zeros. `filled`: most of them are about to be written, so that large pages of memory pay where
    /// the system has them; in a table that is written here and there they would only fill the memory.
    ///
    /// # Panics
    /// Without so much memory.
    #[must_use]
    pub fn new(len: usize, filled: bool) -> Self {
        let memory = MmapMut::map_anon((len * WIDTH).max(1));
        let table = Self { memory: memory.expect("there is memory for the tables") };
        #[cfg(target_os = "linux")]
        if filled {
            // A kernel without large pages refuses, and small ones do as well.
            let _ = table.memory.advise(memmap2::Advice::HugePage);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = filled;
        table
    }

    /// Numbers.
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
    /// Beyond the end.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, index: u32) -> u32 {
        // Bytes, since their alignment needs no proof: this is the load that an index into a slice is.
        let at = index as usize * WIDTH;
        u32::from_ne_bytes(self.memory[at..at + WIDTH].try_into().expect("as wide as a number"))
    }

    /// Sets the number at an index.
    ///
    /// # Panics
    /// Beyond the end.
    #[inline(always)]
    pub fn set(&mut self, index: u32, number: u32) {
        let at = index as usize * WIDTH;
        self.memory[at..at + WIDTH].copy_from_slice(&number.to_ne_bytes());
    }

    /// Numbers in a row, as bytes in the order of the machine.
    ///
    /// # Panics
    /// Beyond the end.
    #[inline]
    pub fn row_mut(&mut self, first: u32, count: u32) -> &mut [[u8; WIDTH]] {
        let at = first as usize * WIDTH;
        self.memory[at..at + count as usize * WIDTH].as_chunks_mut().0
    }

    /// Asks for a number that is needed soon.
    #[inline(always)]
    pub fn prefetch(&self, index: u32) {
        prefetch(&self.memory, index as usize * WIDTH);
    }
}

impl Clone for Table {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.len(), true);
        copy.memory.copy_from_slice(&self.memory);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_places() {
        for filled in [false, true] {
            let mut table = Table::new(3_000_000, filled);
            assert_eq!((table.len(), table.bytes()), (3_000_000, 12_000_000));
            table.set(2_999_999, 7);
            table.set(0, u32::MAX);
            table.row_mut(1, 2)[1] = 5_u32.to_ne_bytes();
            assert_eq!([1, 2, 3].map(|at| table.get(at)), [0, 5, 0]);
            table.prefetch(1);
            table.prefetch(u32::MAX);
            let copy = table.clone();
            table.set(0, 1);
            assert_eq!([0, 1, 2_999_998, 2_999_999].map(|at| copy.get(at)), [u32::MAX, 0, 0, 7]);
            assert_eq!(table.get(0), 1, "a copy is on its own");
        }
    }

    #[test]
    fn an_empty_table_is_a_table() {
        let table = Table::new(0, true).clone();
        assert!(table.is_empty() && table.bytes() == 0);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn an_index_beyond_the_end_is_refused() {
        let _ = Table::new(100, false).get(100);
    }
}
