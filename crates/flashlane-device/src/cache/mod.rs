//! Stage 4 of 8: the DRAM data cache. Receives the pages of host requests from `interface`;
//! acknowledges writes, merges them, answers reads of cached sectors, and sends the rest to `ftl`.
//!
//! A slot holds one page, and the least recently used page leaves first. Changed pages are written
//! back when they leave. With `eager_write_back` a page is also written back at once on its first
//! write of an epoch, so that only pages that are rewritten within the epoch stay changed. A simple
//! cache writes every page back at once and keeps none. Data on its way to flash is bounded; writes
//! beyond the bound wait. The flows share all of the cache, or have a pool each. Invariants: a slot
//! belongs to one flow's page; the bound counts exactly the sectors of write-backs under way.
//! Source: MQSim (FAST'18) section 4.2.2.

mod admission;
mod audit;
pub mod config;
mod dram;
mod flush;
mod hot;
mod pause;
mod pool;
mod slots;
#[cfg(test)]
mod tests;
mod warm;
mod write_backs;
mod written;

use flashlane_engine::{Array, EventQueue, Time};

use crate::compat::CompatConfig;
use crate::event::Event;
use crate::grain::Grain;
use crate::layout::Geometry;
use crate::transaction::{Place, Transaction, Transactions};
pub use admission::AdmissionCounts;
use admission::Gate;
use config::{CacheConfig, CacheMechanism, CacheMode};
use dram::{Dram, Piece};
pub(crate) use dram::{DramAccess, DramUse};
use flashlane_units::{FlowId, Lpa, RequestId, Sharing, TransactionId};
use flush::Flushes;
use hot::HotPages;
pub(crate) use pool::Asked;
use pool::Pool;
use slots::{SlotState, Slots};
use write_backs::WriteBacks;
use written::WrittenPages;

/// The data cache.
#[derive(Clone)]
pub struct Cache {
    /// A single pool for all flows, or one pool for each flow.
    pools: Vec<Pool>,
    /// By pool; empty if slots alone decide when a write is admitted.
    gates: Vec<Gate>,
    dram: Dram,
    hot: HotPages,
    modes: Array<FlowId, CacheMode>,
    /// True if pages leave as soon as they are on flash.
    drops_written: bool,
    /// True if the version of a page is the time at which its write began.
    versions_by_time: bool,
    /// True if the least recently used page may leave a full cache even while its write-back is
    /// under way.
    drops_leaving: bool,
    /// With `compat.cache_fills_written`: pages that were written, which reads may fill the cache
    /// with. Otherwise `None`: with any page.
    written: Option<WrittenPages>,
    /// True if an early write-back carries only the sectors of its write.
    writes_alone: bool,
    urgent_evictions: bool,
    flushes: Vec<Flushes>,
    /// True if the memory survives a loss of power: nothing has to be flushed.
    survives: bool,
    write_backs: WriteBacks,
    evictions: u64,
    /// By flow.
    asked: Array<FlowId, Asked>,
    /// Pieces of the memory access that is being put together.
    pieces: Vec<Piece>,
    /// Changed pages that were evicted but are still in the memory.
    leaving: Vec<Piece>,
    /// What a bit of a mask of sectors stands for.
    grain: Grain,
    /// The write-back of the last of these pages, from which the others can be reached; or
    /// [`NONE`].
    last_leaving: TransactionId,
}

/// Whether a page has a place in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// The page is cached, or a slot is free.
    Free,
    /// A slot becomes free when this changed page, of this flow, is evicted: see [`Cache::evict`].
    Behind { flow: FlowId, lpa: Lpa },
    /// No, since every page is on its way to flash.
    No,
}

/// Result of a write of a page by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// The page was cached before.
    pub(crate) hit: bool,
    /// Sectors whose write-back has to start at once.
    pub(crate) write_back: Option<u64>,
}

impl Cache {
    /// An empty cache. `modes`: by flow.
    pub fn new(
        config: &CacheConfig,
        compat: &CompatConfig,
        modes: &[CacheMode],
        geometry: Geometry,
    ) -> Self {
        let flows = modes.len();
        let pools = match config.sharing {
            Sharing::Shared => 1,
            Sharing::EqualPartitioning => flows,
        };
        let slots = (config.capacity.0 / geometry.page_bytes() / pools as u64).max(1) as u32;
        // A drive without room for data has no data cache, whatever the flows ask for.
        let (room, off) = (config.capacity.0 > 0, CacheMode::Off);
        let units = u64::from(geometry.planes()) * u64::from(geometry.units_per_program());
        let pages = units * u64::from(config.write_back_pages_per_plane);
        let pool = Pool::new(slots, pages * u64::from(geometry.sectors_per_page));
        Self {
            pools: vec![pool; pools],
            gates: Vec::new(),
            dram: Dram::new(&config.dram, compat, geometry.page_bytes(), pools),
            hot: HotPages::new(config, compat, flows),
            modes: modes.iter().map(|&mode| if room { mode } else { off }).collect(),
            drops_written: compat.cache_drops_written || config.mechanism == CacheMechanism::Simple,
            versions_by_time: compat.cache_drops_written,
            drops_leaving: compat.cache_drops_leaving,
            written: (compat.cache_fills_written && modes.iter().any(|mode| mode.fills_on_read()))
                .then(WrittenPages::default),
            writes_alone: compat.cache_writes_alone,
            urgent_evictions: compat.urgent_evictions,
            flushes: vec![Flushes::default(); flows],
            grain: geometry.grain(),
            survives: false,
            write_backs: WriteBacks::new(u64::from(slots) * pools as u64),
            evictions: 0,
            asked: Array::of(Asked::default(), flows),
            pieces: Vec::new(),
            leaving: Vec::new(),
            last_leaving: TransactionId::NONE,
        }
        .gated(config, geometry.sectors_per_page.into())
    }

    /// Says whether the memory survives a loss of power (`power_loss_protection`).
    #[must_use]
    pub fn surviving(self, survives: bool) -> Self {
        Self { survives, ..self }
    }

    /// The pool of a flow.
    #[inline]
    fn pool(&mut self, flow: FlowId) -> &mut Pool {
        let at = self.pool_at(flow);
        &mut self.pools[at]
    }

    #[inline]
    fn pool_at(&self, flow: FlowId) -> usize {
        if self.pools.len() == 1 { 0 } else { flow.index() }
    }

    /// The slots of a flow's pool.
    #[inline]
    fn slots(&mut self, flow: FlowId) -> &mut Slots {
        self.pool(flow).slots()
    }

    /// Prefetches the record of a page.
    #[inline]
    pub fn prefetch(&self, flow: FlowId, lpa: Lpa) {
        if self.modes[flow] != CacheMode::Off {
            self.pools[self.pool_at(flow)].cached().prefetch(lpa);
            self.hot.prefetch(flow, lpa);
        }
    }

    /// Sectors of a page that the cache holds.
    pub(crate) fn held(&mut self, flow: FlowId, lpa: Lpa) -> u64 {
        self.slots(flow).lookup(lpa).1
    }

    /// Reads some sectors of a page. Returns the sectors that flash has to deliver; the others join
    /// the memory access that is being put together.
    #[inline]
    pub(crate) fn read(&mut self, flow: FlowId, lpa: Lpa, mask: u64) -> u64 {
        let (slot, held) = self.slots(flow).lookup(lpa);
        let hit = held & mask;
        if hit != 0 {
            self.pieces.push(Piece::of(slot, self.grain.sectors(hit)));
        }
        mask & !hit
    }

    /// A write goes past the cache: updates the cached copy of the page, which later reads may use.
    #[inline]
    pub(crate) fn pass(&mut self, flow: FlowId, lpa: Lpa, mask: u64) {
        self.note_written(lpa);
        if self.modes[flow] == CacheMode::Read {
            self.slots(flow).refresh(lpa, mask);
        }
    }

    /// Pages of a write that began at `begun` are about to be accepted.
    #[inline]
    pub(crate) fn writes_begin(&mut self, flow: FlowId, begun: Time) {
        if self.versions_by_time {
            // Nanoseconds are enough to tell versions apart while a page is on its way to flash.
            self.slots(flow).set_version((begun.0 / 1_000) as u32);
        }
    }

    /// True if another page of a write may be accepted: the bound on data under way to flash allows
    /// it.
    #[inline]
    pub(crate) fn is_open(&mut self, flow: FlowId) -> bool {
        self.pool(flow).is_open()
    }

    /// Looks for a place for a page. If necessary, an unchanged page leaves at once.
    #[inline]
    pub(crate) fn make_room(&mut self, flow: FlowId, lpa: Lpa) -> Room {
        let slots = self.slots(flow);
        if slots.contains(lpa) || slots.has_room() { Room::Free } else { self.choose_victim(flow) }
    }

    fn choose_victim(&mut self, flow: FlowId) -> Room {
        let any = self.drops_leaving;
        let slots = self.slots(flow);
        let Some(victim) = slots.victim(any) else { return Room::No };
        let (owner, lpa) = (victim.flow(), victim.lpa());
        let changed = victim.state() == SlotState::Dirty;
        if !changed {
            slots.remove(lpa);
        }
        self.evictions += 1;
        if changed { Room::Behind { flow: owner, lpa } } else { Room::Free }
    }

    /// Evicts a changed page of a flow's pool. `write`: its write-back, which starts when the page
    /// is out of the memory.
    pub(crate) fn evict(&mut self, flow: FlowId, write: TransactionId, slab: &mut Transactions) {
        let tr = &mut slab[write];
        let slot = self.slots(flow).remove(tr.lpa);
        tr.place = Place::Dram;
        tr.sibling = std::mem::replace(&mut self.last_leaving, write);
        if self.urgent_evictions {
            tr.class = 0;
        }
        self.leaving.push(Piece::of(slot, tr.sectors()));
    }

    /// Writes some sectors of a page that has room. They join the memory access that is being put
    /// together.
    #[inline]
    pub(crate) fn write(&mut self, flow: FlowId, lpa: Lpa, mask: u64, now: Time) -> Written {
        self.note_written(lpa);
        let (slot, before) = self.slots(flow).write(lpa, flow, mask);
        self.pieces.push(Piece::of(slot, self.grain.sectors(mask)));
        // Other sectors that are not on their way yet are written along.
        let sectors = if self.writes_alone { mask } else { u64::MAX };
        let write_back = self.hot.goes_at_once(flow, lpa, now).then_some(sectors);
        Written { hit: before.is_some(), write_back }
    }

    /// Pages of a write of the flow were accepted, or tried to be accepted.
    #[inline]
    pub(crate) fn writes_over(&mut self, flow: FlowId, now: Time) {
        self.hot.call_over(flow, now);
    }

    /// Stores data from flash for a page that has room. It joins the memory access that is being
    /// put together. False if the memory is not accessed.
    pub(crate) fn fill(&mut self, flow: FlowId, lpa: Lpa, mask: u64) -> bool {
        let for_nothing = self.fills_for_nothing(flow, lpa);
        let slot = self.slots(flow).fill(lpa, flow, mask);
        if !for_nothing {
            self.pieces.push(Piece::of(slot, self.grain.sectors(mask)));
        }
        !for_nothing
    }

    /// Starts a write-back of those sectors in `mask` that the cache holds. `id`: the new
    /// transaction, which names the page. The sectors count as under way from now on.
    pub(crate) fn start_write_back(
        &mut self,
        id: TransactionId,
        mask: u64,
        transactions: &mut Transactions,
    ) {
        let tr = &mut transactions[id];
        let slot = self.slots(tr.flow).start_write_back(tr.lpa);
        assert_eq!(slot.flow(), tr.flow, "a page is written back under its owner");
        let mask = slot.mask() & mask;
        tr.set_part(mask, self.grain.sectors(mask));
        tr.tag = slot.version();
        tr.flush_epoch = self.flushes[tr.flow.index()].started();
        tr.counted_sectors = tr.sectors();
        self.pool(tr.flow).start_write_back(tr.counted_sectors);
        self.write_backs.add(id, transactions);
    }

    /// A write-back is on flash: its page is unchanged unless it was written again. Adds the
    /// flushes that are over now to `over`.
    pub(crate) fn end_write_back(
        &mut self,
        tr: &Transaction,
        transactions: &mut Transactions,
        over: &mut Vec<RequestId>,
    ) {
        let drop = self.drops_written;
        self.write_backs.remove(tr, transactions);
        let pool = self.pool(tr.flow);
        pool.end_write_back(tr.counted_sectors);
        pool.slots().end_write_back(tr.lpa, tr.tag, drop);
        self.flushes[tr.flow.index()].ended(tr.flush_epoch, over);
    }

    /// True if a memory access has been put together.
    #[inline]
    pub(crate) fn has_access(&self) -> bool {
        !self.pieces.is_empty()
    }

    /// Starts the memory access that was put together, or queues it. `done`: the event at its end.
    pub(crate) fn access(
        &mut self,
        now: Time,
        events: &mut EventQueue<Event>,
        flow: FlowId,
        done: Option<Event>,
    ) -> DramUse {
        let used = self.dram.ask(now, events, flow, &self.pieces, done);
        self.pieces.clear();
        used
    }

    /// Reads evicted pages out of the memory, if there are any. [`Event::EvictionRead`] comes when
    /// they are out.
    #[inline]
    pub(crate) fn read_evicted(
        &mut self,
        now: Time,
        events: &mut EventQueue<Event>,
        flow: FlowId,
    ) -> Option<DramUse> {
        if self.last_leaving == TransactionId::NONE {
            return None;
        }
        let head = std::mem::replace(&mut self.last_leaving, TransactionId::NONE);
        let done = Event::EvictionRead { transaction: head };
        let used = self.dram.ask(now, events, flow, &self.leaving, Some(done));
        self.leaving.clear();
        Some(used)
    }

    /// Gives the next flow its turn at the memory. Returns the access that begins.
    pub(crate) fn next_turn(
        &mut self,
        now: Time,
        events: &mut EventQueue<Event>,
    ) -> Option<DramAccess> {
        self.dram.turn_over();
        self.dram.serve(now, events)
    }

    /// Counts a page that the cache was asked for. `hit`: the cache had it.
    #[inline]
    pub(crate) fn count_asked(&mut self, flow: FlowId, hit: bool) {
        let asked = &mut self.asked[flow];
        *(if hit { &mut asked.hits } else { &mut asked.misses }) += 1;
    }

    /// Counts of the pages that the cache was asked for, by flow.
    pub(crate) fn asked(&self) -> impl Iterator<Item = Asked> + '_ {
        self.asked.iter().copied()
    }

    /// Pages that were evicted.
    pub fn evictions(&self) -> u64 {
        self.evictions
    }
}
