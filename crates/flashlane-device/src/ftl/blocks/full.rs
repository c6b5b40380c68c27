//! Valid pages of full blocks in one array, for policies that compare all blocks of a plane. The
//! array takes a few kilobytes a plane, and so stays in the processor's cache; the blocks
//! themselves take many times that.

use std::ops::Range;

use flashlane_units::BlockId;

/// Stands for a block that is not full.
const OTHERS: u16 = u16::MAX;

/// Blocks that are compared in one step.
const TOGETHER: usize = 128;

/// Valid pages of each full block; empty where no policy compares all blocks.
#[derive(Clone, Debug, Default)]
pub(in crate::ftl) struct FullBlocks {
    valid: Vec<u16>,
}

impl FullBlocks {
    /// Builds the array from the valid pages of each block; `None` for a block that is not full.
    pub(in crate::ftl) fn of(blocks: impl Iterator<Item = Option<u32>>) -> Self {
        Self { valid: blocks.map(|valid| valid.map_or(OTHERS, |valid| valid as u16)).collect() }
    }

    /// Notes that a block is full and has `valid` valid pages.
    #[inline]
    pub(super) fn filled(&mut self, block: BlockId, valid: u32) {
        if let Some(known) = self.valid.get_mut(block.index()) {
            *known = valid as u16;
        }
    }

    /// Notes that a full block lost `count` valid pages.
    #[inline]
    pub(super) fn invalidated(&mut self, block: BlockId, count: u32) {
        if let Some(known) = self.valid.get_mut(block.index()) {
            *known -= count as u16;
        }
    }

    /// Notes that a block is about to be emptied or erased.
    #[inline]
    pub(super) fn collected(&mut self, block: BlockId) {
        self.filled(block, u32::from(OTHERS));
    }

    /// Valid pages of a range of blocks; empty where no policy compares all blocks.
    pub(in crate::ftl) fn some(&self, blocks: Range<usize>) -> &[u16] {
        self.valid.get(blocks).unwrap_or_default()
    }

    /// Checks the entry of a block against the block.
    pub(super) fn audit(&self, block: BlockId, valid: Option<u32>) {
        let known = self.valid.get(block.index());
        let right =
            known.is_none_or(|&known| u32::from(known) == valid.unwrap_or(u32::from(OTHERS)));
        assert!(right, "valid pages of full block {block}");
    }
}

/// The first full block with the fewest valid pages, and their number; `None` for an empty slice.
pub(in crate::ftl) fn first_fewest(valid: &[u16]) -> Option<(u32, u16)> {
    let fewest_of = |some: &[u16]| some.iter().fold(OTHERS, |fewest, &valid| fewest.min(valid));
    let parts = valid.chunks(TOGETHER).map(fewest_of).enumerate();
    // `min_by_key` returns the first part among equal ones.
    let (part, fewest) = parts.min_by_key(|&(_, fewest)| fewest)?;
    let from = part * TOGETHER;
    let inside = valid[from..].iter().position(|&valid| valid == fewest)?;
    Some(((from + inside) as u32, fewest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_engine::Rng;

    #[test]
    fn the_first_of_the_fewest_is_found() {
        assert_eq!(first_fewest(&[]), None);
        let mut rng = Rng::stream(1, "full", 0);
        for len in [1, 5, 127, 128, 129, 400] {
            for _ in 0..50 {
                let valid: Vec<u16> = (0..len).map(|_| 3 + rng.below(40) as u16).collect();
                let fewest = *valid.iter().min().expect("some");
                let first = valid.iter().position(|&v| v == fewest).expect("it is there");
                assert_eq!(first_fewest(&valid), Some((first as u32, fewest)));
            }
        }
    }

    #[test]
    fn only_full_blocks_count() {
        let mut full = FullBlocks::of([Some(7), None, Some(4), Some(5)].into_iter());
        assert_eq!(first_fewest(full.some(0..4)), Some((2, 4)));
        full.collected(BlockId::new(2));
        full.invalidated(BlockId::new(0), 3);
        full.filled(BlockId::new(1), 6);
        assert_eq!(
            (first_fewest(full.some(0..4)), full.some(1..3)),
            (Some((0, 4)), &[6, OTHERS][..])
        );
        let mut nobody = FullBlocks::default();
        nobody.filled(BlockId::new(3), 1);
        assert!(nobody.some(0..4).is_empty());
    }
}
