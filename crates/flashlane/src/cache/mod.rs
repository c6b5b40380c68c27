//! Stage 4 of 8: the DRAM data cache. Receives the pages of host requests from `interface`;
//! acknowledges writes, merges them, answers reads it has, and sends the rest to `ftl`.
//!
//! Slots of one page, least recently used leaves first; changed pages are written back when they
//! leave, and (`eager_write_back`) at once on the first write of an epoch, so that only pages
//! rewritten within the epoch stay changed. Data on its way to flash is bounded; writes beyond
//! the bound wait. Invariants: a slot belongs to one flow's page; the bound counts exactly the
//! sectors of write-backs under way. Source: MQSim (FAST'18) section 4.2.1.

pub(crate) mod dram;
mod flush;
mod slots;

use std::collections::VecDeque;

use flashlane_engine::{DenseMap, NONE, Time};

use crate::config::{CacheMode, DeviceConfig, WorkloadConfig};
use crate::event::Event;
use crate::layout::{Geometry, SECTOR_BYTES};
use crate::ssd::Ssd;
use crate::transaction::{Op, Place, Source, Transaction};
use dram::Dram;
use flush::Flushes;
use slots::{SlotState, Slots};

/// The data cache.
#[derive(Clone)]
pub(crate) struct Cache {
    pub(crate) slots: Slots,
    dram: Dram,
    modes: Vec<CacheMode>,
    /// Sectors of write-backs under way, and their bound.
    in_flight: u64,
    bound: u64,
    /// Writes that wait for room.
    waiting: VecDeque<u32>,
    eager: bool,
    /// Pages written in the current epoch.
    recent: DenseMap,
    epoch: u64,
    epoch_length: u64,
    flushes: Vec<Flushes>,
    pub(crate) evictions: u64,
}

impl Cache {
    /// An empty cache.
    pub(crate) fn new(
        device: &DeviceConfig,
        workload: &WorkloadConfig,
        geometry: Geometry,
    ) -> Self {
        let config = &device.cache;
        // A drive without room for data has no data cache, whatever the flows ask for.
        let (room, off) = (config.capacity.0 > 0, CacheMode::Off);
        let slots = (config.capacity.0 / geometry.page_bytes()).max(1) as u32;
        let pages = u64::from(geometry.planes()) * u64::from(config.write_back_pages_per_plane);
        Self {
            slots: Slots::new(slots),
            dram: Dram::new(&config.dram, &device.compat),
            modes: workload.flows.iter().map(|f| if room { f.cache } else { off }).collect(),
            in_flight: 0,
            bound: pages * u64::from(geometry.sectors_per_page),
            waiting: VecDeque::new(),
            eager: config.eager_write_back,
            recent: DenseMap::default(),
            epoch: 0,
            epoch_length: config.hot_epoch.0.max(1),
            flushes: vec![Flushes::default(); workload.flows.len()],
            evictions: 0,
        }
    }

    /// True if the page was written before in this epoch; remembers this write.
    fn is_hot(&mut self, lpa: u32, now: Time) -> bool {
        let epoch = now.0 / self.epoch_length;
        if epoch != self.epoch {
            self.epoch = epoch;
            self.recent.clear();
        }
        self.recent.insert(lpa, 0).is_some()
    }

    fn fills_on_read(&self, flow: u16) -> bool {
        matches!(self.modes[flow as usize], CacheMode::Read | CacheMode::WriteRead)
    }
}

impl Ssd {
    /// Pages of a read: what the cache has comes from DRAM, the rest from flash.
    pub(crate) fn read_pages(&mut self, id: u32) {
        let flow = self.requests[id].flow;
        let cached = self.cache.modes[flow as usize] != CacheMode::Off;
        let mut hit_sectors = 0;
        for index in 0..self.page_count(id) {
            let mut part = self.page_part(id, index);
            if cached {
                let hit = self.cache.slots.lookup(part.lpa) & part.mask;
                part.mask &= !hit;
                hit_sectors += u64::from(hit.count_ones());
                let record = &mut self.recorder.flows[flow as usize];
                if part.mask == 0 {
                    record.cache_hits += 1;
                    continue;
                }
                record.cache_misses += 1;
            }
            self.read_flash(id, &part);
        }
        if hit_sectors > 0 {
            self.access_dram(id, hit_sectors);
        }
    }

    /// A DRAM access that a request waits for.
    fn access_dram(&mut self, id: u32, sectors: u64) {
        self.requests[id].pending += 1;
        let done = self.cache.dram.access(self.now, sectors * SECTOR_BYTES);
        self.queue.schedule(done, Event::DramDone { request: id });
    }

    /// A DRAM access of a request is over.
    pub(crate) fn on_dram_done(&mut self, id: u32) {
        let chain = self.cache_chain(id);
        self.part_done(id, chain);
    }

    /// Pages of a write: into the cache as far as there is room, or straight to flash.
    pub(crate) fn write_pages(&mut self, id: u32) {
        let flow = self.requests[id].flow;
        match self.cache.modes[flow as usize] {
            CacheMode::Write | CacheMode::WriteRead => {
                // Held until every page is accepted.
                self.requests[id].pending += 1;
                if self.cache.waiting.is_empty() && self.accept_pages(id) {
                    self.requests[id].pending -= 1;
                } else {
                    self.cache.waiting.push_back(id);
                }
            }
            mode => {
                for index in 0..self.page_count(id) {
                    let part = self.page_part(id, index);
                    if mode == CacheMode::Read {
                        self.cache.slots.refresh(part.lpa, part.mask);
                    }
                    self.write_through(id, &part);
                }
            }
        }
    }

    /// Accepts pages of a write while the bound allows; true when all are accepted.
    fn accept_pages(&mut self, id: u32) -> bool {
        let flow = self.requests[id].flow;
        let count = self.page_count(id);
        let (mut sectors, mut evicted_sectors) = (0, 0);
        let mut evicted = NONE;
        while self.requests[id].next_page < count {
            if self.cache.in_flight >= self.cache.bound {
                break;
            }
            let part = self.page_part(id, self.requests[id].next_page);
            if !self.cache.slots.contains(part.lpa) && !self.cache.slots.has_room() {
                let Some(chain) = self.evict(evicted, &mut evicted_sectors) else { break };
                evicted = chain;
            }
            let hit = self.cache.slots.write(part.lpa, flow, part.mask);
            let record = &mut self.recorder.flows[flow as usize];
            if hit {
                record.cache_hits += 1;
            } else {
                record.cache_misses += 1;
            }
            sectors += u64::from(part.mask.count_ones());
            if self.cache.eager && !self.cache.is_hot(part.lpa, self.now) {
                let write = self.write_back(part.lpa);
                self.translate(write);
            }
            self.requests[id].next_page += 1;
        }
        if evicted != NONE {
            let read = self.cache.dram.access(self.now, evicted_sectors * SECTOR_BYTES);
            self.queue.schedule(read, Event::EvictionRead { transaction: evicted });
        }
        if sectors > 0 {
            self.access_dram(id, sectors);
        }
        self.requests[id].next_page == count
    }

    /// Makes room for one page. A changed page joins `chain`, to be written back once it is out of
    /// DRAM. `None` if every page is on its way to flash.
    fn evict(&mut self, chain: u32, sectors: &mut u64) -> Option<u32> {
        let victim = self.cache.slots.victim()?;
        self.cache.evictions += 1;
        if self.cache.slots.state(victim) != SlotState::Dirty {
            self.cache.slots.remove(victim);
            return Some(chain);
        }
        let write = self.write_back(victim);
        self.cache.slots.remove(victim);
        let tr = &mut self.transactions[write];
        tr.place = Place::Dram;
        tr.sibling = chain;
        *sectors += u64::from(tr.sectors());
        Some(write)
    }

    /// Makes the write-back of a cached page, which counts as on its way from now on.
    fn write_back(&mut self, lpa: u32) -> u32 {
        let slot = self.cache.slots.start_write_back(lpa);
        let id = self.new_transaction(Source::Cache, Op::Program, slot.flow, lpa);
        let epoch = self.cache.flushes[slot.flow as usize].started();
        let tr = &mut self.transactions[id];
        tr.mask = slot.mask;
        tr.tag = slot.version;
        tr.flush_epoch = epoch;
        self.cache.in_flight += u64::from(slot.mask.count_ones());
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
        self.cache.in_flight -= u64::from(tr.mask.count_ones());
        self.cache.slots.end_write_back(tr.lpa, tr.tag);
        let mut over = Vec::new();
        self.cache.flushes[tr.flow as usize].ended(tr.flush_epoch, &mut over);
        for request in over {
            let chain = self.cache_chain(request);
            self.part_done(request, chain);
        }
        while let Some(&id) = self.cache.waiting.front() {
            if !self.accept_pages(id) {
                break;
            }
            self.cache.waiting.pop_front();
            let chain = self.cache_chain(id);
            self.part_done(id, chain);
        }
    }

    /// Read data passes on its way up: it stays in the cache for flows that fill it on reads.
    pub(crate) fn fill_cache(&mut self, flow: u16, lpa: u32, mask: u64) {
        if !self.cache.fills_on_read(flow) {
            return;
        }
        if !self.cache.slots.contains(lpa) && !self.cache.slots.has_room() {
            let mut sectors = 0;
            let Some(evicted) = self.evict(NONE, &mut sectors) else { return };
            if evicted != NONE {
                let read = self.cache.dram.access(self.now, sectors * SECTOR_BYTES);
                self.queue.schedule(read, Event::EvictionRead { transaction: evicted });
            }
        }
        self.cache.slots.fill(lpa, flow, mask);
        // The request does not wait for the fill, but the memory is busy with it.
        self.cache.dram.access(self.now, u64::from(mask.count_ones()) * SECTOR_BYTES);
    }

    /// Trimmed sectors leave the cache, and the write-backs of the page that have no place on flash
    /// yet: these would bring them back.
    pub(crate) fn trim_cached(&mut self, lpa: u32, mask: u64) {
        self.cache.slots.trim(lpa, mask);
        if self.cache.in_flight == 0 {
            return;
        }
        let waits = |tr: &Transaction| {
            tr.source == Source::Cache && tr.op == Op::Program && tr.lpa == lpa && tr.ppa == NONE
        };
        let found = self.transactions.iter().filter(|(_, tr)| waits(tr));
        for id in found.map(|(id, _)| id).collect::<Vec<u32>>() {
            let tr = &mut self.transactions[id];
            self.cache.in_flight -= u64::from((tr.mask & mask).count_ones());
            tr.mask &= !mask;
        }
    }

    /// Everything acknowledged so far goes to flash; the request waits for it.
    pub(crate) fn flush(&mut self, id: u32) {
        let flow = self.requests[id].flow;
        for lpa in self.cache.slots.dirty_pages(flow) {
            let write = self.write_back(lpa);
            self.translate(write);
        }
        if self.cache.flushes[flow as usize].flush(id) {
            self.requests[id].pending += 1;
        }
    }

    /// Checks the counters of the cache.
    pub(crate) fn audit_cache(&self) {
        let under_way: u64 = self
            .transactions
            .iter()
            .filter(|(_, tr)| tr.source == Source::Cache && tr.op == Op::Program)
            .map(|(_, tr)| u64::from(tr.mask.count_ones()))
            .sum();
        assert_eq!(under_way, self.cache.in_flight, "write-backs under way are counted");
        self.cache.slots.audit();
    }

    /// No request may be left waiting at the end.
    pub(crate) fn audit_cache_end(&self) {
        assert!(self.cache.waiting.is_empty(), "no write waits for room");
        assert_eq!(self.cache.in_flight, 0, "nothing is on its way to flash");
    }
}
