//! Stage 5 of 8: flash translation. Receives page transactions of the host and of the data cache;
//! finds or allocates their physical pages, lets them wait for translation pages and free blocks
//! where necessary, and reports those that are ready for the flash. Keeps the flash writable by
//! collecting garbage.
//!
//! The driver of the drive calls this stage and hands its `Outcome`s on. A `Layer` is one way
//! to map pages; [`layer`] is the one file that tells them apart.
//!
//! Invariants: L2P and P2L agree; the mapping is updated when a page is allocated, and a read of a
//! page that is not programmed yet waits for the program; programs of a block leave in order.
//! Source: MQSim (FAST'18) section 4.2.

pub mod allocation;
mod audit;
pub mod blocks;
pub mod budget;
pub mod config;
mod contents;
pub(crate) mod counts;
pub mod errors;
pub mod gc;
pub mod hybrid;
mod in_place;
mod layer;
pub mod mapping;
mod masks;
pub mod moving;
mod outcome;
pub mod pages;
mod partial;
pub mod placement;
mod reads;
mod scrubbing;
pub mod separation;
pub mod slc_cache;
mod state;
pub mod superblocks;
#[cfg(test)]
mod tests;
pub mod units;
pub mod untimed;
pub(crate) mod view;
mod wear;
mod writes;

use flashlane_engine::{Array, Divisor, Lists, Rng, Slab, Time};
use flashlane_units::{ChipId, FlowId, JobId, Lpa, PlaneId, Ppa, TransactionId};

use crate::context::Context;
use crate::layout::Layout;
use crate::transaction::{Op, Place, Source, Transaction};
use allocation::Allocator;
use blocks::Blocks;
use budget::{data_limits, plane_limits};
use config::{FtlSettings, GcConfig, UnwrittenRead};
use counts::FlowPages;
use errors::Errors;
use gc::{Collector, Job, PacedJobs};
use layer::Layer;
use mapping::MappingTable;
use moving::MovingSets;
pub(crate) use outcome::{Outcome, Seen};
use pages::PageTables;
use partial::PartialWrites;
use placement::Handles;
use scrubbing::Scrubbing;
use separation::Separator;
use slc_cache::SlcCache;
pub use state::{FrozenState, FtlState};
use units::Units;

/// Free blocks of a plane that only collection may take.
pub const RESERVE_BLOCKS: u32 = 2;

/// Free blocks of a plane that only collection may take: [`RESERVE_BLOCKS`], or one for each job
/// that may be under way if those are more.
#[must_use]
pub fn reserve_blocks(gc: &GcConfig) -> u32 {
    RESERVE_BLOCKS.max(gc.max_concurrent_per_plane)
}

/// The translation layer.
#[derive(Clone)]
pub struct Ftl {
    layer: Layer,
    pages: PageTables,
    blocks: Blocks,
    mapping: Option<MappingTable>,
    allocator: Allocator,
    /// Sets of chips that change; `None` for policies that decide nothing during the run.
    sets: Option<Box<dyn MovingSets>>,
    /// Read scrubbing; `None` where it is off.
    scrubbing: Option<Scrubbing>,
    /// Bit errors; `None` where they are not modelled.
    errors: Option<Box<Errors>>,
    /// Blocks whose pages move while the host writes; `None` if they move at once.
    pacing: Option<PacedJobs>,
    /// Units that are packed into pages; `None` where pages are mapped whole.
    units: Option<Units>,
    /// Blocks that the host writes in SLC mode; `None` without a cache of them.
    slc_cache: Option<SlcCache>,
    /// Which frontier a page goes to; `None` for the usual two.
    separation: Option<Separator>,
    /// The placement handles of the host; `None` where hosts place nothing.
    handles: Option<Box<Handles>>,
    jobs: Slab<JobId, Job>,
    planes_per_chip: Divisor,
    /// Planes of each chip whose pools are short of free blocks.
    urgent_planes: Array<ChipId, u32>,
    /// For each chip, the blocks in collection whose erase has not started.
    unerased: Array<ChipId, u32>,
    partial: PartialWrites,
    /// Reads of pages that are not programmed yet, by physical page, oldest first.
    unprogrammed: Lists<TransactionId>,
    unwritten_reads_flash: bool,
    /// A read of a page that was never written gives the page a place, as a write would, without a
    /// program.
    unwritten_reads_allocate: bool,
    /// The programs of a block leave in order, and reads wait for the programs of their pages.
    ordered: bool,
    zero_fill_reads: u64,
    gc_invocations: u64,
    gc_moves: u64,
    wear_leveling_moves: u64,
    /// With `compat.leveling_by_number`: the first block of the first plane stays where it is.
    first_block_stays: bool,
    /// Page counts of each flow.
    flows: Array<FlowId, FlowPages>,
    classes: Array<FlowId, u8>,
    /// Outcomes that were not handed on yet.
    outcomes: Vec<Outcome>,
    /// True if the run is watched.
    watched: bool,
}

impl Ftl {
    /// The layer over a state of a drive.
    pub fn new(
        settings: FtlSettings<'_>,
        layout: &Layout,
        state: FtlState,
        sets: Option<Box<dyn MovingSets>>,
        classes: Vec<u8>,
        seed: u64,
    ) -> Self {
        let FtlSettings { config, compat, in_place, .. } = settings;
        let (drive, geometry) = (layout, layout.geometry);
        let layout = &*superblocks::folded(settings, layout);
        let mut blocks = state.blocks;
        blocks.count_valid();
        if let Some(slc) = settings.slc_cache {
            blocks.allow_slc(slc.pages);
        }
        let shared_frontiers = blocks.shares_frontiers();
        let separation = Separator::new(&config.separation, layout, shared_frontiers);
        let errors = settings.errors.map(|errors| Errors::new(errors, &blocks, seed));
        let sizes = (blocks.planes.len(), blocks.count());
        let handles = Handles::new(settings.placement, layout, sizes, state.handles).map(Box::new);
        if let Some(handles) = handles.as_ref().filter(|_| settings.placement.always_open) {
            handles.open_units(&mut blocks);
        }
        let sets_move = sets.is_some();
        assert_eq!(
            sets_move, settings.sets_move,
            "sets move with the isolation policies that move them"
        );
        if sets_move || settings.placement.groups > 1 {
            // Settings may ask for less than the reserve that the drive was made with.
            let limits = plane_limits(settings, drive, blocks.reserve());
            blocks.limit_data(limits);
        } else if config.allocation.is_dynamic() {
            blocks.limit_data(data_limits(settings, layout));
        }
        let collector = Collector::new(
            config,
            compat,
            geometry.blocks_per_plane,
            Rng::stream(seed, "ftl.gc", 0),
        );
        if compat.collection_per_block {
            blocks.owe_collections(collector.threshold);
        }
        if state.hybrid.is_none() && collector.compares_all() {
            blocks.keep_full();
        }
        let layer = Layer::new(state.hybrid, in_place, collector);
        let by_page = layer.by_page();
        let (chips, pools) = (geometry.chips() as usize, blocks.planes.len());
        Self {
            pages: state.pages,
            blocks,
            mapping: state.mapping,
            allocator: Allocator::new(&config.allocation, layout),
            sets,
            scrubbing: Scrubbing::new(&config.read_scrubbing, geometry),
            errors,
            pacing: PacedJobs::new(&config.gc, pools).filter(|_| by_page),
            units: Units::new(config, settings.placement, layout, shared_frontiers),
            slc_cache: settings.slc_cache.map(SlcCache::new),
            separation,
            handles,
            jobs: Slab::new(),
            planes_per_chip: Divisor::new(geometry.dies_per_chip * geometry.planes_per_die),
            urgent_planes: Array::of(0, chips),
            unerased: Array::of(0, chips),
            partial: PartialWrites::new(by_page && compat.partial_writes_in_queue),
            unprogrammed: Lists::default(),
            unwritten_reads_flash: config.unwritten_read == UnwrittenRead::Flash
                || compat.flash_unwritten_reads,
            // With sets of chips, only written pages have a place: the set decides it.
            unwritten_reads_allocate: by_page
                && !sets_move
                && compat.flash_unwritten_reads
                && compat.unordered_programs,
            ordered: !compat.unordered_programs,
            zero_fill_reads: 0,
            gc_invocations: 0,
            gc_moves: 0,
            wear_leveling_moves: 0,
            first_block_stays: false,
            flows: Array::of(FlowPages::default(), classes.len()),
            classes: classes.into(),
            outcomes: Vec::new(),
            watched: false,
            layer,
        }
    }

    /// Turns on outcomes that only those who watch the run need.
    pub(crate) fn watch(&mut self) {
        self.watched = true;
    }

    /// Starts the run: planes below the threshold start to collect.
    pub(crate) fn start(&mut self, ctx: &mut Context) {
        for plane in self.blocks.planes.numbers() {
            self.collect(ctx, plane);
        }
    }

    /// The outcome at index `at` of those that were not handed on.
    #[inline]
    pub(crate) fn outcome(&self, at: usize) -> Option<Outcome> {
        self.outcomes.get(at).copied()
    }

    /// Clears the outcomes after all were handed on.
    #[inline]
    pub(crate) fn outcomes_over(&mut self) {
        self.outcomes.clear();
    }

    /// Notes that a transaction is ready for its die.
    #[inline]
    fn ready(&mut self, transaction: TransactionId) {
        self.outcomes.push(Outcome::Ready { transaction });
    }

    /// Puts a new transaction into the queue of its die, and notes that it is ready.
    #[inline]
    fn schedule(&mut self, ctx: &mut Context, id: TransactionId) {
        ctx.transactions[id].place = Place::Queue;
        self.ready(id);
    }

    /// Adds an outcome for those who watch the run.
    #[inline]
    fn tell(&mut self, seen: Seen) {
        if self.watched {
            self.outcomes.push(Outcome::Seen(seen));
        }
    }

    /// A transaction on a page of a flow's space, which has no handle yet.
    #[inline(always)]
    pub(crate) fn transaction(
        &self,
        now: Time,
        (source, op): (Source, Op),
        flow: FlowId,
        lpa: Lpa,
    ) -> Transaction {
        let mut tr = Transaction::new(source, op, flow, self.classes[flow], now);
        tr.lpa = lpa;
        tr
    }

    /// A new transaction on a page of a flow's space.
    #[inline(always)]
    fn new_transaction(
        &mut self,
        ctx: &mut Context,
        source: Source,
        op: Op,
        flow: FlowId,
        lpa: Lpa,
    ) -> TransactionId {
        let tr = self.transaction(ctx.now, (source, op), flow, lpa);
        ctx.transactions.insert(tr)
    }

    /// Chip of a plane.
    #[inline]
    fn chip_of(&self, plane: PlaneId) -> ChipId {
        ChipId::new(self.planes_per_chip.divide(plane.get()))
    }

    /// An operation on a page, or on its block, is sent to its die, on the given chip.
    #[inline(always)]
    pub(crate) fn sent(&mut self, op: Op, ppa: Ppa, chip: ChipId) {
        match op {
            Op::Read => {}
            Op::Program => self.program_sent(ppa),
            Op::Erase => self.unerased[chip] -= 1,
        }
    }

    /// True if some logical page may have data on flash.
    pub(crate) fn holds_any(&self) -> bool {
        self.pages.any_touched()
    }

    /// True if a logical page has data on flash.
    #[must_use]
    pub fn holds(&self, lpa: Lpa) -> bool {
        self.pages.ppa(lpa) != Ppa::NONE
    }

    /// True if requests look something up that a prefetch can help with.
    #[inline]
    pub(crate) fn looks_up(&self) -> bool {
        self.pages.any_touched() || self.mapping.is_some()
    }

    /// Prefetches the mapping of a logical page.
    #[inline]
    pub(crate) fn prefetch(&self, flow: FlowId, lpa: Lpa) {
        self.pages.prefetch(lpa);
        if let Some(mapping) = &self.mapping {
            mapping.prefetch(flow, lpa);
        }
    }

    /// A page is out of the array. Readers of it may go on. Returns the pool of the page, and true
    /// if collection waits for something to do there.
    #[inline(always)]
    fn page_programmed(&mut self, ctx: &mut Context, id: TransactionId) -> (PlaneId, bool) {
        let Transaction { ppa, plane, .. } = ctx.transactions[id];
        let programmed = self.blocks.page_programmed(ppa);
        if programmed == 1 {
            self.data_begins(ppa, ctx.now);
        }
        let plane = self.blocks.pool_of(plane);
        let state = &mut self.blocks.planes[plane];
        state.programs -= 1;
        let wanted = state.gc_wanted;
        // Reads wait only where the pages of a block are programmed in order.
        if !self.unprogrammed.is_empty() {
            assert_eq!(
                programmed,
                self.blocks.place_in_flash_block(ppa) + 1,
                "a block fills in order"
            );
            self.wake_readers(ctx, ppa);
        }
        (plane, wanted)
    }

    /// The number of free blocks of a plane changed, and may have crossed the hard threshold.
    #[inline]
    fn pool_changed(&mut self, plane: PlaneId) {
        let urgent = self.needs_blocks(plane);
        if urgent != self.blocks.planes[plane].urgent {
            self.urgency_changed(plane, urgent);
        }
    }
}
