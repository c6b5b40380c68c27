//! Stage 5 of 8: flash translation. Receives page transactions from `interface` and `cache`; finds
//! or places their physical pages, waits for translation pages and free blocks where it must, and
//! sends them to `scheduler`. Keeps the flash writable by collecting garbage.
//!
//! Invariants: L2P and P2L agree; the mapping is updated when a page is allocated, and a read of a
//! page that is not programmed yet waits for the program; programs of a block leave in order.
//! Source: MQSim (FAST'18) section 4.2.

pub mod allocation;
mod audit;
pub(crate) mod blocks;
pub(crate) mod budget;
pub(crate) mod config;
pub(crate) mod counts;

pub mod gc;
pub(crate) mod hybrid;
mod in_place;
pub(crate) mod mapping;
mod masks;
pub(crate) mod moving;
pub(crate) mod pages;
mod translate;
pub(crate) mod untimed;
mod wear;

use flashlane_engine::{Array, DenseMap, Linked, Lists, NONE, Rng, Slab, Use};

use crate::cause::Cause;
use crate::device::Device;
use crate::layout::Layout;
use crate::transaction::{Op, Place, Source, Transaction};
use allocation::{Allocation, Allocator};
use blocks::{BlockState, Blocks};
use budget::{data_limits, plane_limits};
use config::{FtlSettings, GcConfig, MappingKind, UnwrittenRead};
use gc::{Job, VictimPolicy};
use hybrid::Hybrid;
use mapping::MappingTable;
use moving::MovingSets;
use pages::{FrozenPages, PageTables};

/// Entries of a page table in a small page of memory.
const ENTRIES_PER_SMALL_PAGE: u64 = 1024;

/// Free blocks of a plane that only collection may take.
pub const RESERVE_BLOCKS: u32 = 2;

/// The same, with a block for each collection that may be under way.
#[must_use]
pub fn reserve_blocks(gc: &GcConfig) -> u32 {
    RESERVE_BLOCKS.max(gc.max_concurrent_per_plane)
}

/// What preconditioning leaves behind: everything that outlives a run.
#[derive(Clone)]
pub(crate) struct FtlState {
    pub(crate) pages: PageTables,
    pub(crate) blocks: Blocks,
    pub(crate) mapping: Option<MappingTable>,
    pub(crate) hybrid: Option<Hybrid>,
}

impl FtlState {
    /// Nothing at all, to leave behind where a state is moved out.
    pub(crate) fn empty() -> Self {
        let geometry = crate::layout::Geometry {
            channels: 0,
            chips_per_channel: 0,
            dies_per_chip: 0,
            planes_per_die: 0,
            blocks_per_plane: 0,
            pages_per_block: 1,
            sectors_per_page: 1,
        };
        Self {
            pages: PageTables::new((0, Use::Sparse), (0, Use::Sparse), 1),
            blocks: Blocks::new(geometry, 0, false, 0),
            mapping: None,
            hybrid: None,
        }
    }

    /// Ends all changes, for copies.
    pub(crate) fn freeze(self) -> FrozenState {
        let Self { pages, blocks, mapping, hybrid } = self;
        FrozenState { pages: pages.freeze(), blocks, mapping, hybrid }
    }

    /// An empty drive, for one run of so many requests or more.
    pub(crate) fn new(settings: FtlSettings<'_>, layout: &Layout, requests: u64) -> Self {
        // So many requests touch most of the table of logical pages, a small page of memory each. That of physical
        // ones is filled from the front of each plane, by as much as is written.
        let touched = requests >= layout.logical_pages / ENTRIES_PER_SMALL_PAGE;
        let written = requests >= layout.geometry.pages() / 2;
        let filled = |used: bool| {
            if settings.config.precondition.enabled || used { Use::Filled } else { Use::Sparse }
        };
        Self::with(settings, layout, filled(touched), filled(written))
    }

    /// An empty drive, for many runs, which copy what preconditioning makes of it.
    pub(crate) fn to_be_frozen(settings: FtlSettings<'_>, layout: &Layout) -> Self {
        Self::with(settings, layout, Use::Copied, Use::Copied)
    }

    /// What is to become of the tables of logical and of physical pages.
    fn with(
        settings: FtlSettings<'_>,
        layout: &Layout,
        logical_use: Use,
        physical_use: Use,
    ) -> Self {
        let geometry = layout.geometry;
        let reserve = reserve_blocks(&settings.config.gc);
        let flows = layout.flows.len() as u32;
        // Memory that is written in place has nothing to look up.
        let (logical, physical) = match settings.in_place {
            true => (0, 0),
            false => (layout.logical_pages, geometry.pages()),
        };
        let mut blocks =
            Blocks::new(geometry, flows, settings.config.wear_leveling.dynamic, reserve);
        if settings.opens_frontiers_at_start() {
            for (index, flow) in (0..).zip(&layout.flows) {
                flow.planes(geometry).for_each(|plane| blocks.open_frontiers(plane, index));
            }
        }
        Self {
            pages: PageTables::new(
                (logical, logical_use),
                (physical, physical_use),
                geometry.sectors_per_page,
            ),
            blocks,
            mapping: settings
                .config
                .mapping
                .is_cached()
                .then(|| MappingTable::new(settings, layout)),
            hybrid: (settings.config.mapping.kind == MappingKind::Hybrid).then(|| {
                let allocator = Allocator::new(&settings.config.allocation, layout);
                Hybrid::new(settings.config.mapping.log_blocks, layout, |flow| {
                    allocator.order(flow)
                })
            }),
        }
    }
}

/// A state that changes no more, for runs that start with it.
pub(crate) struct FrozenState {
    pages: FrozenPages,
    blocks: Blocks,
    mapping: Option<MappingTable>,
    hybrid: Option<Hybrid>,
}

impl FrozenState {
    /// The state for one run. Its page tables share their memory, but for what the run changes.
    pub(crate) fn copy(&self) -> FtlState {
        FtlState {
            pages: self.pages.copy(),
            blocks: self.blocks.clone(),
            mapping: self.mapping.clone(),
            hybrid: self.hybrid.clone(),
        }
    }
}

/// The translation layer.
#[derive(Clone)]
pub(crate) struct Ftl {
    pub(crate) pages: PageTables,
    pub(crate) blocks: Blocks,
    pub(crate) mapping: Option<MappingTable>,
    pub(crate) hybrid: Option<Hybrid>,
    allocator: Allocator,
    /// Sets of chips that change; `None` for policies that decide nothing during the run.
    pub(crate) sets: Option<Box<dyn MovingSets>>,
    victim: Box<dyn VictimPolicy>,
    rng: Rng,
    jobs: Slab<Job>,
    /// Planes of each chip that are short of free blocks.
    pub(crate) urgent_planes: Array<u32>,
    /// Blocks in collection of each chip whose erase did not start.
    pub(crate) unerased: Array<u32>,
    /// Collection starts below so many free blocks.
    threshold: u32,
    /// Collection is urgent below so many free blocks.
    hard_threshold: u32,
    max_jobs: u32,
    /// Victims are emptied and erased in no time.
    collection_is_free: bool,
    /// Collection starts once for each block taken.
    collection_per_block: bool,
    /// Difference of erases at which static wear levelling acts; 0 for never.
    wear_threshold: u32,
    /// Logical pages with a partial write that waits for old data.
    merging: DenseMap,
    /// Writes to such pages, by logical page, oldest first.
    merge_queue: Lists,
    /// Reads of pages that are not programmed yet, by physical page, oldest first.
    unprogrammed: Lists,
    /// Partial writes are placed and queued before the old data is read.
    merge_in_queue: bool,
    unwritten_reads_flash: bool,
    /// A read of a never-written page gives it a place, as a write would, without a program.
    unwritten_reads_allocate: bool,
    /// Programs leave in order, and reads wait for programs.
    ordered: bool,
    /// The memory is written in place: no mapping, no blocks.
    pub(crate) in_place: bool,
    pub(crate) zero_fill_reads: u64,
    pub(crate) gc_invocations: u64,
    pub(crate) gc_moves: u64,
    pub(crate) wear_leveling_moves: u64,
    classes: Array<u8>,
}

impl Ftl {
    /// The program of a page is sent to its die.
    #[inline]
    pub(crate) fn program_sent(&mut self, ppa: u32) {
        if !self.in_place {
            let block = self.blocks.block_of(ppa);
            self.blocks.block_mut(block).issued += 1;
        }
    }

    /// Place of a page in its block.
    #[inline]
    pub(crate) fn page_in_block(&self, ppa: u32) -> u32 {
        self.blocks.page_of(ppa)
    }

    /// The layer over a state.
    pub(crate) fn new(
        settings: FtlSettings<'_>,
        layout: &Layout,
        state: FtlState,
        sets: Option<Box<dyn MovingSets>>,
        classes: Vec<u8>,
        seed: u64,
    ) -> Self {
        let gc = &settings.config.gc;
        let mut blocks = state.blocks;
        blocks.count_valid();
        let sets_move = sets.is_some();
        assert_eq!(
            sets_move, settings.sets_move,
            "sets move with the isolation policies that move them"
        );
        if sets_move {
            blocks.limit_data(plane_limits(settings, layout));
        } else if matches!(settings.config.allocation, Allocation::Dynamic(_)) {
            blocks.limit_data(data_limits(settings, layout));
        }
        let blocks_per_plane = layout.geometry.blocks_per_plane;
        if settings.compat.collection_per_block {
            blocks.owe_collections(gc.threshold.blocks(blocks_per_plane));
        }
        let victim = gc::build(&gc.victim);
        // Merges of hybrid mapping have their own rules: no victims, no wear levelling.
        let by_page = state.hybrid.is_none();
        let collection_is_free = by_page && victim.costs_nothing();
        if by_page && victim.compares_all() {
            blocks.keep_full();
        }
        let in_place = settings.in_place;
        let page_level = by_page && !in_place;
        Self {
            pages: state.pages,
            blocks,
            mapping: state.mapping,
            hybrid: state.hybrid,
            allocator: Allocator::new(&settings.config.allocation, layout),
            sets,
            victim,
            rng: Rng::stream(seed, "ftl.gc", 0),
            jobs: Slab::new(),
            urgent_planes: Array::of(0, layout.geometry.chips() as usize),
            unerased: Array::of(0, layout.geometry.chips() as usize),
            threshold: gc.threshold.blocks(blocks_per_plane),
            hard_threshold: gc.hard_threshold.blocks(blocks_per_plane).max(RESERVE_BLOCKS + 1),
            max_jobs: gc.max_concurrent_per_plane,
            collection_is_free,
            collection_per_block: settings.compat.collection_per_block,
            wear_threshold: if by_page {
                settings.config.wear_leveling.static_threshold
            } else {
                0
            },
            merging: DenseMap::default(),
            merge_queue: Lists::default(),
            unprogrammed: Lists::default(),
            merge_in_queue: page_level && settings.compat.partial_writes_in_queue,
            unwritten_reads_flash: settings.config.unwritten_read == UnwrittenRead::Flash
                || settings.compat.flash_unwritten_reads,
            // A set of chips decides where pages go that are written, and no others have a place.
            unwritten_reads_allocate: page_level
                && !sets_move
                && settings.compat.flash_unwritten_reads
                && settings.compat.unordered_programs,
            ordered: !settings.compat.unordered_programs,
            in_place,
            zero_fill_reads: 0,
            gc_invocations: 0,
            gc_moves: 0,
            wear_leveling_moves: 0,
            classes: classes.into(),
        }
    }

    /// Requests look up something that memory has to be asked for.
    #[inline]
    pub(crate) fn looks_up(&self) -> bool {
        self.pages.any_touched() || self.mapping.is_some()
    }
}

impl Device {
    /// A program or an erase is out of the array: what waited for it goes on.
    pub(crate) fn change_done(&mut self, id: u32, source: Source, op: Op) {
        self.tell_policy(id);
        match (source, op) {
            (_, Op::Read) => unreachable!("reads end with their data"),
            (Source::User | Source::Cache, Op::Program) => self.user_program_done(id),
            (Source::Gc, Op::Program) => self.migration_program_done(id),
            (Source::Mapping, Op::Program) => self.mapping_program_done(id),
            (_, Op::Erase) => self.erase_done(id),
        }
    }

    /// Read data is over the bus: what waited for it goes on.
    #[inline(always)]
    pub(crate) fn read_over(&mut self, id: u32, source: Source) {
        self.tell_policy(id);
        match source {
            Source::User | Source::Cache => self.user_read_done(id),
            Source::Gc => self.migration_read_done(id),
            Source::Mapping => self.mapping_read_done(id),
        }
    }

    /// Keeps the accounts of a finished program: readers of the page may go, the block may be ready
    /// for collection.
    fn page_programmed(&mut self, id: u32) {
        let Transaction { ppa, plane, .. } = self.transactions[id];
        let block_id = self.ftl.blocks.block_of(ppa);
        let block = self.ftl.blocks.block_mut(block_id);
        block.programmed += 1;
        assert!(block.programmed <= block.issued, "a page is programmed once");
        let programmed = u32::from(block.programmed);
        let state = &mut self.ftl.blocks.planes[plane as usize];
        state.programs -= 1;
        let wanted = state.gc_wanted;
        // Reads wait only where the pages of a block are programmed in order.
        if !self.ftl.unprogrammed.is_empty() {
            assert_eq!(programmed, self.ftl.blocks.page_of(ppa) + 1, "a block fills in order");
            self.wake_readers(ppa);
        }
        if self.ftl.hybrid.is_some() {
            // The block may have lost its role, or a merge may wait for its last program.
            if self.ftl.blocks.block(block_id).state == BlockState::Collected {
                self.erase_if_empty(block_id);
            }
            self.continue_merge(plane);
        } else if wanted {
            self.collect_again(plane);
        }
    }

    /// The reads that waited for the program of a page go on, oldest first.
    fn wake_readers(&mut self, ppa: u32) {
        let mut id = self.ftl.unprogrammed.take(ppa);
        while id != NONE {
            let tr = &self.transactions[id];
            let next = tr.next();
            if self.observer.is_some() {
                self.observe_die_wait(id, tr.mark.0, Cause::SamePage);
            }
            self.read_physical(id);
            id = next;
        }
    }

    /// A read takes hold of its block, so that it is not erased underneath, and goes to the
    /// scheduler as soon as its page is programmed.
    #[inline]
    fn read_physical(&mut self, id: u32) {
        let now = self.now;
        let ordered = self.ftl.ordered;
        let blocks = &mut self.ftl.blocks;
        let tr = &mut self.transactions[id];
        let (block_id, page) = (blocks.block_of(tr.ppa), blocks.page_of(tr.ppa));
        let block = blocks.block_mut(block_id);
        if !tr.holds_block {
            tr.holds_block = true;
            block.reads += 1;
        }
        if ordered && page >= u32::from(block.programmed) {
            tr.place = Place::Unprogrammed;
            let ppa = tr.ppa;
            self.ftl.unprogrammed.push_back(ppa, id, &mut self.transactions);
            return;
        }
        let waited = tr.lap(now);
        tr.chain.mapping += waited;
        tr.place = Place::Queue;
        self.enlist(id);
    }

    /// A read lets go of its block; a collected block may have waited for that.
    #[inline]
    fn release_block(&mut self, id: u32) {
        let tr = &mut self.transactions[id];
        if std::mem::take(&mut tr.holds_block) {
            let ppa = tr.ppa;
            self.leave_block(ppa);
        }
    }

    /// A read lets go of the block of a page.
    #[inline]
    fn leave_block(&mut self, ppa: u32) {
        let block_id = self.ftl.blocks.block_of(ppa);
        let block = self.ftl.blocks.block_mut(block_id);
        block.reads -= 1;
        if block.reads == 0 && (block.state == BlockState::Collected || self.ftl.collection_is_free)
        {
            self.last_read_left(block_id);
        }
    }

    /// Nobody reads a block any more that is collected, or might be.
    fn last_read_left(&mut self, block_id: u32) {
        let block = self.ftl.blocks.block(block_id);
        if block.state == BlockState::Collected {
            self.erase_if_empty(block_id);
        } else if self.ftl.collection_is_free {
            let plane = self.ftl.blocks.plane_of(block_id);
            if self.ftl.blocks.planes[plane as usize].gc_wanted {
                self.collect_again(plane);
            }
        }
    }
}
