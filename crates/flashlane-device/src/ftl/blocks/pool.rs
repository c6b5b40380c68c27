//! Free blocks of every plane.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use flashlane_units::{BlockId, FlowId, PlaneId};

use super::{Block, BlockState, Blocks, Stream};

/// Collections that a plane owes at most. Source: the released MQSim, blocks in collection at a
/// time.
const COLLECTIONS_OWED_MAX: u32 = 10;

/// Erased blocks of a plane: blocks that were never used, in order, and blocks that came back.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    /// First block that was never used, counted inside the plane.
    pub(super) virgin: u32,
    /// Blocks that came back from an erase, by erase count: for dynamic wear levelling.
    pub(super) by_wear: BinaryHeap<Reverse<(u32, u32, BlockId)>>,
    /// Blocks that came back from an erase, oldest first: without wear levelling.
    pub(super) by_age: VecDeque<BlockId>,
    pub(super) sequence: u32,
}

impl Blocks {
    /// Takes a free block out of the pool.
    pub(crate) fn take_block(&mut self, plane: PlaneId, flow: FlowId, stream: Stream) -> BlockId {
        let base = self.first_block(plane);
        let ordinary = self.ordinary_blocks;
        let state = &mut self.planes[plane];
        if stream == Stream::SLC
            && let Some(block) = state.static_free.pop_front()
        {
            return self.open_block(block, flow, stream);
        }
        assert!(state.free > 0, "a block is taken from a pool that has one");
        state.free -= 1;
        if state.free < self.owe_below {
            state.owed = (state.owed + 1).min(COLLECTIONS_OWED_MAX);
        }
        state.slc += u32::from(stream == Stream::SLC);
        let pool = &mut state.pool;
        let block = if pool.virgin < ordinary {
            pool.virgin += 1;
            base.plus(pool.virgin - 1)
        } else if self.wear_leveling {
            pool.by_wear.pop().expect("free blocks are counted").0.2
        } else {
            pool.by_age.pop_front().expect("free blocks are counted")
        };
        self.open_block(block, flow, stream)
    }

    /// Opens an empty block.
    #[inline]
    fn open_block(&mut self, block: BlockId, flow: FlowId, stream: Stream) -> BlockId {
        let taken = &mut self.blocks[block];
        assert_eq!(taken.state, BlockState::Free, "a pool holds free blocks");
        *taken = Block {
            state: BlockState::Open,
            flow,
            stream,
            erases: taken.erases,
            ..Block::default()
        };
        block
    }

    /// Puts an erased block back into the pool.
    pub(crate) fn put_block(&mut self, block: BlockId) {
        let plane = self.plane_of(block);
        let erased = &mut self.blocks[block];
        erased.erases += 1;
        let erases = erased.erases;
        self.slc_erases += u64::from(erased.stream == Stream::SLC);
        if !self.is_static(block) {
            let state = &mut self.planes[plane];
            state.erases_max = state.erases_max.max(erases);
        }
        self.put_empty_block(block);
    }

    /// Puts a block back into the pool that became empty without an erase.
    pub(crate) fn put_empty_block(&mut self, block: BlockId) {
        let plane = self.plane_of(block);
        let erased = &mut self.blocks[block];
        assert_ne!(erased.state, BlockState::Free, "a block is freed once");
        assert_eq!(erased.valid, 0, "no block is erased with valid data");
        assert_eq!(erased.reads, 0, "no block is erased under a read");
        let (erases, slc) = (erased.erases, erased.stream == Stream::SLC);
        *erased = Block { erases, ..Block::default() };
        self.settle(block);
        let fixed = self.is_static(block);
        let state = &mut self.planes[plane];
        if fixed {
            assert!(slc, "a static block is in SLC mode");
            state.static_free.push_back(block);
            return;
        }
        state.free += 1;
        state.slc -= u32::from(slc);
        let pool = &mut state.pool;
        if self.wear_leveling {
            pool.by_wear.push(Reverse((erases, pool.sequence, block)));
            pool.sequence += 1;
        } else {
            pool.by_age.push_back(block);
        }
    }

    /// Begins to count erases anew, as on a drive whose steady state was set at once.
    pub(super) fn forget_erases(&mut self) {
        self.slc_erases = 0;
        self.blocks.iter_mut().for_each(|block| block.erases = 0);
        for plane in self.planes.iter_mut() {
            (plane.erases_max, plane.erases_min) = (0, 0);
            let worn = std::mem::take(&mut plane.pool.by_wear).into_iter();
            plane.pool.by_wear =
                worn.map(|Reverse((_, sequence, block))| Reverse((0, sequence, block))).collect();
        }
        if let Some(stripes) = &mut self.stripes {
            stripes.forget_erases();
        }
    }

    /// Sets the number of free blocks below which taking a block owes a collection.
    pub(crate) fn owe_collections(&mut self, below: u32) {
        self.owe_below = below;
    }

    /// Free blocks of each plane that only collection may take, without jobs.
    pub(in crate::ftl) fn reserve(&self) -> u32 {
        self.reserve
    }

    /// Free blocks of a plane that only collection may take: at least one for each job.
    #[inline]
    pub(super) fn host_reserve(&self, plane: PlaneId) -> u32 {
        self.reserve.max(self.planes[plane].jobs)
    }
}
