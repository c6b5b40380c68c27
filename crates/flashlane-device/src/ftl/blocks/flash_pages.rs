//! The pages of the flash behind the pages that are mapped, which may be smaller (`ftl/units`) or
//! larger (`flash/unit_pages.rs`).

use flashlane_units::{BlockId, Ppa};

use super::Blocks;
use crate::flash::timing::{CellMode, Cells};
use crate::transaction::{Op, Transaction};

impl Blocks {
    /// Place among the pages, as they are mapped, of its block of the flash.
    #[inline]
    pub(crate) fn place_in_flash_block(&self, ppa: Ppa) -> u32 {
        self.flash_pages.remainder(ppa.get())
    }

    /// Pages, as they are mapped, of a page of the flash.
    #[inline]
    pub(in crate::ftl) fn units_per_page(&self) -> u32 {
        self.units_per_page
    }

    /// Page of the flash inside its block; with units of several pages, the unit inside its block.
    #[inline]
    pub(crate) fn flash_page_of(&self, ppa: Ppa) -> u32 {
        let page = self.place_in_flash_block(ppa);
        if self.plain { page } else { page / self.units_per_page }
    }

    /// The cells of a transaction's page, as far as the time of the flash depends on them.
    #[inline]
    pub(crate) fn cells(&self, tr: &Transaction) -> Cells {
        let mode = if self.plain { CellMode::Ordinary } else { self.mode_of(tr) };
        Cells { page: self.flash_page_of(tr.ppa), mode }
    }

    /// How the cells of a transaction's page are used, where there are several ways.
    fn mode_of(&self, tr: &Transaction) -> CellMode {
        if self.two_pass && tr.op == Op::Program {
            if tr.in_second_pass() { CellMode::SecondPass } else { CellMode::FirstPass }
        } else if self.slc_pages > 0 && self.is_slc(tr.ppa) {
            self.slc_mode(tr)
        } else if self.units_have_pages && tr.op == Op::Read {
            CellMode::Pages
        } else {
            CellMode::Ordinary
        }
    }

    /// The cells of a command of these transactions, whose pages have one number in their blocks:
    /// the first page stands for all. What differs between blocks has to be asked of every page
    /// here, and the command takes as long as its slowest page.
    #[inline]
    pub(crate) fn cells_of<'a>(&self, mut pages: impl Iterator<Item = &'a Transaction>) -> Cells {
        let first = self.cells(pages.next().expect("a command has a page"));
        if first.mode == CellMode::Ordinary { first } else { self.cells_in_mode(first, pages) }
    }

    /// The cells of a command whose first page is not used like any other. `rest`: its other
    /// transactions.
    #[cold]
    #[inline(never)]
    fn cells_in_mode<'a>(
        &self,
        first: Cells,
        mut rest: impl Iterator<Item = &'a Transaction>,
    ) -> Cells {
        if matches!(first.mode, CellMode::Slc | CellMode::DynamicSlc | CellMode::FoldedSlc) {
            return self.slowest_cells(first, rest);
        }
        assert!(
            rest.all(|tr| self.mode_of(tr) == first.mode),
            "a command is for cells of one mode"
        );
        first
    }

    /// Maps units of several pages from now on.
    pub(in crate::ftl) fn map_large_units(&mut self) {
        (self.units_have_pages, self.plain) = (true, false);
    }

    /// Programs word lines in two passes from now on.
    pub(in crate::ftl) fn program_twice(&mut self) {
        (self.two_pass, self.plain) = (true, false);
        self.gated = vec![false; self.count()];
    }

    /// Keeps the first passes of a block from going, or lets them go.
    pub(in crate::ftl) fn set_gated(&mut self, block: BlockId, gated: bool) {
        assert_ne!(self.gated[block.index()], gated, "a block is gated once");
        self.gated[block.index()] = gated;
    }

    /// True if the first passes of a block may not go.
    pub(in crate::ftl) fn is_gated(&self, block: BlockId) -> bool {
        self.gated[block.index()]
    }

    /// True if the first or the second pass of a word line may go now, whichever comes next. A
    /// second pass is queued when it may go. A first pass goes in the order of the block, when the
    /// word line before the last one is complete, and so is the block before.
    #[cold]
    #[inline(never)]
    pub(super) fn is_next_pass(&self, ppa: Ppa) -> bool {
        let (number, page) = (self.block_of(ppa), self.page_of(ppa));
        let block = self.block(number);
        let in_order = page == block.issued && page <= block.programmed + self.units_per_program;
        page < block.issued || in_order && !self.is_gated(number)
    }
}
