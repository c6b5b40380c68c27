//! The waiting transactions of every die, by kind, and the forming of multi-plane commands.

use flashlane_engine::{List, NONE, Slab, Time};

use crate::ftl::blocks::Blocks;
use crate::ftl::pages::PageTables;
use crate::transaction::{Op, Source, Transaction};

/// How far behind the leader a multi-plane partner is looked for. Unit: transactions.
const PARTNER_SCAN: u32 = 64;

/// Strict priorities could keep a transaction waiting for ever. Once it has waited so long, a die
/// serves the oldest one first, at most once in such a span.
const STARVING: Time = Time::from_ms(100);

/// Kinds of queue of a die. User queues have one list per NVMe class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    MappingRead,
    UserRead(u8),
    GcRead,
    MappingWrite,
    UserWrite(u8),
    GcWrite,
    Erase,
}

const KINDS: usize = 13;

/// Every kind, in the order of [`Kind::index`].
const ALL_KINDS: [Kind; KINDS] = [
    Kind::MappingRead,
    Kind::UserRead(0),
    Kind::UserRead(1),
    Kind::UserRead(2),
    Kind::UserRead(3),
    Kind::GcRead,
    Kind::MappingWrite,
    Kind::UserWrite(0),
    Kind::UserWrite(1),
    Kind::UserWrite(2),
    Kind::UserWrite(3),
    Kind::GcWrite,
    Kind::Erase,
];

impl Kind {
    #[inline]
    fn index(self) -> usize {
        match self {
            Self::MappingRead => 0,
            Self::UserRead(class) => 1 + class as usize,
            Self::GcRead => 5,
            Self::MappingWrite => 6,
            Self::UserWrite(class) => 7 + class as usize,
            Self::GcWrite => 11,
            Self::Erase => 12,
        }
    }

    /// The kind of a transaction.
    #[inline]
    pub(crate) fn of(tr: &Transaction) -> Self {
        match (tr.op, tr.source) {
            (Op::Erase, _) => Self::Erase,
            (Op::Read, Source::Mapping) => Self::MappingRead,
            (Op::Read, Source::Gc) => Self::GcRead,
            (Op::Read, _) => Self::UserRead(tr.class),
            (Op::Program, Source::Mapping) => Self::MappingWrite,
            (Op::Program, Source::Gc) => Self::GcWrite,
            (Op::Program, _) => Self::UserWrite(tr.class),
        }
    }
}

/// What a policy may see and touch when it decides.
pub(crate) struct View<'a> {
    pub(crate) now: Time,
    pub(crate) transactions: &'a mut Slab<Transaction>,
    pub(crate) blocks: &'a Blocks,
    pub(crate) pages: &'a PageTables,
    /// Some plane of the chip is short of free blocks, or collection may not be preempted.
    pub(crate) urgent: bool,
    /// Host writes lead no command, and are no starving ones: collection is before its erase.
    pub(crate) hold_writes: bool,
    /// Programs of a block leave in the order of its pages.
    pub(crate) ordered: bool,
    pub(crate) planes_per_die: u32,
    /// The command being formed: one transaction per plane.
    pub(crate) batch: &'a mut Vec<u32>,
    /// Migrations that a host write made pointless; taken from their queue.
    pub(crate) cancelled: &'a mut Vec<u32>,
}

impl View<'_> {
    /// A queued migration of a page that is no longer valid.
    #[inline]
    fn is_stale(&self, id: u32) -> bool {
        let tr = &self.transactions[id];
        tr.source == Source::Gc && tr.op == Op::Read && self.pages.lpa(tr.ppa) != tr.lpa
    }

    /// Nothing keeps the transaction in its queue: a program has its old data, and its page is the
    /// next one of its block, or order does not matter.
    #[inline]
    fn is_ready(&self, tr: &Transaction) -> bool {
        if tr.op != Op::Program {
            return true;
        }
        if tr.blocked || !self.ordered {
            return !tr.blocked;
        }
        let block = self.blocks.block(self.blocks.block_of(tr.ppa));
        u32::from(block.issued) == self.blocks.page_of(tr.ppa)
    }

    /// `id` may join the command being formed.
    #[inline]
    fn joins(&self, id: u32) -> bool {
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

/// Lists of waiting transactions, by die and kind.
#[derive(Clone, Debug)]
pub(crate) struct Queues {
    lists: Vec<List>,
    /// When each die looks for starving transactions next.
    watch: Vec<Time>,
}

impl Queues {
    /// Empty queues.
    pub(crate) fn new(dies: u32) -> Self {
        Self {
            lists: vec![List::default(); dies as usize * KINDS],
            watch: vec![STARVING; dies as usize],
        }
    }

    #[inline]
    fn list(&mut self, die: u32, kind: Kind) -> &mut List {
        &mut self.lists[die as usize * KINDS + kind.index()]
    }

    /// Appends a transaction.
    #[inline]
    pub(crate) fn push(&mut self, die: u32, kind: Kind, id: u32, slab: &mut Slab<Transaction>) {
        self.list(die, kind).push_back(id, slab);
    }

    /// True if nothing of the kind waits.
    #[inline]
    pub(crate) fn is_empty(&self, die: u32, kind: Kind) -> bool {
        self.lists[die as usize * KINDS + kind.index()].is_empty()
    }

    /// Oldest transaction of the kind, or `NONE`.
    #[inline]
    pub(crate) fn front(&self, die: u32, kind: Kind) -> u32 {
        self.lists[die as usize * KINDS + kind.index()].head()
    }

    /// Forms a command from the oldest transaction of the die if it is starving. Looked for once in a
    /// while only.
    #[inline]
    pub(crate) fn form_starving(&mut self, die: u32, view: &mut View<'_>) -> bool {
        view.now >= self.watch[die as usize] && self.form_oldest(die, view)
    }

    #[cold]
    fn form_oldest(&mut self, die: u32, view: &mut View<'_>) -> bool {
        self.watch[die as usize] = view.now + STARVING;
        let waiting = ALL_KINDS.into_iter().filter(|&kind| !self.is_empty(die, kind));
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
        if !self.lead(die, first, view) {
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
            self.list(die, kind).remove(id, view.transactions);
            view.batch.push(id);
        }
        true
    }

    /// Takes the oldest transaction of a kind that can go.
    fn lead(&mut self, die: u32, kind: Kind, view: &mut View<'_>) -> bool {
        let mut id = self.front(die, kind);
        while id != NONE {
            let next = flashlane_engine::Linked::next(&view.transactions[id]);
            if view.is_stale(id) {
                self.list(die, kind).remove(id, view.transactions);
                view.cancelled.push(id);
            } else if view.is_ready(&view.transactions[id]) {
                self.list(die, kind).remove(id, view.transactions);
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
        for _ in 0..PARTNER_SCAN {
            if id == NONE || view.batch.len() as u32 == view.planes_per_die {
                return;
            }
            let next = flashlane_engine::Linked::next(&view.transactions[id]);
            if view.joins(id) && !view.is_stale(id) {
                self.list(die, kind).remove(id, view.transactions);
                view.batch.push(id);
            }
            id = next;
        }
    }

    /// Every waiting transaction of a die, for audits.
    pub(crate) fn waiting(&self, die: u32) -> u32 {
        let first = die as usize * KINDS;
        self.lists[first..first + KINDS].iter().map(List::len).sum()
    }
}
