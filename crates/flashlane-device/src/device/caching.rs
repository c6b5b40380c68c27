//! Host data and the data cache: reads ask the cache first, writes end in it, and its write-backs
//! go to flash.

use flashlane_engine::Time;
use flashlane_units::{FlowId, Lpa, RequestId, RequestOp, TransactionId};

use super::Device;
use super::pages::SectorRange;
use crate::cache::{DramAccess, DramUse, Room};
use crate::event::Event;
use crate::request::{Chain, Request};
use crate::transaction::{Op, Source, Transaction};

impl Device {
    /// Tells the cache which pages hold data before the run, where that matters to it.
    pub(super) fn prepare_cache(&mut self) {
        if self.ftl.holds_any() {
            let pages = (0..self.layout.logical_pages as u32).map(Lpa::new);
            self.cache.data_lies_on_flash(pages, |lpa| self.ftl.holds(lpa));
        }
    }

    /// Reads pages: cached sectors come from the cache's memory, the rest from flash.
    #[inline]
    pub(crate) fn read_pages(&mut self, id: RequestId, flow: FlowId, sector: u64, sectors: u32) {
        let (first, rest) = self.ranges(flow, sector, sectors);
        self.read_range(id, flow, first);
        if let Some(rest) = rest {
            self.read_range(id, flow, rest);
        }
        self.access_dram(id);
    }

    /// Reads the pages of a range of sectors.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn read_range(&mut self, id: RequestId, flow: FlowId, range: SectorRange) {
        let cached = !self.cache.is_off(flow);
        let mut parts = self.page_parts(flow, range.sector, range.sectors);
        while let Some(mut part) = parts.next(self.page_sectors.get()) {
            if cached {
                part.keep(self.cache.read(flow, part.lpa, part.mask), self.grain);
                let hit = part.mask == 0;
                self.cache.count_asked(flow, hit);
                if hit {
                    continue;
                }
            }
            self.read_flash(id, flow, &part);
        }
    }

    /// Starts the memory access that was put together, if there is one; the request waits for it.
    #[inline(always)]
    fn access_dram(&mut self, id: RequestId) {
        if self.cache.has_access() {
            self.access_for(id);
        }
    }

    #[inline(never)]
    fn access_for(&mut self, id: RequestId) {
        debug_assert!(self.context.requests[id].pending > 0, "the request is not over yet");
        self.context.requests[id].pending += 1;
        let flow = self.context.requests[id].flow;
        let done = Some(Event::DramDone { request: id });
        let used = self.cache.access(self.context.now, &mut self.context.events, flow, done);
        self.watch_dram_use(&used, done);
    }

    /// Reads evicted pages out of the memory. Their write-backs continue when that is done.
    #[inline]
    fn read_evicted(&mut self, flow: FlowId) {
        if let Some(used) =
            self.cache.read_evicted(self.context.now, &mut self.context.events, flow)
        {
            self.watch_dram_use(&used, None);
        }
    }

    /// Gives the next flow its turn at the memory.
    pub(super) fn on_dram_turn(&mut self) {
        if let Some(begun) = self.cache.next_turn(self.context.now, &mut self.context.events) {
            self.watch_turn(&begun);
        }
    }

    /// Reports an access to the observer. `done`: the event at its end.
    #[inline]
    fn watch_dram_use(&mut self, used: &DramUse, done: Option<Event>) {
        if self.observer.is_none() {
            return;
        }
        match used {
            DramUse::Begun(begun) => {
                let times = (begun.free, begun.end);
                self.observe_dram(begun.flow, times, Some(self.context.now), begun.done);
            }
            DramUse::Queued(begun) => {
                self.observe_dram_queue(done);
                if let Some(begun) = begun {
                    self.watch_turn(begun);
                }
            }
        }
    }

    fn watch_turn(&mut self, begun: &DramAccess) {
        if self.observer.is_some() {
            self.observe_dram(begun.flow, (begun.free, begun.end), None, begun.done);
        }
    }

    /// A memory access of a request is over.
    pub(super) fn on_dram_done(&mut self, id: RequestId) {
        let chain = self.cache_chain(id);
        self.part_done(id, &chain);
    }

    /// Writes pages: into the cache as far as there is room, or directly to flash.
    pub(crate) fn write_pages(&mut self, id: RequestId) {
        let flow = self.context.requests[id].flow;
        if self.cache.takes_writes(flow) {
            // Keeps the request pending until every page is accepted.
            self.context.requests[id].pending += 1;
            if self.cache.longest_waiting(flow).is_some() {
                self.cache.writes_over(flow, self.context.now);
                self.cache.wait(flow, id);
            } else if self.accept_pages(id) {
                self.context.requests[id].pending -= 1;
                if self.zones.is_some() {
                    self.write_entered(id);
                }
            } else {
                self.cache.wait(flow, id);
            }
            return;
        }
        if self.zones.is_some() {
            self.write_entered(id);
            if self.zone_was_reset(id) {
                return;
            }
        }
        for index in 0..self.page_count(id) {
            let part = self.page_part(id, index);
            self.cache.pass(flow, part.lpa, part.mask);
            self.place_by_host(id, part.lpa);
            self.write_through(id, &part);
        }
    }

    /// A page of a write is accepted: where hosts place their data, its handle is noted.
    #[inline(always)]
    fn place_by_host(&mut self, id: RequestId, lpa: Lpa) {
        if self.ftl.has_handles() {
            let Request { flow, op, marks, .. } = self.context.requests[id];
            debug_assert_eq!(op, RequestOp::Write, "only a write places data");
            self.ask_ftl(|ftl, context| ftl.note_handle(context, flow, lpa, marks.handle()));
        }
    }

    /// Accepts pages of a write while the bound allows it; true when all are accepted.
    fn accept_pages(&mut self, id: RequestId) -> bool {
        let (flow, now) = (self.context.requests[id].flow, self.context.now);
        let count = self.page_count(id);
        let (gated, zoned) = (self.cache.is_gated(), self.zones.is_some());
        if zoned && self.zone_was_reset(id) {
            return true;
        }
        let held = zoned && self.stays_in_area(id);
        self.cache.writes_begin(flow, self.context.requests[id].begun);
        while u32::from(self.context.requests[id].next_page) < count && self.cache.is_open(flow) {
            let part = self.page_part(id, self.context.requests[id].next_page.into());
            if gated && self.cache.delays(flow, part.lpa, now, &mut self.context.events) {
                break;
            }
            if !self.make_cache_room(flow, part.lpa) {
                break;
            }
            let written = self.cache.write(flow, part.lpa, part.mask, now);
            self.place_by_host(id, part.lpa);
            self.cache.count_asked(flow, written.hit);
            if let Some(mask) = written.write_back.filter(|_| !held) {
                let write = self.write_back(flow, part.lpa, mask);
                self.translate(write);
            }
            if gated {
                self.cache.admitted(flow, now);
            }
            self.context.requests[id].next_page += 1;
        }
        self.cache.writes_over(flow, now);
        if held {
            self.commit_area(id);
        }
        self.read_evicted(flow);
        self.access_dram(id);
        let accepted = u32::from(self.context.requests[id].next_page);
        debug_assert!(accepted <= count, "pages are accepted once");
        accepted == count
    }

    /// Makes room for a page. If a changed page has to leave, it is written back once it is out of
    /// the memory. False if every page is on its way to flash.
    #[inline]
    fn make_cache_room(&mut self, flow: FlowId, lpa: Lpa) -> bool {
        match self.cache.make_room(flow, lpa) {
            Room::Free => true,
            Room::No => false,
            Room::Behind { flow: owner, lpa } => {
                let write = self.write_back(owner, lpa, u64::MAX);
                self.cache.evict(flow, write, &mut self.context.transactions);
                true
            }
        }
    }

    /// Makes the write-back of the sectors in `mask` that the cache holds of a page of `owner`.
    pub(super) fn write_back(&mut self, owner: FlowId, lpa: Lpa, mask: u64) -> TransactionId {
        debug_assert!(mask != 0, "a write-back has a sector");
        // The write-back is placed when its data is out of the memory.
        self.ftl.prefetch(owner, lpa);
        let write = (Source::Cache, Op::Program);
        let id = self.context.transactions.insert(self.ftl.transaction(
            self.context.now,
            write,
            owner,
            lpa,
        ));
        self.cache.start_write_back(id, mask, &mut self.context.transactions);
        id
    }

    /// Evicted pages are out of the memory: sends the write-backs from `head` on to flash.
    pub(super) fn on_eviction_read(&mut self, head: TransactionId) {
        assert!(head != TransactionId::NONE, "an eviction has a page");
        let now = self.context.now;
        let mut id = head;
        while id != TransactionId::NONE {
            let tr = &mut self.context.transactions[id];
            let next = std::mem::replace(&mut tr.sibling, TransactionId::NONE);
            let read = tr.lap(now);
            tr.chain.cache += read;
            self.translate(id);
            id = next;
        }
    }

    /// A write-back is on flash. Flushes may be over, and waiting writes may have room.
    pub(crate) fn write_back_done(&mut self, tr: &Transaction) {
        debug_assert_eq!(tr.source, Source::Cache, "only the cache writes back");
        let mut over = Vec::new();
        self.cache.end_write_back(tr, &mut self.context.transactions, &mut over);
        for request in over {
            let chain = self.cache_chain(request);
            self.part_done(request, &chain);
        }
        if self.cache.is_gated() {
            self.cache.drained(tr.flow, tr.counted_sectors, self.context.now);
        }
        self.accept_waiting(tr.flow);
    }

    /// The longest waiting write of the pool of a flow may have waited long enough for the pace. If
    /// none waits any more, the event takes no time, because it must not make a finished simulation
    /// longer.
    #[cold]
    pub(super) fn on_admission(&mut self, flow: FlowId, before: Time) {
        self.cache.admission_due(flow, self.context.now);
        if self.cache.longest_waiting(flow).is_none() {
            self.context.now = before;
        }
        self.accept_waiting(flow);
    }

    /// Accepts waiting writes of the pool of a flow, oldest first, as far as they may go on.
    #[inline(always)]
    fn accept_waiting(&mut self, flow: FlowId) {
        while let Some(id) = self.cache.longest_waiting(flow) {
            if !self.accept_pages(id) {
                break;
            }
            self.cache.wait_over(flow);
            if self.zones.is_some() {
                self.write_entered(id);
            }
            let chain = self.cache_chain(id);
            self.part_done(id, &chain);
            if self.flash.scans_at_once() {
                self.dispatch_offered();
            }
        }
    }

    /// Read data passes the cache on its way up. It stays there for flows that fill the cache on
    /// reads.
    #[inline(always)]
    pub(crate) fn fill_cache(&mut self, flow: FlowId, lpa: Lpa, mask: u64) {
        if self.cache.fills_on_read(flow) {
            self.fill_page(flow, lpa, mask);
        }
    }

    #[inline(never)]
    fn fill_page(&mut self, flow: FlowId, lpa: Lpa, mask: u64) {
        let lpa = self.cache.page_to_fill(flow, lpa);
        if !self.make_cache_room(flow, lpa) {
            return;
        }
        self.read_evicted(flow);
        if !self.cache.fill(flow, lpa, mask) {
            return;
        }
        // The request does not wait for the fill, but the memory is busy with it.
        let used = self.cache.access(self.context.now, &mut self.context.events, flow, None);
        self.watch_dram_use(&used, None);
    }

    /// Removes trimmed sectors from the cache and from write-backs that are not placed yet.
    pub(crate) fn trim_cached(&mut self, flow: FlowId, lpa: Lpa, mask: u64) {
        self.cache.trim(flow, lpa, mask, &mut self.context.transactions);
    }

    /// Sends all data that was acknowledged so far and that a loss of power would destroy to flash;
    /// the request waits for that.
    pub(crate) fn flush(&mut self, id: RequestId) {
        let flow = self.context.requests[id].flow;
        for lpa in self.cache.pages_to_flush(flow) {
            let write = self.write_back(flow, lpa, u64::MAX);
            self.translate(write);
        }
        if self.cache.flush(flow, id) {
            self.context.requests[id].pending += 1;
            self.send_open_rows(flow);
        }
    }

    /// A chain of a request that spent all its time in the cache.
    fn cache_chain(&self, id: RequestId) -> Chain {
        Chain { cache: (self.context.now - self.context.requests[id].begun).0, ..Chain::default() }
    }
}
