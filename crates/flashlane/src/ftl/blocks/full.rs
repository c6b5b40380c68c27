//! Valid pages of full blocks side by side, for policies that compare all blocks of a plane: a
//! plane takes a few kilobytes so, its blocks many times that.

use std::ops::Range;

use flashlane_units::BlockId;

/// In the place of blocks that are not full.
const OTHERS: u16 = u16::MAX;

/// Blocks that are compared at once.
const TOGETHER: usize = 128;

/// Valid pages by block, of full ones; nothing where nobody compares.
#[derive(Clone, Debug, Default)]
pub(in crate::ftl) struct FullBlocks {
    valid: Vec<u16>,
}

impl FullBlocks {
    /// Of blocks that are full, their valid pages; `None` for all others.
    pub(in crate::ftl) fn of(blocks: impl Iterator<Item = Option<u16>>) -> Self {
        Self { valid: blocks.map(|valid| valid.unwrap_or(OTHERS)).collect() }
    }

    /// A block is full, with so many valid pages.
    #[inline]
    pub(super) fn filled(&mut self, block: BlockId, valid: u16) {
        if let Some(known) = self.valid.get_mut(block.index()) {
            *known = valid;
        }
    }

    /// A full block lost so many valid pages.
    #[inline]
    pub(super) fn invalidated(&mut self, block: BlockId, count: u32) {
        if let Some(known) = self.valid.get_mut(block.index()) {
            *known -= count as u16;
        }
    }

    /// A block is to be emptied or erased.
    #[inline]
    pub(super) fn collected(&mut self, block: BlockId) {
        self.filled(block, OTHERS);
    }

    /// Valid pages of some blocks; nothing where nobody compares.
    pub(in crate::ftl) fn some(&self, blocks: Range<usize>) -> &[u16] {
        self.valid.get(blocks).unwrap_or_default()
    }

    /// What is kept of a block is right.
    pub(super) fn audit(&self, block: BlockId, valid: Option<u16>) {
        let known = self.valid.get(block.index());
        let right = known.is_none_or(|&known| known == valid.unwrap_or(OTHERS));
        assert!(right, "valid pages of full block {block}");
    }
}

/// The first of the fewest valid pages of full blocks, and its place; `None` of nothing at all.
pub(in crate::ftl) fn first_fewest(valid: &[u16]) -> Option<(u32, u16)> {
    let fewest_of = |some: &[u16]| some.iter().fold(OTHERS, |fewest, &valid| fewest.min(valid));
    let parts = valid.chunks(TOGETHER).map(fewest_of).enumerate();
    // Of several the first.
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
