//! Look-ups without a bounds check: the places of a ring, of a pool and of a hash table.
//!
//! An index is masked, so that it is always inside the memory. Each structure makes sure that it is
//! the right place: a ring counts its values, a pool compares the handle of each place, and a hash
//! table compares the key.

use crate::memory::{Memory, prefetch, prefetch_whole};

/// Least number of places of a ring that was used.
const RING_MIN: usize = 8;

/// The number of places that a ring of `values` values may soon need.
pub(crate) fn places_for(values: usize) -> usize {
    (4 * values).next_power_of_two().max(RING_MIN)
}

/// The places of a ring; their number is a power of two. Positions in a ring wrap, so only the low
/// bits of an index count. A ring uses only positions between its head and its tail.
///
/// Invariant: `mask` is less than the number of values.
#[derive(Clone, Debug)]
pub(crate) struct Places<T> {
    values: Box<[T]>,
    mask: usize,
}

impl<T: Copy> Places<T> {
    /// A ring with a single place.
    pub(crate) fn one(value: T) -> Self {
        Self { values: Box::new([value]), mask: 0 }
    }

    /// The number of places.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.mask + 1
    }

    /// The number of places that a full ring grows to.
    pub(crate) fn more(&self) -> usize {
        (2 * self.len()).max(RING_MIN)
    }

    /// Rotates a ring so that `head` comes first, and resizes it to `wanted` places, a power of
    /// two. Allocated memory is kept.
    ///
    /// A panic, of a copy or for lack of memory, leaves everything unchanged.
    pub(crate) fn gather(&mut self, head: usize, wanted: usize, fill: T) {
        assert!(wanted.is_power_of_two(), "a power of two of places");
        let (taken, head) = (self.len(), head & self.mask);
        if wanted > self.values.len() {
            let mut values = Vec::with_capacity(wanted);
            values.extend_from_slice(&self.values[head..taken]);
            values.extend_from_slice(&self.values[..head]);
            values.resize(wanted, fill);
            self.values = values.into_boxed_slice();
        } else {
            self.values[..taken].rotate_left(head);
        }
        // The mask may grow only after the values are there.
        self.mask = wanted - 1;
    }

    /// The value at the place that the low bits of an index name.
    #[inline(always)]
    #[expect(unsafe_code, reason = "rings are looked at for every event and every page")]
    pub(crate) fn at(&self, index: usize) -> &T {
        // SAFETY: the mask is less than the number of values, and so is every number masked by it.
        // Both are set in `one` and in `gather` only, which sets the mask after the values, so this
        // holds even if something panics in between.
        unsafe { self.values.get_unchecked(index & self.mask) }
    }

    /// The value at the place that the low bits of an index name, for writing.
    #[inline(always)]
    #[expect(unsafe_code, reason = "rings are looked at for every event and every page")]
    pub(crate) fn at_mut(&mut self, index: usize) -> &mut T {
        // SAFETY: as in `at`.
        unsafe { self.values.get_unchecked_mut(index & self.mask) }
    }
}

/// Number of bits of a handle that name its place.
pub(crate) const PLACE_BITS: u32 = 28;

/// Places of a pool, each with the handle of its live value. The low [`PLACE_BITS`] bits of a
/// handle name the place.
///
/// Invariants: there are as many handles as values; their number is a power of two and at least
/// two; `mask` is less than that number. The handle at a free place is the complement of the place.
/// Its lowest bit differs from that of the place, so it equals no handle that the mask leads to
/// that place.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    values: Box<[T]>,
    handles: Box<[u32]>,
    mask: usize,
}

/// Stands for the handle at a free place.
#[inline(always)]
fn vacant(place: usize) -> u32 {
    !(place as u32)
}

impl<T: Clone + Default> Slots<T> {
    /// Two free places.
    pub(crate) fn new() -> Self {
        let values = Box::new([T::default(), T::default()]);
        Self { values, handles: Box::new([vacant(0), vacant(1)]), mask: 1 }
    }

    /// A pool with twice as many places; the new ones are free.
    pub(crate) fn doubled(self) -> Self {
        let places = self.len().checked_mul(2).expect("there is memory for so many values");
        let (mut values, mut handles) = (self.values.into_vec(), self.handles.into_vec());
        values.resize(places, T::default());
        handles.extend((handles.len()..places).map(vacant));
        let (values, handles) = (values.into_boxed_slice(), handles.into_boxed_slice());
        assert_eq!((values.len(), handles.len()), (places, places), "a value for every handle");
        Self { values, handles, mask: places - 1 }
    }
}

impl<T> Slots<T> {
    /// The number of places.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.mask + 1
    }

    /// The place of the live value of a handle.
    #[inline(always)]
    #[expect(unsafe_code, reason = "pools are looked at several times for every event and page")]
    fn place(&self, handle: u32) -> usize {
        let place = handle as usize & self.mask;
        // SAFETY: the mask is less than the number of handles, and so is every number masked by it.
        // All three fields are set together, in `new` and in `doubled`.
        if unsafe { *self.handles.get_unchecked(place) } != handle {
            refuse(handle);
        }
        place
    }

    /// The live value of a handle.
    #[inline(always)]
    #[expect(unsafe_code, reason = "pools are looked at several times for every event and page")]
    pub(crate) fn at(&self, handle: u32) -> &T {
        let place = self.place(handle);
        // SAFETY: a place is masked, and the mask is less than the number of values, as in `place`.
        unsafe { self.values.get_unchecked(place) }
    }

    /// The live value of a handle, for writing.
    #[inline(always)]
    #[expect(unsafe_code, reason = "pools are looked at several times for every event and page")]
    pub(crate) fn at_mut(&mut self, handle: u32) -> &mut T {
        let place = self.place(handle);
        // SAFETY: as in `at`.
        unsafe { self.values.get_unchecked_mut(place) }
    }

    /// Puts a value at the free place of a handle.
    #[inline(always)]
    #[expect(unsafe_code, reason = "pools take a value for every request and page")]
    pub(crate) fn put(&mut self, handle: u32, value: T) {
        let place = handle as usize & self.mask;
        // SAFETY: the mask is less than the numbers of handles and of values, as in `place`, and so
        // is every number masked by it. If the value that was there panics when it is dropped, the
        // new one is in its place by then.
        unsafe {
            *self.handles.get_unchecked_mut(place) = handle;
            *self.values.get_unchecked_mut(place) = value;
        }
    }

    /// Frees the place of a handle whose value lives.
    #[inline(always)]
    #[expect(unsafe_code, reason = "pools give back a value for every request and page")]
    pub(crate) fn vacate(&mut self, handle: u32) {
        let place = self.place(handle);
        // SAFETY: a place is masked, and the mask is less than the number of handles, as in
        // `place`.
        unsafe { *self.handles.get_unchecked_mut(place) = vacant(place) };
    }

    /// Prefetches a value. This is a hint: any handle is allowed.
    #[inline(always)]
    pub(crate) fn prefetch(&self, handle: u32) {
        prefetch_whole(&self.values, handle as usize & self.mask);
    }

    /// Every place in order: its handle and value, or `None` if it is free.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<(u32, &T)>> {
        self.handles
            .iter()
            .zip(&self.values)
            .enumerate()
            .map(|(place, (&handle, value))| (handle != vacant(place)).then_some((handle, value)))
    }
}

/// Ends the run after a fault of the simulator: it used a handle whose value was removed.
#[cold]
#[inline(never)]
fn refuse(handle: u32) -> ! {
    panic!("handle {handle:#x} of a slab is used, but its value does not live");
}

/// Size of a pair. Unit: bytes.
const PAIR: usize = size_of::<u64>();

/// The places of a hash table: pairs of numbers, in large pages of memory if the system has them.
/// The number of pairs is a power of two. Only the low bits of an index count, because an index is
/// a hash. The table compares the key that it finds.
///
/// Invariant: the memory has exactly `mask + 1` pairs. Both are set in `new` only.
#[derive(Debug)]
pub(crate) struct Pairs {
    memory: Memory,
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
    /// `pairs` pairs of zeros; the number is a power of two.
    pub(crate) fn new(pairs: usize) -> Self {
        assert!(pairs.is_power_of_two(), "a power of two of places");
        let bytes = pairs.checked_mul(PAIR).expect("the memory for a table has a size");
        let memory = Memory::own(bytes);
        assert_eq!(memory.len(), bytes, "as much memory as asked for");
        memory.prefer_large_pages();
        Self { memory, mask: pairs - 1 }
    }

    /// The number of pairs.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.mask + 1
    }

    /// Offset of a pair in the memory.
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
        // SAFETY: the memory has `mask + 1` pairs, and a masked index is at most `mask`: the last
        // pair ends with the memory.
        let bytes = unsafe { self.memory.get_unchecked(from..from + PAIR) };
        let pair = u64::from_le_bytes(bytes.try_into().expect("as wide as a pair"));
        (pair as u32, (pair >> u32::BITS) as u32)
    }

    /// Sets the pair at the place that the low bits of an index name.
    #[inline(always)]
    #[expect(
        unsafe_code,
        reason = "look-ups of cached pages are many, and the check is half of one"
    )]
    pub(crate) fn set(&mut self, index: usize, first: u32, second: u32) {
        let from = self.offset(index);
        let pair = u64::from(second) << u32::BITS | u64::from(first);
        // SAFETY: the memory has `mask + 1` pairs, and a masked index is at most `mask`: the last
        // pair ends with the memory.
        let bytes = unsafe { self.memory.get_unchecked_mut(from..from + PAIR) };
        bytes.copy_from_slice(&pair.to_le_bytes());
    }

    /// Prefetches a pair.
    #[inline(always)]
    pub(crate) fn prefetch(&self, index: usize) {
        prefetch(&self.memory, self.offset(index));
    }

    /// Sets all pairs to zero.
    pub(crate) fn clear(&mut self) {
        self.memory.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_bits_name_the_place() {
        let mut places = Places::one(0);
        places.gather(0, 4, 9);
        (0..4).for_each(|at| *places.at_mut(at) = at + 1);
        *places.at_mut(6) = 7;
        assert_eq!([0, 1, 2, 3, 4, usize::MAX].map(|at| *places.at(at)), [1, 2, 7, 4, 1, 4]);
        places.gather(6, 8, 9);
        assert_eq!(
            (0..9).map(|at| *places.at(at)).collect::<Vec<_>>(),
            [7, 4, 1, 2, 9, 9, 9, 9, 7]
        );
        places.gather(1, 2, 9);
        assert_eq!((places.len(), [0, 1, 2].map(|at| *places.at(at))), (2, [4, 1, 4]));
    }

    /// A value whose copies panic after a while.
    #[derive(Debug, PartialEq)]
    struct Fragile<'a>(u32, &'a std::cell::Cell<u32>);

    impl Copy for Fragile<'_> {}

    #[expect(clippy::non_canonical_clone_impl, reason = "a copy that panics is the point")]
    impl Clone for Fragile<'_> {
        fn clone(&self) -> Self {
            let left = self.1.get();
            self.1.set(left.checked_sub(1).expect("no copies left"));
            *self
        }
    }

    #[test]
    fn a_panic_while_a_ring_grows_changes_nothing() {
        let copies = std::cell::Cell::new(u32::MAX);
        let mut places = Places::one(Fragile(0, &copies));
        places.gather(0, 4, Fragile(0, &copies));
        (0..4).for_each(|at| *places.at_mut(at) = Fragile(at as u32, &copies));
        let found = |places: &Places<Fragile<'_>>| (0..9).map(|at| places.at(at).0).collect();
        let before: Vec<u32> = found(&places);
        for allowed in 0..8 {
            copies.set(allowed);
            let gather = || places.gather(3, 8, Fragile(9, &copies));
            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(gather)).is_ok() {
                copies.set(u32::MAX);
                assert!(allowed > 0, "a copy was made");
                assert_eq!(found(&places), [3, 0, 1, 2, 9, 9, 9, 9, 3]);
                return;
            }
            // With the mask of eight places and the values of four, this would read beyond the end.
            assert_eq!((places.len(), found(&places)), (4, before.clone()));
        }
        panic!("eight copies are enough for eight places");
    }

    #[test]
    #[should_panic(expected = "the memory for a table has a size")]
    fn pairs_beyond_the_end_of_memory_are_refused() {
        // This many pairs have 2^64 bytes, which as a number of 64 bits is 0.
        let _ = Pairs::new(1 << (usize::BITS - 3));
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
        Places::one(1).gather(0, 3, 1);
    }
}
