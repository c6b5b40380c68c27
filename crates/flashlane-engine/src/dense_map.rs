//! A map from `u32` to `u32` in one flat table, the same on every machine.

/// Open addressing with linear probing and backward-shift deletion. Keys below `u32::MAX`.
///
/// Used where only few of very many numbers have an entry (cached pages, cached mappings). Its
/// order is never observed: there is no iterator.
#[derive(Clone, Debug)]
pub struct DenseMap {
    /// Key + 1 and value; key 0 is an empty place.
    table: Vec<(u32, u32)>,
    len: usize,
}

impl Default for DenseMap {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl DenseMap {
    /// A map with room for `capacity` entries before it grows.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let places = (capacity * 2).next_power_of_two().max(8);
        Self { table: vec![(0, 0); places], len: 0 }
    }

    #[inline]
    fn place(&self, key: u32) -> usize {
        let hash = u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash >> 32) as usize & (self.table.len() - 1)
    }

    #[inline]
    fn find(&self, key: u32) -> Result<usize, usize> {
        let mask = self.table.len() - 1;
        let mut at = self.place(key);
        loop {
            match self.table[at].0 {
                0 => return Err(at),
                found if found == key + 1 => return Ok(at),
                _ => at = (at + 1) & mask,
            }
        }
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

    /// Memory of the table. Unit: bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.table.len() * size_of::<(u32, u32)>()
    }

    /// The value of a key.
    #[inline]
    #[must_use]
    pub fn get(&self, key: u32) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        self.find(key).ok().map(|at| self.table[at].1)
    }

    /// Sets the value of a key; returns the one before.
    pub fn insert(&mut self, key: u32, value: u32) -> Option<u32> {
        if self.len * 2 >= self.table.len() {
            self.grow();
        }
        match self.find(key) {
            Ok(at) => Some(std::mem::replace(&mut self.table[at].1, value)),
            Err(at) => {
                self.table[at] = (key + 1, value);
                self.len += 1;
                None
            }
        }
    }

    fn grow(&mut self) {
        let places = self.table.len() * 2;
        let old = std::mem::replace(&mut self.table, vec![(0, 0); places]);
        for (key, value) in old {
            if key != 0 {
                let at = self.find(key - 1).expect_err("keys are unique");
                self.table[at] = (key, value);
            }
        }
    }

    /// Removes every entry and keeps the memory.
    pub fn clear(&mut self) {
        self.table.fill((0, 0));
        self.len = 0;
    }

    /// Removes a key; returns its value.
    pub fn remove(&mut self, key: u32) -> Option<u32> {
        let mut hole = self.find(key).ok()?;
        let value = self.table[hole].1;
        let mask = self.table.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let (found, _) = self.table[at];
            if found == 0 {
                break;
            }
            // Move an entry back unless that would put it before its own place.
            let home = self.place(found - 1);
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.table[hole] = self.table[at];
                hole = at;
            }
        }
        self.table[hole] = (0, 0);
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
        for step in 0..50_000_u32 {
            let key = rng.below(900) as u32;
            match rng.below(3) {
                0 => assert_eq!(map.remove(key), model.remove(&key)),
                1 => assert_eq!(map.insert(key, step), model.insert(key, step)),
                _ => assert_eq!(map.get(key), model.get(&key).copied()),
            }
            assert_eq!(map.len(), model.len());
        }
    }
}
