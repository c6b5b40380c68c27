//! A pool of values addressed by small integers; freed places are used again.

use std::ops::{Index, IndexMut};

use crate::memory::prefetch_whole;
use crate::places::Places;

/// No value.
pub const NONE: u32 = u32::MAX;

/// Values of one type in one vector. Handles are `u32`; a place that was removed is reused, so a
/// handle is good only while its value lives. Builds with assertions check that; others find some value.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    values: Places<T>,
    /// Handles that were given back, in the first `frees` places.
    free: Places<u32>,
    frees: usize,
    /// Handles that were ever used.
    used: usize,
    /// Which values live, in builds that check the use of handles.
    #[cfg(debug_assertions)]
    live: Vec<bool>,
}

impl<T: Clone + Default> Default for Slab<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone + Default> Slab<T> {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Self {
        Self {
            values: Places::new(vec![T::default()]),
            free: Places::new(vec![NONE]),
            frees: 0,
            used: 0,
            #[cfg(debug_assertions)]
            live: Vec::new(),
        }
    }

    /// Stores a value and returns its handle.
    #[inline(always)]
    pub fn insert(&mut self, value: T) -> u32 {
        let id = if self.frees == 0 {
            self.grow()
        } else {
            self.frees -= 1;
            *self.free.at(self.frees)
        };
        *self.values.at_mut(id as usize) = value;
        #[cfg(debug_assertions)]
        {
            self.live[id as usize] = true;
        }
        id
    }

    /// Makes one more place.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        let id = self.used as u32;
        assert!(id < NONE, "a slab holds fewer than 2^32 - 1 values");
        if self.used == self.values.len() {
            let twice = 2 * self.used;
            let values = std::mem::replace(&mut self.values, Places::new(vec![T::default()]));
            let mut values = values.into_vec();
            values.resize(twice, T::default());
            self.values = Places::new(values);
            // Nothing is free now.
            self.free = Places::new(vec![NONE; twice]);
        }
        self.used += 1;
        #[cfg(debug_assertions)]
        self.live.push(false);
        id
    }
}

impl<T> Slab<T> {
    /// Frees the place of a handle.
    #[inline(always)]
    pub fn remove(&mut self, id: u32) {
        #[cfg(debug_assertions)]
        assert!(std::mem::replace(&mut self.live[id as usize], false), "a value is removed once");
        *self.free.at_mut(self.frees) = id;
        self.frees += 1;
    }

    /// Asks for a value that is needed soon.
    #[inline(always)]
    pub fn prefetch(&self, id: u32) {
        prefetch_whole(self.values.at(id as usize));
    }

    /// Number of live values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.used - self.frees
    }

    /// True if no value lives.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lowest handle of a live value that is wanted.
    pub fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<u32> {
        let free = &self.free.all()[..self.frees];
        let values = (0..).zip(&self.values.all()[..self.used]);
        values.filter(|(_, value)| wanted(value)).map(|(id, _)| id).find(|id| !free.contains(id))
    }

    /// Live handles and values, in order of handle.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let mut live = vec![true; self.used];
        for &id in &self.free.all()[..self.frees] {
            live[id as usize] = false;
        }
        let all = self.values.all().iter().zip(0..);
        all.zip(live).filter(|&(_, live)| live).map(|((value, id), _)| (id, value))
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, id: u32) -> &T {
        #[cfg(debug_assertions)]
        assert!(self.live[id as usize], "a handle is used while its value lives");
        self.values.at(id as usize)
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline(always)]
    fn index_mut(&mut self, id: u32) -> &mut T {
        #[cfg(debug_assertions)]
        assert!(self.live[id as usize], "a handle is used while its value lives");
        self.values.at_mut(id as usize)
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
    #[cfg(debug_assertions)]
    #[should_panic(expected = "once")]
    fn double_removal_is_caught() {
        let mut slab = Slab::new();
        let a = slab.insert(1);
        slab.remove(a);
        slab.remove(a);
    }
}
