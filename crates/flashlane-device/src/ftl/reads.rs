//! Reads of pages: they find the physical page, and wait until it is programmed.

use flashlane_engine::Linked;
use flashlane_units::{BlockId, FlowId, Lpa, PlaneId, Ppa, TransactionId};

use super::blocks::{BlockState, Stream};
use super::{Ftl, Outcome, Seen};
use crate::context::Context;
use crate::transaction::Place;

impl Ftl {
    /// A read of a host page that has a place in the tables. True if it is ready for its die.
    #[inline(always)]
    pub(super) fn read_mapped(
        &mut self,
        ctx: &mut Context,
        id: TransactionId,
        flow: FlowId,
    ) -> bool {
        self.begin_lookup(ctx, id, flow)
            && self.find_page(ctx, id)
            && !(self.packs_units() && self.ride(ctx, id))
    }

    /// Finds the physical page of a read.
    pub(super) fn resolve_read(&mut self, ctx: &mut Context, id: TransactionId) {
        if self.find_page(ctx, id) {
            self.ready(id);
        }
    }

    /// Finds the physical page of a read. True if the transaction is ready for its die.
    #[inline(always)]
    fn find_page(&mut self, ctx: &mut Context, id: TransactionId) -> bool {
        let tr = &ctx.transactions[id];
        let lpa = tr.lpa;
        let ppa = self.pages.ppa(lpa);
        let (flow, mask) = (tr.flow, tr.mask());
        let mut written = if ppa == Ppa::NONE { 0 } else { self.pages.mask(lpa) & mask };
        if ppa != Ppa::NONE && self.unwritten_reads_allocate {
            // Sectors that were never written are read as well.
            written = mask;
        }
        if written == 0 {
            return self.find_unwritten(ctx, id);
        }
        let plane = self.blocks.plane_of_page(ppa);
        let tr = &mut ctx.transactions[id];
        tr.ppa = ppa;
        tr.plane = plane;
        if written != mask {
            tr.set_part(written, self.pages.sectors_in(written));
        }
        if let Some(sets) = &mut self.sets
            && !tr.merging
        {
            let blocks = &self.blocks;
            sets.host_read(flow, blocks.block_of(ppa), blocks, ctx.now);
        }
        if self.slc_cache.is_some() && !ctx.transactions[id].merging {
            self.count_slc_read(ppa);
        }
        if self.units.is_some() && self.read_from_memory(ctx, id) {
            return false;
        }
        if self.scrubbing.is_some() {
            // From here on the read holds its block, so that no migration leads to an erase under
            // it.
            let ready = self.hold_page(ctx, id);
            self.count_read(ctx, ppa);
            return ready;
        }
        self.hold_page(ctx, id)
    }

    /// Finds the physical page of a read whose page has just got a place.
    fn find_again(&mut self, ctx: &mut Context, id: TransactionId) -> bool {
        self.find_page(ctx, id)
    }

    /// A read of sectors that were never written. True if the read is ready for its die, as if
    /// there were a page.
    #[inline(always)]
    fn find_unwritten(&mut self, ctx: &mut Context, id: TransactionId) -> bool {
        if !self.unwritten_reads_flash {
            self.fill_with_zeros(ctx, id);
            return false;
        }
        let now = ctx.now;
        let tr = &mut ctx.transactions[id];
        let (flow, lpa, mask) = (tr.flow, tr.lpa, tr.mask());
        let (plane, page) = self.allocator.home(flow, lpa);
        if self.unwritten_reads_allocate && self.allocate_for_read(ctx, flow, lpa, plane, mask) {
            return self.find_again(ctx, id);
        }
        let page = self.blocks.home_page(page);
        let tr = &mut ctx.transactions[id];
        tr.plane = self.blocks.plane_in_pool(plane, page);
        tr.ppa = page;
        let waited = tr.lap(now);
        tr.chain.mapping += waited;
        tr.place = Place::Queue;
        true
    }

    /// Ends a read of sectors that were never written, in no time.
    fn fill_with_zeros(&mut self, ctx: &mut Context, id: TransactionId) {
        self.zero_fill_reads += 1;
        let tr = &mut ctx.transactions[id];
        let waited = tr.lap(ctx.now);
        tr.chain.mapping += waited;
        assert!(!tr.merging, "merge reads are of written pages");
        self.outcomes.push(Outcome::Unwritten { transaction: id });
    }

    /// Gives a never-written page a place without a program, as the released MQSim does; false
    /// where the plane has no room.
    fn allocate_for_read(
        &mut self,
        ctx: &mut Context,
        flow: FlowId,
        lpa: Lpa,
        plane: PlaneId,
        mask: u64,
    ) -> bool {
        let Some(ppa) = self.blocks.allocate(plane, flow, Stream::HOST, false) else {
            return false;
        };
        self.blocks.written_at_once(ppa);
        self.bind_page(ctx, lpa, ppa, mask);
        self.pool_changed(plane);
        self.press(ctx, plane);
        self.mapping_changed(ctx, flow, lpa);
        self.collect(ctx, plane);
        true
    }

    /// Wakes the reads that waited for the program of a page, oldest first.
    pub(super) fn wake_readers(&mut self, ctx: &mut Context, ppa: Ppa) {
        let mut id = self.unprogrammed.take(ppa.get());
        while id != TransactionId::NONE {
            let tr = &ctx.transactions[id];
            let (next, since) = (tr.next(), tr.mark.0);
            self.tell(Seen::WaitedForProgram { transaction: id, since });
            self.read_physical(ctx, id);
            id = next;
        }
    }

    /// A read holds its block, so that the block is not erased under it, and is ready as soon as
    /// its page is programmed.
    pub(super) fn read_physical(&mut self, ctx: &mut Context, id: TransactionId) {
        if self.hold_page(ctx, id) {
            self.ready(id);
        }
    }

    /// A read holds its block, as in [`read_physical`](Self::read_physical). True if the
    /// transaction is ready for its die now.
    #[inline(always)]
    fn hold_page(&mut self, ctx: &mut Context, id: TransactionId) -> bool {
        let now = ctx.now;
        let ordered = self.ordered;
        let blocks = &mut self.blocks;
        let tr = &mut ctx.transactions[id];
        if !tr.holds_block {
            tr.holds_block = true;
            blocks.block_mut(blocks.block_of(tr.ppa)).reads += 1;
        }
        if ordered && !blocks.is_programmed(tr.ppa) {
            tr.place = Place::Unprogrammed;
            let ppa = tr.ppa;
            self.unprogrammed.push_back(ppa.get(), id, &mut ctx.transactions);
            return false;
        }
        let waited = tr.lap(now);
        tr.chain.mapping += waited;
        tr.place = Place::Queue;
        true
    }

    /// A read releases its block. A collected block may have waited for this release.
    #[inline]
    pub(super) fn release_block(&mut self, ctx: &mut Context, id: TransactionId) {
        let tr = &mut ctx.transactions[id];
        if std::mem::take(&mut tr.holds_block) {
            let ppa = tr.ppa;
            self.leave_block(ctx, ppa);
        }
    }

    /// A read releases the block of a page.
    #[inline(always)]
    pub(crate) fn leave_block(&mut self, ctx: &mut Context, ppa: Ppa) {
        let block_id = self.blocks.block_of(ppa);
        let block = self.blocks.block_mut(block_id);
        block.reads -= 1;
        if block.reads == 0 && (block.state == BlockState::Collected || self.layer.frees_at_once())
        {
            self.last_read_left(ctx, block_id);
        }
    }

    /// The last read of a block is over. The block may now be erased, or collected.
    fn last_read_left(&mut self, ctx: &mut Context, block_id: BlockId) {
        if self.blocks.block(block_id).state == BlockState::Collected {
            self.erase_if_empty(ctx, block_id);
            return;
        }
        let plane = self.blocks.plane_of(block_id);
        if self.blocks.planes[plane].gc_wanted {
            self.collect_again(ctx, plane);
        }
    }
}
