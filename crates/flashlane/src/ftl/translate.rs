//! From logical to physical: reads find their page, writes get one.

use flashlane_engine::NONE;

use super::blocks::Stream;
use crate::cause::Cause;
use crate::device::Device;
use crate::request::Chain;
use crate::transaction::{Op, Place, Source, Transaction};

/// One page of a request: logical page and the sectors of it.
pub(crate) struct PagePart {
    pub(crate) lpa: u32,
    pub(crate) mask: u64,
}

/// The pages of a request, one after the other.
pub(crate) struct PageParts {
    lpa: u32,
    /// First sector in the next page.
    start: u32,
    /// Sectors from there on.
    left: u32,
}

impl PageParts {
    /// The next page of so many sectors; `None` after the last one.
    #[inline(always)]
    pub(crate) fn next(&mut self, page_sectors: u32) -> Option<PagePart> {
        if self.left == 0 {
            return None;
        }
        let count = self.left.min(page_sectors - self.start);
        let mask = (u64::MAX >> (u64::BITS - count)) << self.start;
        let part = PagePart { lpa: self.lpa, mask };
        self.lpa += 1;
        self.start = 0;
        self.left -= count;
        Some(part)
    }
}

impl Device {
    /// The pages that so many sectors of a flow touch.
    #[inline(always)]
    pub(crate) fn page_parts(&self, flow: u16, sector: u64, sectors: u32) -> PageParts {
        let page = self.page_sectors.divide_long(sector);
        let start = (sector - page * u64::from(self.page_sectors.get())) as u32;
        let first = self.layout.flows[flow as usize].first_lpa;
        PageParts { lpa: (first + page) as u32, start, left: sectors }
    }

    /// Number of pages that a request touches.
    #[inline]
    pub(crate) fn page_count(&self, id: u32) -> u32 {
        let request = &self.requests[id];
        if request.sectors == 0 {
            return 0;
        }
        let page_of = |sector: u64| self.page_sectors.divide_long(sector);
        let last = request.sector + u64::from(request.sectors) - 1;
        (page_of(last) - page_of(request.sector) + 1) as u32
    }

    /// The `index`th page of a request.
    #[inline]
    pub(crate) fn page_part(&self, id: u32, index: u32) -> PagePart {
        let request = &self.requests[id];
        let page = self.page_sectors.divide_long(request.sector) + u64::from(index);
        let first_of_page = page * u64::from(self.page_sectors.get());
        let next_page = first_of_page + u64::from(self.page_sectors.get());
        let start = request.sector.max(first_of_page) - first_of_page;
        let end = (request.sector + u64::from(request.sectors)).min(next_page) - first_of_page;
        let count = end - start;
        let ones = if count == 64 { u64::MAX } else { (1 << count) - 1 };
        let first = self.layout.flows[request.flow as usize].first_lpa;
        PagePart { lpa: (first + page) as u32, mask: ones << start }
    }

    /// A new transaction on a page of a flow's space.
    #[inline(always)]
    pub(crate) fn new_transaction(&mut self, source: Source, op: Op, flow: u16, lpa: u32) -> u32 {
        let class = self.ftl.classes[flow as usize];
        let mut tr = Transaction::new(source, op, flow, class, self.now);
        tr.lpa = lpa;
        self.transactions.insert(tr)
    }

    /// Translation is known: the transaction goes on.
    pub(super) fn translated(&mut self, id: u32) {
        match self.transactions[id].op {
            Op::Read => self.resolve_read(id),
            _ => self.resolve_write(id),
        }
    }

    /// Finds the physical page of a read.
    #[inline]
    fn resolve_read(&mut self, id: u32) {
        let tr = &self.transactions[id];
        let lpa = tr.lpa;
        let ppa = self.ftl.pages.ppa(lpa);
        let (flow, mask) = (tr.flow, tr.mask());
        let mut written = if ppa == NONE { 0 } else { self.ftl.pages.mask(lpa) & mask };
        if written != mask && ppa != NONE && self.ftl.unwritten_reads_allocate {
            // The sectors that nobody wrote count as there from now on.
            let plane = self.ftl.blocks.plane_of(self.ftl.blocks.block_of(ppa));
            if self.allocate_for_read(flow, lpa, plane, mask) {
                written = mask;
            }
        }
        if written != 0 {
            let plane = self.ftl.blocks.plane_of(self.ftl.blocks.block_of(ppa));
            let tr = &mut self.transactions[id];
            tr.ppa = ppa;
            tr.plane = plane;
            if written != mask {
                tr.set_mask(written);
            }
            if let Some(sets) = &mut self.ftl.sets
                && !tr.merging
            {
                let blocks = &self.ftl.blocks;
                sets.host_read(flow, blocks.block_of(ppa), blocks, self.now);
            }
            self.read_physical(id);
        } else if self.ftl.unwritten_reads_flash {
            let now = self.now;
            let (plane, page) = self.ftl.allocator.home(flow, lpa);
            if self.ftl.unwritten_reads_allocate && self.allocate_for_read(flow, lpa, plane, mask) {
                self.resolve_read(id);
                return;
            }
            let tr = &mut self.transactions[id];
            tr.plane = plane;
            tr.ppa = page;
            let waited = tr.lap(now);
            tr.chain.mapping += waited;
            tr.place = Place::Queue;
            self.enlist(id);
        } else {
            self.fill_with_zeros(id);
        }
    }

    /// A read of what nobody wrote is over as soon as that is known.
    fn fill_with_zeros(&mut self, id: u32) {
        self.ftl.zero_fill_reads += 1;
        let now = self.now;
        let tr = &mut self.transactions[id];
        let waited = tr.lap(now);
        tr.chain.mapping += waited;
        assert!(!tr.merging, "merge reads are of written pages");
        let (request, chain) = (tr.request, tr.chain);
        self.user_read_over(id, request, &chain);
    }

    /// Gives a never-written page, or more sectors of one, a place without a program, as the released
    /// MQSim does; false where the plane has no room.
    fn allocate_for_read(&mut self, flow: u16, lpa: u32, plane: u32, mask: u64) -> bool {
        if self.ftl.pages.ppa(lpa) != NONE {
            let held = self.ftl.pages.mask(lpa);
            self.ftl.pages.set_mask(lpa, held | mask);
            return true;
        }
        let Some(ppa) = self.ftl.blocks.allocate(plane, flow, Stream::Host, false) else {
            return false;
        };
        self.ftl.blocks.written_at_once(ppa);
        self.bind_page(lpa, ppa, mask);
        self.pool_changed(plane);
        self.mapping_changed(flow, lpa);
        true
    }

    /// Read data of a host page, or of the old part of a partial write, is in the controller.
    #[inline(always)]
    pub(super) fn user_read_done(&mut self, id: u32) {
        let tr = &mut self.transactions[id];
        self.recorder.transaction_done(tr);
        let held = std::mem::take(&mut tr.holds_block);
        let (merging, request, chain) = (tr.merging, tr.request, tr.chain);
        let (flow, lpa, ppa, mask) = (tr.flow, tr.lpa, tr.ppa, tr.mask());
        if held {
            self.leave_block(ppa);
        }
        if merging {
            self.merge_read_over(id);
        } else {
            self.fill_cache(flow, lpa, mask);
            self.user_read_over(id, request, &chain);
        }
    }

    /// A read transaction ends; its request goes on.
    #[inline(always)]
    fn user_read_over(&mut self, id: u32, request: u32, chain: &Chain) {
        if self.observer.is_some() {
            self.observe_part(id);
        }
        self.transactions.remove(id);
        self.end_part(request, chain);
    }

    /// Old data of a partial write is here: the write can be placed.
    fn merge_read_over(&mut self, id: u32) {
        let now = self.now;
        let read = self.transactions[id];
        self.transactions.remove(id);
        let write = &mut self.transactions[read.dependent];
        if self.observer.is_some() {
            let blocked = write.blocked;
            self.observe_merged(read.dependent, id, blocked);
        }
        let write = &mut self.transactions[read.dependent];
        if write.blocked {
            self.unblock(read.dependent);
            return;
        }
        write.merged_sectors = read.sectors() as u8;
        write.chain.add(&read.chain);
        write.mark = now;
        self.ftl.merging.remove(read.lpa);
        self.place_write(read.dependent);
        self.merge_queue_moves(read.lpa);
    }

    /// Writes that waited behind a partial write look again, oldest first.
    fn merge_queue_moves(&mut self, lpa: u32) {
        while self.ftl.merging.get(lpa).is_none() {
            let id = self.ftl.merge_queue.pop_front(lpa, &mut self.transactions);
            if id == NONE {
                return;
            }
            if self.observer.is_some() {
                self.observe_same_page(id);
            }
            self.resolve_write(id);
        }
    }

    /// Decides what a write needs: a place, or the old data first.
    pub(super) fn resolve_write(&mut self, id: u32) {
        let now = self.now;
        let tr = &mut self.transactions[id];
        let waited = tr.lap(now);
        tr.chain.mapping += waited;
        let (lpa, mask, flow, source) = (tr.lpa, tr.mask(), tr.flow, tr.source);
        if self.ftl.merging.get(lpa).is_some() {
            self.transactions[id].place = Place::MergeQueue;
            self.ftl.merge_queue.push_back(lpa, id, &mut self.transactions);
            return;
        }
        let old = self.ftl.pages.ppa(lpa);
        let missing = if old == NONE { 0 } else { self.ftl.pages.mask(lpa) & !mask };
        if missing == 0 || self.ftl.merge_in_queue {
            self.place_write(id);
            return;
        }
        self.transactions[id].place = Place::Merge;
        self.ftl.merging.insert(lpa, id);
        let read = self.new_transaction(source, Op::Read, flow, lpa);
        let tr = &mut self.transactions[read];
        tr.merging = true;
        tr.dependent = id;
        tr.set_mask(missing);
        self.resolve_read(read);
    }

    /// A page of a block has become invalid, outside of any collection. Where collection is free and the plane of the
    /// page waits for a block to collect, this block may be one by now.
    fn pack_again(&mut self, ppa: u32) {
        let plane = self.ftl.blocks.plane_of(self.ftl.blocks.block_of(ppa));
        if self.ftl.collection_is_free && self.ftl.blocks.planes[plane as usize].gc_wanted {
            self.collect_again(plane);
        }
    }

    /// Gives a write its page and sends it to the scheduler, or parks it until a block is free.
    pub(super) fn place_write(&mut self, id: u32) {
        if let Err(plane) = self.try_place(id) {
            self.transactions[id].place = Place::FreeBlock;
            self.transactions[id].plane = plane;
            self.ftl.blocks.planes[plane as usize].parked.push_back(id, &mut self.transactions);
            self.pool_changed(plane);
            self.owe_collection(plane);
            self.collect_again(plane);
        }
    }

    /// Allocates a page for a host, cache or translation write; `Err` with the plane that has no
    /// room.
    fn try_place(&mut self, id: u32) -> Result<(), u32> {
        let now = self.now;
        let (flow, lpa, mask, source) = {
            let tr = &self.transactions[id];
            (tr.flow, tr.lpa, tr.mask(), tr.source)
        };
        let (plane, stream) = if source == Source::Mapping {
            let table = self.ftl.mapping.as_ref().expect("translation pages exist");
            let index = table.index_in_flow(flow, lpa);
            (self.ftl.allocator.translation_plane(flow, index), Stream::Mapping)
        } else {
            let old = self.ftl.pages.ppa(lpa);
            let plane = match &mut self.ftl.sets {
                Some(sets) => {
                    let blocks = &self.ftl.blocks;
                    let old =
                        if old == NONE { NONE } else { blocks.plane_of(blocks.block_of(old)) };
                    sets.plane_of_write(flow, old, blocks)
                }
                None => self.ftl.allocator.plane(flow, lpa, old, &self.ftl.blocks),
            };
            (plane, Stream::Host)
        };
        let hybrid = self.ftl.hybrid.is_some();
        let ppa = if hybrid {
            // Nobody overtakes a write that waits for a merge: streams stay in order.
            let first = self.transactions[id].place != Place::FreeBlock;
            if first && !self.ftl.blocks.planes[plane as usize].parked.is_empty() {
                return Err(plane);
            }
            self.place_in_log(plane, flow, lpa)
        } else {
            self.ftl.blocks.allocate(plane, flow, stream, false)
        };
        let ppa = ppa.ok_or(plane)?;
        let tr = &mut self.transactions[id];
        let waited = tr.lap(now);
        tr.chain.mapping += waited;
        tr.ppa = ppa;
        tr.plane = plane;
        tr.place = Place::Queue;
        if waited > 0 && self.observer.is_some() {
            self.observe_die_wait(id, now.0 - waited, Cause::FreeBlock);
        }
        let old = if source == Source::Mapping { NONE } else { self.ftl.pages.ppa(lpa) };
        let mut merge = NONE;
        if source == Source::Mapping {
            self.bind_translation_page(lpa, ppa);
            self.write_back_placed(lpa);
        } else {
            if self.ftl.merge_in_queue {
                merge = self.old_part(id);
            }
            self.bind_page(lpa, ppa, mask);
            if let Some(sets) = &mut self.ftl.sets {
                sets.host_write(flow, &self.ftl.blocks, now);
            }
        }
        if hybrid {
            self.placed_in_log(plane, flow);
        }
        self.ftl.blocks.planes[plane as usize].programs += 1;
        self.enlist(id);
        if merge != NONE {
            self.read_physical(merge);
        }
        self.pool_changed(plane);
        self.collect(plane);
        if source != Source::Mapping {
            self.mapping_changed(flow, lpa);
        }
        if self.ftl.collection_is_free {
            if old != NONE {
                self.pack_again(old);
            }
            self.unpark(plane);
        }
        Ok(())
    }

    /// The read of the sectors of a page that a write does not bring, for which the write waits in its
    /// queue; `NONE` if there are none. It holds the old block from now on.
    fn old_part(&mut self, write: u32) -> u32 {
        let tr = &self.transactions[write];
        let (lpa, mask, flow, source) = (tr.lpa, tr.mask(), tr.flow, tr.source);
        let old = self.ftl.pages.ppa(lpa);
        let missing = if old == NONE { 0 } else { self.ftl.pages.mask(lpa) & !mask };
        if missing == 0 {
            return NONE;
        }
        self.transactions[write].blocked = true;
        let id = self.new_transaction(source, Op::Read, flow, lpa);
        let block = self.ftl.blocks.block_of(old);
        self.ftl.blocks.block_mut(block).reads += 1;
        let tr = &mut self.transactions[id];
        tr.merging = true;
        tr.dependent = write;
        tr.set_mask(missing);
        tr.ppa = old;
        tr.plane = self.ftl.blocks.plane_of(block);
        tr.holds_block = true;
        // As unclassified work, whatever the flow.
        tr.class = 1;
        id
    }

    /// Points a logical page at its new place and adds to the sectors that it holds.
    fn bind_page(&mut self, lpa: u32, ppa: u32, mask: u64) {
        let old = self.ftl.pages.ppa(lpa);
        let mut held = mask;
        if old != NONE {
            held |= self.ftl.pages.mask(lpa);
            self.invalidate(old);
        }
        if held == 0 {
            // Trimmed while it waited.
            self.invalidate(ppa);
            return;
        }
        self.ftl.pages.place(lpa, ppa);
        self.ftl.pages.set_mask(lpa, held);
    }

    /// A physical page holds nothing valid any more.
    pub(super) fn invalidate(&mut self, ppa: u32) {
        self.ftl.pages.set_lpa(ppa, NONE);
        let block = self.ftl.blocks.block_of(ppa);
        self.ftl.blocks.invalidate(block);
        let plane = self.ftl.blocks.plane_of(block);
        if self.ftl.blocks.planes[plane as usize].gc_wanted && !self.ftl.collection_is_free {
            self.collect(plane);
        }
    }

    /// Writes that wait for a free block of the plane try again, oldest first.
    pub(super) fn unpark(&mut self, plane: u32) {
        let at = plane as usize;
        // Free collection gains blocks while a write is placed, which has the others tried already.
        if std::mem::replace(&mut self.ftl.blocks.planes[at].unparking, true) {
            return;
        }
        self.unpark_all(plane);
        self.ftl.blocks.planes[at].unparking = false;
    }

    fn unpark_all(&mut self, plane: u32) {
        loop {
            let parked = &mut self.ftl.blocks.planes[plane as usize].parked;
            let id = parked.pop_front(&mut self.transactions);
            if id == NONE {
                return;
            }
            if let Err(other) = self.try_place(id) {
                self.transactions[id].plane = other;
                let parked = &mut self.ftl.blocks.planes[other as usize].parked;
                if other == plane {
                    parked.push_front(id, &mut self.transactions);
                    return;
                }
                // Dynamic allocation: this plane holds all that it may, another one must make room.
                parked.push_back(id, &mut self.transactions);
                self.owe_collection(other);
                self.collect(other);
            }
        }
    }

    /// A host page, or one from the cache, is on flash.
    pub(super) fn user_program_done(&mut self, id: u32) {
        if !self.ftl.in_place {
            self.page_programmed(id);
        }
        if self.observer.is_some() {
            self.observe_program(id);
        }
        let tr = self.transactions[id];
        self.recorder.transaction_done(&tr);
        self.recorder.flows[tr.flow as usize].work.host_programs += 1;
        self.transactions.remove(id);
        if tr.source == Source::Cache {
            self.write_back_done(&tr);
        } else {
            self.part_done(tr.request, &tr.chain);
        }
    }

    /// Trims every page of a request: whole pages are forgotten, parts lose their sectors.
    pub(crate) fn trim_pages(&mut self, id: u32) {
        let flow = self.requests[id].flow;
        for index in 0..self.page_count(id) {
            let part = self.page_part(id, index);
            self.trim_cached(flow, part.lpa, part.mask);
            if self.ftl.in_place {
                continue;
            }
            let ppa = self.ftl.pages.ppa(part.lpa);
            if ppa == NONE {
                continue;
            }
            let left = self.ftl.pages.mask(part.lpa) & !part.mask;
            if left == 0 {
                self.ftl.pages.forget(part.lpa);
                self.invalidate(ppa);
                self.pack_again(ppa);
            } else {
                self.ftl.pages.set_mask(part.lpa, left);
            }
            self.mapping_changed(flow, part.lpa);
        }
    }

    /// Sends one page of a host write to flash, past the cache.
    pub(crate) fn write_through(&mut self, id: u32, part: &PagePart) {
        let flow = self.requests[id].flow;
        let tr = self.new_transaction(Source::User, Op::Program, flow, part.lpa);
        self.transactions[tr].set_mask(part.mask);
        self.transactions[tr].request = id;
        self.requests[id].pending += 1;
        self.translate(tr);
    }

    /// Reads one page, or the part of it that the cache does not have, from flash.
    #[inline(always)]
    pub(crate) fn read_flash(&mut self, id: u32, flow: u16, part: &PagePart) {
        let class = self.ftl.classes[flow as usize];
        let mut tr = Transaction::new(Source::User, Op::Read, flow, class, self.now);
        tr.lpa = part.lpa;
        tr.set_mask(part.mask);
        tr.request = id;
        let tr = self.transactions.insert(tr);
        self.requests[id].pending += 1;
        if self.knows_mapping(tr, flow) {
            self.resolve_read(tr);
        }
    }

    /// A chain that spent all its time in the cache.
    pub(crate) fn cache_chain(&self, id: u32) -> Chain {
        Chain { cache: (self.now - self.requests[id].begun).0, ..Chain::default() }
    }
}
