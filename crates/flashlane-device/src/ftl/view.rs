//! The scheduler's view of pages and blocks.

use crate::flash::timing::Cells;
use flashlane_units::{BlockId, ChipId, FlowId, PlaneId, Ppa, TransactionId};

use super::Ftl;
use super::blocks::{Blocks, Stream};
use super::pages::PageTables;
use crate::layout::SECTOR_BYTES;
use crate::transaction::{Op, Source, Transaction};

/// A read-only view of pages and blocks as they are now.
#[derive(Clone, Copy)]
pub(crate) struct FlashView<'a> {
    pages: &'a PageTables,
    blocks: &'a Blocks,
}

impl<'a> FlashView<'a> {
    #[inline]
    pub(crate) fn new(pages: &'a PageTables, blocks: &'a Blocks) -> Self {
        Self { pages, blocks }
    }

    /// Number of sectors of a page.
    pub(crate) fn page_sectors(&self) -> u32 {
        self.pages.sectors_per_page()
    }

    /// Size of a page. Unit: bytes.
    pub(crate) fn page_bytes(&self) -> u64 {
        u64::from(self.page_sectors()) * SECTOR_BYTES
    }

    /// The cells of a transaction's page.
    #[inline]
    pub(crate) fn cells(&self, tr: &Transaction) -> Cells {
        self.blocks.cells(tr)
    }

    /// Index of a page in its block.
    #[inline]
    pub(crate) fn page_in_block(&self, ppa: Ppa) -> u32 {
        self.blocks.flash_page_of(ppa)
    }

    /// Block of a page.
    #[inline]
    pub(crate) fn block_of(&self, ppa: Ppa) -> BlockId {
        self.blocks.block_of(ppa)
    }

    /// True if the page is the next of its block to be programmed.
    #[inline]
    pub(crate) fn is_next(&self, ppa: Ppa) -> bool {
        self.blocks.is_next(ppa)
    }

    /// True for the migration of a page that is no longer valid.
    #[inline]
    pub(crate) fn is_stale(&self, tr: &Transaction) -> bool {
        // If other units ride on the move, it is looked at again when the page was read.
        tr.source == Source::Gc
            && tr.op == Op::Read
            && self.pages.lpa(tr.ppa) != tr.lpa
            && tr.rider() == TransactionId::NONE
    }

    /// True for the write of a page that collection moves from one die to another.
    pub(crate) fn is_relocated(&self, tr: &Transaction) -> bool {
        assert_eq!(tr.op, Op::Program, "only programs bring a page to another die");
        self.blocks.block(self.blocks.block_of(tr.ppa)).stream == Stream::RELOCATED
    }

    /// True if only collection can give the plane room for host writes.
    pub(crate) fn is_out_of_room(&self, plane: PlaneId) -> bool {
        self.blocks.is_out_of_room(self.blocks.pool_of(plane))
    }

    /// Blocks of the plane in collection, up to their erase.
    pub(crate) fn jobs(&self, plane: PlaneId) -> u32 {
        self.blocks.planes[self.blocks.pool_of(plane)].jobs
    }

    /// Free pages of a plane, without those of open blocks.
    pub(crate) fn free_pages(&self, plane: PlaneId) -> u64 {
        let free = self.blocks.planes[self.blocks.pool_of(plane)].free;
        let pages = self.blocks.pages_per_block() / self.blocks.planes_per_block();
        u64::from(free) * u64::from(pages)
    }

    /// Free pages of all planes together, without those of open blocks.
    pub(crate) fn free_pages_of_drive(&self) -> u64 {
        let free: u64 = self.blocks.planes.iter().map(|plane| u64::from(plane.free)).sum();
        free * u64::from(self.blocks.pages_per_block())
    }

    /// Share of the flow among all valid pages; 0 on an empty drive.
    pub(crate) fn valid_share(&self, flow: FlowId) -> f64 {
        self.blocks.valid_share(flow)
    }
}

impl Ftl {
    /// Sectors of a logical page that hold data on flash.
    pub(crate) fn held(&self, lpa: flashlane_units::Lpa) -> u64 {
        if self.pages.ppa(lpa) == Ppa::new(flashlane_engine::NONE) {
            0
        } else {
            self.pages.mask(lpa)
        }
    }

    /// True if collection goes before user work on the chip: some plane of it is short of free
    /// blocks.
    #[inline]
    pub(crate) fn is_urgent(&self, chip: ChipId) -> bool {
        self.urgent_planes[chip] > 0
    }

    /// True if the chip has blocks in collection whose erases were not sent.
    #[inline]
    pub(crate) fn awaits_erase(&self, chip: ChipId) -> bool {
        self.unerased[chip] > 0
    }

    /// Maps units of several pages from now on.
    pub(crate) fn map_large_units(&mut self) {
        self.blocks.map_large_units();
    }

    /// The cells of a command for these pages.
    #[inline]
    pub(crate) fn cells_of<'a>(&self, pages: impl Iterator<Item = &'a Transaction>) -> Cells {
        self.blocks.cells_of(pages)
    }

    /// The scheduler's view.
    #[inline]
    pub(crate) fn view(&self) -> FlashView<'_> {
        FlashView::new(&self.pages, &self.blocks)
    }

    /// The cells of a transaction's page.
    #[inline]
    pub(crate) fn cells(&self, tr: &Transaction) -> Cells {
        self.blocks.cells(tr)
    }
}
