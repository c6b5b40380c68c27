//! A map from `u32` to `u32` in one flat table. It behaves equally on every machine.

use crate::places::Pairs;

/// Open addressing with linear probing and backward-shift deletion. Keys below `u32::MAX`.
///
/// It is for sets of numbers of which only few have an entry (cached pages, cached mappings). Its
/// order cannot be observed, because there is no iterator.
#[derive(Clone, Debug)]
pub struct DenseMap {
    /// Pairs of a key plus one and a value; 0 marks an empty place.
    pairs: Pairs,
    len: usize,
}

impl Default for DenseMap {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl DenseMap {
    /// A map with room for `capacity` entries before it grows.
    ///
    /// # Panics
    ///
    /// If there is not enough memory.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let pairs = capacity.checked_mul(2).and_then(usize::checked_next_power_of_two);
        let pairs = pairs.expect("the memory for a table has a size");
        Self { pairs: Pairs::new(pairs.max(8)), len: 0 }
    }

    /// The place of a key, of which only the low bits count.
    #[inline]
    fn place(key: u32) -> usize {
        let hash = u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash >> 32) as usize
    }

    /// The place and the value of a key, or the place that it would take.
    #[inline]
    fn find(&self, key: u32) -> Result<(usize, u32), usize> {
        let mut at = Self::place(key);
        loop {
            match self.pairs.at(at) {
                (0, _) => return Err(at),
                (found, value) if found == key.wrapping_add(1) => return Ok((at, value)),
                _ => at = at.wrapping_add(1),
            }
        }
    }

    /// Prefetches the entry of a key.
    #[inline]
    pub fn prefetch(&self, key: u32) {
        self.pairs.prefetch(Self::place(key));
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of a key.
    #[inline]
    #[must_use]
    pub fn get(&self, key: u32) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        self.find(key).ok().map(|(_, value)| value)
    }

    /// Sets the value of a key. Returns the old value.
    ///
    /// # Panics
    /// For the key `u32::MAX`.
    pub fn insert(&mut self, key: u32, value: u32) -> Option<u32> {
        assert!(key != u32::MAX, "a key of a map is less than 2^32 - 1");
        if self.len * 2 >= self.pairs.len() {
            self.grow();
        }
        match self.find(key) {
            Ok((at, before)) => {
                self.pairs.set(at, key + 1, value);
                Some(before)
            }
            Err(at) => {
                self.pairs.set(at, key + 1, value);
                self.len += 1;
                None
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Self { pairs: Pairs::new(self.pairs.len() * 2), len: self.len };
        for at in 0..self.pairs.len() {
            let (key, value) = self.pairs.at(at);
            if key != 0 {
                let place = larger.find(key - 1).expect_err("keys are unique");
                larger.pairs.set(place, key, value);
            }
        }
        *self = larger;
    }

    /// Removes every entry, but keeps the memory.
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.len = 0;
    }

    /// Removes a key; returns its value.
    pub fn remove(&mut self, key: u32) -> Option<u32> {
        let (mut hole, value) = self.find(key).ok()?;
        let mask = self.pairs.len() - 1;
        let mut at = hole;
        loop {
            at = at.wrapping_add(1);
            let (found, moved) = self.pairs.at(at);
            if found == 0 {
                break;
            }
            // Moves an entry back, unless it would then be before its own place.
            let home = Self::place(found - 1);
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.pairs.set(hole, found, moved);
                hole = at;
            }
        }
        self.pairs.set(hole, 0, 0);
        self.len -= 1;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn behaves_like_a_tree_map() {
        let mut rng = Rng::stream(5, "map", 0);
        let mut map = DenseMap::default();
        let mut model = BTreeMap::new();
        for step in 0..crate::steps(50_000) as u32 {
            let key = rng.below(900) as u32;
            match rng.below(3) {
                0 => assert_eq!(map.remove(key), model.remove(&key)),
                1 => assert_eq!(map.insert(key, step), model.insert(key, step)),
                _ => assert_eq!(map.get(key), model.get(&key).copied()),
            }
            assert_eq!(map.len(), model.len());
        }
    }

    #[test]
    fn the_key_that_stands_for_none_is_never_found() {
        let mut map = DenseMap::default();
        map.insert(u32::MAX - 1, 1);
        assert_eq!((map.get(u32::MAX), map.remove(u32::MAX), map.len()), (None, None, 1));
    }

    #[test]
    #[should_panic(expected = "less than 2^32 - 1")]
    fn the_key_that_stands_for_none_is_not_inserted() {
        // Release builds once counted this key as an entry and could not find it again.
        DenseMap::default().insert(u32::MAX, 1);
    }

    #[test]
    #[should_panic(expected = "the memory for a table has a size")]
    fn room_beyond_the_end_of_memory_is_refused() {
        let _ = DenseMap::with_capacity(1 << (usize::BITS - 2));
    }
}
