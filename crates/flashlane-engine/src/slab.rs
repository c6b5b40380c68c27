//! A pool of values addressed by small integers; freed places are used again.

use std::ops::{Index, IndexMut};

/// No value.
pub const NONE: u32 = u32::MAX;

/// Values of one type in one vector. Handles are `u32`; a place that was removed is reused, so a
/// handle is good only while its value lives.
#[derive(Clone, Debug, Default)]
pub struct Slab<T> {
    values: Vec<T>,
    live: Vec<bool>,
    free: Vec<u32>,
}

impl<T: Clone> Slab<T> {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Self {
        Self { values: Vec::new(), live: Vec::new(), free: Vec::new() }
    }

    /// Stores a value and returns its handle.
    #[inline]
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(id) = self.free.pop() {
            self.values[id as usize] = value;
            self.live[id as usize] = true;
            return id;
        }
        let id = self.values.len() as u32;
        assert!(id < NONE, "a slab holds fewer than 2^32 - 1 values");
        self.values.push(value);
        self.live.push(true);
        id
    }

    /// Frees the place of a handle.
    #[inline]
    pub fn remove(&mut self, id: u32) {
        let live = &mut self.live[id as usize];
        assert!(*live, "a value is removed once");
        *live = false;
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
        self.values
            .iter()
            .enumerate()
            .filter(|&(id, _)| self.live[id])
            .map(|(id, value)| (id as u32, value))
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, id: u32) -> &T {
        debug_assert!(self.live[id as usize], "a handle is used while its value lives");
        &self.values[id as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut T {
        debug_assert!(self.live[id as usize], "a handle is used while its value lives");
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
    #[should_panic(expected = "once")]
    fn double_removal_is_caught() {
        let mut slab = Slab::new();
        let a = slab.insert(1);
        slab.remove(a);
        slab.remove(a);
    }
}
