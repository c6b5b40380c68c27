//! Read scrubbing: the data of a block that was read very often since its erase is moved, before
//! its pages become unreadable.
//!
//! Such a move is a job like collection and wear levelling. Where sets of chips move, its pages go
//! to the set of their owner. Source: UPI (HotStorage) section 3.3; the limit is a parameter.

use flashlane_engine::Array;
use flashlane_units::{BlockId, PlaneId, Ppa};

use super::Ftl;
use super::blocks::BlockState;
use super::config::ScrubbingConfig;
use super::gc::JobKind;
use crate::context::Context;
use crate::layout::Geometry;

/// Reads of each block.
#[derive(Clone)]
pub(super) struct Scrubbing {
    limit: u32,
    /// Host pages read since the erase of the block of the flash.
    reads: Array<BlockId, u32>,
    /// Blocks whose data was moved.
    moves: u64,
}

impl Scrubbing {
    pub(super) fn new(config: &ScrubbingConfig, geometry: Geometry) -> Option<Self> {
        let blocks = (geometry.planes() * geometry.blocks_per_plane) as usize;
        (config.limit > 0).then(|| Self {
            limit: config.limit,
            reads: Array::of(0, blocks),
            moves: 0,
        })
    }

    /// Blocks whose data was moved so far.
    pub(super) fn moves(&self) -> u64 {
        self.moves
    }

    /// A block was erased.
    pub(super) fn erased(&mut self, block: BlockId) {
        self.reads[block] = 0;
    }
}

impl Ftl {
    /// Counts a read of a page by the host. If its block was read too often, moves the data of the
    /// block; where that is not possible now, the next read of the block tries again.
    #[inline(never)]
    pub(super) fn count_read(&mut self, ctx: &mut Context, ppa: Ppa) {
        let block = self.blocks.block_of(ppa);
        let plane = self.blocks.plane_of(block);
        let max_jobs = self.layer.collector().map_or(0, |collector| collector.max_jobs);
        let scrubbing = self.scrubbing.as_mut().expect("the caller looked");
        let reads = &mut scrubbing.reads[self.blocks.flash_block_of(ppa)];
        *reads = reads.saturating_add(1);
        if *reads < scrubbing.limit {
            return;
        }
        let (state, plane_state) = (self.blocks.block(block), &self.blocks.planes[plane]);
        let movable = state.state == BlockState::Full && state.quiet();
        if movable && plane_state.jobs < max_jobs && !plane_state.urgent {
            scrubbing.moves += 1;
            self.scrub(ctx, plane, block);
        } else if movable && self.pacing.is_some() {
            // The jobs of the plane may wait for writes that never come.
            self.release_all(ctx, plane);
        }
    }

    fn scrub(&mut self, ctx: &mut Context, plane: PlaneId, block: BlockId) {
        self.start_job(ctx, plane, block, JobKind::Scrubbing);
    }
}
