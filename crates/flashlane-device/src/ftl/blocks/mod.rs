//! Blocks, free pools and write frontiers of every plane.

mod audit;
mod flash_pages;
mod folded;
mod frontiers;
mod full;
mod kept;
mod limits;
mod pool;
mod precondition;
mod slc;
mod stream;
mod turns;
mod visible;

use std::collections::VecDeque;
use std::ops::Range;

use flashlane_engine::{Array, Divisor, List};
use flashlane_units::{BlockId, FlowId, PlaneId, Ppa, TransactionId};

use super::superblocks::{Owners, Stripes};
use crate::layout::Geometry;
pub(super) use full::{FullBlocks, first_fewest};
use pool::Pool;
pub(in crate::ftl) use stream::HANDLES_MAX;
pub use stream::Stream;
use turns::Turns;

/// What a block is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockState {
    /// Erased, in the pool.
    #[default]
    Free,
    /// A write frontier.
    Open,
    /// Every page is allocated.
    Full,
    /// Being emptied or erased.
    Collected,
}

/// A block. Counts in pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    /// Pages that hold live data.
    pub valid: u32,
    /// Pages allocated so far.
    pub(crate) allocated: u32,
    /// Pages whose program was sent to the die.
    pub(crate) issued: u32,
    /// Pages whose program is done.
    pub(crate) programmed: u32,
    /// Reads of the block that are under way or queued.
    pub(crate) reads: u32,
    /// Owner.
    pub flow: FlowId,
    /// Erases so far.
    pub(crate) erases: u32,
    /// For full blocks: the number of blocks of the plane that were filled before this one.
    pub filled: u32,
    /// What the block is used for now.
    pub state: BlockState,
    pub(crate) stream: Stream,
}

impl Block {
    /// True if no program of the block is queued or under way.
    #[inline]
    pub(crate) fn quiet(&self) -> bool {
        self.programmed == self.allocated
    }
}

/// State of a plane.
#[derive(Clone, Debug, Default)]
pub struct Plane {
    pool: Pool,
    /// Blocks in the pool.
    pub free: u32,
    /// Collection jobs under way.
    pub(crate) jobs: u32,
    /// Collections due for blocks that were taken from the pool, with
    /// `compat.collection_per_block`.
    pub(crate) owed: u32,
    /// Turns of collection, where frontiers are open from the start.
    pub(crate) turns: Turns,
    /// Collection was due, but no block could be collected or none was worth it.
    pub(crate) gc_wanted: bool,
    /// True while there are fewer free blocks than the hard threshold.
    pub(crate) urgent: bool,
    /// Writes that wait for a free block.
    pub(crate) parked: List<TransactionId>,
    /// True while the parked writes are being tried again.
    pub(crate) unparking: bool,
    /// Programs queued or under way.
    pub(crate) programs: u32,
    /// Blocks of the dynamic part of the SLC cache.
    pub(crate) slc: u32,
    /// Empty blocks of its static part.
    pub(crate) static_free: VecDeque<BlockId>,
    /// Blocks filled so far; wraps.
    pub filled: u32,
    /// Erases of the most erased block.
    pub(crate) erases_max: u32,
    /// Lower bound of the erases of every block.
    pub(crate) erases_min: u32,
}

/// All blocks of the device.
#[derive(Clone, Debug)]
pub struct Blocks {
    blocks: Array<BlockId, Block>,
    /// The free blocks and the counters of each plane.
    pub planes: Array<PlaneId, Plane>,
    /// Open block by plane, flow and stream; `NONE` before the first write.
    frontiers: Vec<BlockId>,
    /// Streams of the drive: one above the largest number of a stream.
    streams: usize,
    flows: u32,
    /// The stream of pages of the host of which nothing is known.
    host_stream: Stream,
    /// All bits set if each flow has frontiers of its own; none if flows share them.
    own_frontiers: u32,
    /// The flows of pages, if a block has pages of several flows.
    owners: Option<Owners>,
    blocks_per_plane: Divisor,
    pages_per_block: Divisor,
    /// Pages of a block that can hold data: all of them, unless stripes have parity.
    data_pages: u32,
    /// Pages of a block of the flash. A block is several of those if it is a superblock.
    flash_pages: Divisor,
    /// Pages, as they are mapped, in a page of the flash.
    units_per_page: u32,
    /// Pages, as they are mapped, that a program writes.
    units_per_program: u32,
    wear_leveling: bool,
    /// Blocks of a plane but for the static part of the SLC cache, which has the last ones.
    ordinary_blocks: u32,
    /// Pages of a block in SLC mode; 0 where no block is ever in it.
    slc_pages: u32,
    /// Erases of blocks in SLC mode.
    slc_erases: u64,
    /// True if word lines are programmed in two passes.
    two_pass: bool,
    /// With two passes: blocks whose stream has to complete another one first.
    gated: Vec<bool>,
    /// True if blocks and pages are those of the flash, written page by page, in one mode.
    plain: bool,
    /// True if mapping units have several pages, of which a read may sense some.
    units_have_pages: bool,
    /// Free blocks that only collection may take.
    reserve: u32,
    /// True if a full frontier is replaced at once, and not by the next write.
    eager_frontiers: bool,
    /// True if handles have an open block at all times.
    handles_stay_open: bool,
    /// Taking a block owes a collection if fewer free blocks than this are left; 0 for never.
    owe_below: u32,
    /// Valid data pages by plane and flow; empty unless they are limited.
    held: Vec<u32>,
    /// Flows that `held` tells apart: all of them, or one that stands for all together.
    held_flows: u32,
    /// Most valid data pages, indexed as `held`.
    limits: Vec<u32>,
    /// Valid pages by flow.
    valid: Vec<u64>,
    /// Valid pages of full blocks, where a policy compares all blocks.
    full: FullBlocks,
    /// The places of superblocks; `None` in block mode.
    stripes: Option<Box<Stripes>>,
}

impl Blocks {
    /// All blocks erased.
    pub(crate) fn new(geometry: Geometry, flows: u32, wear_leveling: bool, reserve: u32) -> Self {
        let (planes, streams) = (geometry.planes() as usize, Stream::count(0, false));
        let plane = Plane { free: geometry.blocks_per_plane, ..Plane::default() };
        Self {
            blocks: Array::of(Block::default(), planes * geometry.blocks_per_plane as usize),
            planes: Array::of(plane, planes),
            frontiers: vec![BlockId::NONE; planes * flows as usize * streams],
            streams,
            flows,
            host_stream: Stream::HOST,
            own_frontiers: u32::MAX,
            owners: None,
            // The empty geometry of a state that was moved out divides nothing.
            blocks_per_plane: Divisor::new(geometry.blocks_per_plane.max(1)),
            pages_per_block: Divisor::new(geometry.pages_per_block),
            data_pages: geometry.pages_per_block,
            flash_pages: Divisor::new(geometry.pages_per_block),
            units_per_page: geometry.units_per_page,
            units_per_program: geometry.units_per_program(),
            wear_leveling,
            ordinary_blocks: geometry.blocks_per_plane,
            slc_pages: 0,
            slc_erases: 0,
            two_pass: false,
            gated: Vec::new(),
            plain: geometry.units_per_page == 1 && geometry.units_per_program() == 1,
            units_have_pages: false,
            reserve,
            eager_frontiers: false,
            handles_stay_open: false,
            owe_below: 0,
            held: Vec::new(),
            held_flows: flows,
            limits: Vec::new(),
            valid: vec![0; flows as usize],
            full: FullBlocks::default(),
            stripes: None,
        }
    }

    /// Counts the valid pages of each flow anew: preconditioning sets them block by block.
    pub(crate) fn count_valid(&mut self) {
        self.valid.fill(0);
        for block in self.blocks.iter().filter(|block| block.valid > 0) {
            self.valid[block.flow.index()] += u64::from(block.valid);
        }
    }

    /// Notes that a page of a block is no longer valid.
    #[inline]
    pub fn invalidate(&mut self, block: BlockId) {
        self.invalidate_pages(block, 1);
    }

    /// Notes that `count` pages of a block are no longer valid.
    #[inline]
    pub(crate) fn invalidate_pages(&mut self, block: BlockId, count: u32) {
        let state = &mut self.blocks[block];
        assert!(state.valid >= count, "a page becomes invalid once");
        state.valid -= count;
        self.valid[state.flow.index()] -= u64::from(count);
        if state.state == BlockState::Full {
            self.full.invalidated(block, count);
        }
        self.count_held(block, -(count as i32));
    }

    /// Pages of a block that can hold data.
    #[inline]
    pub fn pages_per_block(&self) -> u32 {
        self.data_pages
    }

    /// Block of a physical page.
    #[inline]
    pub fn block_of(&self, ppa: Ppa) -> BlockId {
        BlockId::new(self.pages_per_block.divide(ppa.get()))
    }

    /// Page inside its block.
    #[inline]
    pub fn page_of(&self, ppa: Ppa) -> u32 {
        self.pages_per_block.remainder(ppa.get())
    }

    /// Plane of a block.
    #[inline]
    pub fn plane_of(&self, block: BlockId) -> PlaneId {
        PlaneId::new(self.blocks_per_plane.divide(block.get()))
    }

    /// First block of a plane.
    #[inline]
    pub fn first_block(&self, plane: PlaneId) -> BlockId {
        BlockId::new(plane.get() * self.blocks_per_plane.get())
    }

    /// First physical page of a block.
    #[inline]
    pub fn first_page(&self, block: BlockId) -> Ppa {
        Ppa::new(block.get() * self.pages_per_block.get())
    }

    /// A block.
    #[inline]
    pub fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block]
    }

    /// Starts to keep the valid pages of full blocks in one array.
    pub(super) fn keep_full(&mut self) {
        if self.stripes.is_some() {
            // The valid pages of a superblock may need more bits; there are few to compare.
            return;
        }
        let full = |block: &Block| (block.state == BlockState::Full).then_some(block.valid);
        self.full = FullBlocks::of(self.blocks.iter().map(full));
    }

    /// The valid pages of full blocks of a plane, as [`FullBlocks`] keeps them; empty where they
    /// are not kept.
    pub(super) fn full_of_plane(&self, plane: PlaneId) -> &[u16] {
        self.full.some(self.range_of_plane(plane))
    }

    /// Marks a block as in collection: it is about to be emptied or erased.
    pub(super) fn collect(&mut self, block: BlockId) -> &Block {
        self.full.collected(block);
        let state = &mut self.blocks[block];
        state.state = BlockState::Collected;
        state
    }

    /// Prefetches the record of a block.
    #[inline]
    pub(crate) fn prefetch(&self, block: BlockId) {
        flashlane_engine::prefetch(&self.blocks, block.index());
    }

    /// A block, to be changed.
    #[inline]
    pub fn block_mut(&mut self, block: BlockId) -> &mut Block {
        &mut self.blocks[block]
    }

    /// The numbers of all blocks.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = BlockId> + use<> {
        self.blocks.numbers()
    }

    /// The numbers of the blocks of a plane.
    pub(in crate::ftl) fn numbers_of(
        &self,
        plane: PlaneId,
    ) -> impl Iterator<Item = BlockId> + use<> {
        let first = self.first_block(plane).get();
        (first..first + self.blocks_per_plane.get()).map(BlockId::new)
    }

    /// The pages of a block, in order.
    #[inline]
    pub(crate) fn pages_of(&self, block: BlockId) -> impl Iterator<Item = Ppa> + use<> {
        let first = self.first_page(block).get();
        (first..first + self.pages_per_block.get()).map(Ppa::new)
    }

    fn range_of_plane(&self, plane: PlaneId) -> Range<usize> {
        let first = self.first_block(plane).index();
        first..first + self.ordinary_blocks as usize
    }

    /// The blocks of a plane, without those of the static part of the SLC cache.
    pub(crate) fn of_plane(&self, plane: PlaneId) -> &[Block] {
        &(*self.blocks)[self.range_of_plane(plane)]
    }

    /// Allocates the next page of an open block; the last page makes the block full.
    #[inline(always)]
    fn take_page(&mut self, block: BlockId) -> Ppa {
        let pages = self.pages_per_block.get();
        let of_slc = self.slc_pages;
        let open = &mut self.blocks[block];
        let page = open.allocated;
        open.allocated += 1;
        open.valid += 1;
        self.valid[open.flow.index()] += 1;
        if open.allocated == pages || open.allocated == of_slc && open.stream == Stream::SLC {
            open.state = BlockState::Full;
            self.full.filled(block, open.valid);
        }
        match &self.stripes {
            None => Ppa::new(block.get() * pages + page),
            Some(_) => self.take_slot(block, page),
        }
    }

    /// Allocates the next page of an open block that is not a frontier.
    pub(crate) fn append(&mut self, block: BlockId) -> Ppa {
        let open = self.block(block);
        assert_eq!(open.state, BlockState::Open, "pages are appended to open blocks");
        self.take_page(block)
    }

    /// Number of blocks of the device.
    pub(crate) fn count(&self) -> usize {
        self.blocks.len()
    }

    /// True if host writes wait for a free block of the plane, or could not open one.
    pub(crate) fn is_out_of_room(&self, plane: PlaneId) -> bool {
        let state = &self.planes[plane];
        !state.parked.is_empty() || state.urgent && state.free <= self.host_reserve(plane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry() -> Geometry {
        Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 8,
            pages_per_block: 4,
            sectors_per_page: 8,
            units_per_page: 1,
            pages_per_program: 1,
            pages_per_unit: 1,
        }
    }

    fn erase(blocks: &mut Blocks, block: BlockId) {
        blocks.block_mut(block).valid = 0;
        blocks.put_block(block);
    }

    #[test]
    fn frontiers_fill_in_order_and_the_reserve_is_kept() {
        let mut blocks = Blocks::new(geometry(), 1, true, 2);
        let mut pages = Vec::new();
        while let Some(ppa) = blocks.allocate(PlaneId::new(0), FlowId::new(0), Stream::HOST, false)
        {
            pages.push(ppa);
        }
        assert_eq!(
            pages,
            Ppa::first(24).collect::<Vec<_>>(),
            "six of eight blocks, two in reserve"
        );
        assert_eq!(blocks.planes[PlaneId::new(0)].free, 2);
        assert_eq!(
            blocks.allocate(PlaneId::new(0), FlowId::new(0), Stream::GC, true),
            Some(Ppa::new(24)),
            "collection may use the reserve"
        );
        assert_eq!(
            blocks.allocate(PlaneId::new(1), FlowId::new(0), Stream::HOST, false),
            Some(Ppa::new(32)),
            "planes are independent"
        );
    }

    #[test]
    fn wear_leveling_takes_the_least_erased_block() {
        for (leveling, expected) in [(true, 1), (false, 0)] {
            let mut blocks = Blocks::new(geometry(), 1, leveling, 0);
            for _ in 0..8 {
                blocks.precondition_block(PlaneId::new(0), FlowId::new(0), Stream::HOST);
            }
            blocks.block_mut(BlockId::new(0)).erases = 5;
            erase(&mut blocks, BlockId::new(0));
            erase(&mut blocks, BlockId::new(1));
            assert_eq!(
                blocks.precondition_block(PlaneId::new(0), FlowId::new(0), Stream::HOST),
                BlockId::new(expected)
            );
        }
    }

    #[test]
    #[should_panic(expected = "valid data")]
    fn erasing_valid_data_is_caught() {
        let mut blocks = Blocks::new(geometry(), 1, true, 0);
        let ppa = blocks.allocate(PlaneId::new(0), FlowId::new(0), Stream::HOST, false).unwrap();
        blocks.put_block(blocks.block_of(ppa));
    }
}
