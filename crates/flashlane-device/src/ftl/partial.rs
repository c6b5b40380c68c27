//! Partial writes: the drive first reads the sectors of the page that a write does not bring.
//!
//! Such a write waits for the old data before it gets a place, and later writes to the same page
//! wait behind it. In the released MQSim it gets its place at once, and waits in its queue.

use flashlane_engine::{DenseMap, Lists};
use flashlane_units::{Lpa, Ppa, TransactionId};

use super::{Ftl, Outcome, Seen};
use crate::context::Context;
use crate::transaction::{Op, Place};

/// Partial writes that wait for old data.
#[derive(Clone, Default)]
pub(super) struct PartialWrites {
    /// Logical pages with a write that waits for old data.
    merging: DenseMap,
    /// Later writes to these pages, by logical page, oldest first.
    behind: Lists<TransactionId>,
    /// True if partial writes are placed and queued before the old data is read.
    in_queue: bool,
}

impl PartialWrites {
    /// No partial writes. `in_queue`: partial writes are placed and queued before the old data is
    /// read.
    pub(super) fn new(in_queue: bool) -> Self {
        Self { in_queue, ..Self::default() }
    }

    /// Number of pages whose old data is being read.
    pub(super) fn len(&self) -> usize {
        self.merging.len()
    }

    /// True if partial writes are placed and queued before the old data is read.
    #[inline]
    pub(super) fn in_queue(&self) -> bool {
        self.in_queue
    }
}

impl Ftl {
    /// Decides what a write needs: a place, or the old data first.
    pub(super) fn resolve_write(&mut self, ctx: &mut Context, id: TransactionId) {
        let now = ctx.now;
        let tr = &mut ctx.transactions[id];
        let waited = tr.lap(now);
        tr.chain.mapping += waited;
        let (lpa, mask, flow, source) = (tr.lpa, tr.mask(), tr.flow, tr.source);
        if self.partial.merging.get(lpa.get()).is_some() {
            tr.place = Place::MergeQueue;
            self.partial.behind.push_back(lpa.get(), id, &mut ctx.transactions);
            return;
        }
        let missing = self.missing(lpa, mask);
        if missing == 0 || self.partial.in_queue {
            self.place_write(ctx, id);
            return;
        }
        assert_eq!(missing & mask, 0, "only what the write does not bring is read");
        tr.place = Place::Merge;
        self.partial.merging.insert(lpa.get(), id.get());
        let read = self.new_transaction(ctx, source, Op::Read, flow, lpa);
        let tr = &mut ctx.transactions[read];
        tr.merging = true;
        tr.dependent = id;
        tr.set_part(missing, self.pages.sectors_in(missing));
        self.resolve_read(ctx, read);
    }

    /// Makes the read of those sectors of a page that a write does not bring; the write waits for
    /// it in its queue. `NONE` if there are no such sectors. The read holds the old block from now
    /// on.
    pub(super) fn old_part(&mut self, ctx: &mut Context, write: TransactionId) -> TransactionId {
        let tr = &mut ctx.transactions[write];
        let (lpa, mask, flow, source) = (tr.lpa, tr.mask(), tr.flow, tr.source);
        let missing = self.missing(lpa, mask);
        if missing == 0 {
            return TransactionId::NONE;
        }
        tr.blocked = true;
        let id = self.new_transaction(ctx, source, Op::Read, flow, lpa);
        let old = self.pages.ppa(lpa);
        assert!(old != Ppa::NONE, "sectors that are missing have a page");
        let block = self.blocks.block_of(old);
        self.blocks.block_mut(block).reads += 1;
        let tr = &mut ctx.transactions[id];
        tr.merging = true;
        tr.dependent = write;
        tr.set_part(missing, self.pages.sectors_in(missing));
        tr.ppa = old;
        tr.plane = self.blocks.plane_of_page(old);
        tr.holds_block = true;
        // The read counts as unclassified work, whatever the class of the flow.
        tr.class = 1;
        id
    }

    /// The old data of a partial write has arrived, so that the write can be placed.
    pub(crate) fn old_data_read(&mut self, ctx: &mut Context, id: TransactionId) {
        let read = ctx.transactions[id];
        ctx.transactions.remove(id);
        self.flows[read.flow].read_modify_writes += 1;
        let write = &mut ctx.transactions[read.dependent];
        let queued = write.blocked;
        self.tell(Seen::Merged { write: read.dependent, read: id, queued });
        if queued {
            write.blocked = false;
            self.outcomes.push(Outcome::Unblocked { transaction: read.dependent });
            return;
        }
        assert_eq!(write.place, Place::Merge, "the write waits for this read");
        write.merged_sectors = read.sectors() as u8;
        write.chain.add(&read.chain);
        write.mark = ctx.now;
        self.partial.merging.remove(read.lpa.get());
        self.place_write(ctx, read.dependent);
        self.writes_behind(ctx, read.lpa);
    }

    /// The writes that waited behind a partial write try again, oldest first.
    fn writes_behind(&mut self, ctx: &mut Context, lpa: Lpa) {
        while self.partial.merging.get(lpa.get()).is_none() {
            let id = self.partial.behind.pop_front(lpa.get(), &mut ctx.transactions);
            if id == TransactionId::NONE {
                return;
            }
            let since = ctx.transactions[id].mark.0;
            self.tell(Seen::WaitedForWrite { transaction: id, since });
            self.resolve_write(ctx, id);
        }
    }
}
