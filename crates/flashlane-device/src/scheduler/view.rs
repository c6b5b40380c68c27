//! The view of the rest of the device that a scheduling policy has.

use crate::flash::timing::Cells;
use flashlane_engine::Time;
use flashlane_units::{DieId, PlaneId, TransactionId};

use crate::flash::Flash;
use crate::ftl::view::FlashView;
use crate::transaction::{Op, Transaction, Transactions};

/// Rules that hold for a whole run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Programs of a block leave in the order of its pages.
    pub(crate) ordered: bool,
    /// True if user work may go before collection as long as there are blocks.
    pub(crate) preemptible: bool,
    pub(crate) planes_per_die: u32,
    /// True if each plane reads by itself, so that a command reads a page of one plane.
    pub(crate) reads_by_plane: bool,
    /// What the die that is asked does meanwhile.
    pub(crate) beside: Beside,
}

/// What a die does while it is asked for its next command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beside {
    /// True if planes of the die read, so that it takes only reads.
    pub(crate) reads: bool,
    /// Planes of the die that take no read, one bit each.
    pub(crate) closed: u32,
}

/// The parts of the device that a policy may see and touch when it decides.
pub struct View<'a> {
    pub(crate) now: Time,
    pub(crate) transactions: &'a mut Transactions,
    /// Pages and blocks.
    pub(crate) ftl: FlashView<'a>,
    pub(crate) flash: &'a Flash,
    /// True if some plane of the chip is short of free blocks, or collection may not be preempted.
    pub(crate) urgent: bool,
    /// True if host writes may not lead a command and never count as starving: the erase of a
    /// collection comes first.
    pub(crate) hold_writes: bool,
    pub(crate) rules: &'a Rules,
    /// The command being formed: one transaction per plane.
    pub(crate) batch: &'a mut Vec<TransactionId>,
    /// Migrations that a host write made pointless; taken from their queue.
    pub(crate) cancelled: &'a mut Vec<TransactionId>,
}

/// Functions that policies from outside need beside those that all policies use.
impl View<'_> {
    /// The time of the drive.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// A transaction that waits.
    ///
    /// # Panics
    /// If it is over.
    #[inline]
    #[must_use]
    pub fn transaction(&self, id: TransactionId) -> &Transaction {
        &self.transactions[id]
    }

    /// True if collection goes first: a plane of the chip is short of free blocks, or collection
    /// may not be preempted. Valid for a die that is asked for its next command, and not for
    /// arrivals.
    #[inline]
    #[must_use]
    pub fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// True if writes of hosts have to wait for an erase of collection, which comes next on the
    /// chip; they lead no command. A switch to the released MQSim's arithmetic.
    #[inline]
    #[must_use]
    pub fn holds_writes(&self) -> bool {
        self.hold_writes
    }

    /// Planes of a die: the most transactions of a command.
    #[inline]
    #[must_use]
    pub fn planes_per_die(&self) -> u32 {
        self.rules.planes_per_die
    }

    /// Place of a transaction's page in its block; 0 for an erase.
    #[must_use]
    pub fn page_in_block(&self, tr: &Transaction) -> u32 {
        if tr.op == Op::Erase { 0 } else { self.ftl.page_in_block(tr.ppa) }
    }

    /// The command that is being formed.
    #[inline]
    #[must_use]
    pub fn command(&self) -> &[TransactionId] {
        self.batch
    }

    /// Adds a waiting transaction of the die to the command, as its first one or for another plane.
    /// False if it cannot go, or not with the others: then nothing changes. The policy must remove
    /// an added transaction from its queue.
    #[inline]
    pub fn add(&mut self, id: TransactionId) -> bool {
        let goes = match self.batch.len() as u32 {
            0 => self.is_ready(&self.transactions[id]),
            pages => pages < self.rules.planes_per_die && self.joins(id),
        };
        let added = goes && !self.is_stale(id);
        if added {
            self.batch.push(id);
        }
        added
    }

    /// Drops the move of a page that is no longer valid. False, and nothing changes, if the page
    /// still has to be moved. The policy must remove a dropped transaction from its queue.
    #[inline]
    pub fn drop_stale(&mut self, id: TransactionId) -> bool {
        let stale = self.is_stale(id);
        if stale {
            self.cancelled.push(id);
        }
        stale
    }

    /// Forms a command from transactions that wait for the die, in order of preference. The first
    /// that can go leads, and others join it on other planes. Transactions that go, and moves that
    /// have become pointless, are removed from the list. False if none can go.
    pub fn form(&mut self, waiting: &mut Vec<TransactionId>) -> bool {
        let planes = self.rules.planes_per_die;
        waiting.retain(|&id| {
            let full = self.batch.len() as u32 == planes;
            full || !(self.drop_stale(id) || self.add(id))
        });
        !self.batch.is_empty()
    }
}

impl View<'_> {
    /// Size of a page. Unit: bytes.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        self.ftl.page_bytes()
    }

    /// Command, transfer and array time of a transaction. Unit: picoseconds.
    #[must_use]
    pub fn cost(&self, tr: &Transaction) -> u64 {
        let timing = self.flash.timing();
        let sectors = tr.sectors();
        let data = if tr.op == Op::Erase { 0 } else { timing.data(sectors) };
        timing.command(tr.op, 1) + data + self.flash.array_of(tr, tr.op, self.ftl.cells(tr))
    }

    /// Time of one migration: two transfers, a read and a program of a page. Unit: picoseconds.
    #[must_use]
    pub fn migration_time(&self) -> u64 {
        self.page_time(Op::Read) + self.migration_write_time()
    }

    /// Time of the second half of a migration. Unit: picoseconds.
    #[must_use]
    pub fn migration_write_time(&self) -> u64 {
        self.page_time(Op::Program)
    }

    fn page_time(&self, op: Op) -> u64 {
        let timing = self.flash.timing();
        let sectors = self.ftl.page_sectors();
        timing.command(op, 1) + timing.data(sectors) + timing.array(op, Cells::of_page(0), sectors)
    }

    /// Time of an erase. Unit: picoseconds.
    #[must_use]
    pub fn erase_time(&self) -> u64 {
        self.flash.timing().command(Op::Erase, 1)
            + self.flash.timing().array(Op::Erase, Cells::of_page(0), 0)
    }

    /// Remaining time of the operation that a die runs, or that an idle die has suspended. Unit:
    /// picoseconds.
    #[must_use]
    pub fn busy(&self, die: DieId) -> u64 {
        self.flash.busy(die, self.now)
    }

    /// Remaining time until a die has served all that it has begun: the operation, the transfer of
    /// read data, and a suspended operation. Unit: picoseconds. Waiting for the channel is not
    /// foreseen; pages on the channel count whole.
    #[must_use]
    pub fn service_left(&self, die: DieId) -> u64 {
        self.flash.service_left(die, self.now, self.transactions)
    }

    fn planes(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let planes = self.rules.planes_per_die;
        (die.get() * planes..(die.get() + 1) * planes).map(PlaneId::new)
    }

    /// True if only collection can give the die room for host writes, or collection may not wait.
    #[must_use]
    #[inline]
    pub fn must_collect(&self, die: DieId) -> bool {
        !self.rules.preemptible || self.planes(die).any(|plane| self.ftl.is_out_of_room(plane))
    }

    /// Blocks of the die in collection, up to their erase.
    #[must_use]
    pub fn jobs(&self, die: DieId) -> u32 {
        self.planes(die).map(|plane| self.ftl.jobs(plane)).sum()
    }

    /// Free pages of a plane, without those of open blocks.
    #[must_use]
    pub fn free_pages(&self, plane: PlaneId) -> u64 {
        self.ftl.free_pages(plane)
    }

    /// Free pages of all planes of a die, without those of open blocks.
    #[must_use]
    pub fn free_pages_of_die(&self, die: DieId) -> u64 {
        self.planes(die).map(|plane| self.free_pages(plane)).sum()
    }

    /// Free pages of all planes of the drive, without those of open blocks.
    #[must_use]
    pub fn free_pages_of_drive(&self) -> u64 {
        self.ftl.free_pages_of_drive()
    }

    /// True for a queued migration of a page that is no longer valid.
    #[inline]
    #[must_use]
    pub fn is_stale(&self, id: TransactionId) -> bool {
        self.ftl.is_stale(&self.transactions[id])
    }

    /// True for the write of a page that collection moves from one die to another.
    #[must_use]
    pub fn is_relocated(&self, tr: &Transaction) -> bool {
        self.ftl.is_relocated(tr)
    }

    /// True if nothing keeps the transaction in its queue. A program needs its old data, and its
    /// page must be the next one of its block, unless order does not matter. A die that reads takes
    /// only reads of its free planes.
    #[inline(always)]
    #[must_use]
    pub fn is_ready(&self, tr: &Transaction) -> bool {
        is_ready(tr, self.rules.ordered, self.ftl)
            && !(self.rules.beside.reads && self.is_shut_out(tr))
    }

    /// True if a die that reads cannot take the transaction now: it is no read, or its plane is not
    /// free.
    #[cold]
    fn is_shut_out(&self, tr: &Transaction) -> bool {
        let plane = tr.plane.get() % self.rules.planes_per_die;
        tr.op != Op::Read || self.rules.beside.closed >> plane & 1 != 0
    }

    /// True if the command that is being formed takes no further page: each plane reads by itself.
    #[inline]
    pub(crate) fn stays_alone(&self) -> bool {
        self.rules.reads_by_plane && self.transactions[self.batch[0]].op == Op::Read
    }

    /// True if `id` may join the command that is being formed.
    #[inline]
    #[must_use]
    pub fn joins(&self, id: TransactionId) -> bool {
        let tr = &self.transactions[id];
        // The plane decides most cases and costs least.
        self.batch.iter().all(|&taken| self.transactions[taken].plane != tr.plane) && {
            let leader = &self.transactions[self.batch[0]];
            tr.op == leader.op
                && !self.stays_alone()
                && (tr.op == Op::Erase
                    || self.ftl.page_in_block(tr.ppa) == self.ftl.page_in_block(leader.ppa))
                && tr.in_second_pass() == leader.in_second_pass()
                && self.is_ready(tr)
        }
    }
}

/// True if nothing keeps a transaction in its queue. `ordered`: programs of a block leave in order.
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
