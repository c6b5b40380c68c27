//! Collection and wear levelling without events: they choose the same victims as the timed drive,
//! and move pages in the time that hosts leave free on the dies' clocks.

use flashlane_units::{BlockId, DieId, Lpa, PlaneId, Ppa};

use super::Untimed;
use super::job::Job;
use crate::collection_order::{Presses, Room, Steps};
use crate::flash::config::DIES_PER_CHIP;
use crate::ftl::blocks::{Block, Stream};
use crate::ftl::gc::JobKind;
use flashlane_reading::Error;

/// Pages ahead of its move at which the mapping of a page is prefetched.
const AHEAD: u32 = 16;

impl Untimed {
    /// Starts to empty blocks of a plane that is short of free ones.
    pub(super) fn collect(&mut self, plane: PlaneId) {
        while self.ftl.collection_is_due(plane) {
            let Some(block) = self.ftl.select_victim(plane) else { return };
            if self.ftl.layer.frees_at_once() {
                self.pack(plane, block);
                continue;
            }
            self.ftl.gc_invocations += 1;
            self.start_job(plane, block, JobKind::Collection);
        }
    }

    fn start_job(&mut self, plane: PlaneId, block: BlockId, kind: JobKind) {
        self.ftl.begin_job(plane, block);
        assert_eq!(self.ftl.blocks.plane_of(block), plane, "a plane collects its own blocks");
        let next = self.ftl.blocks.first_page(block);
        let die = self.dies.of(plane);
        let job = Job::new(plane, block, next, kind);
        let pace = if kind == JobKind::Collection { self.pace_of(&job) } else { None };
        self.jobs[die].push_back(job.paced(pace));
        self.has_work(die);
    }

    /// Empties a block and frees it at no cost.
    fn pack(&mut self, plane: PlaneId, block: BlockId) {
        let next = self.ftl.blocks.first_page(block);
        let mut job = Job::new(plane, block, next, JobKind::Collection);
        self.move_pages(&mut job, u32::MAX);
        self.ftl.blocks.put_empty_block(block);
    }

    /// Collects on a die in the time up to `at` that hosts have not used.
    #[inline]
    pub(super) fn catch_up(&mut self, die: DieId, at: u64) {
        if (self.dies.free_at[die] < at || self.dies.arrival.is_some())
            && !self.jobs[die].is_empty()
        {
            self.catch_up_on_jobs(die, at);
        }
    }

    fn catch_up_on_jobs(&mut self, die: DieId, at: u64) {
        if self.dies.arrival.is_some() {
            self.take_turns(die, at);
            return;
        }
        // The last operation may end behind `at`.
        while self.dies.free_at[die] < at && self.advance(die, at) {}
    }

    /// After a page was placed on the plane: starts collection if it is due, and lets it go first
    /// where free blocks are few.
    #[inline]
    pub(super) fn follow(&mut self, plane: PlaneId, at: u64) {
        if self.ftl.is_paced() {
            self.pace_write(plane);
        }
        let state = &self.ftl.blocks.planes[plane];
        if state.free < self.threshold {
            self.follow_short(plane, at);
        }
    }

    fn follow_short(&mut self, plane: PlaneId, at: u64) {
        let die = self.dies.of(plane);
        if self.dies.arrival.is_some() {
            self.collect(plane);
            self.take_turns(die, at);
            return;
        }
        self.dies.begin(die, at);
        self.collect(plane);
        if self.dies.always_first {
            while self.advance(die, u64::MAX) {}
            return;
        }
        let presses = self.dies.presses;
        match presses {
            Presses::Urgent if self.is_urgent(plane) => self.collect_chip(die, at),
            Presses::FewPages { below, on } if self.has_few_pages(plane, below, on) => {
                self.collect_with_write(die);
            }
            _ => {}
        }
    }

    /// True if collection must go with a write to the plane: free pages are few, or the plane can
    /// take no more pages.
    fn has_few_pages(&mut self, plane: PlaneId, below: u64, on: Room) -> bool {
        self.ftl.blocks.planes[plane].urgent = self.is_urgent(plane);
        let view = self.ftl.view();
        let free = match on {
            Room::Plane => view.free_pages(plane),
            Room::Die => {
                self.dies.planes_of(self.dies.of(plane)).map(|plane| view.free_pages(plane)).sum()
            }
            Room::Drive => view.free_pages_of_drive(),
        };
        free < below || view.is_out_of_room(plane)
    }

    /// Empties and erases the blocks in collection on a die before a write.
    fn collect_with_write(&mut self, die: DieId) {
        let planes = u64::from(self.ftl.blocks.planes_per_block());
        let until = self.erases + self.jobs[die].len() as u64 * planes;
        while self.erases < until && self.advance(die, u64::MAX) {}
    }

    pub(super) fn is_urgent(&self, plane: PlaneId) -> bool {
        self.ftl.blocks.planes[plane].free < self.hard_threshold
    }

    /// Lets collection go first on all dies of a chip, for the same time on each, until no plane of
    /// the chip is below the hard threshold.
    fn collect_chip(&mut self, die: DieId, at: u64) {
        let chip = self.dies.chip(die);
        let dies = self.dies.of_chip(chip);
        for die in dies.clone() {
            self.catch_up(die, at);
            self.dies.begin(die, at);
        }
        let planes = self.dies.planes(chip);
        let before = |drive: &Self, die: DieId| drive.dies.free_at[die];
        let mut starts = [0; *DIES_PER_CHIP.end() as usize];
        for (start, die) in starts.iter_mut().zip(dies.clone()) {
            *start = before(self, die);
        }
        self.release_urgent(planes.clone());
        while planes.clone().any(|plane| self.is_urgent(plane)) {
            let with_work = dies.clone().zip(&starts).filter(|&(die, _)| self.can_collect(die));
            let spent = |&(die, start): &(DieId, &u64)| before(self, die) - start;
            let Some((die, _)) = with_work.min_by_key(spent) else { return };
            self.advance(die, before(self, die) + self.step * self.dies.times.gc_program);
        }
    }

    /// After a host page was programmed: programs those moved pages with it whose next place is at
    /// the same page number of a block on another plane of the die.
    #[inline]
    pub(super) fn join(&mut self, die: DieId, ppa: Ppa) {
        if self.dies.moves_join && !self.jobs[die].is_empty() {
            self.join_jobs(die, ppa);
        }
    }

    fn join_jobs(&mut self, die: DieId, ppa: Ppa) {
        let blocks = &self.ftl.blocks;
        let page = blocks.page_of(ppa);
        let own = blocks.plane_of(blocks.block_of(ppa));
        let mut joined = own;
        for index in 0..self.jobs[die].len() {
            let job = &self.jobs[die][index];
            if job.plane != own && job.plane != joined && job.programs > 0 && job.page == page {
                joined = job.plane;
                self.program_pages(die, index, 1);
                self.programs_end(joined, die, 0..1);
            }
        }
    }

    /// Empties a block, since a page finds no room on the plane.
    ///
    /// # Errors
    ///
    /// [`Error::Stuck`] if no block can be emptied.
    pub(super) fn make_room(&mut self, plane: PlaneId, at: u64) -> Result<(), Error> {
        self.collect(plane);
        self.release_all(plane);
        let die = self.dies.of(plane);
        let goes_on = match self.dies.arrival {
            Some(_) => self.take_next_turn(die, at),
            None => self.advance(die, u64::MAX),
        };
        if goes_on {
            return Ok(());
        }
        self.audit_jobs();
        Err(Error::Stuck(format!(
            "the drive cannot take another page: plane {plane} has {} free blocks and none that \
             collection could empty",
            self.ftl.blocks.planes[plane].free
        )))
    }

    /// Does the next operations of a die's jobs until about `until`: at least one, all of one kind,
    /// in the order of the die's steps. False if the die has no job.
    pub(super) fn advance(&mut self, die: DieId, until: u64) -> bool {
        let jobs = &self.jobs[die];
        if !self.can_collect(die) {
            return false;
        }
        let times = self.dies.times;
        let left = until.saturating_sub(self.dies.free_at[die]);
        let most = |time: u64| left.div_ceil(time).clamp(1, u64::from(u32::MAX)) as u32;
        let one_by_one = self.dies.steps == Steps::ProgramsFirst;
        let programs_wait = one_by_one && jobs.iter().any(|job| job.programs > 0);
        if let Some(at) = jobs.iter().position(|job| !programs_wait && self.movable(job) > 0) {
            let mut count = most(times.gc_read).min(self.movable(&jobs[at]));
            if one_by_one {
                // Does whole pairs of a read and its program in one step.
                let pairs = left / (times.gc_read + times.gc_program);
                count = if self.balances { 1 } else { pairs.max(1).min(u64::from(count)) as u32 };
            }
            self.read_for(die, at, count);
            self.dies.free_at[die] += u64::from(count) * times.gc_read;
            if one_by_one && count > 1 {
                self.program_for(die, at, count);
                self.dies.free_at[die] += u64::from(count) * times.gc_program;
            }
        } else if let Some(at) = self.next_program(die) {
            let count = self.program_for(die, at, most(times.gc_program));
            self.dies.free_at[die] += u64::from(count) * times.gc_program;
        } else {
            self.dies.free_at[die] += times.erase;
            self.erase_emptied(die);
        }
        true
    }

    /// The job of a die whose programs are next; `None` where an erase is next.
    fn next_program(&self, die: DieId) -> Option<usize> {
        let jobs = &self.jobs[die];
        let next = jobs.iter().position(|job| job.programs > 0)?;
        (self.dies.steps != Steps::OneList || jobs.iter().all(|job| !self.is_emptied(job)))
            .then_some(next)
    }

    /// Reads pages of a job, and gives them their new places.
    pub(super) fn read_for(&mut self, die: DieId, at: usize, count: u32) {
        let mut job = self.jobs[die][at];
        let Block { flow, stream, .. } = *self.ftl.blocks.block(job.block);
        if job.programs == 0 {
            job.page = self.ftl.blocks.next_page(job.plane, flow, stream.moved());
        }
        self.move_pages(&mut job, count);
        job.begin_moves(count);
        job.programs += count;
        if self.balances && self.dies.arrival.is_none() {
            self.ftl.blocks.planes[job.plane].programs += count;
        }
        self.count_moves(flow, [count, 0]);
        self.jobs[die][at] = job;
    }

    /// Programs `count` pages of a job.
    pub(super) fn program_pages(&mut self, die: DieId, at: usize, count: u32) {
        self.jobs[die][at].program(count, self.ftl.blocks.pages_per_block());
        let flow = self.ftl.blocks.block(self.jobs[die][at].block).flow;
        self.count_moves(flow, [0, count]);
    }

    /// Programs at most `most` pages of a job, together with moved pages of other planes of the die
    /// that are at the same page number. Returns the number of pages of the job.
    fn program_for(&mut self, die: DieId, at: usize, most: u32) -> u32 {
        let pages = self.ftl.blocks.pages_per_block();
        let Job { plane, page, programs, .. } = self.jobs[die][at];
        let mut count = most.min(programs);
        let (mut partners, mut joined) = (1_u128 << at, plane);
        if self.dies.moves_join {
            for (index, job) in self.jobs[die].iter().enumerate().skip(at + 1) {
                if job.programs == 0 || job.plane == plane || job.plane == joined {
                    continue;
                }
                if job.page == page {
                    (partners, joined) = (partners | 1_u128 << index, job.plane);
                    count = count.min(job.programs);
                } else {
                    // Stop where the other job gets to the same page number.
                    count = count.min((job.page + pages - page) % pages);
                }
            }
        }
        while partners != 0 {
            let at = partners.trailing_zeros() as usize;
            self.program_pages(die, at, count);
            self.programs_end(self.jobs[die][at].plane, die, 1..count + 1);
            partners &= partners - 1;
        }
        count
    }

    /// Erases the emptied blocks of a die: the first block, or the blocks of several planes
    /// together.
    fn erase_emptied(&mut self, die: DieId) {
        let mut at = 0;
        for _ in 0..self.jobs[die].len() {
            if !self.is_emptied(&self.jobs[die][at]) {
                at += 1;
                continue;
            }
            let job = self.jobs[die].remove(at).expect("counted");
            self.erase(&job);
            if self.dies.steps == Steps::OneList {
                return;
            }
        }
    }

    /// Moves at most `moves` of the next valid pages of a job. Returns the number of pages.
    fn move_pages(&mut self, job: &mut Job, moves: u32) -> u32 {
        let &mut Job { plane, block, mut next, .. } = job;
        let Block { flow, stream, valid, .. } = *self.ftl.blocks.block(block);
        let (stream, shared) = (stream.moved(), self.ftl.blocks.shares_frontiers());
        // Usually all are pages of one host: one test a page is enough.
        let apart = shared || stream == Stream::GC_MAPPING;
        let moved = valid.min(moves);
        let last = self.ftl.blocks.first_page(block).plus(self.ftl.blocks.pages_per_block() - 1);
        let mut left = moved;
        while left > 0 {
            let (mut to, count) = self
                .ftl
                .blocks
                .allocate_run(plane, flow, stream, true, left)
                .expect("the reserve suffices for every job");
            for _ in 0..count {
                let mut lpa = self.look_ahead(next, last);
                while lpa == Lpa::NONE {
                    next = next.plus(1);
                    lpa = self.look_ahead(next, last);
                }
                self.ftl.pages.set_lpa(next, Lpa::NONE);
                let flow =
                    if apart && shared { self.moves_for(plane, block, (lpa, to)) } else { flow };
                if apart && stream == Stream::GC_MAPPING {
                    self.ftl.pages.set_lpa(to, lpa);
                    self.move_translation_page(lpa.get(), to);
                } else {
                    self.ftl.pages.move_to(lpa, to);
                    self.mapping_changed(flow, lpa);
                }
                (next, to) = (next.plus(1), to.plus(1));
            }
            left -= count;
        }
        assert!(moved == 0 || next <= last.plus(1), "block {block} holds its valid pages");
        self.ftl.blocks.invalidate_pages(block, moved);
        job.next = next;
        moved
    }

    /// The contents of a page of a block. Prefetches the mapping of a page [`AHEAD`] places further
    /// on.
    #[inline]
    fn look_ahead(&self, ppa: Ppa, last: Ppa) -> Lpa {
        let ahead = self.ftl.pages.lpa(ppa.plus(AHEAD).min(last));
        if ahead != Lpa::NONE {
            self.ftl.pages.prefetch(ahead);
            self.ftl.prefetch_handle(ahead);
        }
        self.ftl.pages.lpa(ppa)
    }

    /// Erases an empty block, and looks for the next block to collect.
    pub(super) fn erase(&mut self, job: &Job) {
        let &Job { plane, block, kind, programs, .. } = job;
        assert_eq!(programs, 0, "moved pages are programmed before block {block} is erased");
        assert_eq!(self.ftl.blocks.block(block).valid, 0, "block {block} is empty");
        if self.ftl.packs_units() {
            let Block { flow, stream, .. } = *self.ftl.blocks.block(block);
            let (empty, last) = self.ftl.complete_row(plane, flow, stream.moved());
            self.work[flow.index()].gc_programs += u64::from(empty);
            if last.is_some_and(|last| self.ftl.blocks.parity_after(last).is_some()) {
                self.program_parity(plane, flow, 0);
            }
        }
        self.ftl.blocks.superblock_erased(block);
        self.ftl.end_job(plane, block);
        self.erases += u64::from(self.ftl.blocks.planes_per_block());
        self.ftl.blocks.planes[plane].urgent = self.is_urgent(plane);
        if kind == JobKind::Collection
            && let Some(coldest) = self.ftl.coldest_block(plane)
        {
            self.start_job(plane, coldest, JobKind::Wear);
        }
        self.collect(plane);
    }
}
