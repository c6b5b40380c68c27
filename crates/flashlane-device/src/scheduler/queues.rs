//! The waiting transactions of every die, by kind, and the forming of multi-plane commands.

use std::hint::select_unpredictable;

use flashlane_engine::{Array, Divisor, NONE, Ring, Time};
use flashlane_units::{DieId, RequestId, TransactionId};

use super::view::View;
use crate::flash::config::{PAGES_PER_BLOCK, PLANES_PER_DIE};
use crate::layout::Geometry;
use crate::transaction::{Op, STARVING, Source, Transaction};

/// Number of transactions behind the leader that are searched for a multi-plane partner.
const PARTNER_SCAN: usize = 64;

/// Kinds of queue of a die. User queues have one list per NVMe class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(u8);

const KINDS: usize = 13;

impl Kind {
    /// Reads of translation pages.
    pub const MAPPING_READ: Self = Self(0);
    /// Reads of pages that collection moves.
    pub const GC_READ: Self = Self(5);
    /// Writes of translation pages.
    pub const MAPPING_WRITE: Self = Self(6);
    /// Writes of pages that collection moves.
    pub const GC_WRITE: Self = Self(11);
    /// Erases.
    pub const ERASE: Self = Self(12);

    const FIRST_READ: u8 = 1;
    const FIRST_WRITE: u8 = 7;

    /// Reads of hosts of a class, 0..4.
    #[inline]
    pub const fn user_read(class: u8) -> Self {
        Self(Self::FIRST_READ + class)
    }

    /// Writes of hosts of a class, 0..4.
    #[inline]
    pub const fn user_write(class: u8) -> Self {
        Self(Self::FIRST_WRITE + class)
    }

    /// The class, if these are reads of hosts.
    #[inline]
    pub fn read_class(self) -> Option<u8> {
        self.0.checked_sub(Self::FIRST_READ).filter(|&class| class < 4)
    }

    /// The class, if these are writes of hosts.
    #[inline]
    pub fn write_class(self) -> Option<u8> {
        self.0.checked_sub(Self::FIRST_WRITE).filter(|&class| class < 4)
    }

    /// True for reads, of whatever source.
    #[inline]
    pub fn is_read(self) -> bool {
        self.0 <= Self::GC_READ.0
    }

    /// True for programs, of whatever source.
    #[inline]
    pub fn is_program(self) -> bool {
        (Self::MAPPING_WRITE.0..=Self::GC_WRITE.0).contains(&self.0)
    }

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }

    /// The kind of a transaction, as if its class were `class`.
    #[inline]
    pub fn with_class(tr: &Transaction, class: u8) -> Self {
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
    pub fn of(tr: &Transaction) -> Self {
        Self::with_class(tr, tr.class)
    }
}

/// Number of list positions of a die: a power of two.
const PLACES: usize = KINDS.next_power_of_two();

/// The position of the list of a die and kind.
#[inline]
fn place(die: DieId, kind: Kind) -> usize {
    die.index() * PLACES + kind.index()
}

/// Properties that decide whether a transaction can go, and whether two of a die can go in one
/// command. From the highest bit on: one bit for transactions that may have to stay or turn out
/// pointless, then operation, page inside the block, and plane inside the die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traits(u32);

/// Pages of a block.
#[derive(Clone, Copy, Debug)]
struct PagesOfBlock {
    /// Pages as they are mapped.
    mapped: Divisor,
    /// How many of them are a page of the flash.
    units: u32,
    /// True if a page of the flash is one of them, and programs have one pass.
    plain: bool,
}

/// Mark of a second pass among the pages of a block: passes of one word line are different pages to
/// a command.
const SECOND_PASS: u32 = PAGES_PER_BLOCK.end().next_power_of_two();

impl PagesOfBlock {
    /// Page of the flash inside its block, with the mark of a second pass.
    #[inline(always)]
    fn page_of(self, tr: &Transaction) -> u32 {
        let page = self.mapped.remainder(tr.ppa.get());
        if self.plain {
            return page;
        }
        page / self.units + if tr.in_second_pass() { SECOND_PASS } else { 0 }
    }
}

impl Traits {
    const PLANE_BITS: u32 = PLANES_PER_DIE.end().trailing_zeros();
    const OP_SHIFT: u32 = u32::BITS - 3;
    const MAY_STAY: u32 = 1 << (u32::BITS - 1);

    #[inline]
    fn of(tr: &Transaction, pages: PagesOfBlock) -> Self {
        // Blocks can be erased together whatever their numbers.
        let page = if tr.op == Op::Erase { 0 } else { pages.page_of(tr) };
        let plane = Self::plane_of(tr);
        // Programs wait for earlier programs of their block, and a write may overtake reads of
        // collection.
        let may_stay = tr.op == Op::Program || tr.source == Source::Gc;
        let may_stay = if may_stay { Self::MAY_STAY } else { 0 };
        Self(may_stay | (tr.op as u32) << Self::OP_SHIFT | page << Self::PLANE_BITS | plane)
    }

    /// True if the transaction may have to stay in its queue, or turn out pointless; all others can
    /// go.
    #[inline]
    fn may_stay(self) -> bool {
        self.0 & Self::MAY_STAY != 0
    }

    /// The plane inside the die.
    #[inline]
    fn plane_of(tr: &Transaction) -> u32 {
        tr.plane.get() % (1 << Self::PLANE_BITS)
    }

    /// The plane inside the die.
    #[inline]
    fn plane(self) -> u32 {
        self.0 % (1 << Self::PLANE_BITS)
    }

    /// True if two transactions differ in their planes and in nothing else.
    #[inline]
    fn complete(self, other: Self) -> bool {
        let apart = (self.0 ^ other.0) & !Self::MAY_STAY;
        apart.wrapping_sub(1) < (1 << Self::PLANE_BITS) - 1
    }
}

const _: () = assert!(
    PLANES_PER_DIE.end().is_power_of_two()
        && 2 * SECOND_PASS <= 1 << (Traits::OP_SHIFT - Traits::PLANE_BITS),
    "traits fit a number"
);

/// A waiting transaction. Its traits are enough to find partners, without access to the
/// transaction.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    id: TransactionId,
    traits: Traits,
}

/// Waiting transactions of a die and kind, oldest first.
#[derive(Clone, Debug)]
struct Line {
    waiting: Ring<Waiting>,
    /// The plane of all transactions that came since the line was last empty; `NONE` if they have
    /// several.
    only_plane: u32,
}

/// Takes a transaction that is not the oldest. A separate function, since it is long and seldom
/// called.
#[inline(never)]
fn take_behind(waiting: &mut Ring<Waiting>, position: usize) -> Option<Waiting> {
    waiting.remove(position)
}

/// Lines of waiting transactions, by die and kind.
#[derive(Clone, Debug)]
pub struct Queues {
    lines: Array<usize, Line>,
    /// For each die one bit a kind: set if something of the kind waits.
    present: Array<DieId, u16>,
    /// Time at which each die next looks for starving transactions.
    watch: Array<DieId, Time>,
    pages: PagesOfBlock,
    /// Number of transactions behind the leader that are searched for a partner.
    partner_scan: usize,
}

impl Queues {
    /// Empty queues.
    pub fn new(geometry: Geometry) -> Self {
        let dies = geometry.dies() as usize;
        let empty = Line { waiting: Ring::new(), only_plane: NONE };
        Self {
            lines: Array::of(empty, dies * PLACES),
            present: Array::of(0, dies),
            watch: Array::of(STARVING, dies),
            pages: PagesOfBlock {
                mapped: Divisor::new(geometry.pages_per_block),
                units: geometry.units_per_page,
                plain: geometry.units_per_page == 1 && geometry.pages_per_program == 1,
            },
            partner_scan: PARTNER_SCAN,
        }
    }

    /// Makes age count for nothing, and searches whole lines for partners, as in the released
    /// MQSim.
    pub(crate) fn be_strict(&mut self) {
        self.watch.iter_mut().for_each(|watch| *watch = Time::MAX);
        self.partner_scan = usize::MAX;
    }

    /// Takes the transaction at a position out of its line, into the command that is being formed.
    #[inline(always)]
    fn take(
        &mut self,
        die: DieId,
        kind: Kind,
        position: usize,
        batch: &mut Vec<TransactionId>,
    ) -> Traits {
        let waiting = &mut self.lines[place(die, kind)].waiting;
        let taken = match position {
            0 => waiting.pop_front(),
            _ => take_behind(waiting, position),
        };
        let Waiting { id, traits } = taken.expect("somebody saw it there");
        debug_assert!(!batch.contains(&id), "a transaction leaves its line once");
        batch.push(id);
        self.present[die] &= !(u16::from(waiting.is_empty()) << kind.index());
        traits
    }

    /// True if nothing waits at the die.
    #[inline]
    pub fn is_idle(&self, die: DieId) -> bool {
        self.present[die] == 0
    }

    /// True if a read of a host or of translation waits at the die.
    #[inline]
    pub fn holds_reads(&self, die: DieId) -> bool {
        const READS: u16 = (1 << Kind::GC_READ.0) - 1;
        self.present[die] & READS != 0
    }

    /// Number of waiting transactions of the kind.
    #[inline]
    pub fn len(&self, die: DieId, kind: Kind) -> u32 {
        self.lines[place(die, kind)].waiting.len() as u32
    }

    /// Appends a transaction.
    #[inline(always)]
    pub fn push(&mut self, die: DieId, kind: Kind, id: TransactionId, tr: &Transaction) {
        debug_assert!(id != TransactionId::NONE, "a transaction waits");
        let traits = Traits::of(tr, self.pages);
        let line = &mut self.lines[place(die, kind)];
        let only = line.waiting.is_empty() | (line.only_plane == traits.plane());
        line.only_plane = select_unpredictable(only, traits.plane(), NONE);
        line.waiting.push_back(Waiting { id, traits });
        self.present[die] |= 1 << kind.index();
    }

    /// True if nothing of the kind waits.
    #[inline]
    pub fn is_empty(&self, die: DieId, kind: Kind) -> bool {
        self.present[die] >> kind.index() & 1 == 0
    }

    /// Oldest transaction of the kind, or `NONE`.
    #[inline]
    pub fn front(&self, die: DieId, kind: Kind) -> TransactionId {
        self.lines[place(die, kind)].waiting.front().map_or(TransactionId::NONE, |oldest| oldest.id)
    }

    /// The transactions of the kind, the oldest first.
    pub fn iter(&self, die: DieId, kind: Kind) -> impl Iterator<Item = TransactionId> {
        self.lines[place(die, kind)].waiting.iter().map(|waiting| waiting.id)
    }

    /// Forms a command from the oldest transaction of the die if it is starving. Checked only once
    /// in a while.
    #[inline]
    pub fn form_starving(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        view.now >= self.watch[die] && self.form_oldest(die, view)
    }

    /// Notes that the die has looked for starving transactions, if it is time to, and found none.
    #[inline]
    pub fn look_for_starving(&mut self, die: DieId, now: Time) {
        let watch = &mut self.watch[die];
        if now >= *watch {
            *watch = now + STARVING;
        }
    }

    /// True if the oldest transaction of a kind is starving. Checked only once in a while, instead
    /// of [`Queues::form_starving`].
    pub fn starves(&mut self, die: DieId, kind: Kind, view: &View<'_>) -> bool {
        let id = self.front(die, kind);
        if id == TransactionId::NONE || view.now < self.watch[die] {
            return false;
        }
        self.watch[die] = view.now + STARVING;
        view.now.saturating_sub(view.transactions[id].mark) > STARVING
    }

    /// True if the die looks for starving transactions as soon as it is idle.
    pub fn looks_for_starving(&self, die: DieId, now: Time) -> bool {
        now >= self.watch[die]
    }

    /// True if the oldest transaction of a list of several kinds is a program that can go.
    pub fn leads_program(&self, die: DieId, kind: Kind, view: &View<'_>) -> bool {
        let oldest = self.front(die, kind);
        oldest != TransactionId::NONE && {
            let tr = &view.transactions[oldest];
            tr.op == Op::Program && view.is_ready(tr)
        }
    }

    #[cold]
    fn form_oldest(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.watch[die] = view.now + STARVING;
        let waiting = (0..KINDS as u8).map(Kind).filter(|&kind| !self.is_empty(die, kind));
        let since = |kind: &Kind| view.transactions[self.front(die, *kind)].mark;
        let Some(oldest) = waiting.min_by_key(since) else { return false };
        view.now.saturating_sub(since(&oldest)) > STARVING
            && self.form_seldom(die, oldest, None, view)
    }

    /// Forms a command from `first`, led by its oldest transaction that can go, with partners for
    /// other planes from `first` and then from `second`. False if nothing of `first` can go.
    #[inline(always)]
    pub fn form(
        &mut self,
        die: DieId,
        first: Kind,
        second: Option<Kind>,
        view: &mut View<'_>,
    ) -> bool {
        !self.is_empty(die, first) && self.form_waiting(die, first, second, view)
    }

    /// Does [`form`](Self::form), where something of `first` waits.
    fn form_waiting(
        &mut self,
        die: DieId,
        first: Kind,
        second: Option<Kind>,
        view: &mut View<'_>,
    ) -> bool {
        let Some(leader) = self.lead(die, first, view) else { return false };
        if view.rules.planes_per_die > 1 && !view.stays_alone() {
            self.join(die, first, leader, view);
            if let Some(second) = second
                && (view.batch.len() as u32) < view.rules.planes_per_die
            {
                self.join(die, second, leader, view);
            }
        }
        true
    }

    /// Does [`form`](Self::form), where that is seldom called.
    #[cold]
    #[inline(never)]
    pub fn form_seldom(
        &mut self,
        die: DieId,
        first: Kind,
        second: Option<Kind>,
        view: &mut View<'_>,
    ) -> bool {
        self.form(die, first, second, view)
    }

    /// Forms a command from the oldest transactions only, so that no transaction is overtaken.
    pub fn form_in_order(&mut self, die: DieId, kind: Kind, view: &mut View<'_>) -> bool {
        if self.lead(die, kind, view).is_none() {
            return false;
        }
        while (view.batch.len() as u32) < view.rules.planes_per_die {
            let id = self.front(die, kind);
            if id == TransactionId::NONE || view.is_stale(id) || !view.joins(id) {
                break;
            }
            self.take(die, kind, 0, view.batch);
        }
        true
    }

    /// Forms the best command among those led by one of the oldest `window` transactions of a kind.
    /// The best covers the most planes, then has the most transactions of one request, then the
    /// oldest leader.
    pub fn form_deepest(
        &mut self,
        die: DieId,
        kind: Kind,
        window: u32,
        view: &mut View<'_>,
    ) -> bool {
        let (mut best, mut leader) = ((0, 0), None);
        for (position, id) in self.iter(die, kind).take(window as usize).enumerate() {
            if view.is_ready(&view.transactions[id]) {
                let (depth, connected) = self.overlap(die, kind, id, window, view);
                if (depth, connected) > best {
                    (best, leader) = ((depth, connected), Some(position));
                }
                if connected == view.rules.planes_per_die {
                    break;
                }
            }
        }
        let Some(position) = leader else {
            return self.form(die, kind, None, view);
        };
        let traits = self.take(die, kind, position, view.batch);
        self.join(die, kind, traits, view);
        true
    }

    /// Planes that a command led by a transaction would cover, and the number of its transactions
    /// that belong to the leader's request.
    fn overlap(
        &self,
        die: DieId,
        kind: Kind,
        leader: TransactionId,
        window: u32,
        view: &mut View<'_>,
    ) -> (u32, u32) {
        view.batch.push(leader);
        let request = view.transactions[leader].request;
        let mut connected = 1;
        for id in self.iter(die, kind).take(window as usize) {
            if view.batch.len() as u32 == view.rules.planes_per_die {
                break;
            }
            if id != leader && view.joins(id) {
                connected += u32::from(
                    request != RequestId::NONE && view.transactions[id].request == request,
                );
                view.batch.push(id);
            }
        }
        let depth = view.batch.len() as u32;
        debug_assert!(connected <= depth, "those of the request are part of the command");
        view.batch.clear();
        (depth, connected)
    }

    /// Forms a command from the oldest read that can go, in a list of several kinds, if only reads
    /// are before it. `None` if no read can go before something else: that is what the die does
    /// next.
    pub fn form_read(&mut self, die: DieId, kind: Kind, view: &mut View<'_>) -> Option<bool> {
        self.cancel_stale(die, kind, view);
        let read = |id: TransactionId| view.transactions[id].op == Op::Read;
        let goes =
            |&id: &TransactionId| view.is_ready(&view.transactions[id]) && !view.is_stale(id);
        if self.iter(die, kind).take_while(|&id| read(id)).any(|id| goes(&id)) {
            return Some(self.form_seldom(die, kind, None, view));
        }
        if !self.iter(die, kind).all(read) {
            return None;
        }
        Some(false)
    }

    /// Removes pointless migrations from the head of a line.
    pub fn cancel_stale(&mut self, die: DieId, kind: Kind, view: &mut View<'_>) {
        while !self.is_empty(die, kind) && view.is_stale(self.front(die, kind)) {
            self.take(die, kind, 0, view.cancelled);
        }
    }

    /// Takes the oldest transaction of a kind that can go, as the leader of a command.
    #[inline(always)]
    fn lead(&mut self, die: DieId, kind: Kind, view: &mut View<'_>) -> Option<Traits> {
        debug_assert!(view.batch.is_empty(), "a command has one leader");
        // Usually the oldest of all can go.
        let &Waiting { id, traits } = self.lines[place(die, kind)].waiting.front()?;
        if traits.may_stay() {
            if view.is_stale(id) || !view.is_ready(&view.transactions[id]) {
                return self.lead_behind(die, kind, view);
            }
        } else if view.rules.beside.reads {
            return self.lead_behind(die, kind, view);
        }
        let leader = self.take(die, kind, 0, view.batch);
        if traits.may_stay() {
            // Behind collection, the next one waited long as well: its memory is far away.
            view.transactions.prefetch(self.front(die, kind));
        }
        Some(leader)
    }

    /// Does [`lead`](Self::lead), where the oldest may have to stay.
    fn lead_behind(&mut self, die: DieId, kind: Kind, view: &mut View<'_>) -> Option<Traits> {
        let at = place(die, kind);
        let mut position = 0;
        while let Some(&Waiting { id, traits }) = self.lines[at].waiting.get(position) {
            debug_assert_eq!(
                traits,
                Traits::of(&view.transactions[id], self.pages),
                "nothing that waits moves"
            );
            if traits.may_stay() && view.is_stale(id) {
                self.take(die, kind, position, view.cancelled);
            } else if !(traits.may_stay() || view.rules.beside.reads)
                || view.is_ready(&view.transactions[id])
            {
                let leader = self.take(die, kind, position, view.batch);
                if traits.may_stay() {
                    // Behind collection, the next one waited long as well: its memory is far away.
                    view.transactions.prefetch(self.front(die, kind));
                }
                return Some(leader);
            } else {
                position += 1;
            }
        }
        None
    }

    /// Adds partners of a kind to the command being formed.
    #[inline(always)]
    fn join(&mut self, die: DieId, kind: Kind, leader: Traits, view: &mut View<'_>) {
        debug_assert!(!view.batch.is_empty(), "partners join a leader");
        let line = &self.lines[place(die, kind)];
        // Collection of a single plane fills a line with pages that cannot go together.
        if !(line.waiting.is_empty() | (line.only_plane == leader.plane())) {
            self.join_waiting(die, kind, leader, view);
        }
    }

    /// Adds partners from a line that may have some.
    fn join_waiting(&mut self, die: DieId, kind: Kind, leader: Traits, view: &mut View<'_>) {
        let at = place(die, kind);
        let line = &self.lines[at];
        let only = line.only_plane;
        let takes_it = |id: &TransactionId| Traits::plane_of(&view.transactions[*id]) == only;
        if only != NONE && view.batch[1..].iter().any(takes_it) {
            return;
        }
        let (mut from, mut end) = (0, line.waiting.len().min(self.partner_scan));
        loop {
            let waiting = &self.lines[at].waiting;
            let found = (from..end).find_map(|at| {
                let near = waiting.get(at)?;
                near.traits.complete(leader).then_some((at, near))
            });
            let Some((found, &Waiting { id, traits })) = found else { return };
            from = found;
            let tr = &view.transactions[id];
            debug_assert_eq!(traits, Traits::of(tr, self.pages), "nothing that waits moves");
            if view.batch[1..].iter().all(|&id| view.transactions[id].plane != tr.plane)
                && (!traits.may_stay() || view.is_ready(tr) && !view.is_stale(id))
            {
                self.take(die, kind, from, view.batch);
                if view.batch.len() as u32 == view.rules.planes_per_die {
                    return;
                }
                end -= 1;
            } else {
                from += 1;
            }
        }
    }

    /// Every waiting transaction of a die, for audits.
    pub fn waiting(&self, die: DieId) -> u32 {
        for kind in (0..KINDS as u8).map(Kind) {
            let empty = self.len(die, kind) == 0;
            assert_eq!(self.is_empty(die, kind), empty, "queues that hold something are known");
        }
        (0..KINDS as u8).map(|kind| self.len(die, Kind(kind))).sum()
    }
}
