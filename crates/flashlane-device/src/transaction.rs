//! A page-sized piece of work for the flash.

mod passes;

use flashlane_engine::{Linked, Slab, Time};
use flashlane_units::{FlowId, JobId, Lpa, PlaneId, Ppa, RequestId, TransactionId};

use crate::request::Chain;

/// On whose behalf a transaction runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A host request waits for it.
    User,
    /// Write-back of the data cache.
    Cache,
    /// Garbage collection and wear levelling.
    Gc,
    /// Translation pages.
    Mapping,
}

/// An operation of the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Read a page.
    Read,
    /// Program a page.
    Program,
    /// Erase a block.
    Erase,
}

/// Where a transaction is, for messages about stuck requests and for audits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Created, or between two places in the same instant.
    Limbo,
    /// Evicted data on its way out of DRAM.
    Dram,
    /// Waits for a translation page.
    Translation,
    /// A partial write that waits for the old data.
    Merge,
    /// Waits behind a partial write to the same page.
    MergeQueue,
    /// Waits for a free block in its plane.
    FreeBlock,
    /// A read of a page whose program is under way.
    Unprogrammed,
    /// A unit that waits until its page is full.
    Filling,
    /// A unit whose page another transaction takes through scheduler and flash.
    Riding,
    /// Leads a word line that had its first pass and waits for the second one.
    NextPass,
    /// In a scheduler queue.
    Queue,
    /// On the bus, in the array, or waiting for the data bus.
    Die,
}

/// The transactions under way.
pub type Transactions = Slab<TransactionId, Transaction>;

/// Time after which a transaction counts as starving: strict priorities could keep it waiting
/// without end. A die then serves the oldest transaction first, at most once in this time.
pub(crate) const STARVING: Time = Time::from_ms(100);

/// A transaction. Times in picoseconds.
///
/// The fields that scheduler and flash use are in the second of two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Transaction {
    /// Sectors of the page that are read or written, one bit each, or one for two of them
    /// ([`Grain`](crate::grain::Grain)).
    mask: u64,
    previous: TransactionId,
    next: TransactionId,
    /// A write that waits for this read (old data to merge); otherwise the next unit that rides on
    /// the page of this one (`ftl/units`); or `NONE`.
    pub(crate) dependent: TransactionId,
    /// Collection job, or version of the cached page, by source.
    pub(crate) tag: u32,
    /// Write-backs: flushes of the flow before it.
    pub(crate) flush_epoch: u32,
    /// Write-backs: others under way in the same chain of the cache, or `NONE`.
    pub(crate) previous_write_back: TransactionId,
    pub(crate) next_write_back: TransactionId,
    /// Write-backs: sectors that count for the bound of the cache on data under way.
    pub(crate) counted_sectors: u32,
    /// Number of transactions that entered their queues before, where that is counted; otherwise 0.
    pub(crate) order: u64,
    /// Stages so far; they sum to the time since it was created. Those of the flash begin the
    /// second line.
    pub chain: Chain,
    /// Time of the last change of stage.
    pub mark: Time,
    /// The host request that waits for it, or `NONE`.
    pub request: RequestId,
    /// The next transaction of the same command or of the same eviction; `NONE` at the end.
    pub sibling: TransactionId,
    /// Physical page; for programs not placed yet `NONE`.
    pub(crate) ppa: Ppa,
    /// Flat plane.
    pub plane: PlaneId,
    /// Logical page, device-wide; the translation page for mapping transactions.
    pub lpa: Lpa,
    /// The flow for which it is.
    pub flow: FlowId,
    /// Class of the flow: 0 urgent .. 3 low.
    pub class: u8,
    /// Who asked for it.
    pub source: Source,
    /// Read, program or erase.
    pub op: Op,
    pub(crate) place: Place,
    /// A read that completes a partial write, or that merges a translation page.
    pub(crate) merging: bool,
    /// The read counts as in flight in its block.
    pub(crate) holds_block: bool,
    /// A queued write that waits for the read of the old part of its page.
    pub(crate) blocked: bool,
    /// Number of sectors in `mask`. Range: 0..=128.
    sectors: u8,
    /// Sectors of old data that complete a partial write.
    pub(crate) merged_sectors: u8,
    /// Reads that the page still needs, and [`SOFT`]; 0 before its first read, and unless bit
    /// errors are modelled. For programs see
    /// `transaction/passes.rs`.
    reads_left: u8,
}

/// Mark of a page all of whose retries fail.
const SOFT: u8 = 0x80;

const _: () = assert!(
    size_of::<Transaction>() == 128
        && std::mem::offset_of!(Transaction, chain) + std::mem::offset_of!(Chain, queue) == 64,
    "two cache lines"
);

impl Transaction {
    /// A new transaction of a flow.
    pub fn new(source: Source, op: Op, flow: FlowId, class: u8, now: Time) -> Self {
        Self {
            previous: TransactionId::NONE,
            next: TransactionId::NONE,
            sibling: TransactionId::NONE,
            request: RequestId::NONE,
            dependent: TransactionId::NONE,
            lpa: Lpa::NONE,
            ppa: Ppa::NONE,
            plane: PlaneId::NONE,
            tag: 0,
            flush_epoch: 0,
            previous_write_back: TransactionId::NONE,
            next_write_back: TransactionId::NONE,
            counted_sectors: 0,
            order: 0,
            mask: 0,
            mark: now,
            chain: Chain::default(),
            flow,
            class,
            source,
            op,
            place: Place::Limbo,
            merging: false,
            holds_block: false,
            blocked: false,
            sectors: 0,
            merged_sectors: 0,
            reads_left: 0,
        }
    }

    /// The collection job that the transaction belongs to.
    #[inline(always)]
    pub fn job(&self) -> JobId {
        JobId::new(self.tag)
    }

    /// Ends the current stage at `now`. Returns its length.
    #[inline]
    pub(crate) fn lap(&mut self, now: Time) -> u64 {
        let span = (now - self.mark).0;
        self.mark = now;
        span
    }

    /// The transaction leaves its queue for its die at `now`. Returns its wait. Unit: picoseconds.
    #[inline]
    pub(crate) fn goes_to_die(&mut self, now: Time) -> u64 {
        let waited = self.lap(now);
        self.chain.queue += waited;
        self.place = Place::Die;
        waited
    }

    /// The array worked from `since` to `end`; before that, the command was on the bus.
    #[inline]
    pub(crate) fn worked(&mut self, since: Time, end: Time) {
        self.chain.bus += (since - self.mark).0;
        self.chain.array += (end - since).0;
        self.mark = end;
    }

    /// The data of the program was in the register of its die at `sent`, and its array operation
    /// begins at `since`.
    pub(crate) fn waited_in_register(&mut self, sent: Time, since: Time) {
        assert!(self.mark <= sent && sent <= since, "data comes before it is programmed");
        if sent < since {
            self.chain.bus += (sent - self.mark).0;
            self.chain.queue += (since - sent).0;
            self.mark = since;
        }
    }

    /// The next unit that rides on the page of this one, or `NONE`.
    #[inline(always)]
    pub(crate) fn rider(&self) -> TransactionId {
        if self.merging { TransactionId::NONE } else { self.dependent }
    }

    /// Sets the next unit that rides on the page of this one.
    #[inline]
    pub(crate) fn set_rider(&mut self, rider: TransactionId) {
        assert!(!self.merging, "nothing rides on the read of old data");
        self.dependent = rider;
    }

    /// The page of the transaction is read for a rider as well, which asks for `sectors`.
    pub(crate) fn reads_along(&mut self, sectors: u32) {
        self.sectors += sectors as u8;
    }

    /// The transaction leads the program of a page, or of a word line, of `all_sectors`, which
    /// crosses the channel whole.
    pub(crate) fn programs_whole(&mut self, all_sectors: u32) {
        // A page that was trimmed while it waited has none, and is programmed all the same.
        self.sectors = self.sectors.max(1);
        let others = all_sectors - self.sectors();
        self.merged_sectors = others.try_into().expect("a word line has at most 256 sectors");
    }

    /// True if the page has been read, and is read again.
    #[inline]
    pub fn reads_again(&self) -> bool {
        self.reads_left & !SOFT > 0
    }

    /// Notes the number of reads that the page needs in all. `soft`: all retries fail.
    pub(crate) fn needs_reads(&mut self, reads: u8, soft: bool) {
        assert!(reads & SOFT == 0, "few reads");
        self.reads_left = if soft { reads | SOFT } else { reads };
    }

    /// A read of the page has arrived. Returns the number of those that follow, and if all retries
    /// fail.
    pub(crate) fn has_been_read(&mut self) -> (u8, bool) {
        assert!(self.reads_again(), "a page is read as often as it needs");
        self.reads_left -= 1;
        let (left, soft) = (self.reads_left & !SOFT, self.reads_left & SOFT != 0);
        if left == 0 {
            self.reads_left = 0;
        }
        (left, soft)
    }

    /// Sectors of the page that are read or written: see [`Grain`](crate::grain::Grain).
    #[inline]
    pub(crate) fn mask(&self) -> u64 {
        self.mask
    }

    /// Sets the sectors of the page that are read or written, where a bit is a sector.
    #[cfg(test)]
    pub(crate) fn set_mask(&mut self, mask: u64) {
        self.set_part(mask, mask.count_ones());
    }

    /// Sets the sectors of the page that are read or written, and their number: see
    /// [`Grain`](crate::grain::Grain).
    #[inline]
    pub(crate) fn set_part(&mut self, mask: u64, sectors: u32) {
        let bits = mask.count_ones();
        debug_assert!(sectors == bits || sectors == 2 * bits, "the sectors of a page are counted");
        self.mask = mask;
        self.sectors = sectors as u8;
    }

    /// On whose behalf it runs.
    #[inline]
    #[must_use]
    pub fn source(&self) -> Source {
        self.source
    }

    /// The operation of the flash.
    #[inline]
    #[must_use]
    pub fn op(&self) -> Op {
        self.op
    }

    /// The flow of the transaction; for collection, the flow whose data is moved.
    #[inline]
    #[must_use]
    pub fn flow(&self) -> FlowId {
        self.flow
    }

    /// Class of the flow: 0 urgent .. 3 low.
    #[inline]
    #[must_use]
    pub fn class(&self) -> u8 {
        self.class
    }

    /// The plane of its page.
    #[inline]
    #[must_use]
    pub fn plane(&self) -> PlaneId {
        self.plane
    }

    /// Logical page, among those of all flows; the translation page for transactions of the
    /// mapping.
    #[inline]
    #[must_use]
    pub fn lpa(&self) -> Lpa {
        self.lpa
    }

    /// Time at which the transaction entered its queue.
    #[inline]
    #[must_use]
    pub fn queued_since(&self) -> Time {
        self.mark
    }

    /// The host request that waits for it, if there is one. Transactions of one request have equal
    /// handles.
    #[inline]
    #[must_use]
    pub fn request(&self) -> Option<RequestId> {
        (self.request != RequestId::NONE).then_some(self.request)
    }

    /// Number of the sectors of the page that are read or written.
    #[inline]
    #[must_use]
    pub fn sectors(&self) -> u32 {
        u32::from(self.sectors)
    }

    /// Sectors that cross the channel.
    #[inline]
    pub(crate) fn moved_sectors(&self) -> u32 {
        self.sectors() + u32::from(self.merged_sectors)
    }
}

/// A unit and those that ride on its page behind it (`ftl/units`), or none for `NONE`.
pub(crate) fn units_from(
    transactions: &Transactions,
    first: TransactionId,
) -> impl Iterator<Item = TransactionId> + '_ {
    let known = |id: TransactionId| (id != TransactionId::NONE).then_some(id);
    std::iter::successors(known(first), move |&id| known(transactions[id].rider()))
}

/// The pages of a command, from its first one on, or none for `NONE`.
pub fn pages_from(
    transactions: &Transactions,
    first: TransactionId,
) -> impl Iterator<Item = TransactionId> + Clone + '_ {
    let known = |id: TransactionId| (id != TransactionId::NONE).then_some(id);
    std::iter::successors(known(first), move |&id| known(transactions[id].sibling))
}

impl Default for Transaction {
    /// Contents of a free place in the pool.
    fn default() -> Self {
        Self::new(Source::User, Op::Read, FlowId::new(0), 0, Time::ZERO)
    }
}

impl Linked<TransactionId> for Transaction {
    #[inline]
    fn links(&mut self) -> (&mut TransactionId, &mut TransactionId) {
        (&mut self.previous, &mut self.next)
    }
    #[inline]
    fn next(&self) -> TransactionId {
        self.next
    }
}
