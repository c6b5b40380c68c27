//! A pool of values addressed by small integers; freed places are used again.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use crate::handle::Handle;
use crate::places::{PLACE_BITS, Slots};

/// No number.
pub const NONE: u32 = u32::MAX;

/// Amount by which the handle of a place grows whenever the place is freed. Wraps.
const GENERATION: u32 = 1 << PLACE_BITS;

/// The place that a handle names. Each live value has a place of its own. Places are small numbers
/// and are reused, so they can be indices of tables beside the slab.
#[inline(always)]
#[must_use]
pub fn place_of<H: Handle>(handle: H) -> usize {
    (handle.get() & (GENERATION - 1)) as usize
}

/// Values of one type in one vector. The slab has handles of its own type `H`. A handle is valid
/// only while its value lives.
///
/// Every look-up is checked, in release builds too: a handle whose value was removed panics, even
/// if another value has taken the place since. A handle has its place in the low 28 bits. The high
/// four bits count the values of the place, so an old handle looks like a new one only after 16
/// more values.
#[derive(Clone, Debug)]
pub struct Slab<H, T> {
    slots: Slots<T>,
    /// The next handles of places that were freed.
    free: Vec<u32>,
    /// Number of places that were ever used.
    used: usize,
    /// The type of the handles; they are kept as numbers.
    handles: PhantomData<H>,
}

impl<H: Handle, T: Clone + Default> Default for Slab<H, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: Handle, T: Clone + Default> Slab<H, T> {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Self {
        Self { slots: Slots::new(), free: Vec::new(), used: 0, handles: PhantomData }
    }

    /// Stores a value and returns its handle.
    ///
    /// # Panics
    /// With 2^28 - 1 values already.
    #[inline(always)]
    pub fn insert(&mut self, value: T) -> H {
        let handle = match self.free.pop() {
            Some(handle) => handle,
            None => self.grow(),
        };
        self.slots.put(handle, value);
        H::new(handle)
    }

    /// Makes another place and returns its first handle.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        let handle = u32::try_from(self.used).unwrap_or(NONE);
        assert!(handle < GENERATION - 1, "a slab holds fewer than 2^{PLACE_BITS} - 1 values");
        if self.used == self.slots.len() {
            // If memory runs out here, an empty slab remains, which refuses all handles.
            let mut grown = std::mem::take(self);
            grown.slots = grown.slots.doubled();
            // Room for every place, so that `remove` never allocates. Nothing is free now.
            grown.free.reserve_exact(grown.slots.len());
            *self = grown;
        }
        self.used += 1;
        handle
    }
}

impl<H: Handle, T> Slab<H, T> {
    /// Frees the place of a handle.
    ///
    /// # Panics
    /// If the value of the handle does not live.
    #[inline(always)]
    pub fn remove(&mut self, handle: H) {
        self.slots.vacate(handle.get());
        self.free.push(handle.get().wrapping_add(GENERATION));
    }

    /// Prefetches a value.
    #[inline(always)]
    pub fn prefetch(&self, handle: H) {
        self.slots.prefetch(handle.get());
    }

    /// Number of live values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.used - self.free.len()
    }

    /// True if no value lives.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The handle of the live value for which `wanted` is true; of several, the value in the lowest
    /// place.
    pub fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<H> {
        self.iter().find(|(_, value)| wanted(value)).map(|(handle, _)| handle)
    }

    /// Live handles and values, in order of place.
    pub fn iter(&self) -> impl Iterator<Item = (H, &T)> {
        let live = self.slots.iter().take(self.used).flatten();
        live.map(|(handle, value)| (H::new(handle), value))
    }
}

impl<H: Handle, T> Index<H> for Slab<H, T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, handle: H) -> &T {
        self.slots.at(handle.get())
    }
}

impl<H: Handle, T> IndexMut<H> for Slab<H, T> {
    #[inline(always)]
    fn index_mut(&mut self, handle: H) -> &mut T {
        self.slots.at_mut(handle.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::test_id::Id;
    use crate::rng::Rng;
    use std::collections::BTreeMap;

    type Slab<T> = super::Slab<Id, T>;

    #[test]
    fn places_are_reused() {
        let mut slab = Slab::new();
        let a = slab.insert("a");
        let b = slab.insert("b");
        slab.remove(a);
        let c = slab.insert("c");
        assert!(a != c && place_of(a) == place_of(c));
        assert_eq!((slab[b], slab[c], slab.len()), ("b", "c", 2));
        assert_eq!(slab.iter().count(), 2);
    }

    #[test]
    fn only_live_values_are_found() {
        let mut slab = Slab::new();
        let [a, b, c] = ["x", "y", "x"].map(|value| slab.insert(value));
        let find = |slab: &Slab<&str>, wanted| slab.find(|&value| value == wanted);
        assert_eq!(
            (find(&slab, "x"), find(&slab, "y"), find(&slab, "z")),
            (Some(a), Some(b), None)
        );
        slab.remove(a);
        assert_eq!(find(&slab, "x"), Some(c));
        slab.remove(c);
        assert_eq!(find(&slab, "x"), None);
    }

    #[test]
    fn behaves_like_a_map_of_live_handles() {
        let mut rng = Rng::stream(3, "slab", 0);
        let (mut slab, mut model) = (Slab::new(), BTreeMap::new());
        for step in 0..crate::steps(20_000) as u64 {
            let some = model.keys().nth(rng.below(1 + model.len() as u64) as usize).copied();
            match (some, rng.below(5)) {
                (Some(handle), 0 | 1) => {
                    assert_eq!(model.remove(&handle), Some(slab[handle]));
                    slab.remove(handle);
                }
                (Some(handle), 2) => {
                    slab[handle] = step;
                    model.insert(handle, step);
                }
                _ => assert_eq!(model.insert(slab.insert(step), step), None, "a new handle"),
            }
            assert_eq!((slab.len(), slab.is_empty()), (model.len(), model.is_empty()));
        }
        let mut live: Vec<(Id, u64)> = model.into_iter().collect();
        live.sort_by_key(|&(handle, _)| place_of(handle));
        assert!(slab.iter().map(|(handle, &value)| (handle, value)).eq(live));
    }

    #[test]
    fn many_values_of_one_place_are_told_apart() {
        let mut slab = Slab::new();
        let handles: Vec<Id> = (0..16)
            .map(|value| {
                let handle = slab.insert(value);
                slab.remove(handle);
                handle
            })
            .collect();
        let now = slab.insert(16);
        assert_eq!(now, handles[0], "the count of values wraps");
        assert!(handles[1..].iter().all(|&old| old != now && place_of(old) == place_of(now)));
        assert_eq!(handles.iter().collect::<std::collections::BTreeSet<_>>().len(), 16);
    }

    // The tests below run in release builds too, where such a handle once returned another value.

    #[test]
    #[should_panic(expected = "its value does not live")]
    fn a_second_removal_panics() {
        let mut slab = Slab::new();
        let a = slab.insert(1);
        slab.remove(a);
        slab.remove(a);
    }

    #[test]
    #[should_panic(expected = "its value does not live")]
    fn a_handle_whose_value_was_removed_panics() {
        let mut slab = Slab::new();
        let [a, _] = [1, 2].map(|value| slab.insert(value));
        slab.remove(a);
        let _ = slab[a];
    }

    #[test]
    #[should_panic(expected = "its value does not live")]
    fn a_handle_whose_place_was_taken_again_panics() {
        let mut slab = Slab::new();
        let [a, _] = [1, 2].map(|value| slab.insert(value));
        slab.remove(a);
        assert_eq!(place_of(slab.insert(3)), place_of(a));
        slab[a] = 4;
    }

    #[test]
    #[should_panic(expected = "its value does not live")]
    fn a_handle_that_was_never_given_panics() {
        let mut slab = Slab::new();
        let [_, b, _] = [1, 2, 3].map(|value| slab.insert(value));
        let _ = slab[Id::new(b.get() + 4)];
    }

    #[test]
    #[should_panic(expected = "its value does not live")]
    fn no_handle_panics() {
        let _ = Slab::<u8>::new()[Id::NONE];
    }

    #[test]
    fn every_handle_of_an_empty_slab_is_refused() {
        let refused = |slab: &Slab<u8>, handle: u32| {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| slab[Id::new(handle)]))
                .is_err()
        };
        let mut slab = Slab::new();
        for handles in 0..5 {
            for handle in (0..8).chain([GENERATION, GENERATION + 1, NONE - 1, NONE]) {
                assert!(refused(&slab, handle), "{handle:#x} after {handles} values");
            }
            let live: Vec<Id> = (0..handles).map(|value| slab.insert(value)).collect();
            live.into_iter().for_each(|handle| slab.remove(handle));
        }
    }
}
