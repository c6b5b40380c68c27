//! When a plane is collected, and which block is emptied.

use flashlane_engine::Rng;
use flashlane_units::{BlockId, FlowId, Lpa, PlaneId};

use super::{PlaneView, VictimPolicy, build};
use crate::compat::CompatConfig;
use crate::context::Context;
use crate::ftl::blocks::{Plane, Stream};
use crate::ftl::config::FtlConfig;
use crate::ftl::{Ftl, RESERVE_BLOCKS};

/// Most blocks of a plane that the released MQSim collects at a time.
const RELEASED_JOBS_MAX: u32 = 10;

/// Settings and policy that decide on collection.
#[derive(Clone)]
pub(in crate::ftl) struct Collector {
    victim: Box<dyn VictimPolicy>,
    rng: Rng,
    /// Collection starts when a plane has fewer free blocks than this.
    pub(in crate::ftl) threshold: u32,
    /// Collection is urgent when a plane has fewer free blocks than this.
    pub(in crate::ftl) hard_threshold: u32,
    /// Most blocks of a plane in collection at a time.
    pub(in crate::ftl) max_jobs: u32,
    /// Collection starts once for each block taken from the pool.
    per_block: bool,
    /// Difference of erases at which static wear levelling acts; 0 for never.
    pub(in crate::ftl) wear_threshold: u32,
    /// Static wear levelling compares numbers of blocks.
    pub(in crate::ftl) levels_by_number: bool,
}

impl Collector {
    pub(in crate::ftl) fn new(
        config: &FtlConfig,
        compat: &CompatConfig,
        blocks_per_plane: u32,
        rng: Rng,
    ) -> Self {
        let gc = &config.gc;
        assert!(gc.max_concurrent_per_plane > 0, "a plane may collect at least one block");
        Self {
            victim: build(&gc.victim),
            rng,
            threshold: gc.threshold.blocks(blocks_per_plane),
            hard_threshold: gc.hard_threshold.blocks(blocks_per_plane).max(RESERVE_BLOCKS + 1),
            max_jobs: gc.max_concurrent_per_plane,
            per_block: compat.collection_per_block,
            wear_threshold: config.wear_leveling.static_threshold,
            levels_by_number: compat.leveling_by_number,
        }
    }

    /// True if the policy compares the valid pages of all full blocks.
    pub(in crate::ftl) fn compares_all(&self) -> bool {
        self.victim.compares_all()
    }

    /// True if blocks are emptied and erased in no time.
    pub(in crate::ftl) fn costs_nothing(&self) -> bool {
        self.victim.costs_nothing()
    }

    /// True if the released MQSim would empty another block of a plane at the same time. Every job
    /// may open one block.
    pub(in crate::ftl) fn has_room(&self, plane: &Plane) -> bool {
        plane.jobs < RELEASED_JOBS_MAX.min(plane.free)
    }

    /// True if another block of the plane should be emptied now.
    #[inline]
    pub(in crate::ftl) fn is_due(&self, plane: &Plane) -> bool {
        if self.per_block {
            return plane.owed > 0 && plane.free < self.threshold && self.has_room(plane);
        }
        plane.free < self.threshold && plane.jobs < self.max_jobs
    }
}

impl Ftl {
    /// True if another block of the plane should be emptied now.
    pub(in crate::ftl) fn collection_is_due(&self, plane: PlaneId) -> bool {
        let state = &self.blocks.planes[plane];
        self.layer.collector().is_some_and(|collector| collector.is_due(state))
    }

    pub(super) fn collects_per_block(&self) -> bool {
        self.layer.collector().is_some_and(|collector| collector.per_block)
    }

    /// Free blocks that planes lack to reach the threshold, summed over planes.
    pub(in crate::ftl) fn blocks_owed(&self) -> u64 {
        let Some(collector) = self.layer.collector() else { return 0 };
        let short = |free: u32| u64::from(collector.threshold.saturating_sub(free));
        self.blocks.planes.iter().map(|plane| short(plane.free)).sum()
    }

    /// The block of the plane to empty next; `None` where no block can be collected now.
    pub(in crate::ftl) fn select_victim(&mut self, plane: PlaneId) -> Option<BlockId> {
        if let Some(oldest) = self.block_to_fold(plane, true) {
            return Some(oldest);
        }
        while self.idles(plane) {
            // Writes that wait while nothing is collected would wait for ever.
            let Plane { jobs, parked, .. } = &self.blocks.planes[plane];
            if parked.is_empty() || *jobs > 0 {
                return None;
            }
        }
        let blocks = &self.blocks;
        let filled = blocks.planes[plane].filled;
        let (all, full) = (blocks.of_plane(plane), blocks.full_of_plane(plane));
        // A superblock of a zone is emptied by its reset. One that several zones had to share is
        // emptied only where writes wait for room and no erase will give it to them.
        let Plane { jobs, parked, .. } = &blocks.planes[plane];
        let enough = parked.is_empty() || *jobs > 0 || self.has_leftovers();
        let units = match self.has_zones() && enough {
            true => blocks.pages_per_block(),
            false => self.units_per_program(),
        };
        let view = PlaneView::new(all, full, blocks.pages_per_block(), filled).gaining(units);
        let collector = self.layer.collector_mut()?;
        let victim = match &self.sets {
            Some(sets) if !collector.costs_nothing() => sets.victim(plane, blocks),
            _ => collector.victim.select(&view, &mut collector.rng),
        }?;
        // Moved units take whole rows: a block that gains less than a row gains nothing.
        let victim = match view.gain(victim) {
            None if units > 1 => view.emptiest()?,
            _ => victim,
        };
        assert!(view.valid(victim).is_some(), "a policy picks only what may be collected");
        let owed = &mut self.blocks.planes[plane].owed;
        *owed = owed.saturating_sub(1);
        Some(self.blocks.first_block(plane).plus(victim))
    }

    /// True if the turn is that of an open block, so that nothing is collected.
    fn idles(&mut self, plane: PlaneId) -> bool {
        let takes_turns =
            |collector: &Collector| collector.per_block && collector.victim.takes_turns();
        let state = &mut self.blocks.planes[plane];
        if !self.layer.collector().is_some_and(takes_turns) || !state.turns.next_is_idle() {
            return false;
        }
        state.owed = state.owed.saturating_sub(1);
        true
    }

    /// Empties blocks of a plane until it has free ones enough.
    #[inline(always)]
    pub(in crate::ftl) fn collect_blocks(
        &mut self,
        ctx: &mut Context,
        plane: PlaneId,
        empty: impl Fn(&mut Self, &mut Context, BlockId),
    ) {
        self.blocks.planes[plane].gc_wanted = false;
        if self.collection_is_due(plane) {
            self.close_foreign_frontiers(plane);
        }
        while self.collection_is_due(plane) {
            let Some(block) = self.select_victim(plane) else {
                self.blocks.planes[plane].gc_wanted = true;
                return;
            };
            empty(self, ctx, block);
        }
    }

    /// Closes the frontiers of flows that write to the plane no more, so that collection can take
    /// their blocks.
    fn close_foreign_frontiers(&mut self, plane: PlaneId) {
        let Some(sets) = &self.sets else { return };
        for flow in (0..self.classes.len()).map(FlowId::at).filter(|&f| !sets.may_write(f, plane)) {
            self.blocks.close_frontiers(plane, flow);
        }
    }

    /// Starts a collection that no allocation triggered, with `compat.collection_per_block`: writes
    /// wait for a block, or an erase left too few free blocks.
    pub(in crate::ftl) fn owe_collection(&mut self, plane: PlaneId) {
        let state = &mut self.blocks.planes[plane];
        state.owed = state.owed.max(1);
    }

    /// Tries again to collect a plane where no block could be collected before. Writes that wait
    /// for a block go on at once if no erase will wake them.
    pub(in crate::ftl) fn collect_again(&mut self, ctx: &mut Context, plane: PlaneId) {
        self.collect(ctx, plane);
        if self.leaves_units() {
            self.look_after_zones(ctx, plane);
        }
        if self.layer.frees_at_once() {
            self.unpark(ctx, plane);
        }
    }

    /// Empties a block and frees it in no time: nothing is read, programmed or erased.
    pub(in crate::ftl) fn pack(&mut self, ctx: &mut Context, plane: PlaneId, block: BlockId) {
        let flow = self.blocks.block(block).flow;
        let stream = self.blocks.block(block).stream.moved();
        for from in self.blocks.pages_of(block) {
            let lpa = self.pages.lpa(from);
            if lpa == Lpa::NONE {
                continue;
            }
            let to = self
                .blocks
                .allocate(plane, flow, stream, true)
                .expect("the reserve suffices for every block");
            if stream == Stream::GC_MAPPING {
                self.bind_translation_page(ctx, lpa.get(), to);
            } else {
                self.pages.set_lpa(from, Lpa::NONE);
                self.blocks.invalidate(block);
                self.pages.move_to(lpa, to);
            }
            self.blocks.written_at_once(to);
        }
        assert_eq!(self.blocks.block(block).valid, 0, "a packed block {block} is empty");
        self.blocks.put_empty_block(block);
        self.pool_changed(plane);
    }
}
