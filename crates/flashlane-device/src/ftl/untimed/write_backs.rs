//! Room for pages on their way from the data cache to flash.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Ends of the write-backs under way in one pool of the cache.
#[derive(Clone, Debug)]
pub(super) struct WriteBacks {
    pub(super) ends: BinaryHeap<Reverse<u64>>,
    /// Most write-backs at a time. Unit: pages.
    pub(super) bound: usize,
}

impl WriteBacks {
    /// Earliest time, from `at` on, at which a write has room.
    pub(super) fn room_at(&mut self, mut at: u64) -> u64 {
        while let Some(&Reverse(end)) = self.ends.peek()
            && (end <= at || self.ends.len() >= self.bound)
        {
            self.ends.pop();
            at = at.max(end);
        }
        assert!(self.ends.len() < self.bound, "a write that has room finds it");
        at
    }
}
