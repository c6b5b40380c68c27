//! Collection and wear levelling without time.

use flashlane_engine::NONE;

use super::Untimed;
use crate::error::Error;
use crate::ftl::blocks::{BlockState, Stream};
use crate::ftl::gc::JobKind;

/// A block being emptied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    block: u32,
    /// Physical page to look at next.
    next: u32,
    kind: JobKind,
}

impl Untimed {
    /// Starts to empty blocks of a plane that is short of free ones.
    pub(super) fn collect(&mut self, plane: u32) {
        while self.ftl.collection_is_due(plane) {
            let Some(block) = self.ftl.select_victim(plane) else { return };
            if !self.ftl.collection_is_free {
                self.ftl.gc_invocations += 1;
            }
            self.start_job(plane, block, JobKind::Collection);
            if self.ftl.collection_is_free {
                self.advance(plane, u32::MAX);
            }
        }
    }

    fn start_job(&mut self, plane: u32, block: u32, kind: JobKind) {
        self.ftl.blocks.planes[plane as usize].jobs += 1;
        self.ftl.blocks.block_mut(block).state = BlockState::Collected;
        let next = self.ftl.blocks.first_page(block);
        self.jobs[plane as usize].push_back(Job { block, next, kind });
    }

    /// A host page was placed on the plane: collection goes on.
    #[inline]
    pub(super) fn follow(&mut self, plane: u32) {
        let state = &self.ftl.blocks.planes[plane as usize];
        if state.jobs == 0 && state.free >= self.ftl.threshold {
            return;
        }
        self.follow_short(plane);
    }

    /// The same for a plane that is short of free blocks.
    fn follow_short(&mut self, plane: u32) {
        self.collect(plane);
        let pace = self.paces[plane as usize];
        if pace == u32::MAX {
            while self.advance(plane, u32::MAX) {}
            return;
        }
        let credit = u64::from(self.credit[plane as usize]) + u64::from(pace);
        self.credit[plane as usize] = credit as u32 & 0xFFFF;
        self.advance(plane, (credit >> 16) as u32);
        while self.ftl.blocks.planes[plane as usize].free < self.ftl.hard_threshold
            && self.advance(plane, u32::MAX)
        {}
    }

    /// A host page finds no room on the plane: a block is emptied.
    ///
    /// # Errors
    /// [`Error::Stuck`] where no block can be.
    pub(super) fn make_room(&mut self, plane: u32) -> Result<(), Error> {
        self.collect(plane);
        if self.advance(plane, u32::MAX) {
            return Ok(());
        }
        Err(Error::Stuck(format!(
            "the drive cannot take another page: plane {plane} has {} free blocks and none that \
             collection could empty",
            self.ftl.blocks.planes[plane as usize].free
        )))
    }

    /// Moves so many pages of the oldest job of a plane at most, and erases its block if it is empty then.
    /// False without a job.
    fn advance(&mut self, plane: u32, moves: u32) -> bool {
        let Some(&Job { block, mut next, kind }) = self.jobs[plane as usize].front() else {
            return false;
        };
        let flow = self.ftl.blocks.block(block).flow;
        let stream = self.ftl.blocks.block(block).stream.moved();
        let valid = u32::from(self.ftl.blocks.block(block).valid);
        let moved = valid.min(moves);
        for _ in 0..moved {
            let mut lpa = self.ftl.pages.lpa(next);
            while lpa == NONE {
                next += 1;
                lpa = self.ftl.pages.lpa(next);
            }
            let to = self
                .ftl
                .blocks
                .allocate_at_once(plane, flow, stream, true)
                .expect("the reserve suffices for every job");
            self.ftl.pages.set_lpa(next, NONE);
            self.ftl.blocks.invalidate(block);
            if stream == Stream::GcMapping {
                self.ftl.pages.set_lpa(to, lpa);
                self.move_translation_page(lpa, to);
            } else {
                self.ftl.pages.place(lpa, to);
                self.mapping_changed(flow, lpa);
            }
            self.programmed(plane);
            next += 1;
        }
        if !self.ftl.collection_is_free {
            self.work[flow as usize].gc_programs += u64::from(moved);
        }
        if moved == valid {
            self.jobs[plane as usize].pop_front();
            self.erase(plane, block, kind);
        } else {
            self.jobs[plane as usize].front_mut().expect("just seen").next = next;
        }
        true
    }

    /// An empty block goes back to the pool, and the next one is looked for.
    fn erase(&mut self, plane: u32, block: u32, kind: JobKind) {
        let free_of_cost = self.ftl.collection_is_free;
        if free_of_cost {
            self.ftl.blocks.put_empty_block(block);
        } else {
            self.ftl.blocks.put_block(block);
            self.erases += 1;
        }
        let state = &mut self.ftl.blocks.planes[plane as usize];
        state.jobs -= 1;
        state.urgent = state.free < self.ftl.hard_threshold;
        if kind == JobKind::Collection
            && !free_of_cost
            && let Some(coldest) = self.ftl.coldest_block(plane)
        {
            self.start_job(plane, coldest, JobKind::Wear);
        }
        if !free_of_cost {
            self.collect(plane);
        }
    }

    /// Checks the jobs against the blocks.
    pub(super) fn audit_jobs(&self) {
        let blocks = &self.ftl.blocks;
        for (plane, jobs) in (0..).zip(&self.jobs) {
            let state = &blocks.planes[plane as usize];
            assert_eq!(state.jobs as usize, jobs.len(), "jobs of plane {plane}");
            let collected = |block: &&_| {
                matches!(block, crate::ftl::blocks::Block { state: BlockState::Collected, .. })
            };
            let found = blocks.of_plane(plane).iter().filter(collected).count();
            assert_eq!(found, jobs.len(), "blocks in collection of plane {plane}");
            assert!(jobs.len() <= self.ftl.max_jobs as usize, "jobs of plane {plane} are bounded");
        }
    }
}
