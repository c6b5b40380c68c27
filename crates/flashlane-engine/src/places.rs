//! Values at numbered places, found without a check.

use memmap2::MmapMut;

use crate::memory::{self, prefetch};

/// Places that a ring has at least once it was used.
const RING_MIN: usize = 8;

/// As many places as a ring of so many values may need soon.
pub(crate) fn places_for(values: usize) -> usize {
    (4 * values).next_power_of_two().max(RING_MIN)
}

/// A power of two of values. Only the low bits of an index count, as many as there are places for, so that any index
/// finds a value: what takes care that it is the right one is whoever hands out the indices. Builds with assertions
/// check it.
///
/// Invariant: `mask` is less than the number of values.
#[derive(Clone, Debug)]
pub(crate) struct Places<T> {
    values: Box<[T]>,
    mask: usize,
}

impl<T> Places<T> {
    /// These values, whose number is a power of two.
    pub(crate) fn new(values: Vec<T>) -> Self {
        assert!(values.len().is_power_of_two(), "a power of two of places");
        Self { mask: values.len() - 1, values: values.into_boxed_slice() }
    }

    /// The number of places.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.mask + 1
    }

    /// The number of places of a ring that has no more room.
    pub(crate) fn more(&self) -> usize {
        (2 * self.len()).max(RING_MIN)
    }

    /// All values.
    #[inline]
    pub(crate) fn all(&self) -> &[T] {
        &self.values
    }

    /// The same to write to.
    #[inline]
    pub(crate) fn all_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The values, to make more of them.
    pub(crate) fn into_vec(self) -> Vec<T> {
        self.values.into_vec()
    }

    /// Of a ring whose first value is at `head`: brings that to the front, those behind it after it, and has
    /// `wanted` places from then on, a power of two. Memory that was had once is kept.
    pub(crate) fn gather(&mut self, head: usize, wanted: usize, fill: T)
    where
        T: Copy,
    {
        assert!(wanted.is_power_of_two(), "a power of two of places");
        let taken = self.len();
        self.values[..taken].rotate_left(head & self.mask);
        if wanted > self.values.len() {
            let mut values = std::mem::take(&mut self.values).into_vec();
            values.resize(wanted, fill);
            self.values = values.into_boxed_slice();
        }
        self.mask = wanted - 1;
    }

    /// The value at the place that the low bits of an index name.
    #[inline(always)]
    #[expect(
        unsafe_code,
        reason = "a check of every look-up is a tenth of the simulator's instructions"
    )]
    pub(crate) fn at(&self, index: usize) -> &T {
        // SAFETY: the mask is less than the number of values, and so is every number masked by it.
        unsafe { self.values.get_unchecked(index & self.mask) }
    }

    /// The same to write to.
    #[inline(always)]
    #[expect(
        unsafe_code,
        reason = "a check of every look-up is a tenth of the simulator's instructions"
    )]
    pub(crate) fn at_mut(&mut self, index: usize) -> &mut T {
        // SAFETY: the mask is less than the number of values, and so is every number masked by it.
        unsafe { self.values.get_unchecked_mut(index & self.mask) }
    }
}

/// Bytes of a pair.
const PAIR: usize = size_of::<u64>();

/// A power of two of pairs of numbers, in large pages of memory where the system has them. Only the low bits of an
/// index count, as in [`Places`].
///
/// Invariant: `mask` is less than the number of pairs in the memory.
#[derive(Debug)]
pub(crate) struct Pairs {
    memory: MmapMut,
    mask: usize,
}

impl Clone for Pairs {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.len());
        copy.memory.copy_from_slice(&self.memory);
        copy
    }
}

impl Pairs {
    /// So many pairs of zeros, a power of two.
    pub(crate) fn new(pairs: usize) -> Self {
        assert!(pairs.is_power_of_two(), "a power of two of places");
        let memory = MmapMut::map_anon(pairs * PAIR).expect("there is memory for the tables");
        assert_eq!(memory.len(), pairs * PAIR, "as much memory as asked for");
        memory::prefer_large_pages(&memory);
        Self { memory, mask: pairs - 1 }
    }

    /// The number of pairs.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.mask + 1
    }

    /// Where a pair begins in the memory.
    #[inline(always)]
    fn offset(&self, index: usize) -> usize {
        (index & self.mask) * PAIR
    }

    /// The pair at the place that the low bits of an index name.
    #[inline(always)]
    #[expect(
        unsafe_code,
        reason = "look-ups of cached pages are many, and the check is half of one"
    )]
    pub(crate) fn at(&self, index: usize) -> (u32, u32) {
        let from = self.offset(index);
        // SAFETY: the mask is less than the number of pairs, and so is every number masked by it.
        let bytes = unsafe { self.memory.get_unchecked(from..from + PAIR) };
        let pair = u64::from_le_bytes(bytes.try_into().expect("as wide as a pair"));
        (pair as u32, (pair >> u32::BITS) as u32)
    }

    /// Sets that pair.
    #[inline(always)]
    #[expect(
        unsafe_code,
        reason = "look-ups of cached pages are many, and the check is half of one"
    )]
    pub(crate) fn set(&mut self, index: usize, first: u32, second: u32) {
        let from = self.offset(index);
        let pair = u64::from(second) << u32::BITS | u64::from(first);
        // SAFETY: the mask is less than the number of pairs, and so is every number masked by it.
        let bytes = unsafe { self.memory.get_unchecked_mut(from..from + PAIR) };
        bytes.copy_from_slice(&pair.to_le_bytes());
    }

    /// Asks for a pair that is needed soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, index: usize) {
        prefetch(&self.memory, self.offset(index));
    }

    /// All are zeros again.
    pub(crate) fn clear(&mut self) {
        self.memory.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_bits_name_the_place() {
        let mut places = Places::new(vec![1, 2, 3, 4]);
        *places.at_mut(6) = 7;
        assert_eq!([0, 1, 2, 3, 4, usize::MAX].map(|at| *places.at(at)), [1, 2, 7, 4, 1, 4]);
        assert_eq!(
            (places.len(), places.all(), places.clone().into_vec().len()),
            (4, &[1, 2, 7, 4][..], 4)
        );
    }

    #[test]
    fn low_bits_name_the_pair() {
        let mut pairs = Pairs::new(4);
        pairs.set(7, 1, u32::MAX);
        pairs.set(0, 2, 3);
        assert_eq!(
            [0, 1, 3, 4, usize::MAX].map(|at| pairs.at(at)),
            [(2, 3), (0, 0), (1, u32::MAX), (2, 3), (1, u32::MAX)]
        );
        let copy = pairs.clone();
        pairs.clear();
        assert_eq!((pairs.at(3), copy.at(3), copy.len()), ((0, 0), (1, u32::MAX), 4));
    }

    #[test]
    #[should_panic(expected = "power of two")]
    fn other_numbers_of_places_are_refused() {
        let _ = Places::new(vec![1, 2, 3]);
    }
}
