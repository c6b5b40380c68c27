//! The translation layer without events: it places pages, empties blocks and wears them out, with
//! the tables and policies of the timed drive, but without transactions.
//!
//! A host page is mapped, placed and programmed at once. Each die has a clock, which tells how much
//! of its time the host leaves to collection. Invariants: those of the timed layer.

mod arrival;
mod audit;
mod clock;
mod collection;
mod ended;
mod job;
mod pace;
mod programs;
mod superblocks;
mod translation;
mod work;
mod write_backs;
mod zones;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use flashlane_engine::{Array, Time};
use flashlane_units::{DieId, FlowId, Lpa, PlaneId, Ppa};

use super::Ftl;
use super::blocks::Stream;
use super::config::GcConfig;
use super::contents::Trimmed;
use crate::cache::Cache;
use crate::cache::config::CacheConfig;
use crate::collection_order::CollectionOrder;
use crate::flash::config::FlashConfig;
use crate::layout::{Geometry, Layout};
use crate::request::Directive;
use clock::Dies;
pub use clock::{ANSWER, TURN_ROUND, mean, page_transfer};
use flashlane_reading::Error;
use job::Job;
pub use work::FlowWork;
use write_backs::WriteBacks;

/// A page of a request.
#[derive(Clone, Copy, Debug)]
pub struct HostPage {
    /// Owner of the page.
    pub flow: FlowId,
    /// The logical page.
    pub lpa: Lpa,
    /// Sectors of the page.
    pub mask: u64,
    /// Time of the request. Unit: picoseconds.
    pub at: u64,
    /// The placement handle of a write.
    pub directive: Directive,
}

/// A drive without events. Its functions return the time when the work that they were asked for is
/// done.
pub struct Untimed {
    ftl: Ftl,
    /// The data cache.
    pub cache: Cache,
    /// By flow.
    pub work: Vec<FlowWork>,
    /// Blocks of the flash erased so far.
    pub erases: u64,
    dies: Dies,
    /// Blocks being emptied, by die, in order of their start.
    jobs: Array<DieId, VecDeque<Job>>,
    /// Blocks of a plane in collection at a time.
    max_jobs: u32,
    /// Collection starts when a plane has fewer free blocks than this; `hard_threshold` is where it
    /// goes before the host.
    threshold: u32,
    hard_threshold: u32,
    /// Pages that a die programs at a time while collection goes first.
    step: u64,
    /// Write-backs under way, by pool of the cache.
    under_way: Vec<WriteBacks>,
    /// Pages on their way out of the cache.
    leaving: Vec<(FlowId, Lpa, u64)>,
    /// Translation pages to write back, by flow and page.
    write_backs: VecDeque<(FlowId, u32)>,
    /// True if the plane of a write depends on the programs that wait for planes or run there.
    balances: bool,
    /// Ends of those programs, where they count. The program of a moved page counts from its read
    /// on, and gets its end when the die gets it.
    programs: BinaryHeap<Reverse<(u64, PlaneId)>>,
    /// Dies with blocks in collection, where programs count. Each die is there once, with the time
    /// until which it does no more of that work.
    at_work: BinaryHeap<Reverse<(u64, DieId)>>,
    /// True for dies that are in `at_work`.
    is_at_work: Array<DieId, bool>,
}

/// Settings that decide when a drive without time collects.
#[derive(Clone, Copy, Debug)]
pub struct CollectionRules<'a> {
    /// The flash.
    pub flash: &'a FlashConfig,
    /// Garbage collection.
    pub gc: &'a GcConfig,
    /// The order of collection in the scheduler.
    pub order: CollectionOrder,
    /// The drive as the translation layer sees it: with superblocks, a set of dies is one plane.
    pub pools: Geometry,
}

impl Untimed {
    /// A drive in the state of its parts.
    pub fn new(
        rules: CollectionRules<'_>,
        layout: &Layout,
        ftl: Ftl,
        cache: (Cache, &CacheConfig),
    ) -> Self {
        let CollectionRules { flash, gc, order, pools } = rules;
        let geometry = layout.geometry;
        let (mut cache, &CacheConfig { write_back_pages_per_plane, .. }) = cache;
        if ftl.has_zones() {
            cache.write_back_at_once();
        }
        let planes = (geometry.planes() * geometry.units_per_program()) as usize;
        let bound = planes * write_back_pages_per_plane as usize;
        let under_way = WriteBacks { ends: BinaryHeap::with_capacity(bound), bound };
        let collector = ftl.layer.collector().expect("refused for layers that collect nothing");
        let (max_jobs, threshold) = (collector.max_jobs, collector.threshold);
        let hard_threshold = collector.hard_threshold;
        let jobs = max_jobs as usize * pools.planes_per_die as usize;
        assert_eq!(geometry.units_per_page, pools.units_per_page, "pools have the drive's pages");
        Self {
            max_jobs,
            threshold,
            hard_threshold,
            balances: ftl.allocator.is_dynamic(),
            programs: BinaryHeap::new(),
            at_work: BinaryHeap::new(),
            is_at_work: Array::of(false, pools.dies() as usize),
            step: u64::from(pools.pages_per_block / 16).max(1),
            under_way: vec![under_way; cache.pools()],
            ftl,
            cache,
            work: vec![FlowWork::default(); layout.flows.len()],
            erases: 0,
            dies: Dies::new(flash, gc, order, (geometry, pools)),
            jobs: Array::of(VecDeque::with_capacity(jobs), pools.dies() as usize),
            leaving: Vec::new(),
            write_backs: VecDeque::new(),
        }
    }

    /// Starts collection on planes that are short of free blocks.
    pub fn start(&mut self) {
        for plane in self.ftl.blocks.planes.numbers() {
            self.collect(plane);
        }
    }

    /// Collects on all dies in the time up to `at` that requests left.
    pub fn collect_until(&mut self, at: u64) -> Result<(), Error> {
        for die in self.jobs.numbers() {
            self.catch_up(die, at);
        }
        // Collection changes the mapping of the pages that it moves.
        self.settle(at)
    }

    /// Does [`Ftl::let_go`].
    pub fn let_go(&mut self) {
        self.ftl.let_go();
    }

    /// First prefetch for a page that is about to be written or read: its mapping.
    #[inline]
    pub fn prefetch(&self, lpa: Lpa) {
        self.ftl.pages.prefetch(lpa);
        self.ftl.prefetch_handle(lpa);
    }

    /// Second prefetch, when the first has arrived: the record of the page's block.
    #[inline]
    pub fn prefetch_place(&self, lpa: Lpa) {
        let ppa = self.ftl.pages.ppa(lpa);
        if ppa != Ppa::NONE {
            self.ftl.pages.prefetch_physical(ppa);
            self.ftl.blocks.prefetch(self.ftl.blocks.block_of(ppa));
        }
    }

    /// The host writes a page.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub fn write(&mut self, page: &HostPage) -> Result<u64, Error> {
        let HostPage { flow, lpa, mask, at, directive } = *page;
        if self.ftl.has_handles() {
            let handle = directive.handle();
            if self.ftl.place_page(flow, lpa, handle) {
                self.leave_zone(flow, lpa, handle);
            }
        }
        if self.cache.is_off(flow) {
            let done = self.program(flow, lpa, mask, at)?;
            self.settle(at)?;
            return Ok(done);
        }
        let buffered = self.cache.takes_writes(flow);
        let mut at = at;
        if buffered {
            at = self.under_way[self.cache.pool_of(flow)].room_at(at);
            self.count_cache(flow, lpa);
        }
        let done = self.through_cache(at, |cache, leaving| {
            cache.recall_write(flow, lpa, mask, Time(at), |flow, lpa, mask| {
                leaving.push((flow, lpa, mask));
            });
        })?;
        Ok(if buffered { at + ANSWER } else { done })
    }

    /// The host reads a page.
    pub fn read(&mut self, page: &HostPage) -> Result<u64, Error> {
        let HostPage { flow, lpa, mask, at, .. } = *page;
        let ppa = self.ftl.pages.ppa(lpa);
        let on_flash = if ppa == Ppa::NONE { 0 } else { self.ftl.pages.mask(lpa) };
        if !self.cache.is_off(flow) {
            self.count_cache(flow, lpa);
            let mut from_flash = false;
            self.through_cache(at, |cache, leaving| {
                from_flash = cache.recall_read(flow, lpa, mask, on_flash, |flow, lpa, mask| {
                    leaving.push((flow, lpa, mask));
                });
            })?;
            if !from_flash {
                return Ok(at + ANSWER);
            }
        }
        let known = self.look_up(flow, lpa, at);
        let done = if on_flash & mask != 0 {
            self.work[flow.index()].host_reads += 1;
            self.read_page(ppa, known)
        } else if self.ftl.unwritten_reads_flash {
            self.work[flow.index()].host_reads += 1;
            let (_, home) = self.ftl.allocator.home(flow, lpa);
            self.read_page(self.ftl.blocks.home_page(home), known)
        } else {
            self.work[flow.index()].zero_fill_reads += 1;
            known + ANSWER
        };
        self.settle(at)?;
        Ok(done)
    }

    /// The host gives up sectors of a page.
    pub fn trim(&mut self, page: &HostPage) -> Result<u64, Error> {
        let HostPage { flow, lpa, mask, at, .. } = *page;
        self.cache.recall_trim(flow, lpa, mask);
        let trimmed = self.ftl.forget_sectors(lpa, mask);
        if let Trimmed::Page(ppa) = trimmed {
            self.ftl.release(ppa);
        }
        if trimmed != Trimmed::Nothing {
            self.mapping_changed(flow, lpa);
            self.settle(at)?;
        }
        Ok(at + ANSWER)
    }

    /// Writes all cached pages of a flow to flash.
    pub fn flush(&mut self, flow: FlowId, at: u64) -> Result<u64, Error> {
        self.through_cache(at, |cache, leaving| {
            cache.recall_flush(flow, |flow, lpa, mask| leaving.push((flow, lpa, mask)));
        })
    }

    fn count_cache(&mut self, flow: FlowId, lpa: Lpa) {
        let work = &mut self.work[flow.index()];
        if self.cache.has(flow, lpa) {
            work.cache_hits += 1;
        } else {
            work.cache_misses += 1;
        }
    }

    /// Calls the cache with `act`, and programs the pages that leave it. Returns the time when all
    /// of that is done.
    fn through_cache(
        &mut self,
        at: u64,
        act: impl FnOnce(&mut Cache, &mut Vec<(FlowId, Lpa, u64)>),
    ) -> Result<u64, Error> {
        let mut leaving = std::mem::take(&mut self.leaving);
        act(&mut self.cache, &mut leaving);
        let mut done = at + ANSWER;
        for (flow, lpa, mask) in leaving.drain(..) {
            let end = self.program(flow, lpa, mask, at)?;
            done = done.max(end);
            if self.cache.takes_writes(flow) {
                self.under_way[self.cache.pool_of(flow)].ends.push(Reverse(end));
            }
        }
        self.leaving = leaving;
        self.settle(at)?;
        Ok(done)
    }

    /// Writes a host page to flash, past the cache.
    #[inline]
    fn program(&mut self, flow: FlowId, lpa: Lpa, mask: u64, at: u64) -> Result<u64, Error> {
        let mut at = self.look_up(flow, lpa, at);
        let old = self.ftl.pages.ppa(lpa);
        let mut held = mask;
        if mask != self.ftl.pages.full_mask() && old != Ppa::NONE {
            let missing = self.ftl.missing(lpa, mask);
            held |= missing;
            if missing != 0 {
                // First reads the part of the page that the write does not bring.
                self.work[flow.index()].read_modify_writes += 1;
                self.work[flow.index()].host_reads += 1;
                at = self.read_page(old, at);
            }
        }
        let (plane, ppa) =
            self.place(at, (lpa, Stream::HOST), flow, |ftl| ftl.usual_plane(flow, lpa, old))?;
        if old != Ppa::NONE {
            // Collection may have moved the page.
            self.ftl.release(self.ftl.pages.ppa(lpa));
        }
        self.ftl.hold(lpa, ppa, held);
        self.work[flow.index()].host_programs += 1;
        self.mapping_changed(flow, lpa);
        self.follow(plane, at);
        if !self.ftl.fills_row(flow, plane, ppa) {
            // The unit waits for its row in the controller's memory.
            return Ok(at + ANSWER);
        }
        let die = self.dies.of(plane);
        let page = self.ftl.blocks.flash_page_of(ppa);
        let (done, joined) = self.dies.program(die, plane, page, at);
        if !joined {
            self.join(die, ppa);
        }
        self.awaits_program(plane, done);
        Ok(done)
    }

    /// Finds a page on the plane that `plane` names, after the die has collected in the time that
    /// it had. If there is no room, collects longer.
    #[inline]
    fn place(
        &mut self,
        at: u64,
        (lpa, stream): (Lpa, Stream),
        flow: FlowId,
        mut plane: impl FnMut(&mut Ftl) -> PlaneId,
    ) -> Result<(PlaneId, Ppa), Error> {
        loop {
            if self.balances {
                self.count_programs(at);
            }
            let plane = plane(&mut self.ftl);
            self.catch_up(self.dies.of(plane), at);
            match self.ftl.allocate(plane, flow, (lpa, stream), Time::ZERO) {
                Some(ppa) => {
                    self.ftl.blocks.written_at_once(ppa);
                    if self.ftl.blocks.parity_after(ppa).is_some() {
                        self.program_parity(plane, flow, at);
                    }
                    return Ok((plane, ppa));
                }
                None => self.make_room(plane, at)?,
            }
        }
    }

    /// Reads a physical page. Returns the time when its data is there.
    fn read_page(&mut self, ppa: Ppa, at: u64) -> u64 {
        let blocks = &self.ftl.blocks;
        let (plane, page) = (blocks.plane_of(blocks.block_of(ppa)), blocks.flash_page_of(ppa));
        let die = self.dies.of(plane);
        self.catch_up(die, at);
        self.dies.read(die, page, at)
    }

    /// The translation layer.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }
}
