//! Blocks that are superblocks: `superblocks/stripes.rs` knows where their pages are.

use flashlane_engine::Divisor;
use flashlane_units::{BlockId, FlowId, Lpa, PlaneId, Ppa};

use super::{Block, BlockState, Blocks};
use crate::ftl::superblocks::{Owners, Stripes};

impl Blocks {
    /// Makes superblocks of blocks of which none was used. All flows share their frontiers.
    pub(in crate::ftl) fn fold(&mut self, stripes: Stripes, owners: Owners, pages_per_block: u32) {
        assert!(self.blocks.iter().all(|block| block.allocated == 0), "the drive is empty");
        self.pages_per_block = Divisor::new(stripes.slots());
        self.data_pages = stripes.data_pages();
        self.flash_pages = Divisor::new(pages_per_block);
        self.share_frontiers(owners);
        self.plain = false;
        self.stripes = Some(Box::new(stripes));
    }

    /// From now on, all flows share the frontiers of the first one. A block then has pages of
    /// several flows: `owners` tells whose they are.
    pub(in crate::ftl) fn share_frontiers(&mut self, owners: Owners) {
        self.own_frontiers = 0;
        self.owners = Some(owners);
    }

    /// True if all flows share frontiers, so that a block may have pages of several flows.
    #[inline]
    pub(in crate::ftl) fn shares_frontiers(&self) -> bool {
        self.owners.is_some()
    }

    /// The superblocks of a drive; `None` in block mode.
    #[inline]
    pub(in crate::ftl) fn stripes(&self) -> Option<&Stripes> {
        self.stripes.as_deref()
    }

    /// The plane of the flash that a page lies on.
    #[inline]
    pub(crate) fn plane_of_page(&self, ppa: Ppa) -> PlaneId {
        match &self.stripes {
            None => self.plane_of(self.block_of(ppa)),
            Some(stripes) => stripes.plane(ppa),
        }
    }

    /// The plane of the flash that a page of a pool lies on.
    #[inline]
    pub(crate) fn plane_in_pool(&self, pool: PlaneId, ppa: Ppa) -> PlaneId {
        match &self.stripes {
            None => pool,
            Some(stripes) => stripes.plane(ppa),
        }
    }

    /// The planes of the flash that the blocks of a pool lie on.
    pub(crate) fn planes_of_pool(&self, pool: PlaneId) -> impl Iterator<Item = PlaneId> + '_ {
        let set = self.stripes.as_ref().map_or(&[][..], |stripes| stripes.planes_of(pool));
        let alone = self.stripes.is_none().then_some(pool);
        alone.into_iter().chain(set.iter().copied())
    }

    /// Planes that a block lies on.
    #[inline]
    pub(crate) fn planes_per_block(&self) -> u32 {
        self.stripes.as_ref().map_or(1, |stripes| stripes.width())
    }

    /// A block of the flash is erased: a block, or a part of a superblock. `first`: its first page.
    #[inline]
    pub(in crate::ftl) fn flash_block_erased(&mut self, first: Ppa) {
        if let Some(stripes) = &mut self.stripes {
            stripes.erased(first);
        }
    }

    /// All blocks of a superblock are erased at once.
    pub(in crate::ftl) fn superblock_erased(&mut self, block: BlockId) {
        if self.stripes.is_some() {
            self.first_pages(block).for_each(|first| self.flash_block_erased(first));
        }
    }

    /// First page of each block of the flash that a block consists of.
    pub(crate) fn first_pages(&self, block: BlockId) -> impl Iterator<Item = Ppa> + use<> {
        let (first, pages) = (self.first_page(block), self.flash_pages.get());
        (0..self.planes_per_block()).map(move |position| first.plus(position * pages))
    }

    /// The block of the flash that a page lies in.
    #[inline]
    pub(crate) fn flash_block_of(&self, ppa: Ppa) -> BlockId {
        BlockId::new(self.flash_pages.divide(ppa.get()))
    }

    /// The blocks of the flash that a block consists of.
    pub(crate) fn flash_blocks_of(&self, block: BlockId) -> impl Iterator<Item = BlockId> + use<> {
        let count = self.planes_per_block();
        (block.get() * count..(block.get() + 1) * count).map(BlockId::new)
    }

    /// The block that a block of the flash is a part of.
    pub(crate) fn block_with(&self, flash_block: BlockId) -> BlockId {
        BlockId::new(flash_block.get() / self.planes_per_block())
    }

    /// Flows with frontiers of their own among `flows` that write to a pool.
    #[must_use]
    pub fn writers(&self, flows: u32) -> u32 {
        if self.shares_frontiers() { flows.min(1) } else { flows }
    }

    /// Pages of a block, those for parity included.
    #[inline]
    pub(crate) fn slots(&self) -> u32 {
        self.pages_per_block.get()
    }

    /// The page where a page of a pool lies that nobody wrote. `page`: as if pools were planes.
    #[inline(always)]
    pub(crate) fn home_page(&self, page: Ppa) -> Ppa {
        match &self.stripes {
            None => page,
            Some(stripes) => self.striped_page(stripes, page),
        }
    }

    /// [`Blocks::home_page`] of a drive with superblocks.
    #[inline(never)]
    fn striped_page(&self, stripes: &Stripes, page: Ppa) -> Ppa {
        let (block, nth) = (page.get() / self.data_pages, page.get() % self.data_pages);
        self.nth_page(BlockId::new(block), stripes.data_slot(nth))
    }

    /// The pool that the blocks of a plane of the flash belong to.
    #[inline]
    pub(crate) fn pool_of(&self, plane: PlaneId) -> PlaneId {
        match &self.stripes {
            None => plane,
            Some(stripes) => stripes.set_of(plane),
        }
    }

    /// The page at a place in the order in which the pages of a block are allocated.
    #[inline]
    pub(crate) fn nth_page(&self, block: BlockId, nth: u32) -> Ppa {
        let first = self.first_page(block);
        match &self.stripes {
            None => first.plus(nth),
            Some(stripes) => stripes.nth(first, nth),
        }
    }

    /// The place of a page in the order in which the pages of its block are allocated.
    #[inline]
    pub(crate) fn place_in_order(&self, ppa: Ppa) -> u32 {
        match &self.stripes {
            None => self.page_of(ppa),
            Some(stripes) => stripes.slot(ppa),
        }
    }

    /// Finds the page of a place in a superblock that was just allocated. The parity of the stripe
    /// is allocated with its last page of data.
    #[inline(never)]
    pub(super) fn take_slot(&mut self, block: BlockId, slot: u32) -> Ppa {
        let stripes = self.stripes.as_ref().expect("blocks are superblocks");
        let ppa = stripes.nth(self.first_page(block), slot);
        if stripes.is_parity(slot + 1) {
            let open = &mut self.blocks[block];
            open.allocated += self.units_per_program;
            if open.allocated == self.pages_per_block.get() {
                open.state = BlockState::Full;
            }
        }
        ppa
    }

    /// The page for the parity of a stripe that became complete with this page of data.
    #[inline]
    pub(crate) fn parity_after(&self, ppa: Ppa) -> Option<Ppa> {
        self.stripes.as_ref().and_then(|stripes| stripes.parity_after(ppa))
    }

    /// True if the page is the next one of its block of the flash to be programmed.
    #[inline]
    pub(crate) fn is_next(&self, ppa: Ppa) -> bool {
        match &self.stripes {
            _ if self.plain => self.block(self.block_of(ppa)).issued == self.page_of(ppa),
            None if self.two_pass => self.is_next_pass(ppa),
            None => self.block(self.block_of(ppa)).issued == self.page_of(ppa),
            Some(stripes) => stripes.is_next(ppa),
        }
    }

    /// True if the page is programmed.
    #[inline]
    pub(crate) fn is_programmed(&self, ppa: Ppa) -> bool {
        match &self.stripes {
            None => self.page_of(ppa) < self.block(self.block_of(ppa)).programmed,
            Some(stripes) => stripes.is_programmed(ppa),
        }
    }

    /// The program of a page is sent to its die.
    #[inline(always)]
    pub(crate) fn program_sent(&mut self, ppa: Ppa) {
        if self.plain {
            let block = self.block_of(ppa);
            self.blocks[block].issued += 1;
        } else {
            self.row_sent(ppa);
        }
    }

    /// The program of a page is sent, where more than the next page of a block may begin with it.
    #[inline(never)]
    fn row_sent(&mut self, ppa: Ppa) {
        let block = self.block_of(ppa);
        if self.two_pass && self.page_of(ppa) < self.blocks[block].issued {
            // The second pass.
            return;
        }
        self.blocks[block].issued += self.units_per_program;
        if let Some(stripes) = &mut self.stripes {
            stripes.sent(ppa);
        }
    }

    /// A page is programmed. Returns the number of programmed pages of its block of the flash.
    #[inline(always)]
    pub(crate) fn page_programmed(&mut self, ppa: Ppa) -> u32 {
        let block = self.block_of(ppa);
        let state = &mut self.blocks[block];
        state.programmed += 1;
        assert!(state.programmed <= state.issued, "a page is programmed once");
        if self.plain {
            return state.programmed;
        }
        match &mut self.stripes {
            None => state.programmed,
            Some(stripes) => stripes.programmed(ppa, 1),
        }
    }

    /// A page of a superblock counts as programmed without any work of the flash, and so does the
    /// parity of a stripe that is complete with it.
    #[inline(never)]
    pub(super) fn programmed_at_once(&mut self, ppa: Ppa) {
        self.some_programmed_at_once(ppa, 1);
        if let Some(parity) = self.parity_after(ppa) {
            self.some_programmed_at_once(parity, self.units_per_program);
        }
    }

    #[inline]
    fn some_programmed_at_once(&mut self, ppa: Ppa, count: u32) {
        let block = self.block_of(ppa);
        let state = &mut self.blocks[block];
        state.issued += count;
        state.programmed += count;
        assert!(state.issued <= state.allocated, "pages are written after they are allocated");
        if let Some(stripes) = &mut self.stripes {
            stripes.written_at_once(ppa, count);
        }
    }

    /// The empty pages of a row are programmed along with `leader`, the first page of the row.
    pub(in crate::ftl) fn empty_pages_programmed(&mut self, leader: Ppa, count: u32) {
        let block = self.block_of(leader);
        self.blocks[block].programmed += count;
        if let Some(stripes) = &mut self.stripes {
            stripes.programmed(leader, count);
        }
    }

    /// The first pages of a block that changed without programs count as programmed.
    pub(super) fn settle(&mut self, block: BlockId) {
        let Block { allocated, .. } = self.blocks[block];
        if let Some(stripes) = &mut self.stripes {
            stripes.set_programmed(block, allocated);
        }
    }

    /// The flow of a page that a block holds. `lpa`: the logical page; no translation page.
    #[inline]
    pub(in crate::ftl) fn owner_of(&self, block: BlockId, lpa: Lpa) -> FlowId {
        match &self.owners {
            None => self.blocks[block].flow,
            Some(owners) => owners.of(lpa),
        }
    }
}
