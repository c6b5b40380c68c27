//! The pages of the flash behind the pages that are mapped, which may be smaller (`ftl/units`).

use flashlane_units::Ppa;

use super::Blocks;
use crate::flash::timing::Cells;

impl Blocks {
    /// Place among the pages, as they are mapped, of its block of the flash.
    #[inline]
    pub(crate) fn place_in_flash_block(&self, ppa: Ppa) -> u32 {
        self.flash_pages.remainder(ppa.get())
    }

    /// Page of the flash inside its block.
    #[inline]
    pub(crate) fn flash_page_of(&self, ppa: Ppa) -> u32 {
        let page = self.place_in_flash_block(ppa);
        if self.units_per_page == 1 { page } else { page / self.units_per_page }
    }

    /// The cells of a page, as far as the time of the flash depends on them.
    #[inline]
    pub(crate) fn cells(&self, ppa: Ppa) -> Cells {
        let slc = self.slc_pages > 0 && self.is_slc(ppa);
        Cells { page: self.flash_page_of(ppa), slc }
    }

    /// The cells of a command for these pages, which have one number in their blocks: the first
    /// page stands for all. What differs between blocks has to be asked of every page here, and
    /// the command takes as long as its slowest page.
    #[inline]
    pub(crate) fn cells_of(&self, mut pages: impl Iterator<Item = Ppa>) -> Cells {
        let first = self.cells(pages.next().expect("a command has a page"));
        if first.slc { self.slowest_cells(first, pages) } else { first }
    }
}
