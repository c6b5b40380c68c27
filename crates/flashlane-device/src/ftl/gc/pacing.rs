//! Paced collection (`ftl.gc.pacing = "proportional"`): the valid pages of a victim are moved while
//! the host writes, instead of all at once.
//!
//! A victim of `b` pages with `V` valid ones gives `b - V` pages of room. After `w` pages that were
//! written to its plane since, `floor(w V / (b - V))` of its pages are *released*. So the block is
//! empty when the host has used the room that its erase gives back. The rest is released at once if
//! a plane is below its low watermark (`ftl.gc.hard_threshold`) or lets writes wait, because then
//! nothing else would free a block. A drive that the host leaves idle (`ftl.gc.idle_after`) goes on
//! page by page without any writes.
//!
//! A released page is read and programmed soon: a read of a page that moves waits for its program,
//! and so only a few pages of a plane move at the same time ([`MOVES_MAX`]).

use std::collections::VecDeque;

use flashlane_engine::Array;
use flashlane_units::{BlockId, JobId, Lpa, PlaneId, Ppa};

use crate::context::Context;
use crate::ftl::Ftl;
use crate::ftl::blocks::BlockState;
use crate::ftl::config::{GcConfig, Pacing};

/// The pace of a block in collection.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) struct Pace {
    /// Valid pages of the block when it was chosen.
    valid: u32,
    /// Pages that its erase gains.
    gain: u32,
    /// Part of a move that the writes so far ask for. Unit: 1 / `gain` moves.
    credit: u32,
}

impl Pace {
    /// The pace of a block of `pages` pages, of which `valid` are valid.
    pub(in crate::ftl) fn of(valid: u32, pages: u32) -> Self {
        assert!(valid <= pages, "a block has no more valid pages than pages");
        Self { valid, gain: (pages - valid).max(1), credit: 0 }
    }

    /// Counts a page that was written to the plane. Returns the number of moves that it releases.
    #[inline]
    pub(in crate::ftl) fn write(&mut self) -> u32 {
        debug_assert!(self.credit < self.gain, "moves that writes asked for are released");
        self.credit += self.valid;
        let moves = self.credit / self.gain;
        self.credit %= self.gain;
        moves
    }
}

/// Pages of a plane that move at the same time: while one is programmed, the next is read.
const MOVES_MAX: u32 = 2;

/// Released pages of a block all of whose pages are released.
const ALL: u32 = u32::MAX;

/// A block in collection with pages that have not begun to move.
#[derive(Clone, Copy, Debug)]
struct Held {
    job: JobId,
    block: BlockId,
    /// The pages of the block before this one have begun to move, or were not valid. Counted in the
    /// order of allocation.
    next: u32,
    /// Released pages that have not begun to move.
    released: u32,
    pace: Pace,
}

impl Held {
    fn release(&mut self, count: u32) {
        self.released = self.released.saturating_add(count);
    }

    /// Notes that a page begins to move.
    fn begin_move(&mut self, nth: u32) {
        assert!(nth >= self.next, "pages begin to move in the order of their places");
        self.next = nth + 1;
        if self.released != ALL {
            self.released = self.released.saturating_sub(1);
        }
    }
}

/// Blocks in collection whose pages wait for writes of the host, or for each other.
#[derive(Clone, Debug)]
pub(in crate::ftl) struct PacedJobs {
    /// The blocks of each plane, the oldest first. Writes release the pages of the oldest.
    held: Array<PlaneId, VecDeque<Held>>,
    /// True while the host leaves the drive idle.
    idle: bool,
}

impl PacedJobs {
    /// No blocks; `None` if collection is not paced.
    pub(in crate::ftl) fn new(gc: &GcConfig, planes: usize) -> Option<Self> {
        let jobs = VecDeque::with_capacity(gc.max_concurrent_per_plane as usize);
        (gc.pacing == Pacing::Proportional)
            .then(|| Self { held: Array::of(jobs, planes), idle: false })
    }

    /// True if the block has pages that have not begun to move.
    pub(in crate::ftl) fn holds(&self, plane: PlaneId, block: BlockId) -> bool {
        self.held[plane].iter().any(|held| held.block == block)
    }

    /// The erase of a block starts.
    pub(in crate::ftl) fn emptied(&mut self, plane: PlaneId, block: BlockId) {
        self.held[plane].retain(|held| held.block != block);
    }
}

impl Ftl {
    /// True if the pages of blocks in collection wait for writes.
    #[inline]
    pub(in crate::ftl) fn is_paced(&self) -> bool {
        self.pacing.is_some()
    }

    /// Begins to move the pages of a block at the pace of the writes.
    pub(super) fn start_paced(
        &mut self,
        ctx: &mut Context,
        plane: PlaneId,
        block: BlockId,
        job: JobId,
    ) {
        let valid = self.blocks.block(block).valid;
        let pace = Pace::of(valid, self.blocks.pages_per_block());
        let paced = self.pacing.as_mut().expect("collection is paced");
        paced.held[plane].push_back(Held { job, block, next: 0, released: 0, pace });
        self.go_on(ctx, plane);
    }

    /// Counts a page that was written to the plane, and releases the moves that it asks for.
    #[inline]
    pub(in crate::ftl) fn pace_write(&mut self, ctx: &mut Context, plane: PlaneId) {
        let Some(paced) = &mut self.pacing else { return };
        if let Some(held) = paced.held[plane].front_mut() {
            let moves = held.pace.write();
            held.release(moves);
            self.go_on(ctx, plane);
        }
    }

    /// Releases everything on a plane that is short of free blocks: nobody else would free one.
    pub(in crate::ftl) fn press(&mut self, ctx: &mut Context, plane: PlaneId) {
        if self.pacing.is_some() && self.is_pressed(plane) {
            self.release_all(ctx, plane);
        }
    }

    /// True if the plane is below the low watermark, or writes wait for a block of it.
    fn is_pressed(&self, plane: PlaneId) -> bool {
        let state = &self.blocks.planes[plane];
        state.urgent || !state.parked.is_empty()
    }

    /// Releases all pages of the plane's blocks in collection.
    pub(in crate::ftl) fn release_all(&mut self, ctx: &mut Context, plane: PlaneId) {
        let Some(paced) = &mut self.pacing else { return };
        paced.held[plane].iter_mut().for_each(|held| held.release(ALL));
        self.go_on(ctx, plane);
    }

    /// Begins to move the next released pages of the plane's oldest block in collection, as far as
    /// they may move now. In idle time, one page at a time moves without being released.
    pub(super) fn go_on(&mut self, ctx: &mut Context, plane: PlaneId) {
        loop {
            let Some(paced) = &self.pacing else { return };
            let Some(&Held { job, block, next, released, .. }) = paced.held[plane].front() else {
                return;
            };
            let moves = self.jobs[job].moves();
            // Units move by the row.
            let units = self.units_per_program();
            if moves >= self.moves_max() || released == 0 && !(paced.idle && moves < units) {
                return;
            }
            let (end, mut nth) = (self.blocks.slots(), next);
            while nth < end && self.pages.lpa(self.blocks.nth_page(block, nth)) == Lpa::NONE {
                nth += 1;
            }
            let held = &mut self.pacing.as_mut().expect("collection is paced").held[plane];
            if nth == end {
                held.pop_front();
                // The last pages may have been overwritten before they began to move.
                self.erase_if_empty(ctx, block);
            } else {
                held[0].begin_move(nth);
                self.start_move(ctx, job, self.blocks.nth_page(block, nth));
            }
        }
    }

    /// Pages of a block that move at the same time at most.
    fn moves_max(&self) -> u32 {
        MOVES_MAX * self.blocks.planes_per_block() * self.units_per_program()
    }

    /// A page of a block in collection became invalid without being moved; it may have been the
    /// last one.
    pub(in crate::ftl) fn page_lost(&mut self, ctx: &mut Context, ppa: Ppa) {
        let block = self.blocks.block_of(ppa);
        let state = self.blocks.block(block);
        if state.state == BlockState::Collected && state.valid == 0 {
            self.erase_if_empty(ctx, block);
            if self.packs_units()
                && let Some(job) = self.jobs.find(|job| job.block() == block)
            {
                self.complete_moves(ctx, job);
            }
        }
    }

    /// The host has left the drive idle for long enough: blocks in collection are emptied without
    /// waiting for writes.
    pub(crate) fn idle_begins(&mut self, ctx: &mut Context) {
        if let Some(paced) = &mut self.pacing {
            paced.idle = true;
            for plane in self.blocks.planes.numbers() {
                self.go_on(ctx, plane);
            }
        }
        self.folding_begins(ctx);
    }

    /// The host uses the drive again.
    #[inline]
    pub(crate) fn idle_ends(&mut self) {
        if let Some(paced) = &mut self.pacing {
            paced.idle = false;
        }
        self.folding_ends();
    }

    /// Checks the blocks whose pages wait for writes.
    pub(in crate::ftl) fn audit_pacing(&self) {
        let Some(paced) = &self.pacing else { return };
        for (plane, held) in paced.held.numbered() {
            assert!(
                !self.is_pressed(plane) || held.iter().all(|held| held.released == ALL),
                "plane {plane} is short of free blocks, but moves of its collection wait for writes"
            );
            if let Some(oldest) = held.front() {
                let goes_on = oldest.released > 0 || paced.idle;
                let moves = self.jobs[oldest.job].moves();
                assert!(moves > 0 || !goes_on, "released pages of plane {plane} move");
                assert!(
                    moves <= self.moves_max(),
                    "few pages of plane {plane} move at the same time"
                );
            }
            held.iter().for_each(|held| self.audit_held(held));
        }
    }

    fn audit_held(&self, held: &Held) {
        let &Held { job, block, next, pace, .. } = held;
        assert_eq!(self.jobs[job].block(), block, "pages are held for their job");
        assert!(pace.credit < pace.gain, "moves that writes asked for are released");
        let state = self.blocks.block(block);
        assert_eq!(state.state, BlockState::Collected, "held block {block} is in collection");
        let blocks = &self.blocks;
        let later = blocks.pages_of(block).filter(|&ppa| blocks.place_in_order(ppa) >= next);
        let left = later.filter(|&ppa| self.pages.lpa(ppa) != Lpa::NONE).count();
        assert!(
            left + self.jobs[job].moves() as usize >= state.valid as usize,
            "every valid page of block {block} is held or moves"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_empty_when_its_room_is_used_up() {
        for pages in [1, 4, 7, 256] {
            for valid in 0..=pages {
                let mut pace = Pace::of(valid, pages);
                let gain = (pages - valid).max(1);
                let mut released = 0;
                for written in 1..=3 * gain {
                    released += pace.write();
                    assert_eq!(released, written * valid / gain, "{valid} of {pages}");
                }
            }
        }
    }
}
