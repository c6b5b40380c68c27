//! Every block of a space once a round, in a random order.

use super::scatter::{Scatter, mix};

/// Position in an order of all blocks that needs no memory.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    order: Scatter,
    key: u64,
    fresh: bool,
    /// Number of blocks of the round so far, and number of rounds so far.
    next: u64,
    round: u64,
}

impl Permutation {
    pub(crate) fn new(blocks: u64, key: u64, fresh: bool) -> Self {
        Self { order: Scatter::new(blocks, key), key, fresh, next: 0, round: 0 }
    }

    /// Makes this the past of a round: a different order, so that the run does not repeat it block
    /// by block.
    pub(crate) fn diverge(&mut self) {
        self.round = u64::MAX / 2;
        self.order = Scatter::new(self.order.count(), mix(!self.key));
    }

    /// The next block out of `blocks`.
    pub(crate) fn next(&mut self, blocks: u64) -> u64 {
        if blocks != self.order.count() {
            *self = Self::new(blocks, self.key, self.fresh);
        } else if self.next == blocks {
            (self.next, self.round) = (0, self.round + 1);
            if self.fresh {
                self.order = Scatter::new(blocks, self.key ^ mix(self.round));
            }
        }
        self.next += 1;
        self.order.at(self.next - 1)
    }
}
