//! The free blocks of a tenant's space. Unit: blocks of 4 KiB.

use std::collections::BTreeMap;

/// Free ranges by their first block.
#[derive(Debug)]
pub(crate) struct Space {
    free: BTreeMap<u64, u64>,
    blocks: u64,
}

impl Space {
    /// A space with all blocks from `first` to `end` free.
    pub(crate) fn new(first: u64, end: u64) -> Self {
        let free =
            if first < end { BTreeMap::from([(first, end - first)]) } else { BTreeMap::new() };
        Self { free, blocks: end.saturating_sub(first) }
    }

    /// Free blocks.
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Takes blocks: those at `goal` if they are free, otherwise the first range with room,
    /// otherwise pieces of several ranges. `None` if there are not enough free blocks; none is
    /// taken then.
    pub(crate) fn take(&mut self, blocks: u64, goal: u64) -> Option<Vec<(u64, u64)>> {
        if blocks > self.blocks {
            return None;
        }
        let (mut taken, mut left) = (Vec::new(), blocks);
        if self.free.contains_key(&goal) {
            left -= self.cut(goal, left, &mut taken);
        }
        while left > 0 {
            let roomy = self.free.iter().find(|&(_, &length)| length >= left);
            let (&start, _) = roomy
                .or_else(|| self.free.iter().max_by_key(|&(&start, &length)| (length, !start)))
                .expect("as many blocks are free as are counted");
            left -= self.cut(start, left, &mut taken);
        }
        Some(taken)
    }

    /// Takes up to `most` blocks from the start of a free range. Returns their number.
    fn cut(&mut self, start: u64, most: u64, taken: &mut Vec<(u64, u64)>) -> u64 {
        let length = self.free.remove(&start).expect("the range is free");
        let used = length.min(most);
        if used < length {
            self.free.insert(start + used, length - used);
        }
        if used > 0 {
            taken.push((start, used));
        }
        self.blocks -= used;
        used
    }

    /// Frees a range.
    pub(crate) fn release(&mut self, start: u64, length: u64) {
        assert!(length > 0, "a range has blocks");
        let (mut start, mut length) = (start, length);
        self.blocks += length;
        if let Some((&before, &size)) = self.free.range(..start).next_back() {
            assert!(before + size <= start, "a block is given back once");
            if before + size == start {
                self.free.remove(&before);
                (start, length) = (before, size + length);
            }
        }
        if let Some(size) = self.free.remove(&(start + length)) {
            length += size;
        }
        self.free.insert(start, length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_taken_at_their_goal_and_joined_again() {
        let mut space = Space::new(10, 30);
        assert_eq!(space.take(4, 0), Some(vec![(10, 4)]));
        assert_eq!(space.take(4, 14), Some(vec![(14, 4)]));
        space.release(10, 4);
        assert_eq!(space.take(13, 0), Some(vec![(18, 12), (10, 1)]));
        assert_eq!((space.take(4, 0), space.blocks()), (None, 3));
        space.release(14, 4);
        space.release(10, 1);
        space.release(18, 12);
        assert_eq!((space.take(20, 0), space.blocks()), (Some(vec![(10, 20)]), 0));
    }
}
