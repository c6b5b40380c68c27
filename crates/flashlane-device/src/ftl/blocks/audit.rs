//! The counts of blocks and planes, checked with `--check`.

use flashlane_units::{BlockId, PlaneId};

use super::{BlockState, Blocks};

impl Blocks {
    /// Checks the counters of a plane against each other: free, open, full and collected blocks add
    /// up, no block has more valid than allocated pages.
    pub(crate) fn audit(&self, plane: PlaneId, valid_of: impl Fn(BlockId) -> u32) {
        let free =
            self.of_plane(plane).iter().filter(|b| b.state == BlockState::Free).count() as u32;
        let state = &self.planes[plane];
        assert_eq!(free, state.free, "free blocks of plane {plane}");
        let erases = || self.of_plane(plane).iter().map(|block| block.erases);
        assert_eq!(erases().max(), Some(state.erases_max), "most erases of plane {plane}");
        assert!(erases().min() >= Some(state.erases_min), "fewest erases of plane {plane}");
        for block in self.numbers_of(plane) {
            let b = &self.blocks[block];
            assert_eq!(b.valid, valid_of(block), "valid pages of block {block}");
            self.full.audit(block, (b.state == BlockState::Full).then_some(b.valid));
            assert!(b.valid <= b.allocated, "block {block} has at most its allocated pages valid");
            assert!(b.programmed <= b.issued, "block {block} programs what was issued");
            assert!(b.issued <= b.allocated, "block {block} issues what was allocated");
            if let Some(stripes) = &self.stripes {
                stripes.audit(block, b.issued, b.programmed);
            }
            let pages = self.pages_in(b.stream);
            match b.state {
                BlockState::Free => assert_eq!(b.allocated, 0, "free block {block} is erased"),
                BlockState::Open => assert!(b.allocated < pages),
                BlockState::Full => {
                    assert_eq!(b.allocated, pages, "full block {block} has all of its pages");
                }
                // Hybrid mapping collects blocks that are not full.
                BlockState::Collected => assert!(b.allocated <= pages),
            }
        }
    }
}
