//! The waiting transactions of every die, by kind, and the forming of multi-plane commands.

use flashlane_engine::{List, NONE, Slab, Time};

use crate::flash::Flash;
use crate::ftl::blocks::{Blocks, Stream};
use crate::ftl::pages::PageTables;
use crate::layout::SECTOR_BYTES;
use crate::transaction::{Op, Source, Transaction};

/// How far behind the leader a multi-plane partner is looked for. Unit: transactions.
const PARTNER_SCAN: u32 = 64;

/// Strict priorities could keep a transaction waiting for ever. Once it has waited so long, a die
/// serves the oldest one first, at most once in such a span.
pub(crate) const STARVING: Time = Time::from_ms(100);

/// Kinds of queue of a die. User queues have one list per NVMe class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(u8);

const KINDS: usize = 13;

impl Kind {
    pub(crate) const MAPPING_READ: Self = Self(0);
    pub(crate) const GC_READ: Self = Self(5);
    pub(crate) const MAPPING_WRITE: Self = Self(6);
    pub(crate) const GC_WRITE: Self = Self(11);
    pub(crate) const ERASE: Self = Self(12);

    const FIRST_READ: u8 = 1;
    const FIRST_WRITE: u8 = 7;

    /// Reads of hosts of a class, 0..4.
    #[inline]
    pub(crate) const fn user_read(class: u8) -> Self {
        Self(Self::FIRST_READ + class)
    }

    /// Writes of hosts of a class, 0..4.
    #[inline]
    pub(crate) const fn user_write(class: u8) -> Self {
        Self(Self::FIRST_WRITE + class)
    }

    /// The class of reads of hosts.
    #[inline]
    pub(crate) fn read_class(self) -> Option<u8> {
        self.0.checked_sub(Self::FIRST_READ).filter(|&class| class < 4)
    }

    /// The class of writes of hosts.
    #[inline]
    pub(crate) fn write_class(self) -> Option<u8> {
        self.0.checked_sub(Self::FIRST_WRITE).filter(|&class| class < 4)
    }

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }

    /// The kind of a transaction, whose class is taken for `class`.
    #[inline]
    pub(crate) fn with_class(tr: &Transaction, class: u8) -> Self {
        match (tr.op, tr.source) {
            (Op::Erase, _) => Self::ERASE,
            (Op::Read, Source::Mapping) => Self::MAPPING_READ,
            (Op::Read, Source::Gc) => Self::GC_READ,
            (Op::Read, _) => Self::user_read(class),
            (Op::Program, Source::Mapping) => Self::MAPPING_WRITE,
            (Op::Program, Source::Gc) => Self::GC_WRITE,
            (Op::Program, _) => Self::user_write(class),
        }
    }

    /// The kind of a transaction.
    #[inline]
    pub(crate) fn of(tr: &Transaction) -> Self {
        Self::with_class(tr, tr.class)
    }
}

/// What a policy may see and touch when it decides.
pub(crate) struct View<'a> {
    pub(crate) now: Time,
    pub(crate) transactions: &'a mut Slab<Transaction>,
    pub(crate) blocks: &'a Blocks,
    pub(crate) pages: &'a PageTables,
    pub(crate) flash: &'a Flash,
    /// Some plane of the chip is short of free blocks, or collection may not be preempted.
    pub(crate) urgent: bool,
    /// Host writes lead no command, and are no starving ones: collection is before its erase.
    pub(crate) hold_writes: bool,
    /// Programs of a block leave in the order of its pages.
    pub(crate) ordered: bool,
    /// User work may go before collection as long as there are blocks.
    pub(crate) preemptible: bool,
    pub(crate) planes_per_die: u32,
    /// The command being formed: one transaction per plane.
    pub(crate) batch: &'a mut Vec<u32>,
    /// Migrations that a host write made pointless; taken from their queue.
    pub(crate) cancelled: &'a mut Vec<u32>,
}

impl View<'_> {
    /// Bytes of a page.
    pub(crate) fn page_bytes(&self) -> u64 {
        u64::from(self.pages.full_mask().count_ones()) * SECTOR_BYTES
    }

    /// Command, transfer and array time of a transaction. Unit: picoseconds.
    pub(crate) fn cost(&self, tr: &Transaction) -> u64 {
        let timing = &self.flash.timing;
        let page = if tr.op == Op::Erase { 0 } else { self.blocks.page_of(tr.ppa) };
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
        let timing = &self.flash.timing;
        let sectors = self.pages.full_mask().count_ones();
        timing.command(op, 1) + timing.data(sectors) + timing.array(op, 0, sectors)
    }

    /// Time of an erase. Unit: picoseconds.
    pub(crate) fn erase_time(&self) -> u64 {
        self.flash.timing.command(Op::Erase, 1) + self.flash.timing.array(Op::Erase, 0, 0)
    }

    /// What is left of the operation that a die runs. Unit: picoseconds.
    pub(crate) fn busy(&self, die: u32) -> u64 {
        self.flash.busy(die, self.now)
    }

    /// What is left until a die has served all that it has begun: operation, transfer of read data, what
    /// it suspended. Unit: picoseconds. Waiting for the channel is not foreseen; pages on it count whole.
    pub(crate) fn service_left(&self, die: u32) -> u64 {
        self.flash.service_left(die, self.now, self.transactions)
    }

    fn planes(&self, die: u32) -> std::ops::Range<u32> {
        die * self.planes_per_die..(die + 1) * self.planes_per_die
    }

    /// Collection is all that gives the die room for host writes, or may not wait.
    pub(crate) fn must_collect(&self, die: u32) -> bool {
        !self.preemptible || self.planes(die).any(|plane| self.blocks.is_out_of_room(plane))
    }

    /// Blocks of the die in collection, up to their erase.
    pub(crate) fn jobs(&self, die: u32) -> u32 {
        self.planes(die).map(|plane| self.blocks.planes[plane as usize].jobs).sum()
    }

    /// Free pages of a plane, without those of open blocks.
    pub(crate) fn free_pages(&self, plane: u32) -> u64 {
        let free = self.blocks.planes[plane as usize].free;
        u64::from(free) * u64::from(self.blocks.pages_per_block())
    }

    /// A queued migration of a page that is no longer valid.
    #[inline]
    fn is_stale(&self, id: u32) -> bool {
        let tr = &self.transactions[id];
        tr.source == Source::Gc && tr.op == Op::Read && self.pages.lpa(tr.ppa) != tr.lpa
    }

    /// A write of a page that collection moves from one die to another.
    pub(crate) fn is_relocated(&self, tr: &Transaction) -> bool {
        self.blocks.block(self.blocks.block_of(tr.ppa)).stream == Stream::Relocated
    }

    /// Nothing keeps the transaction in its queue: a program has its old data, and its page is the
    /// next one of its block, or order does not matter.
    #[inline]
    pub(crate) fn is_ready(&self, tr: &Transaction) -> bool {
        is_ready(tr, self.ordered, self.blocks)
    }

    /// `id` may join the command being formed.
    #[inline]
    pub(crate) fn joins(&self, id: u32) -> bool {
        let tr = &self.transactions[id];
        // The plane decides most cases and costs least.
        self.batch.iter().all(|&taken| self.transactions[taken].plane != tr.plane) && {
            let leader = &self.transactions[self.batch[0]];
            tr.op == leader.op
                && (tr.op == Op::Erase
                    || self.blocks.page_of(tr.ppa) == self.blocks.page_of(leader.ppa))
                && self.is_ready(tr)
        }
    }
}

/// Nothing keeps a transaction in its queue, where programs leave in order or not.
#[inline]
pub(super) fn is_ready(tr: &Transaction, ordered: bool, blocks: &Blocks) -> bool {
    if tr.op != Op::Program {
        return true;
    }
    if tr.blocked || !ordered {
        return !tr.blocked;
    }
    let block = blocks.block(blocks.block_of(tr.ppa));
    u32::from(block.issued) == blocks.page_of(tr.ppa)
}

/// Places for the lists of a die: a power of two.
const PLACES: usize = KINDS.next_power_of_two();

/// The place of the list of a die and kind.
#[inline]
fn place(die: u32, kind: Kind) -> usize {
    die as usize * PLACES + kind.index()
}

/// Lists of waiting transactions, by die and kind.
#[derive(Clone, Debug)]
pub(crate) struct Queues {
    lists: Vec<List>,
    /// Kinds of which something waits at each die, a bit each.
    present: Vec<u16>,
    /// The plane of everything that came to a list since it was last empty; `NONE` for several planes.
    only_plane: Vec<u32>,
    /// When each die looks for starving transactions next.
    watch: Vec<Time>,
}

impl Queues {
    /// Empty queues.
    pub(crate) fn new(dies: u32) -> Self {
        Self {
            lists: vec![List::default(); dies as usize * PLACES],
            present: vec![0; dies as usize],
            only_plane: vec![NONE; dies as usize * PLACES],
            watch: vec![STARVING; dies as usize],
        }
    }

    /// Takes a transaction out of its list.
    #[inline]
    fn remove(&mut self, die: u32, kind: Kind, id: u32, slab: &mut Slab<Transaction>) {
        let list = &mut self.lists[place(die, kind)];
        list.remove(id, slab);
        self.present[die as usize] &= !(u16::from(list.is_empty()) << kind.index());
    }

    /// True if nothing waits at the die.
    #[inline]
    pub(crate) fn is_idle(&self, die: u32) -> bool {
        self.present[die as usize] == 0
    }

    /// Transactions of the kind that wait.
    #[inline]
    pub(crate) fn len(&self, die: u32, kind: Kind) -> u32 {
        self.lists[place(die, kind)].len()
    }

    /// Appends a transaction.
    #[inline(always)]
    pub(crate) fn push(&mut self, die: u32, kind: Kind, id: u32, slab: &mut Slab<Transaction>) {
        let at = place(die, kind);
        let plane = slab[id].plane;
        if self.lists[at].is_empty() {
            self.only_plane[at] = plane;
        } else if self.only_plane[at] != plane {
            self.only_plane[at] = NONE;
        }
        self.lists[at].push_back(id, slab);
        self.present[die as usize] |= 1 << kind.index();
    }

    /// True if nothing of the kind waits.
    #[inline]
    pub(crate) fn is_empty(&self, die: u32, kind: Kind) -> bool {
        self.present[die as usize] >> kind.index() & 1 == 0
    }

    /// Oldest transaction of the kind, or `NONE`.
    #[inline]
    pub(crate) fn front(&self, die: u32, kind: Kind) -> u32 {
        self.lists[place(die, kind)].head()
    }

    /// The transactions of the kind, the oldest first.
    pub(crate) fn iter<'a>(
        &self,
        die: u32,
        kind: Kind,
        transactions: &'a Slab<Transaction>,
    ) -> impl Iterator<Item = u32> + use<'a> {
        let known = |id: u32| (id != NONE).then_some(id);
        std::iter::successors(known(self.front(die, kind)), move |&id| {
            known(flashlane_engine::Linked::next(&transactions[id]))
        })
    }

    /// Forms a command from the oldest transaction of the die if it is starving. Looked for once in a
    /// while only.
    #[inline]
    pub(crate) fn form_starving(&mut self, die: u32, view: &mut View<'_>) -> bool {
        view.now >= self.watch[die as usize] && self.form_oldest(die, view)
    }

    /// The die looks for starving transactions if it is time to, and has none.
    #[inline]
    pub(crate) fn look_for_starving(&mut self, die: u32, now: Time) {
        let watch = &mut self.watch[die as usize];
        if now >= *watch {
            *watch = now + STARVING;
        }
    }

    /// The oldest transaction of a kind is starving. Looked for once in a while only, instead of
    /// [`Queues::form_starving`].
    pub(crate) fn starves(&mut self, die: u32, kind: Kind, view: &View<'_>) -> bool {
        let id = self.front(die, kind);
        if id == NONE || view.now < self.watch[die as usize] {
            return false;
        }
        self.watch[die as usize] = view.now + STARVING;
        view.now.saturating_sub(view.transactions[id].mark) > STARVING
    }

    #[cold]
    fn form_oldest(&mut self, die: u32, view: &mut View<'_>) -> bool {
        self.watch[die as usize] = view.now + STARVING;
        let waiting = (0..KINDS as u8).map(Kind).filter(|&kind| !self.is_empty(die, kind));
        let since = |kind: &Kind| view.transactions[self.front(die, *kind)].mark;
        let Some(oldest) = waiting.min_by_key(since) else { return false };
        view.now.saturating_sub(since(&oldest)) > STARVING && self.form(die, oldest, None, view)
    }

    /// Forms a command from `first`, led by its oldest transaction that can go, with partners for
    /// other planes from `first` and then from `second`. False if nothing of `first` can go.
    pub(crate) fn form(
        &mut self,
        die: u32,
        first: Kind,
        second: Option<Kind>,
        view: &mut View<'_>,
    ) -> bool {
        if self.is_empty(die, first) || !self.lead(die, first, view) {
            return false;
        }
        if view.planes_per_die > 1 {
            self.join(die, first, view);
            if let Some(second) = second
                && (view.batch.len() as u32) < view.planes_per_die
            {
                self.join(die, second, view);
            }
        }
        true
    }

    /// Forms a command from the oldest transactions only: nobody is overtaken.
    pub(crate) fn form_in_order(&mut self, die: u32, kind: Kind, view: &mut View<'_>) -> bool {
        if !self.lead(die, kind, view) {
            return false;
        }
        while (view.batch.len() as u32) < view.planes_per_die {
            let id = self.front(die, kind);
            if id == NONE || view.is_stale(id) || !view.joins(id) {
                break;
            }
            self.remove(die, kind, id, view.transactions);
            view.batch.push(id);
        }
        true
    }

    /// Forms the command that covers the most planes, then has the most transactions of one request,
    /// then the oldest leader, among those led by one of the oldest `window` transactions of a kind.
    pub(crate) fn form_deepest(
        &mut self,
        die: u32,
        kind: Kind,
        window: u32,
        view: &mut View<'_>,
    ) -> bool {
        let mut best = (0, 0, NONE);
        let mut id = self.front(die, kind);
        for _ in 0..window {
            if id == NONE {
                break;
            }
            let next = flashlane_engine::Linked::next(&view.transactions[id]);
            if view.is_ready(&view.transactions[id]) {
                let (depth, connected) = self.overlap(die, kind, id, window, view);
                if (depth, connected) > (best.0, best.1) {
                    best = (depth, connected, id);
                }
                if connected == view.planes_per_die {
                    break;
                }
            }
            id = next;
        }
        if best.2 == NONE {
            return self.form(die, kind, None, view);
        }
        self.remove(die, kind, best.2, view.transactions);
        view.batch.push(best.2);
        self.join(die, kind, view);
        true
    }

    /// Planes that a command led by a transaction would cover, and how many of its transactions belong
    /// to the leader's request.
    fn overlap(
        &self,
        die: u32,
        kind: Kind,
        leader: u32,
        window: u32,
        view: &mut View<'_>,
    ) -> (u32, u32) {
        view.batch.push(leader);
        let request = view.transactions[leader].request;
        let mut connected = 1;
        let mut id = self.front(die, kind);
        for _ in 0..window {
            if id == NONE || view.batch.len() as u32 == view.planes_per_die {
                break;
            }
            if id != leader && view.joins(id) {
                connected += u32::from(request != NONE && view.transactions[id].request == request);
                view.batch.push(id);
            }
            id = flashlane_engine::Linked::next(&view.transactions[id]);
        }
        let depth = view.batch.len() as u32;
        view.batch.clear();
        (depth, connected)
    }

    /// Takes pointless migrations from the head of a list.
    pub(crate) fn cancel_stale(&mut self, die: u32, kind: Kind, view: &mut View<'_>) {
        let mut id = self.front(die, kind);
        while id != NONE && view.is_stale(id) {
            self.remove(die, kind, id, view.transactions);
            view.cancelled.push(id);
            id = self.front(die, kind);
        }
    }

    /// Takes the oldest transaction of a kind that can go.
    fn lead(&mut self, die: u32, kind: Kind, view: &mut View<'_>) -> bool {
        let mut id = self.front(die, kind);
        while id != NONE {
            let next = flashlane_engine::Linked::next(&view.transactions[id]);
            if view.is_stale(id) {
                self.remove(die, kind, id, view.transactions);
                view.cancelled.push(id);
            } else if view.is_ready(&view.transactions[id]) {
                self.remove(die, kind, id, view.transactions);
                view.batch.push(id);
                return true;
            }
            id = next;
        }
        false
    }

    /// Adds partners of a kind to the command being formed.
    fn join(&mut self, die: u32, kind: Kind, view: &mut View<'_>) {
        let mut id = self.front(die, kind);
        if id == NONE {
            return;
        }
        // Collection of one plane alone fills a list with pages that cannot go together.
        let only = self.only_plane[place(die, kind)];
        if only != NONE && view.batch.iter().any(|&id| view.transactions[id].plane == only) {
            return;
        }
        let leader = &view.transactions[view.batch[0]];
        let (op, plane) = (leader.op, leader.plane);
        let page = view.blocks.page_of(leader.ppa);
        for _ in 0..PARTNER_SCAN {
            let tr = &view.transactions[id];
            let next = flashlane_engine::Linked::next(tr);
            // The plane decides most cases and costs least.
            if tr.plane != plane
                && tr.op == op
                && (op == Op::Erase || view.blocks.page_of(tr.ppa) == page)
                && view.batch[1..].iter().all(|&id| view.transactions[id].plane != tr.plane)
                && view.is_ready(tr)
                && !view.is_stale(id)
            {
                self.remove(die, kind, id, view.transactions);
                view.batch.push(id);
                if view.batch.len() as u32 == view.planes_per_die {
                    return;
                }
            }
            if next == NONE {
                return;
            }
            id = next;
        }
    }

    /// Every waiting transaction of a die, for audits.
    pub(crate) fn waiting(&self, die: u32) -> u32 {
        let first = die as usize * PLACES;
        self.lists[first..first + KINDS].iter().map(List::len).sum()
    }
}
