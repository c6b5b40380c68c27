//! Blocks in SLC mode: one page for each word line (`ftl/slc_cache`).

use flashlane_units::{BlockId, FlowId, PlaneId, Ppa};

use super::{Blocks, Plane, Stream};
use crate::flash::timing::{CellMode, Cells};
use crate::transaction::{Op, Source, Transaction};

impl Blocks {
    /// Keeps the last blocks of each plane for the static part of the SLC cache. The drive is
    /// empty.
    pub(in crate::ftl) fn keep_static(&mut self, blocks: u32) {
        let all = self.blocks_per_plane.get();
        assert!(blocks < all, "ordinary blocks are left");
        self.ordinary_blocks = all - blocks;
        for plane in self.planes.numbers() {
            let first = self.first_block(plane);
            let state = &mut self.planes[plane];
            state.free -= blocks;
            state.static_free = (self.ordinary_blocks..all).map(|n| first.plus(n)).collect();
        }
    }

    /// True for a block of the static part of the SLC cache.
    pub(in crate::ftl) fn is_static(&self, block: BlockId) -> bool {
        self.blocks_per_plane.remainder(block.get()) >= self.ordinary_blocks
    }

    /// True if the static part of the SLC cache has an empty block on a plane.
    #[inline]
    pub(in crate::ftl) fn has_empty_static(&self, plane: PlaneId) -> bool {
        !self.planes[plane].static_free.is_empty()
    }

    /// Blocks in SLC mode now.
    pub(in crate::ftl) fn in_slc_mode(&self) -> u32 {
        let fixed = self.blocks_per_plane.get() - self.ordinary_blocks;
        let of_plane = |plane: &Plane| plane.slc + fixed - plane.static_free.len() as u32;
        self.planes.iter().map(of_plane).sum()
    }

    /// Lets blocks be used in SLC mode, with this number of pages.
    pub(in crate::ftl) fn allow_slc(&mut self, pages: u32) {
        assert!(pages > 0 && pages <= self.pages_per_block.get(), "SLC mode has fewer pages");
        (self.slc_pages, self.plain) = (pages, false);
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
        if stream == Stream::SLC { self.slc_pages } else { self.pages_per_block.get() }
    }

    /// True if a page is one of a block in SLC mode.
    pub(in crate::ftl) fn is_slc(&self, ppa: Ppa) -> bool {
        self.block(self.block_of(ppa)).stream == Stream::SLC
    }

    /// True if a frontier has an open block.
    pub(in crate::ftl) fn is_open(&self, plane: PlaneId, flow: FlowId, stream: Stream) -> bool {
        self.frontiers[self.frontier_at(plane, flow, stream)] != BlockId::NONE
    }

    /// How the cells of a page in SLC mode are used.
    pub(super) fn slc_mode(&self, tr: &Transaction) -> CellMode {
        match (tr.op, tr.source) {
            (Op::Read, Source::Gc) => CellMode::FoldedSlc,
            _ if self.is_static(self.block_of(tr.ppa)) => CellMode::Slc,
            _ => CellMode::DynamicSlc,
        }
    }

    /// The cells of a command whose first page is in SLC mode. A command takes as long as its
    /// slowest page. So these are the cells of an ordinary page if there is one, else those of a
    /// page that is moved, else those of the dynamic part.
    #[cold]
    #[inline(never)]
    pub(super) fn slowest_cells<'a>(
        &self,
        first: Cells,
        rest: impl Iterator<Item = &'a Transaction>,
    ) -> Cells {
        let rank = |mode: CellMode| match mode {
            CellMode::FoldedSlc => 2,
            CellMode::DynamicSlc => 1,
            _ => 0,
        };
        let mut slowest = first.mode;
        for tr in rest {
            if !self.is_slc(tr.ppa) {
                return Cells { mode: CellMode::Ordinary, ..first };
            }
            let mode = self.slc_mode(tr);
            slowest = if rank(mode) > rank(slowest) { mode } else { slowest };
        }
        Cells { mode: slowest, ..first }
    }
}
