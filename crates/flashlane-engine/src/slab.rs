//! A pool of values addressed by small integers; freed places are used again.

use std::ops::{Index, IndexMut};

/// No value.
pub const NONE: u32 = u32::MAX;

/// Values of one type in one vector. Handles are `u32`; a place that was removed is reused, so a
/// handle is good only while its value lives.
#[derive(Clone, Debug, Default)]
pub struct Slab<T> {
    values: Vec<T>,
    free: Vec<u32>,
    /// Which values live, in builds that check the use of handles.
    #[cfg(debug_assertions)]
    live: Vec<bool>,
}

impl<T: Clone + Default> Slab<T> {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores a value and returns its handle.
    #[inline(always)]
    pub fn insert(&mut self, value: T) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        self.values[id as usize] = value;
        #[cfg(debug_assertions)]
        {
            self.live[id as usize] = true;
        }
        id
    }

    /// Makes one more place.
    #[cold]
    fn grow(&mut self) -> u32 {
        let id = self.values.len() as u32;
        assert!(id < NONE, "a slab holds fewer than 2^32 - 1 values");
        self.values.push(T::default());
        #[cfg(debug_assertions)]
        self.live.push(false);
        id
    }
}

impl<T> Slab<T> {
    /// Frees the place of a handle.
    #[inline]
    pub fn remove(&mut self, id: u32) {
        #[cfg(debug_assertions)]
        assert!(std::mem::replace(&mut self.live[id as usize], false), "a value is removed once");
        self.free.push(id);
    }

    /// Number of live values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    /// True if no value lives.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Live handles and values, in order of handle.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let mut live = vec![true; self.values.len()];
        for &id in &self.free {
            live[id as usize] = false;
        }
        let all = self.values.iter().zip(0..);
        all.zip(live).filter(|&(_, live)| live).map(|((value, id), _)| (id, value))
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, id: u32) -> &T {
        #[cfg(debug_assertions)]
        assert!(self.live[id as usize], "a handle is used while its value lives");
        &self.values[id as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut T {
        #[cfg(debug_assertions)]
        assert!(self.live[id as usize], "a handle is used while its value lives");
        &mut self.values[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_reused() {
        let mut slab = Slab::new();
        let a = slab.insert("a");
        let b = slab.insert("b");
        slab.remove(a);
        let c = slab.insert("c");
        assert_eq!(a, c);
        assert_eq!((slab[b], slab[c], slab.len()), ("b", "c", 2));
        assert_eq!(slab.iter().count(), 2);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "once")]
    fn double_removal_is_caught() {
        let mut slab = Slab::new();
        let a = slab.insert(1);
        slab.remove(a);
        slab.remove(a);
    }
}
