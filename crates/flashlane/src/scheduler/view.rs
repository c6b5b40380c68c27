//! What a scheduling policy sees of the rest of the device.

use flashlane_engine::Time;
use flashlane_units::{DieId, PlaneId, TransactionId};

use crate::flash::Flash;
use crate::ftl::view::FlashView;
use crate::transaction::{Op, Transaction, Transactions};

/// What holds for a whole run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Programs of a block leave in the order of its pages.
    pub(crate) ordered: bool,
    /// User work may go before collection as long as there are blocks.
    pub(crate) preemptible: bool,
    pub(crate) planes_per_die: u32,
}

/// What a policy may see and touch when it decides.
pub(crate) struct View<'a> {
    pub(crate) now: Time,
    pub(crate) transactions: &'a mut Transactions,
    /// Pages and blocks.
    pub(crate) ftl: FlashView<'a>,
    pub(crate) flash: &'a Flash,
    /// Some plane of the chip is short of free blocks, or collection may not be preempted.
    pub(crate) urgent: bool,
    /// Host writes lead no command, and are no starving ones: collection is before its erase.
    pub(crate) hold_writes: bool,
    pub(crate) rules: &'a Rules,
    /// The command being formed: one transaction per plane.
    pub(crate) batch: &'a mut Vec<TransactionId>,
    /// Migrations that a host write made pointless; taken from their queue.
    pub(crate) cancelled: &'a mut Vec<TransactionId>,
}

impl View<'_> {
    /// Bytes of a page.
    pub(crate) fn page_bytes(&self) -> u64 {
        self.ftl.page_bytes()
    }

    /// Command, transfer and array time of a transaction. Unit: picoseconds.
    pub(crate) fn cost(&self, tr: &Transaction) -> u64 {
        let timing = self.flash.timing();
        let page = if tr.op == Op::Erase { 0 } else { self.ftl.page_in_block(tr.ppa) };
        let sectors = tr.sectors();
        let data = if tr.op == Op::Erase { 0 } else { timing.data(sectors) };
        timing.command(tr.op, 1) + data + timing.array(tr.op, page, sectors)
    }

    /// Time of one migration: two transfers, a read and a program of a page. Unit: picoseconds.
    pub(crate) fn migration_time(&self) -> u64 {
        self.page_time(Op::Read) + self.migration_write_time()
    }

    /// Time of the second half of a migration. Unit: picoseconds.
    pub(crate) fn migration_write_time(&self) -> u64 {
        self.page_time(Op::Program)
    }

    fn page_time(&self, op: Op) -> u64 {
        let timing = self.flash.timing();
        let sectors = self.ftl.page_sectors();
        timing.command(op, 1) + timing.data(sectors) + timing.array(op, 0, sectors)
    }

    /// Time of an erase. Unit: picoseconds.
    pub(crate) fn erase_time(&self) -> u64 {
        self.flash.timing().command(Op::Erase, 1) + self.flash.timing().array(Op::Erase, 0, 0)
    }

    /// What is left of the operation that a die runs. Unit: picoseconds.
    pub(crate) fn busy(&self, die: DieId) -> u64 {
        self.flash.busy(die, self.now)
    }

    /// What is left until a die has served all that it has begun: operation, transfer of read data,
    /// what it suspended. Unit: picoseconds. Waiting for the channel is not foreseen; pages on it
    /// count whole.
    pub(crate) fn service_left(&self, die: DieId) -> u64 {
        self.flash.service_left(die, self.now, self.transactions)
    }

    fn planes(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let planes = self.rules.planes_per_die;
        (die.get() * planes..(die.get() + 1) * planes).map(PlaneId::new)
    }

    /// Collection is all that gives the die room for host writes, or may not wait.
    pub(crate) fn must_collect(&self, die: DieId) -> bool {
        !self.rules.preemptible || self.planes(die).any(|plane| self.ftl.is_out_of_room(plane))
    }

    /// Blocks of the die in collection, up to their erase.
    pub(crate) fn jobs(&self, die: DieId) -> u32 {
        self.planes(die).map(|plane| self.ftl.jobs(plane)).sum()
    }

    /// Free pages of a plane, without those of open blocks.
    pub(crate) fn free_pages(&self, plane: PlaneId) -> u64 {
        self.ftl.free_pages(plane)
    }

    /// A queued migration of a page that is no longer valid.
    #[inline]
    pub(super) fn is_stale(&self, id: TransactionId) -> bool {
        self.ftl.is_stale(&self.transactions[id])
    }

    /// A write of a page that collection moves from one die to another.
    pub(crate) fn is_relocated(&self, tr: &Transaction) -> bool {
        self.ftl.is_relocated(tr)
    }

    /// Nothing keeps the transaction in its queue: a program has its old data, and its page is the
    /// next one of its block, or order does not matter.
    #[inline]
    pub(crate) fn is_ready(&self, tr: &Transaction) -> bool {
        is_ready(tr, self.rules.ordered, self.ftl)
    }

    /// `id` may join the command being formed.
    #[inline]
    pub(crate) fn joins(&self, id: TransactionId) -> bool {
        let tr = &self.transactions[id];
        // The plane decides most cases and costs least.
        self.batch.iter().all(|&taken| self.transactions[taken].plane != tr.plane) && {
            let leader = &self.transactions[self.batch[0]];
            tr.op == leader.op
                && (tr.op == Op::Erase
                    || self.ftl.page_in_block(tr.ppa) == self.ftl.page_in_block(leader.ppa))
                && self.is_ready(tr)
        }
    }
}

/// Nothing keeps a transaction in its queue, where programs leave in order or not.
#[inline]
pub(super) fn is_ready(tr: &Transaction, ordered: bool, ftl: FlashView<'_>) -> bool {
    if tr.op != Op::Program {
        return true;
    }
    if tr.blocked || !ordered {
        return !tr.blocked;
    }
    ftl.is_next(tr.ppa)
}
