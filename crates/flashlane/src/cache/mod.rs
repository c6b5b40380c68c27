//! Stage 4 of 8: the DRAM data cache. Receives the pages of host requests from `interface`;
//! acknowledges writes, merges them, answers reads it has, and sends the rest to `ftl`.
//!
//! Slots of one page, least recently used leaves first; changed pages are written back when they
//! leave, and (`eager_write_back`) at once on the first write of an epoch, so that only pages
//! rewritten within the epoch stay changed. A simple cache writes every page back at once and keeps
//! none. Data on its way to flash is bounded; writes beyond the bound wait. Flows share all of it or
//! have a pool each. Invariants: a slot belongs to one flow's page; the bound counts exactly the
//! sectors of write-backs under way. Source: MQSim (FAST'18) section 4.2.1.

pub(crate) mod config;
pub(crate) mod dram;
mod flush;
mod hot;
mod pool;
mod slots;
mod warm;
mod write_backs;

use flashlane_engine::{Array, NONE};

use crate::compat::CompatConfig;
use crate::device::Device;
use crate::event::Event;
use crate::layout::{Geometry, SECTOR_BYTES};
use crate::transaction::{Op, Place, Source, Transaction};
use config::{CacheConfig, CacheMechanism, CacheMode};
use dram::{Dram, Piece};
use flashlane_units::Sharing;
use flush::Flushes;
use hot::HotPages;
use pool::Pool;
use slots::{SlotState, Slots};
use write_backs::WriteBacks;

/// The data cache.
#[derive(Clone)]
pub(crate) struct Cache {
    /// One for all flows, or one for each.
    pools: Vec<Pool>,
    dram: Dram,
    hot: HotPages,
    modes: Array<CacheMode>,
    /// Pages leave as soon as they are on flash.
    drops_written: bool,
    /// An early write-back carries the sectors of its write only.
    writes_alone: bool,
    urgent_evictions: bool,
    flushes: Vec<Flushes>,
    write_backs: WriteBacks,
    pub(crate) evictions: u64,
    /// Pieces of the access that is being put together: cached pages, and pages that leave.
    pieces: Vec<Piece>,
    leaving: Vec<Piece>,
}

impl Cache {
    /// An empty cache; `modes` by flow.
    pub(crate) fn new(
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
        let pages = u64::from(geometry.planes()) * u64::from(config.write_back_pages_per_plane);
        let pool = Pool::new(slots, pages * u64::from(geometry.sectors_per_page));
        Self {
            pools: vec![pool; pools],
            dram: Dram::new(&config.dram, compat, geometry.page_bytes(), pools),
            hot: HotPages::new(config, compat, flows),
            modes: modes.iter().map(|&mode| if room { mode } else { off }).collect(),
            drops_written: compat.cache_drops_written || config.mechanism == CacheMechanism::Simple,
            writes_alone: compat.cache_writes_alone,
            urgent_evictions: compat.urgent_evictions,
            flushes: vec![Flushes::default(); flows],
            write_backs: WriteBacks::new(u64::from(slots) * pools as u64),
            evictions: 0,
            pieces: Vec::new(),
            leaving: Vec::new(),
        }
    }

    /// The pool of a flow.
    #[inline]
    fn pool(&mut self, flow: u16) -> &mut Pool {
        let at = self.pool_at(flow);
        &mut self.pools[at]
    }

    #[inline]
    fn pool_at(&self, flow: u16) -> usize {
        if self.pools.len() == 1 { 0 } else { flow as usize }
    }

    /// The slots of a flow's pool.
    #[inline]
    fn slots(&mut self, flow: u16) -> &mut Slots {
        &mut self.pool(flow).slots
    }

    /// Asks for what is known of a page, which a request of the flow needs soon.
    #[inline]
    pub(crate) fn prefetch(&self, flow: u16, lpa: u32) {
        if self.modes[flow as usize] != CacheMode::Off {
            self.pools[self.pool_at(flow)].slots.prefetch(lpa);
            self.hot.prefetch(flow, lpa);
        }
    }

    /// Sectors that the cache holds of a page.
    #[cfg(test)]
    pub(crate) fn held(&mut self, flow: u16, lpa: u32) -> u64 {
        self.slots(flow).lookup(lpa).1
    }

    fn fills_on_read(&self, flow: u16) -> bool {
        matches!(self.modes[flow as usize], CacheMode::Read | CacheMode::WriteRead)
    }
}

impl Device {
    /// Pages of a read: what the cache has comes from DRAM, the rest from flash.
    #[inline]
    pub(crate) fn read_pages(&mut self, id: u32, flow: u16, sector: u64, sectors: u32) {
        let cached = self.cache.modes[flow as usize] != CacheMode::Off;
        let mut parts = self.page_parts(flow, sector, sectors);
        while let Some(mut part) = parts.next(self.page_sectors.get()) {
            if cached {
                let (slot, held) = self.cache.slots(flow).lookup(part.lpa);
                let hit = held & part.mask;
                part.mask &= !hit;
                if hit != 0 {
                    let bytes = u64::from(hit.count_ones()) * SECTOR_BYTES;
                    self.cache.pieces.push(Piece { slot, bytes });
                }
                let work = &mut self.recorder.flows[flow as usize].work;
                if part.mask == 0 {
                    work.cache_hits += 1;
                    continue;
                }
                work.cache_misses += 1;
            }
            self.read_flash(id, flow, &part);
        }
        self.access_dram(id);
    }

    /// The access to the pieces put together, which a request waits for.
    #[inline]
    fn access_dram(&mut self, id: u32) {
        if !self.cache.pieces.is_empty() {
            self.access_pieces(id);
        }
    }

    fn access_pieces(&mut self, id: u32) {
        self.requests[id].pending += 1;
        let pieces = std::mem::take(&mut self.cache.pieces);
        let flow = self.requests[id].flow;
        self.cache.pieces = self.use_dram(flow, pieces, Some(Event::DramDone { request: id }));
    }

    /// Pages leave the memory; the write-backs from `head` on start when they are out.
    fn read_evicted(&mut self, flow: u16, head: u32) {
        if head != NONE {
            let pieces = std::mem::take(&mut self.cache.leaving);
            let done = Event::EvictionRead { transaction: head };
            self.cache.leaving = self.use_dram(flow, pieces, Some(done));
        }
    }

    /// Starts or queues an access on behalf of a flow; returns the list of pieces, emptied.
    fn use_dram(&mut self, flow: u16, mut pieces: Vec<Piece>, done: Option<Event>) -> Vec<Piece> {
        if self.cache.dram.takes_turns() {
            if self.observer.is_some() {
                self.observe_dram_queue(done);
            }
            self.cache.dram.push(flow, &pieces, done);
            self.serve_dram();
        } else {
            let free = self.cache.dram.free_at();
            let end = self.cache.dram.access(self.now, &pieces);
            if self.observer.is_some() {
                self.observe_dram(flow, (free, end), Some(self.now), done);
            }
            if let Some(event) = done {
                self.queue.schedule(end, event);
            }
        }
        pieces.clear();
        pieces
    }

    /// Starts the next access of a memory that serves flows in turn.
    fn serve_dram(&mut self) {
        let free = self.cache.dram.free_at();
        if let Some(started) = self.cache.dram.start(self.now) {
            if self.observer.is_some() {
                self.observe_dram(started.flow, (free, started.end), None, started.done);
            }
            if let Some(event) = started.done {
                self.queue.schedule(started.end, event);
            }
            self.queue.schedule(started.next, Event::DramTurn);
        }
    }

    /// The next flow has its turn.
    pub(crate) fn on_dram_turn(&mut self) {
        self.cache.dram.turn_over();
        self.serve_dram();
    }

    /// A DRAM access of a request is over.
    pub(crate) fn on_dram_done(&mut self, id: u32) {
        let chain = self.cache_chain(id);
        self.part_done(id, &chain);
    }

    /// Pages of a write: into the cache as far as there is room, or straight to flash.
    pub(crate) fn write_pages(&mut self, id: u32) {
        let flow = self.requests[id].flow;
        match self.cache.modes[flow as usize] {
            CacheMode::Write | CacheMode::WriteRead => {
                // Held until every page is accepted.
                self.requests[id].pending += 1;
                if self.cache.pool(flow).waiting.is_empty() && self.accept_pages(id) {
                    self.requests[id].pending -= 1;
                } else {
                    self.cache.pool(flow).waiting.push_back(id);
                }
            }
            mode => {
                for index in 0..self.page_count(id) {
                    let part = self.page_part(id, index);
                    if mode == CacheMode::Read {
                        self.cache.slots(flow).refresh(part.lpa, part.mask);
                    }
                    self.write_through(id, &part);
                }
            }
        }
    }

    /// Accepts pages of a write while the bound allows; true when all are accepted.
    fn accept_pages(&mut self, id: u32) -> bool {
        let (flow, now) = (self.requests[id].flow, self.now);
        let count = self.page_count(id);
        let mut evicted = NONE;
        while self.requests[id].next_page < count && self.cache.pool(flow).is_open() {
            let part = self.page_part(id, self.requests[id].next_page);
            let slots = self.cache.slots(flow);
            if !slots.contains(part.lpa) && !slots.has_room() {
                let Some(chain) = self.evict(flow, evicted) else { break };
                evicted = chain;
            }
            let (slot, before) = self.cache.slots(flow).write(part.lpa, flow, part.mask);
            let work = &mut self.recorder.flows[flow as usize].work;
            if before.is_some() {
                work.cache_hits += 1;
            } else {
                work.cache_misses += 1;
            }
            let bytes = u64::from(part.mask.count_ones()) * SECTOR_BYTES;
            self.cache.pieces.push(Piece { slot, bytes });
            if self.cache.hot.goes_at_once(flow, part.lpa, now) {
                // Other sectors that are not on their way yet go along.
                let alone = self.cache.writes_alone && before != Some(SlotState::Dirty);
                let mask = if alone { part.mask } else { u64::MAX };
                let write = self.write_back(flow, part.lpa, mask);
                self.translate(write);
            }
            self.requests[id].next_page += 1;
        }
        self.cache.hot.call_over(flow, now);
        self.read_evicted(flow, evicted);
        self.access_dram(id);
        self.requests[id].next_page == count
    }

    /// Makes room for one page in the pool of a flow. A changed page joins `chain`, to be written back
    /// once it is out of DRAM. `None` if every page is on its way to flash.
    fn evict(&mut self, flow: u16, chain: u32) -> Option<u32> {
        let victim = self.cache.slots(flow).victim()?;
        self.cache.evictions += 1;
        if victim.state() != SlotState::Dirty {
            self.cache.slots(flow).remove(victim.lpa());
            return Some(chain);
        }
        let write = self.write_back(victim.flow, victim.lpa(), u64::MAX);
        let slot = self.cache.slots(flow).remove(victim.lpa());
        let tr = &mut self.transactions[write];
        tr.place = Place::Dram;
        tr.sibling = chain;
        if self.cache.urgent_evictions {
            tr.class = 0;
        }
        let bytes = u64::from(tr.sectors()) * SECTOR_BYTES;
        self.cache.leaving.push(Piece { slot, bytes });
        Some(write)
    }

    /// Makes the write-back of the sectors in `mask` that the cache holds of a page of `owner`; it
    /// counts as on its way from now on.
    fn write_back(&mut self, owner: u16, lpa: u32, mask: u64) -> u32 {
        // It is placed when its data is out of the memory.
        self.prefetch_page(owner, lpa);
        let slot = self.cache.slots(owner).start_write_back(lpa);
        assert_eq!(slot.flow, owner, "a page is written back under its owner");
        let id = self.new_transaction(Source::Cache, Op::Program, owner, lpa);
        let epoch = self.cache.flushes[owner as usize].started();
        let tr = &mut self.transactions[id];
        tr.set_mask(slot.mask & mask);
        tr.tag = slot.version;
        tr.flush_epoch = epoch;
        tr.counted_sectors = tr.sectors();
        self.cache.pool(owner).in_flight += u64::from(tr.counted_sectors);
        self.cache.write_backs.add(id, &mut self.transactions);
        id
    }

    /// Evicted pages are out of DRAM.
    pub(crate) fn on_eviction_read(&mut self, head: u32) {
        let now = self.now;
        let mut id = head;
        while id != NONE {
            let tr = &mut self.transactions[id];
            let next = std::mem::replace(&mut tr.sibling, NONE);
            let read = tr.lap(now);
            tr.chain.cache += read;
            self.translate(id);
            id = next;
        }
    }

    /// A write-back is on flash: the page is unchanged unless it was written again, flushes may be
    /// over, and waiting writes have room.
    pub(crate) fn write_back_done(&mut self, tr: &Transaction) {
        let (flow, drop) = (tr.flow, self.cache.drops_written);
        self.cache.write_backs.remove(tr, &mut self.transactions);
        let pool = self.cache.pool(flow);
        pool.in_flight -= u64::from(tr.counted_sectors);
        pool.slots.end_write_back(tr.lpa, tr.tag, drop);
        let mut over = Vec::new();
        self.cache.flushes[flow as usize].ended(tr.flush_epoch, &mut over);
        for request in over {
            let chain = self.cache_chain(request);
            self.part_done(request, &chain);
        }
        while let Some(&id) = self.cache.pool(flow).waiting.front() {
            if !self.accept_pages(id) {
                break;
            }
            self.cache.pool(flow).waiting.pop_front();
            let chain = self.cache_chain(id);
            self.part_done(id, &chain);
            if self.flash.scans_at_once() {
                self.dispatch_offered();
            }
        }
    }

    /// Read data passes on its way up: it stays in the cache for flows that fill it on reads.
    #[inline]
    pub(crate) fn fill_cache(&mut self, flow: u16, lpa: u32, mask: u64) {
        if self.cache.fills_on_read(flow) {
            self.fill_slot(flow, lpa, mask);
        }
    }

    fn fill_slot(&mut self, flow: u16, lpa: u32, mask: u64) {
        let slots = self.cache.slots(flow);
        if !slots.contains(lpa) && !slots.has_room() {
            let Some(evicted) = self.evict(flow, NONE) else { return };
            self.read_evicted(flow, evicted);
        }
        let slot = self.cache.slots(flow).fill(lpa, flow, mask);
        // The request does not wait for the fill, but the memory is busy with it.
        let mut pieces = std::mem::take(&mut self.cache.pieces);
        pieces.push(Piece { slot, bytes: u64::from(mask.count_ones()) * SECTOR_BYTES });
        self.cache.pieces = self.use_dram(flow, pieces, None);
    }

    /// Trimmed sectors leave the cache, and the write-backs of the page that have no place on flash
    /// yet: these would bring them back. What is trimmed counts for the bound until its write-back is over.
    pub(crate) fn trim_cached(&mut self, flow: u16, lpa: u32, mask: u64) {
        self.cache.slots(flow).trim(lpa, mask);
        let mut id = self.cache.write_backs.first(lpa);
        while id != NONE {
            let tr = &mut self.transactions[id];
            if tr.lpa == lpa && tr.ppa == NONE {
                tr.set_mask(tr.mask() & !mask);
            }
            id = tr.next_write_back;
        }
    }

    /// Everything acknowledged so far goes to flash; the request waits for it.
    pub(crate) fn flush(&mut self, id: u32) {
        let flow = self.requests[id].flow;
        for lpa in self.cache.slots(flow).dirty_pages(flow) {
            let write = self.write_back(flow, lpa, u64::MAX);
            self.translate(write);
        }
        if self.cache.flushes[flow as usize].flush(id) {
            self.requests[id].pending += 1;
        }
    }

    /// Checks the counters of the cache.
    pub(crate) fn audit_cache(&self) {
        let mut under_way = vec![0; self.cache.pools.len()];
        let mut write_backs = Vec::new();
        for (id, tr) in self.transactions.iter() {
            if tr.source == Source::Cache && tr.op == Op::Program {
                let pool = usize::from(tr.flow) % under_way.len();
                under_way[pool] += u64::from(tr.counted_sectors);
                assert!(tr.sectors() <= tr.counted_sectors, "trims only take sectors away");
                write_backs.push(id);
            }
        }
        self.cache.write_backs.audit(&write_backs, &self.transactions);
        for (pool, under_way) in self.cache.pools.iter().zip(under_way) {
            assert_eq!(under_way, pool.in_flight, "write-backs under way are counted");
        }
        self.cache.audit_slots();
    }

    /// No request may be left waiting at the end.
    pub(crate) fn audit_cache_end(&self) {
        for pool in &self.cache.pools {
            assert!(pool.waiting.is_empty(), "no write waits for room");
            assert_eq!(pool.in_flight, 0, "nothing is on its way to flash");
        }
        assert!(self.cache.dram.is_drained(), "no access waits for its turn");
    }
}
