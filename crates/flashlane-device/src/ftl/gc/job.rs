//! A block in collection: its valid pages are read and programmed elsewhere, then it is erased.

use std::collections::BTreeMap;

use flashlane_units::{BlockId, ChipId, FlowId, JobId, Lpa, PlaneId, Ppa, TransactionId};

use crate::context::Context;
use crate::ftl::blocks::{BlockState, Stream};
use crate::ftl::{Ftl, Seen};
use crate::transaction::{Op, Place, Source, Transaction, Transactions};

/// A block being emptied.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::ftl) struct Job {
    block: BlockId,
    /// Migrations that have begun and are not done yet.
    moves: u32,
    /// True from the start of the erase on.
    erasing: bool,
    /// Erases that are not done: one for each block of the flash.
    erases: u32,
    kind: JobKind,
}

/// With `compat.collection_per_block`, an erase that leaves fewer free blocks than this starts
/// another collection. Source: the released MQSim.
const FEW_BLOCKS: u32 = 10;

/// Reason why a block is emptied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ftl) enum JobKind {
    /// The plane needs free blocks.
    #[default]
    Collection,
    /// Wear levelling: the block was erased less often than others.
    Wear,
    /// Read scrubbing and refresh: the block was read too often, or has too many errors.
    Scrubbing,
    /// The SLC cache is folded in idle time.
    Folding,
}

impl Job {
    /// A job for a block that is empty already and only needs its erase.
    pub(in crate::ftl) fn of(block: BlockId) -> Self {
        Self { block, moves: 0, erasing: false, erases: 0, kind: JobKind::Collection }
    }

    /// The block.
    pub(in crate::ftl) fn block(&self) -> BlockId {
        self.block
    }

    /// Migrations that have begun and are not done yet.
    pub(in crate::ftl) fn moves(&self) -> u32 {
        self.moves
    }
}

impl Ftl {
    /// Queues the migration of every valid page of a block.
    pub(in crate::ftl) fn start_job(
        &mut self,
        ctx: &mut Context,
        plane: PlaneId,
        block: BlockId,
        kind: JobKind,
    ) {
        self.erase_is_awaited(plane);
        let state = self.begin_job(plane, block);
        let (flow, valid, stream) = (state.flow, state.valid, state.stream);
        if stream == Stream::SLC {
            self.count_fold(valid, kind);
        }
        let job = self.jobs.insert(Job { block, moves: valid, erasing: false, erases: 0, kind });
        self.tell(Seen::Collection { plane: self.first_plane(plane), job, owner: flow, valid });
        if self.pacing.is_some() && kind == JobKind::Collection && valid > 0 {
            self.jobs[job].moves = 0;
            return self.start_paced(ctx, plane, block, job);
        }
        self.gc_moves += u64::from(valid);
        let mut found = 0;
        for nth in 0..self.blocks.slots() {
            let ppa = self.blocks.nth_page(block, nth);
            let lpa = self.pages.lpa(ppa);
            if lpa == Lpa::NONE {
                continue;
            }
            found += 1;
            self.queue_move(ctx, job, (plane, ppa), (flow, lpa));
        }
        assert_eq!(found, valid, "valid counter and page table agree on block {block}");
        if valid == 0 {
            self.erase_if_empty(ctx, block);
        }
    }

    /// Queues the read of a page that a job moves. The flow is that of the block, and the plane is
    /// the pool of the page. Where flows share blocks, both are looked up for the page.
    fn queue_move(
        &mut self,
        ctx: &mut Context,
        job: JobId,
        (mut plane, ppa): (PlaneId, Ppa),
        (mut flow, lpa): (FlowId, Lpa),
    ) {
        if self.blocks.shares_frontiers() {
            flow = self.owner_of(self.jobs[job].block, lpa);
            plane = self.blocks.plane_in_pool(plane, ppa);
        }
        let id = self.new_transaction(ctx, Source::Gc, Op::Read, flow, lpa);
        let mask = self.pages.full_mask();
        let tr = &mut ctx.transactions[id];
        tr.ppa = ppa;
        tr.plane = plane;
        tr.tag = job.get();
        tr.set_part(mask, self.pages.sectors_in(mask));
        tr.place = Place::Queue;
        if !(self.packs_units() && self.ride(ctx, id)) {
            self.ready(id);
        }
    }

    /// Queues the migration of one more valid page of a block whose pages wait for writes.
    pub(super) fn start_move(&mut self, ctx: &mut Context, job: JobId, ppa: Ppa) {
        let block = self.jobs[job].block;
        assert!(!self.jobs[job].erasing, "no page moves out of a block that is erased");
        self.jobs[job].moves += 1;
        self.gc_moves += 1;
        let at = (self.blocks.plane_of(block), ppa);
        let page = (self.blocks.block(block).flow, self.pages.lpa(ppa));
        self.queue_move(ctx, job, at, page);
    }

    /// Makes host writes of the chips of a pool wait until the erase of a block starts, with
    /// `compat.writes_wait_for_erases`. Nothing that leads to the erase may depend on a host write.
    fn erase_is_awaited(&mut self, plane: PlaneId) {
        for plane in self.blocks.planes_of_pool(plane) {
            let chip = ChipId::new(self.planes_per_chip.divide(plane.get()));
            self.unerased[chip] += 1;
        }
    }

    /// The page of a move lost its data before it was read.
    pub(in crate::ftl) fn move_cancelled(&mut self, ctx: &mut Context, id: TransactionId) {
        let job = ctx.transactions[id].job();
        ctx.transactions.remove(id);
        self.forget_last_read();
        self.move_over(ctx, job);
    }

    /// A move of a job is over.
    pub(in crate::ftl) fn move_over(&mut self, ctx: &mut Context, job: JobId) {
        let state = &mut self.jobs[job];
        assert!(state.moves > 0, "a move that is over has begun");
        assert!(!state.erasing, "a block is erased when all its moves are over");
        state.moves -= 1;
        let block = state.block;
        if state.moves == 0 {
            self.erase_if_empty(ctx, block);
        } else if self.packs_units() {
            self.complete_moves(ctx, job);
        }
        if self.is_paced() {
            self.go_on(ctx, self.blocks.plane_of(block));
        }
    }

    /// The page of a move is in the controller; it gets its new place.
    pub(in crate::ftl) fn move_read_done(&mut self, ctx: &mut Context, id: TransactionId) {
        if self.place_migration(ctx, id) {
            if self.packs_units() {
                self.moved_unit_placed(ctx, id);
            } else {
                self.schedule(ctx, id);
            }
        }
    }

    /// Turns the read of a page to move into its program, at a new place in the same plane or,
    /// where sets of chips move, on another chip. False if a host write or trim came first.
    pub(crate) fn place_migration(&mut self, ctx: &mut Context, id: TransactionId) -> bool {
        let now = ctx.now;
        let tr = ctx.transactions[id];
        if self.pages.lpa(tr.ppa) != tr.lpa {
            self.migration_cancelled(ctx, id);
            return false;
        }
        let mut stream = self.blocks.block(self.blocks.block_of(tr.ppa)).stream.moved();
        let from = self.blocks.pool_of(tr.plane);
        let mut plane = from;
        if let Some(sets) = &mut self.sets
            && stream.is_data()
        {
            plane = sets.plane_of_copy(tr.flow, from, &self.blocks);
            sets.copied(tr.flow, plane != from);
        }
        let away = plane != from;
        if away {
            stream = Stream::RELOCATED;
        }
        let ppa = self
            .blocks
            .allocate(plane, tr.flow, stream, !away)
            .expect("the reserve suffices for every job, and other planes have room");
        if stream == Stream::GC_MAPPING {
            self.bind_translation_page(ctx, tr.lpa.get(), ppa);
        } else {
            self.copied_by_handle(self.blocks.block_of(tr.ppa), tr.lpa);
            self.invalidate(ctx, tr.ppa);
            self.pages.move_to(tr.lpa, ppa);
            self.mapping_changed(ctx, tr.flow, tr.lpa);
        }
        self.blocks.planes[plane].programs += 1;
        let write = &mut ctx.transactions[id];
        write.op = Op::Program;
        write.plane = plane;
        write.ppa = ppa;
        write.mark = now;
        if self.blocks.stripes().is_some() {
            self.placed_in_stripe(ctx, id, plane);
        }
        self.pool_changed(plane);
        if self.collects_per_block() || away {
            self.collect(ctx, plane);
        }
        if away {
            self.pace_write(ctx, plane);
        }
        self.press(ctx, plane);
        true
    }

    /// True if the next page for moved data on the transaction's plane may be programmed at once.
    pub(crate) fn next_target_is_in_order(&self, tr: &Transaction) -> bool {
        let from = self.blocks.block(self.blocks.block_of(tr.ppa));
        !self.ordered || self.blocks.in_step(tr.plane, tr.flow, from.stream.moved())
    }

    /// Erases a collected block as soon as no page moves out of it and no read of it is under way.
    pub(in crate::ftl) fn erase_if_empty(&mut self, ctx: &mut Context, block: BlockId) {
        let state = self.blocks.block(block);
        if state.reads > 0 || state.valid > 0 || !state.quiet() {
            return;
        }
        let flow = state.flow;
        let found = self.jobs.find(|job| job.block == block);
        let id = found.expect("a collected block has a job");
        let job = &self.jobs[id];
        if job.moves > 0 || job.erasing {
            return;
        }
        self.jobs[id].erasing = true;
        let plane = self.blocks.plane_of(block);
        if let Some(paced) = &mut self.pacing {
            paced.emptied(plane, block);
        }
        if self.layer.hybrid().is_some() {
            // Only now: the erase may have waited for host writes to the block itself.
            self.erase_is_awaited(plane);
        }
        self.jobs[id].erases = self.blocks.planes_per_block();
        for first in self.blocks.first_pages(block) {
            let erase = self.new_transaction(ctx, Source::Gc, Op::Erase, flow, Lpa::NONE);
            let tr = &mut ctx.transactions[erase];
            tr.ppa = first;
            tr.plane = self.blocks.plane_in_pool(plane, first);
            tr.tag = id.get();
            self.schedule(ctx, erase);
        }
    }

    /// The block is free again: parked writes go on, and the next collection starts if it is due.
    pub(crate) fn erase_done(&mut self, ctx: &mut Context, id: TransactionId) {
        let tr = ctx.transactions[id];
        ctx.transactions.remove(id);
        let job = &mut self.jobs[tr.job()];
        assert!(job.erasing && job.erases > 0, "an erase that is over has begun");
        assert_eq!(job.moves, 0, "nothing moves out of a block that is erased");
        job.erases -= 1;
        self.blocks.flash_block_erased(tr.ppa);
        let Job { block, kind, erases, .. } = *job;
        if erases > 0 {
            return;
        }
        self.jobs.remove(tr.job());
        let plane = self.blocks.plane_of(block);
        self.end_job(plane, block);
        if let Some(sets) = &mut self.sets {
            sets.erased(block);
        }
        if let Some(scrubbing) = &mut self.scrubbing {
            self.blocks.flash_blocks_of(block).for_each(|block| scrubbing.erased(block));
        }
        if let Some(errors) = &mut self.errors {
            self.blocks.flash_blocks_of(block).for_each(|block| errors.erased(block));
        }
        self.pool_changed(plane);
        self.unpark(ctx, plane);
        if self.blocks.planes[plane].free < FEW_BLOCKS {
            self.owe_collection(plane);
        }
        // Levelling takes turns with collection, so that it leaves free blocks to waiting writes.
        if kind == JobKind::Collection {
            self.level_wear(ctx, plane);
        }
        self.collect(ctx, plane);
        self.fold_on(ctx, plane);
    }
}

impl Ftl {
    /// Checks the jobs of collection and what they have under way.
    pub(in crate::ftl) fn audit_jobs(&self, transactions: &Transactions) {
        // By job: moves, erases.
        let mut under_way: BTreeMap<JobId, [u32; 2]> = BTreeMap::new();
        for (_, tr) in transactions.iter().filter(|(_, tr)| tr.source == Source::Gc) {
            let counts = under_way.entry(tr.job()).or_default();
            counts[usize::from(tr.op == Op::Erase)] += 1;
        }
        let by_merges = self.layer.hybrid().is_some();
        let mut jobs = vec![0; self.blocks.planes.len()];
        for (id, job) in self.jobs.iter() {
            let Job { block, moves, erasing, erases, .. } = *job;
            jobs[self.blocks.plane_of(block).index()] += 1;
            let state = self.blocks.block(block);
            assert_eq!(state.state, BlockState::Collected, "block {block} has a job");
            if !by_merges {
                let [moving, erasing_now] = under_way.get(&id).copied().unwrap_or_default();
                assert_eq!(moving, moves, "moves of block {block} are counted");
                assert_eq!(erasing_now, erases, "block {block} is erased once");
                assert_eq!(erases > 0, erasing, "block {block} is erased when it is empty");
                let held = self.pacing.as_ref().is_some_and(|paced| {
                    state.valid > 0 && paced.holds(self.blocks.plane_of(block), block)
                });
                let awaited = moves > 0 || erasing || state.reads > 0 || !state.quiet() || held;
                assert!(awaited, "an empty block {block} is erased");
            }
        }
        let counted = self.blocks.planes.iter().map(|plane| plane.jobs);
        assert!(counted.eq(jobs), "jobs of a plane are counted");
    }

    /// Blocks of each chip that are in collection and whose erase was not sent to the die yet.
    pub(in crate::ftl) fn unerased_of_chips(&self, transactions: &Transactions) -> Vec<u32> {
        let mut unerased = vec![0; self.unerased.len()];
        let erases = |at: Place| {
            transactions.iter().filter(move |(_, tr)| tr.op == Op::Erase && tr.place == at)
        };
        erases(Place::Queue).for_each(|(_, tr)| unerased[self.chip_of(tr.plane).index()] += 1);
        if self.layer.hybrid().is_some() {
            return unerased;
        }
        for (_, job) in self.jobs.iter().filter(|(_, job)| !job.erasing) {
            let pool = self.blocks.plane_of(job.block);
            let planes = self.blocks.planes_of_pool(pool);
            planes.for_each(|plane| unerased[self.chip_of(plane).index()] += 1);
        }
        unerased
    }
}
