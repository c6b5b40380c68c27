//! The turns of blocks on a plane whose frontiers are open from the start.
//!
//! The released MQSim lists blocks in the order in which they are taken: host data, translation
//! pages and moved pages, flow by flow, and then as they are needed. A policy that takes turns
//! follows this list. A block whose turn comes while it is open has none later, and nothing is
//! collected then.

/// Blocks that a flow opens at the start beside that of its data: for translation pages and for
/// moved ones.
const OPEN_WITHOUT_DATA: u32 = 2;

/// The next turns of a plane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turns {
    /// Flows whose first block was not collected.
    uncollected: u32,
    /// The next turns that are those of open blocks.
    idle: u32,
}

impl Turns {
    /// Adds a flow whose frontiers are open from the start.
    pub(super) fn add_flow(&mut self) {
        self.uncollected += 1;
    }

    /// Takes the next turn. True if it is that of an open block.
    pub(in crate::ftl) fn next_is_idle(&mut self) -> bool {
        if self.idle > 0 {
            self.idle -= 1;
            return true;
        }
        if self.uncollected > 0 {
            self.uncollected -= 1;
            self.idle = OPEN_WITHOUT_DATA;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_blocks_follow_the_first_block_of_each_flow() {
        let mut turns = Turns::default();
        assert!(!turns.next_is_idle(), "no frontier is open");
        turns.add_flow();
        turns.add_flow();
        let idle: Vec<bool> = (0..8).map(|_| turns.next_is_idle()).collect();
        assert_eq!(idle, [false, true, true, false, true, true, false, false]);
    }
}
