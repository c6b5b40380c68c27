//! The work of garbage collection: from victim to erased block.

use flashlane_engine::{NONE, Slab};

use super::PlaneView;
use crate::device::Device;
use crate::ftl::Ftl;
use crate::ftl::blocks::{BlockState, Stream};
use crate::transaction::{Op, Place, Source, Transaction};

/// A block being emptied.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Job {
    block: u32,
    /// Migrations that are not done.
    moves: u32,
    /// The erase is on its way.
    erasing: bool,
    kind: JobKind,
}

/// Free blocks below which an erase has another block collected, with `compat.collection_per_block`. Source: the released MQSim.
const FEW_BLOCKS: u32 = 10;

/// Blocks of a plane in collection at a time in the released MQSim.
const RELEASED_JOBS_MAX: u32 = 10;

/// Why a block is emptied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum JobKind {
    /// To have free blocks.
    #[default]
    Collection,
    /// To have its block erased as often as others.
    Wear,
}

impl Job {
    /// The erase of a block that is empty already.
    pub(crate) fn of(block: u32) -> Self {
        Self { block, moves: 0, erasing: false, kind: JobKind::Collection }
    }
}

impl Ftl {
    /// Another block of the plane is to be emptied now.
    pub(crate) fn collection_is_due(&self, plane: u32) -> bool {
        let state = &self.blocks.planes[plane as usize];
        if self.collection_per_block {
            // Every job may open one block.
            let jobs_max = RELEASED_JOBS_MAX.min(state.free);
            return state.owed > 0 && state.free < self.threshold && state.jobs < jobs_max;
        }
        state.free < self.threshold && state.jobs < self.max_jobs
    }

    /// Blocks that planes have fewer free than the threshold asks for: what collection still owes.
    pub(crate) fn blocks_owed(&self) -> u64 {
        if self.hybrid.is_some() || self.in_place {
            return 0;
        }
        let short = |free: u32| u64::from(self.threshold.saturating_sub(free));
        self.blocks.planes.iter().map(|plane| short(plane.free)).sum()
    }

    /// The block of the plane to empty next; `None` where no block can be collected now.
    pub(crate) fn select_victim(&mut self, plane: u32) -> Option<u32> {
        let blocks = &self.blocks;
        let filled = blocks.planes[plane as usize].filled;
        let (all, full) = (blocks.of_plane(plane), blocks.full_of_plane(plane));
        let view = PlaneView::new(all, full, blocks.pages_per_block(), filled);
        let victim = match &self.sets {
            Some(sets) if !self.collection_is_free => sets.victim(plane, blocks),
            _ => self.victim.select(&view, &mut self.rng),
        }?;
        assert!(view.valid(victim).is_some(), "a policy picks only what may be collected");
        let owed = &mut self.blocks.planes[plane as usize].owed;
        *owed = owed.saturating_sub(1);
        Some(self.blocks.first_block(plane) + victim)
    }
}

impl Device {
    /// Starts collecting a plane if it is short of free blocks. Remembers the wish where no block
    /// can be collected now.
    pub(crate) fn collect(&mut self, plane: u32) {
        if self.ftl.hybrid.is_some() {
            self.continue_merge(plane);
            return;
        }
        let at = plane as usize;
        self.ftl.blocks.planes[at].gc_wanted = false;
        if self.ftl.collection_is_due(plane) {
            self.close_foreign_frontiers(plane);
        }
        while self.ftl.collection_is_due(plane) {
            let Some(block) = self.ftl.select_victim(plane) else {
                self.ftl.blocks.planes[at].gc_wanted = true;
                return;
            };
            if self.ftl.collection_is_free {
                self.pack(plane, block);
            } else {
                self.ftl.gc_invocations += 1;
                self.start_job(plane, block, JobKind::Collection);
            }
        }
    }

    /// Closes what flows left open on a plane that they write to no more, so that it can be collected.
    fn close_foreign_frontiers(&mut self, plane: u32) {
        let Some(sets) = &self.ftl.sets else { return };
        for flow in (0..self.layout.flows.len() as u16).filter(|&f| !sets.may_write(f, plane)) {
            self.ftl.blocks.close_frontiers(plane, flow);
        }
    }

    /// Has a block collected that nobody took one for, with `compat.collection_per_block`: writes wait
    /// for it, or an erase left too few free blocks.
    pub(crate) fn owe_collection(&mut self, plane: u32) {
        let state = &mut self.ftl.blocks.planes[plane as usize];
        state.owed = state.owed.max(1);
    }

    /// Collects a plane where that was not possible before. Without an erase that would do it later,
    /// writes that wait for a block go on at once.
    pub(crate) fn collect_again(&mut self, plane: u32) {
        self.collect(plane);
        if self.ftl.collection_is_free {
            self.unpark(plane);
        }
    }

    /// Empties a block and frees it in no time: nothing is read, programmed or erased.
    fn pack(&mut self, plane: u32, block: u32) {
        let flow = self.ftl.blocks.block(block).flow;
        let stream = self.ftl.blocks.block(block).stream.moved();
        let first = self.ftl.blocks.first_page(block);
        for from in first..first + self.ftl.blocks.pages_per_block() {
            let lpa = self.ftl.pages.lpa(from);
            if lpa == NONE {
                continue;
            }
            let to = self
                .ftl
                .blocks
                .allocate(plane, flow, stream, true)
                .expect("the reserve suffices for every block");
            if stream == Stream::GcMapping {
                self.bind_translation_page(lpa, to);
            } else {
                self.ftl.pages.set_lpa(from, NONE);
                self.ftl.blocks.invalidate(block);
                self.ftl.pages.move_to(lpa, to);
            }
            let target = self.ftl.blocks.block_mut(self.ftl.blocks.block_of(to));
            target.issued += 1;
            target.programmed += 1;
        }
        self.ftl.blocks.put_empty_block(block);
        self.pool_changed(plane);
    }

    /// Queues the migration of every valid page of a block.
    pub(crate) fn start_job(&mut self, plane: u32, block: u32, kind: JobKind) {
        self.ftl.blocks.planes[plane as usize].jobs += 1;
        self.erase_is_awaited(plane);
        let state = self.ftl.blocks.collect(block);
        let (flow, valid) = (state.flow, u32::from(state.valid));
        let job = self.ftl.jobs.insert(Job { block, moves: valid, erasing: false, kind });
        if self.observer.is_some() {
            self.observe_job(plane, job, flow, valid);
        }
        self.ftl.gc_moves += u64::from(valid);
        let first = self.ftl.blocks.first_page(block);
        let mut found = 0;
        for ppa in first..first + self.ftl.blocks.pages_per_block() {
            let lpa = self.ftl.pages.lpa(ppa);
            if lpa == NONE {
                continue;
            }
            found += 1;
            let id = self.new_transaction(Source::Gc, Op::Read, flow, lpa);
            let mask = self.ftl.pages.full_mask();
            let tr = &mut self.transactions[id];
            tr.ppa = ppa;
            tr.plane = plane;
            tr.tag = job;
            tr.set_mask(mask);
            self.schedule(id);
        }
        assert_eq!(found, valid, "valid counter and page table agree on block {block}");
        if valid == 0 {
            self.erase_if_empty(block);
        }
    }

    /// Host writes of the chip wait from now on until the erase of a block starts, with
    /// `compat.writes_wait_for_erases`. Nothing that leads to the erase may depend on a host write.
    fn erase_is_awaited(&mut self, plane: u32) {
        let chip = self.flash.chip_of(self.flash.die_of(plane));
        self.ftl.unerased[chip as usize] += 1;
    }

    /// A host write or trim came first: the page need not move.
    pub(crate) fn migration_cancelled(&mut self, id: u32) {
        if self.ftl.hybrid.is_some() {
            self.merge_read_cancelled(id);
            return;
        }
        let job = self.transactions[id].tag;
        self.transactions.remove(id);
        self.move_over(job);
    }

    fn move_over(&mut self, job: u32) {
        let state = &mut self.ftl.jobs[job];
        state.moves -= 1;
        if state.moves == 0 {
            let block = state.block;
            self.erase_if_empty(block);
        }
    }

    /// The page to move is in the controller: it gets its new place.
    pub(crate) fn migration_read_done(&mut self, id: u32) {
        if self.ftl.hybrid.is_some() {
            self.merge_read_done(id);
        } else if self.place_migration(id) {
            self.schedule(id);
        }
    }

    /// Turns the read of a page to move into its program, at a new place in the same plane or, where sets of
    /// chips say so, in another. False if a host write or trim came first.
    pub(crate) fn place_migration(&mut self, id: u32) -> bool {
        let now = self.now;
        let tr = self.transactions[id];
        if self.ftl.pages.lpa(tr.ppa) != tr.lpa {
            self.migration_cancelled(id);
            return false;
        }
        let mut stream = self.ftl.blocks.block(self.ftl.blocks.block_of(tr.ppa)).stream.moved();
        let mut plane = tr.plane;
        if let Some(sets) = &mut self.ftl.sets
            && stream.is_data()
        {
            plane = sets.plane_of_copy(tr.flow, tr.plane, &self.ftl.blocks);
            sets.copied(tr.flow, plane != tr.plane);
        }
        let away = plane != tr.plane;
        if away {
            stream = Stream::Relocated;
        }
        let ppa = self
            .ftl
            .blocks
            .allocate(plane, tr.flow, stream, !away)
            .expect("the reserve suffices for every job, and other planes have room");
        if stream == Stream::GcMapping {
            self.bind_translation_page(tr.lpa, ppa);
        } else {
            self.invalidate(tr.ppa);
            self.ftl.pages.move_to(tr.lpa, ppa);
            self.mapping_changed(tr.flow, tr.lpa);
        }
        self.ftl.blocks.planes[plane as usize].programs += 1;
        let write = &mut self.transactions[id];
        write.op = Op::Program;
        write.plane = plane;
        write.ppa = ppa;
        write.mark = now;
        self.pool_changed(plane);
        if self.ftl.collection_per_block || away {
            self.collect(plane);
        }
        true
    }

    /// The next page for moved data of the transaction's plane may be programmed at once.
    pub(crate) fn next_target_is_in_order(&self, tr: &Transaction) -> bool {
        let from = self.ftl.blocks.block(self.ftl.blocks.block_of(tr.ppa));
        !self.ftl.ordered || self.ftl.blocks.in_step(tr.plane, tr.flow, from.stream.moved())
    }

    /// A moved page is on flash.
    pub(crate) fn migration_program_done(&mut self, id: u32) {
        self.page_programmed(id);
        let tr = self.transactions[id];
        self.recorder.flows[tr.flow as usize].work.other_programs += 1;
        self.transactions.remove(id);
        if self.ftl.hybrid.is_some() {
            self.merge_program_done(tr.plane);
            return;
        }
        self.move_over(tr.tag);
    }

    /// Erases a collected block as soon as nothing moves out of it and nobody reads it.
    pub(crate) fn erase_if_empty(&mut self, block: u32) {
        let state = self.ftl.blocks.block(block);
        if state.reads > 0 || state.valid > 0 || !state.quiet() {
            return;
        }
        let flow = state.flow;
        let found = self.ftl.jobs.find(|job| job.block == block);
        let id = found.expect("a collected block has a job");
        let job = &self.ftl.jobs[id];
        if job.moves > 0 || job.erasing {
            return;
        }
        self.ftl.jobs[id].erasing = true;
        let first = self.ftl.blocks.first_page(block);
        let plane = self.ftl.blocks.plane_of(block);
        if self.ftl.hybrid.is_some() {
            // Before, host writes to the block itself could be what its erase waits for.
            self.erase_is_awaited(plane);
        }
        let erase = self.new_transaction(Source::Gc, Op::Erase, flow, NONE);
        let tr = &mut self.transactions[erase];
        tr.ppa = first;
        tr.plane = plane;
        tr.tag = id;
        self.schedule(erase);
    }

    /// The block is free again: parked writes go on, and the next collection starts if need be.
    pub(crate) fn erase_done(&mut self, id: u32) {
        let tr = self.transactions[id];
        self.transactions.remove(id);
        let Job { block, kind, .. } = self.ftl.jobs[tr.tag];
        self.ftl.jobs.remove(tr.tag);
        self.ftl.blocks.put_block(block);
        if let Some(sets) = &mut self.ftl.sets {
            sets.erased(block);
        }
        self.ftl.blocks.planes[tr.plane as usize].jobs -= 1;
        self.pool_changed(tr.plane);
        self.unpark(tr.plane);
        if self.ftl.blocks.planes[tr.plane as usize].free < FEW_BLOCKS {
            self.owe_collection(tr.plane);
        }
        // In turns, so that levelling keeps nobody from a free block.
        if kind == JobKind::Collection {
            self.level_wear(tr.plane);
        }
        self.collect(tr.plane);
    }

    /// The number of free blocks of a plane may have crossed the hard threshold.
    pub(crate) fn pool_changed(&mut self, plane: u32) {
        let hard = self.ftl.hard_threshold;
        let state = &mut self.ftl.blocks.planes[plane as usize];
        // With hybrid mapping the pool is always small: merges are urgent when writes wait for them.
        let urgent =
            if self.ftl.hybrid.is_some() { !state.parked.is_empty() } else { state.free < hard };
        if urgent != state.urgent {
            state.urgent = urgent;
            let chip = self.flash.chip_of(self.flash.die_of(plane)) as usize;
            let planes = &mut self.ftl.urgent_planes[chip];
            *planes = if urgent { *planes + 1 } else { *planes - 1 };
        }
    }
}

impl Ftl {
    /// Checks the jobs of collection and what they have under way.
    pub(in crate::ftl) fn audit_jobs(&self, transactions: &Slab<Transaction>) {
        let mut jobs = vec![0; self.blocks.planes.len()];
        for (id, job) in self.jobs.iter() {
            let Job { block, moves, erasing, .. } = *job;
            jobs[self.blocks.plane_of(block) as usize] += 1;
            let state = self.blocks.block(block);
            assert_eq!(state.state, BlockState::Collected, "block {block} has a job");
            let own = |tr: &Transaction| tr.source == Source::Gc && tr.tag == id;
            let own: Vec<Op> =
                transactions.iter().filter(|(_, tr)| own(tr)).map(|(_, tr)| tr.op).collect();
            let erases = own.iter().filter(|&&op| op == Op::Erase).count();
            if self.hybrid.is_none() {
                let moving = own.len() - erases;
                assert_eq!(moving, moves as usize, "moves of block {block} are counted");
                assert_eq!(erases, usize::from(erasing), "block {block} is erased once");
                let awaited = moves > 0 || erasing || state.reads > 0 || !state.quiet();
                assert!(awaited, "an empty block {block} is erased");
            }
        }
        let counted = self.blocks.planes.iter().map(|plane| plane.jobs);
        assert!(counted.eq(jobs), "jobs of a plane are counted");
    }

    /// Blocks of a chip whose erase has not been sent yet.
    pub(in crate::ftl) fn unerased_of(
        &self,
        transactions: &Slab<Transaction>,
        is_of_chip: impl Fn(u32) -> bool,
    ) -> usize {
        let erases = |at: Place| {
            let of_chip = |tr: &Transaction| tr.op == Op::Erase && is_of_chip(tr.plane);
            transactions.iter().filter(|(_, tr)| of_chip(tr) && tr.place == at).count()
        };
        if self.hybrid.is_some() {
            return erases(Place::Queue);
        }
        let plane = |job: &Job| self.blocks.plane_of(job.block);
        self.jobs.iter().filter(|(_, job)| is_of_chip(plane(job))).count() - erases(Place::Die)
    }
}
