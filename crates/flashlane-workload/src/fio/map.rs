//! The blocks that a pass has touched.

/// A set of blocks, one bit each.
#[derive(Clone, Debug)]
pub(super) struct Map {
    /// One bit a block; set if the block is taken.
    words: Vec<u64>,
    blocks: u64,
    /// All words before this one are full.
    full: usize,
}

impl Map {
    /// A map without taken blocks.
    pub(super) fn new(blocks: u64) -> Self {
        let mut map = Self { words: vec![0; blocks.div_ceil(64) as usize], blocks, full: 0 };
        map.clear();
        map
    }

    /// Frees all blocks.
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
        self.full = 0;
        let rest = self.blocks % 64;
        if let Some(last) = self.words.last_mut().filter(|_| rest > 0) {
            // Blocks behind the end count as taken.
            *last = !0 << rest;
        }
    }

    /// True if the block is taken. Blocks behind the end count as taken.
    pub(super) fn is_taken(&self, block: u64) -> bool {
        self.words.get((block / 64) as usize).is_none_or(|word| word >> (block % 64) & 1 == 1)
    }

    /// The first free block from `block` on; if there is none, the first from the start.
    pub(super) fn next_free(&mut self, block: u64) -> Option<u64> {
        while self.words.get(self.full) == Some(&!0) {
            self.full += 1;
        }
        self.free_from(block).or_else(|| self.free_from(self.full as u64 * 64))
    }

    fn free_from(&self, block: u64) -> Option<u64> {
        let first = (block / 64) as usize;
        let mut hidden = (1_u64 << (block % 64)) - 1;
        let start = first.max(self.full);
        if start > first {
            hidden = 0;
        }
        for (index, word) in self.words.iter().enumerate().skip(start) {
            let free = !word & !hidden;
            if free != 0 {
                return Some(index as u64 * 64 + u64::from(free.trailing_zeros()));
            }
            hidden = 0;
        }
        None
    }

    /// Takes up to `count` consecutive free blocks. Returns their number.
    pub(super) fn take(&mut self, first: u64, count: u64) -> u64 {
        let mut taken = 0;
        while taken < count && !self.is_taken(first + taken) {
            let block = first + taken;
            self.words[(block / 64) as usize] |= 1 << (block % 64);
            taken += 1;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_blocks_are_found_from_a_place_on_and_then_from_the_start() {
        for blocks in [1, 63, 64, 65, 130, 1000] {
            let mut map = Map::new(blocks);
            for step in 0..blocks {
                let from = step * 7919 % blocks;
                let free = map.next_free(from).expect("some are free");
                let wraps = !(from..blocks).any(|block| !map.is_taken(block));
                assert!(free < blocks && (free >= from) != wraps, "{free} from {from}");
                assert_eq!(map.take(free, 1), 1);
            }
            assert_eq!(map.next_free(0), None);
            map.clear();
            assert_eq!(map.next_free(blocks - 1), Some(blocks - 1));
        }
    }

    #[test]
    fn a_run_ends_at_a_block_that_is_taken_and_at_the_end() {
        let mut map = Map::new(70);
        assert_eq!(map.take(66, 1), 1);
        assert_eq!(map.take(60, 20), 6);
        assert_eq!(map.take(60, 20), 0);
        assert_eq!(map.take(67, 20), 3);
    }
}
