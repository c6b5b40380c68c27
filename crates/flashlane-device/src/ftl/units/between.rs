//! The word lines that had their first pass, by block, and those among them that wait for data.

use flashlane_engine::Array;
use flashlane_units::{BlockId, TransactionId};

use super::PassCounts;
use super::order::Order;

/// The word lines of a block between their passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    /// Leaders of the word lines whose first pass is over and whose second pass is not, in order.
    /// The second pass of the first one may be in the scheduler, or under way.
    pub(super) rows: [TransactionId; 2],
    /// Units of the latest word line, while it waits for a next one that is not full yet.
    pub(super) waiting: u32,
    /// Word lines that begin before this unit of the block need not wait for a next one.
    pub(super) hurry: u32,
    /// The block that begins when this one is complete, or `NONE`.
    pub(super) next: BlockId,
}

impl Default for Between {
    fn default() -> Self {
        let rows = [TransactionId::NONE; 2];
        Self { rows, waiting: 0, hurry: 0, next: BlockId::NONE }
    }
}

impl Between {
    /// A word line had its first pass.
    pub(super) fn push(&mut self, leader: TransactionId) {
        let free = self.rows.iter().position(|&row| row == TransactionId::NONE);
        self.rows[free.expect("at most two word lines of a block are between their passes")] =
            leader;
    }

    /// The first of the word lines had its second pass.
    pub(super) fn pop(&mut self, leader: TransactionId) {
        assert_eq!(self.rows[0], leader, "second passes follow in the order of their block");
        self.rows = [self.rows[1], TransactionId::NONE];
    }
}

/// All word lines between their passes.
#[derive(Clone)]
pub(super) struct Passes {
    pub(super) of_block: Array<BlockId, Between>,
    /// By plane, flow and stream: the block of the latest word line that was sent, until the block
    /// is complete; or `NONE`.
    latest: Vec<BlockId>,
    /// Blocks whose first word line waits for data, in the order in which it has waited enough.
    pub(super) order: Order,
    /// Units of word lines that wait for data.
    pub(super) waiting: u32,
    pub(super) counts: PassCounts,
}

impl Passes {
    /// `streams`: planes times flows times streams.
    pub(super) fn new(blocks: usize, streams: usize) -> Self {
        Self {
            of_block: Array::of(Between::default(), blocks),
            latest: vec![BlockId::NONE; streams],
            order: Order::new(blocks),
            waiting: 0,
            counts: PassCounts::default(),
        }
    }

    /// A word line of a block is full: nothing of the block waits for data any more. `at`: its
    /// plane, flow and stream. Returns true if the block has to wait for another one.
    pub(super) fn next_is_full(&mut self, block: BlockId, at: usize) -> bool {
        self.stop_waiting(block);
        let before = std::mem::replace(&mut self.latest[at], block);
        let waits = before != BlockId::NONE && before != block;
        if waits {
            self.of_block[before].next = block;
        }
        waits
    }

    /// A block is complete. Returns the block that may begin, or `NONE`.
    pub(super) fn complete(&mut self, block: BlockId, at: usize) -> BlockId {
        let Between { rows, waiting, next, .. } = std::mem::take(&mut self.of_block[block]);
        assert!(rows[0] == TransactionId::NONE && waiting == 0, "no word line is left");
        if next == BlockId::NONE {
            assert_eq!(self.latest[at], block, "the block is the latest of its stream");
            self.latest[at] = BlockId::NONE;
        }
        next
    }

    /// Nothing of a block waits for data any more.
    pub(super) fn stop_waiting(&mut self, block: BlockId) {
        self.waiting -= std::mem::take(&mut self.of_block[block].waiting);
        if self.order.waits(block.index()) {
            self.order.remove(block.index());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_engine::Time;

    #[test]
    fn a_block_waits_until_its_next_word_line_is_full() {
        let [first, second] = [BlockId::new(0), BlockId::new(1)];
        let mut passes = Passes::new(2, 1);
        for block in [first, second] {
            (passes.of_block[block].waiting, passes.waiting) = (3, passes.waiting + 3);
        }
        passes.order.push(first.index(), Time(10));
        passes.next_is_full(first, 0);
        assert_eq!((passes.waiting, passes.order.waits(first.index())), (3, false));
        passes.stop_waiting(second);
        assert_eq!(passes.waiting, 0, "it was not in the order");
    }

    #[test]
    fn a_block_begins_when_the_one_before_is_complete() {
        let [first, second] = [BlockId::new(0), BlockId::new(1)];
        let mut passes = Passes::new(2, 1);
        assert!(!passes.next_is_full(first, 0), "nothing is before it");
        assert!(!passes.next_is_full(first, 0), "another word line of it");
        assert!(passes.next_is_full(second, 0), "the first one is not complete");
        assert_eq!(passes.complete(first, 0), second);
        assert_eq!(passes.complete(second, 0), BlockId::NONE);
        assert!(!passes.next_is_full(first, 0), "all are complete");
    }

    #[test]
    fn word_lines_leave_in_the_order_in_which_they_came() {
        let [one, two] = [TransactionId::new(1), TransactionId::new(2)];
        let mut between = Between::default();
        between.push(one);
        between.push(two);
        assert_eq!(between.rows, [one, two]);
        between.pop(one);
        assert_eq!(between.rows, [two, TransactionId::NONE]);
    }
}
