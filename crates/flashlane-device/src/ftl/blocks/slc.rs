//! Blocks in SLC mode: one page for each word line (`ftl/slc_cache`).

use flashlane_units::{BlockId, FlowId, PlaneId, Ppa};

use super::{Blocks, Stream};
use crate::flash::timing::Cells;

impl Blocks {
    /// Lets blocks be used in SLC mode, with this number of pages.
    pub(in crate::ftl) fn allow_slc(&mut self, pages: u32) {
        assert!(pages > 0 && pages <= self.pages_per_block.get(), "SLC mode has fewer pages");
        self.slc_pages = pages;
    }

    /// Pages of a block in SLC mode; 0 where there are none.
    pub(in crate::ftl) fn slc_pages(&self) -> u32 {
        self.slc_pages
    }

    /// Erases of blocks in SLC mode so far.
    pub(in crate::ftl) fn slc_erases(&self) -> u64 {
        self.slc_erases
    }

    /// Pages that a block of a stream is filled with.
    #[inline(always)]
    pub(super) fn pages_in(&self, stream: Stream) -> u32 {
        if stream == Stream::Slc { self.slc_pages } else { self.pages_per_block.get() }
    }

    /// True if a page is one of a block in SLC mode.
    pub(in crate::ftl) fn is_slc(&self, ppa: Ppa) -> bool {
        self.block(self.block_of(ppa)).stream == Stream::Slc
    }

    /// True if a frontier has an open block.
    pub(in crate::ftl) fn is_open(&self, plane: PlaneId, flow: FlowId, stream: Stream) -> bool {
        self.frontiers[self.frontier_at(plane, flow, stream)] != BlockId::NONE
    }

    /// The cells of a command whose first page is in SLC mode: those of an ordinary page if another
    /// page is one, since the command takes as long as its slowest page.
    #[cold]
    #[inline(never)]
    pub(super) fn slowest_cells(&self, first: Cells, mut rest: impl Iterator<Item = Ppa>) -> Cells {
        Cells { slc: rest.all(|ppa| self.is_slc(ppa)), ..first }
    }
}
