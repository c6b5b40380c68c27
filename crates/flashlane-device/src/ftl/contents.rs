//! Contents of pages, and the blocks being emptied: the changes that page tables and blocks make
//! together. The timed drive and the run without time decide when these changes happen; the changes
//! themselves are shared.

use flashlane_units::{BlockId, Lpa, PlaneId, Ppa};

use super::Ftl;
use super::blocks::Block;

/// Effect of a trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trimmed {
    /// The page has no place on flash.
    Nothing,
    /// The page keeps some of its sectors.
    Sectors,
    /// The page is gone. It was at this physical page.
    Page(Ppa),
}

impl Ftl {
    /// Sectors of a logical page that hold data and are not in `mask`. A write that brings only
    /// `mask` has to read them first.
    #[inline]
    pub(super) fn missing(&self, lpa: Lpa, mask: u64) -> u64 {
        if self.pages.ppa(lpa) == Ppa::NONE { 0 } else { self.pages.mask(lpa) & !mask }
    }

    /// Makes a physical page invalid. Returns its plane.
    #[inline]
    pub(super) fn release(&mut self, ppa: Ppa) -> PlaneId {
        self.pages.set_lpa(ppa, Lpa::NONE);
        let block = self.blocks.block_of(ppa);
        self.blocks.invalidate(block);
        self.blocks.plane_of(block)
    }

    /// Points a logical page at its new place, which holds these sectors. Its old place must be
    /// released already.
    #[inline]
    pub(super) fn hold(&mut self, lpa: Lpa, ppa: Ppa, sectors: u64) {
        assert!(sectors != 0, "a page that has a place holds data");
        self.pages.place(lpa, ppa);
        if sectors != self.pages.full_mask() || self.pages.any_partial() {
            self.pages.set_mask(lpa, sectors);
        }
    }

    /// The host gives up sectors of a page. A page without sectors loses its place.
    pub(super) fn forget_sectors(&mut self, lpa: Lpa, mask: u64) -> Trimmed {
        let ppa = self.pages.ppa(lpa);
        if ppa == Ppa::NONE {
            return Trimmed::Nothing;
        }
        let left = self.pages.mask(lpa) & !mask;
        if left != 0 {
            self.pages.set_mask(lpa, left);
            return Trimmed::Sectors;
        }
        self.pages.forget(lpa);
        Trimmed::Page(ppa)
    }

    /// Marks a block as in collection. Returns its state.
    pub(super) fn begin_job(&mut self, plane: PlaneId, block: BlockId) -> Block {
        self.blocks.planes[plane].jobs += 1;
        self.collection_is_charged(block);
        *self.blocks.collect(block)
    }

    /// An emptied block is erased, and goes back to the pool of its plane.
    pub(super) fn end_job(&mut self, plane: PlaneId, block: BlockId) {
        self.erased_by_handle(self.blocks.block(block).stream);
        self.blocks.put_block(block);
        self.blocks.planes[plane].jobs -= 1;
    }
}
