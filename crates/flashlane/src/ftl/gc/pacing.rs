//! Paced collection (`ftl.gc.pacing = "proportional"`): the valid pages of a victim are moved while
//! the host writes, instead of all at once.
//!
//! A victim of `b` pages with `V` valid ones gives `b - V` pages of room. After `w` pages that were
//! written to its plane since, `floor(w V / (b - V))` of its pages have been *released*: their moves
//! are in the queue of the die, or over. So the block is empty when the host has used the room that
//! its erase gives back. The rest is released at once if a plane is below its low watermark
//! (`ftl.gc.hard_threshold`) or lets writes wait, because then nothing else would free a block. A
//! drive that the host leaves idle (`ftl.gc.idle_after`) goes on page by page without any writes.

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
        self.credit += self.valid;
        let moves = self.credit / self.gain;
        self.credit %= self.gain;
        moves
    }
}

/// A block in collection with pages that are not released.
#[derive(Clone, Copy, Debug)]
struct Held {
    job: JobId,
    block: BlockId,
    /// The pages of the block before this one are released, or were not valid.
    next: Ppa,
    pace: Pace,
}

/// Blocks in collection whose pages wait for writes of the host.
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

    /// True if the block has pages that are not released.
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
        let valid = u32::from(self.blocks.block(block).valid);
        let pace = Pace::of(valid, self.blocks.pages_per_block());
        let next = self.blocks.first_page(block);
        let paced = self.pacing.as_mut().expect("collection is paced");
        paced.held[plane].push_back(Held { job, block, next, pace });
        self.go_on_idle(ctx, plane);
    }

    /// Counts a page that was written to the plane, and releases the moves that it asks for.
    #[inline]
    pub(in crate::ftl) fn pace_write(&mut self, ctx: &mut Context, plane: PlaneId) {
        let Some(paced) = &mut self.pacing else { return };
        if let Some(held) = paced.held[plane].front_mut() {
            let moves = held.pace.write();
            self.release_moves(ctx, plane, moves);
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
        self.release_moves(ctx, plane, u32::MAX);
    }

    /// Releases the next `count` pages of the plane's blocks in collection, or all if there are
    /// fewer.
    fn release_moves(&mut self, ctx: &mut Context, plane: PlaneId, count: u32) {
        for _ in 0..count {
            let Some(paced) = &self.pacing else { return };
            let Some(&Held { job, block, next, .. }) = paced.held[plane].front() else { return };
            let end = self.blocks.first_page(block).plus(self.blocks.pages_per_block());
            let mut ppa = next;
            while ppa < end && self.pages.lpa(ppa) == Lpa::NONE {
                ppa = ppa.plus(1);
            }
            let held = &mut self.pacing.as_mut().expect("collection is paced").held[plane];
            if ppa == end {
                held.pop_front();
                // The last pages may have been overwritten before they were released.
                self.erase_if_empty(ctx, block);
            } else {
                held[0].next = ppa.plus(1);
                self.start_move(ctx, job, ppa);
            }
        }
    }

    /// A page of a block in collection became invalid without being moved; it may have been the
    /// last one.
    pub(in crate::ftl) fn page_lost(&mut self, ctx: &mut Context, ppa: Ppa) {
        let block = self.blocks.block_of(ppa);
        let state = self.blocks.block(block);
        if state.state == BlockState::Collected && state.valid == 0 {
            self.erase_if_empty(ctx, block);
        }
    }

    /// In idle time: releases the next page of a plane if none is on its way.
    pub(super) fn go_on_idle(&mut self, ctx: &mut Context, plane: PlaneId) {
        let Some(paced) = &self.pacing else { return };
        if let Some(held) = paced.held[plane].front()
            && paced.idle
            && self.jobs[held.job].moves() == 0
        {
            self.release_moves(ctx, plane, 1);
        }
    }

    /// The host has left the drive idle for long enough: blocks in collection are emptied without
    /// waiting for writes.
    pub(crate) fn idle_begins(&mut self, ctx: &mut Context) {
        self.pacing.as_mut().expect("only paced collection waits for idle time").idle = true;
        for plane in self.blocks.planes.numbers() {
            self.go_on_idle(ctx, plane);
        }
    }

    /// The host uses the drive again.
    #[inline]
    pub(crate) fn idle_ends(&mut self) {
        if let Some(paced) = &mut self.pacing {
            paced.idle = false;
        }
    }

    /// Checks the blocks whose pages wait for writes.
    pub(in crate::ftl) fn audit_pacing(&self) {
        let Some(paced) = &self.pacing else { return };
        for (plane, held) in paced.held.numbered() {
            assert!(
                held.is_empty() || !self.is_pressed(plane),
                "plane {plane} is short of free blocks, but moves of its collection wait for writes"
            );
            for &Held { job, block, next, pace } in held {
                assert_eq!(self.jobs[job].block(), block, "pages are held for their job");
                assert!(pace.credit < pace.gain, "moves that writes asked for are released");
                let state = self.blocks.block(block);
                assert_eq!(
                    state.state,
                    BlockState::Collected,
                    "held block {block} is in collection"
                );
                let held = self.blocks.pages_of(block).filter(|&ppa| ppa >= next);
                let left = held.filter(|&ppa| self.pages.lpa(ppa) != Lpa::NONE).count();
                let moving = self.jobs[job].moves() as usize;
                assert!(
                    left + moving >= usize::from(state.valid),
                    "every valid page of block {block} is held or moves"
                );
            }
            let moving = |plane| {
                self.jobs
                    .iter()
                    .any(|(_, job)| job.moves() > 0 && self.blocks.plane_of(job.block()) == plane)
            };
            assert!(
                !paced.idle || held.is_empty() || moving(plane),
                "collection of plane {plane} goes on in idle time"
            );
        }
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
