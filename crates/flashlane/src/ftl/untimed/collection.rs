//! Collection and wear levelling: the same victims as with time, moved in what the host leaves of the dies'
//! clocks.

use flashlane_engine::NONE;

use super::Untimed;
use crate::config::validate::DIES_PER_CHIP;
use crate::error::Error;
use crate::ftl::blocks::{Block, BlockState, Stream};
use crate::ftl::gc::JobKind;

/// Pages of a block by which mappings are asked for ahead of their moves.
const AHEAD: u32 = 16;

/// A block being emptied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    plane: u32,
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
            if self.ftl.collection_is_free {
                self.pack(plane, block);
            } else {
                self.ftl.gc_invocations += 1;
                self.start_job(plane, block, JobKind::Collection);
            }
        }
    }

    fn start_job(&mut self, plane: u32, block: u32, kind: JobKind) {
        self.ftl.blocks.planes[plane as usize].jobs += 1;
        self.ftl.blocks.block_mut(block).state = BlockState::Collected;
        let next = self.ftl.blocks.first_page(block);
        self.jobs[self.dies.of(plane) as usize].push_back(Job { plane, block, next, kind });
    }

    /// Empties a block and frees it, all for nothing.
    fn pack(&mut self, plane: u32, block: u32) {
        let next = self.ftl.blocks.first_page(block);
        let mut job = Job { plane, block, next, kind: JobKind::Collection };
        self.move_pages(&mut job, u32::MAX);
        self.ftl.blocks.put_empty_block(block);
    }

    /// Collection of a die goes on in the time up to `at` that nobody else used.
    #[inline]
    pub(super) fn catch_up(&mut self, die: u32, at: u64) {
        if self.dies.free_at[die as usize] < at && !self.jobs[die as usize].is_empty() {
            self.catch_up_on_jobs(die, at);
        }
    }

    fn catch_up_on_jobs(&mut self, die: u32, at: u64) {
        let moved = self.dies.times.moved;
        loop {
            let left = at.saturating_sub(self.dies.free_at[die as usize]);
            // The last move may end behind `at`.
            if left == 0 || !self.advance(die, left.div_ceil(moved).min(u64::from(u32::MAX)) as u32)
            {
                return;
            }
        }
    }

    /// A page was placed on the plane: collection starts if it is due, and goes first where free blocks are
    /// few.
    #[inline]
    pub(super) fn follow(&mut self, plane: u32) {
        let state = &self.ftl.blocks.planes[plane as usize];
        if state.free < self.ftl.threshold {
            self.follow_short(plane);
        }
    }

    fn follow_short(&mut self, plane: u32) {
        self.collect(plane);
        let die = self.dies.of(plane);
        if self.dies.collection_in_order {
            while self.advance(die, u32::MAX) {}
        } else if self.is_urgent(plane) {
            self.collect_chip(die);
        }
    }

    fn is_urgent(&self, plane: u32) -> bool {
        self.ftl.blocks.planes[plane as usize].free < self.ftl.hard_threshold
    }

    /// Collection goes first on all dies of a chip, for the same time on each, until no plane of it is below
    /// the hard threshold.
    fn collect_chip(&mut self, die: u32) {
        let dies = self.dies.of_chip(die);
        let planes = self.dies.planes(dies.clone());
        let before = |drive: &Self, die: u32| drive.dies.free_at[die as usize];
        let mut starts = [0; *DIES_PER_CHIP.end() as usize];
        for (start, die) in starts.iter_mut().zip(dies.clone()) {
            *start = before(self, die);
        }
        while planes.clone().any(|plane| self.is_urgent(plane)) {
            let with_work = dies.clone().filter(|&die| !self.jobs[die as usize].is_empty());
            let spent = |die: &u32| before(self, *die) - starts[(*die - dies.start) as usize];
            let Some(die) = with_work.min_by_key(spent) else { return };
            self.advance(die, self.step);
        }
    }

    /// A page of a request is programmed: moves of other planes of the die whose next place is at the same
    /// page of its block are programmed with it, and take no more than their read.
    #[inline]
    pub(super) fn join(&mut self, die: u32, ppa: u32) {
        if self.dies.moves_join && !self.jobs[die as usize].is_empty() {
            self.join_jobs(die, ppa);
        }
    }

    fn join_jobs(&mut self, die: u32, ppa: u32) {
        let page = self.ftl.blocks.page_of(ppa);
        let own = self.ftl.blocks.plane_of(self.ftl.blocks.block_of(ppa));
        for plane in self.dies.planes_of(die).filter(|&plane| plane != own) {
            let jobs = &self.jobs[die as usize];
            let Some(at) = jobs.iter().position(|job| job.plane == plane) else { continue };
            let mut job = jobs[at];
            let Block { flow, stream, valid, .. } = *self.ftl.blocks.block(job.block);
            let next = self.ftl.blocks.next_page(plane, flow, stream.moved());
            if valid > 0 && next == page {
                self.move_pages(&mut job, 1);
                self.work[flow as usize].gc_programs += 1;
                self.dies.free_at[die as usize] += self.dies.times.read;
                self.jobs[die as usize][at] = job;
            }
        }
    }

    /// A page finds no room on the plane: a block is emptied.
    ///
    /// # Errors
    /// [`Error::Stuck`] where no block can be.
    pub(super) fn make_room(&mut self, plane: u32) -> Result<(), Error> {
        self.collect(plane);
        if self.advance(self.dies.of(plane), u32::MAX) {
            return Ok(());
        }
        Err(Error::Stuck(format!(
            "the drive cannot take another page: plane {plane} has {} free blocks and none that \
             collection could empty",
            self.ftl.blocks.planes[plane as usize].free
        )))
    }

    /// The oldest job of a die that has pages to move moves so many at most, and the jobs of other planes that
    /// are in step with it move as many; without one, the emptied blocks are erased. False without a job.
    fn advance(&mut self, die: u32, moves: u32) -> bool {
        let jobs = &self.jobs[die as usize];
        let Some(oldest) = jobs.front() else { return false };
        let valid = |job: &Job| u32::from(self.ftl.blocks.block(job.block).valid);
        let at = if self.dies.erases_last {
            jobs.iter().position(|job| valid(job) > 0)
        } else {
            (valid(oldest) > 0).then_some(0)
        };
        let Some(at) = at else {
            self.erase_emptied(die);
            return true;
        };
        let mut count = moves.min(valid(&jobs[at]));
        let mut time = self.dies.times.moved;
        let mut partners = 0_u64;
        if self.dies.moves_join {
            let pages = self.ftl.blocks.pages_per_block();
            let next = self.next_of(&jobs[at]);
            for (index, job) in jobs.iter().enumerate().skip(at + 1) {
                let (left, behind) = (valid(job), self.next_of(job) + pages - next);
                if left == 0 || self.plane_seen(die, index) {
                    continue;
                }
                if behind == pages {
                    count = count.min(left);
                    partners |= 1 << index;
                    time += self.dies.times.read;
                } else {
                    // It will be in step then.
                    count = count.min(behind % pages);
                }
            }
        }
        self.move_for(die, at, count);
        while partners != 0 {
            self.move_for(die, partners.trailing_zeros() as usize, count);
            partners &= partners - 1;
        }
        self.dies.free_at[die as usize] += u64::from(count) * time;
        true
    }

    /// A job of the die before this one is on the same plane.
    fn plane_seen(&self, die: u32, index: usize) -> bool {
        let jobs = &self.jobs[die as usize];
        jobs.iter().take(index).any(|job| job.plane == jobs[index].plane)
    }

    /// Page of its block that the next move of a job goes to.
    fn next_of(&self, job: &Job) -> u32 {
        let Block { flow, stream, .. } = *self.ftl.blocks.block(job.block);
        self.ftl.blocks.next_page(job.plane, flow, stream.moved())
    }

    /// A job of a die moves so many pages.
    fn move_for(&mut self, die: u32, at: usize, count: u32) {
        let mut job = self.jobs[die as usize][at];
        let flow = self.ftl.blocks.block(job.block).flow;
        self.move_pages(&mut job, count);
        self.work[flow as usize].gc_programs += u64::from(count);
        self.jobs[die as usize][at] = job;
    }

    /// Erases the emptied blocks of a die, those of several planes together.
    fn erase_emptied(&mut self, die: u32) {
        let count = if self.dies.erases_last { self.jobs[die as usize].len() } else { 1 };
        self.dies.free_at[die as usize] += self.dies.times.erase;
        for _ in 0..count {
            let job = self.jobs[die as usize].pop_front().expect("counted");
            self.erase(&job);
        }
    }

    /// Moves the next valid pages of a job, so many at most; how many there were.
    fn move_pages(&mut self, job: &mut Job, moves: u32) -> u32 {
        let &mut Job { plane, block, mut next, .. } = job;
        let Block { flow, stream, valid, .. } = *self.ftl.blocks.block(block);
        let stream = stream.moved();
        let moved = u32::from(valid).min(moves);
        let last = self.ftl.blocks.first_page(block) + self.ftl.blocks.pages_per_block() - 1;
        let mut left = moved;
        while left > 0 {
            let (mut to, count) = self
                .ftl
                .blocks
                .allocate_run(plane, flow, stream, true, left)
                .expect("the reserve suffices for every job");
            for _ in 0..count {
                let mut lpa = self.look_ahead(next, last);
                while lpa == NONE {
                    next += 1;
                    lpa = self.look_ahead(next, last);
                }
                self.ftl.pages.set_lpa(next, NONE);
                if stream == Stream::GcMapping {
                    self.ftl.pages.set_lpa(to, lpa);
                    self.move_translation_page(lpa, to);
                } else {
                    self.ftl.pages.place(lpa, to);
                    self.mapping_changed(flow, lpa);
                }
                (next, to) = (next + 1, to + 1);
            }
            left -= count;
        }
        self.ftl.blocks.invalidate_pages(block, moved);
        self.programmed(plane, moved);
        job.next = next;
        moved
    }

    /// What a page of a block holds; asks for the mapping of one some places behind.
    #[inline]
    fn look_ahead(&self, ppa: u32, last: u32) -> u32 {
        let ahead = self.ftl.pages.lpa((ppa + AHEAD).min(last));
        if ahead != NONE {
            self.ftl.pages.prefetch(ahead);
        }
        self.ftl.pages.lpa(ppa)
    }

    /// An empty block goes back to the pool, and the next one is looked for.
    fn erase(&mut self, job: &Job) {
        let &Job { plane, block, kind, .. } = job;
        self.ftl.blocks.put_block(block);
        self.erases += 1;
        self.ftl.blocks.planes[plane as usize].jobs -= 1;
        self.ftl.blocks.planes[plane as usize].urgent = self.is_urgent(plane);
        if kind == JobKind::Collection
            && let Some(coldest) = self.ftl.coldest_block(plane)
        {
            self.start_job(plane, coldest, JobKind::Wear);
        }
        self.collect(plane);
    }

    /// Checks the jobs against the blocks.
    pub(super) fn audit_jobs(&self) {
        let blocks = &self.ftl.blocks;
        let mut jobs = vec![0; blocks.planes.len()];
        for job in self.jobs.iter().flatten() {
            jobs[job.plane as usize] += 1;
        }
        for (plane, jobs) in (0..).zip(jobs) {
            assert_eq!(blocks.planes[plane as usize].jobs, jobs, "jobs of plane {plane}");
            let collected = |block: &&Block| block.state == BlockState::Collected;
            let found = blocks.of_plane(plane).iter().filter(collected).count();
            assert_eq!(found, jobs as usize, "blocks in collection of plane {plane}");
            assert!(jobs <= self.ftl.max_jobs, "jobs of plane {plane} are bounded");
        }
    }
}
