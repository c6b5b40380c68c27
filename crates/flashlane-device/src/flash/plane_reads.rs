//! Independent reads of planes (`flash.independent_plane_reads`): each plane of a die reads one
//! page at any address, and starts by itself.
//!
//! A die that reads is in the state `Reading` while any of its planes senses a page or holds its
//! data. A plane that reads does not keep the other planes of the die from reading. Programs and
//! erases need the whole die: they begin when all of its planes are free.
//!
//! With `flash.cache_read` a plane has a cache register beside its data register. The data of a
//! page goes there when the page is sensed, if the register is empty. So the plane senses the next
//! page while the last one crosses the channel. (ONFI: read cache random, 31h.)
//!
//! Invariants: a plane senses one page at a time, and no register is filled before it is empty. No
//! plane reads while its die programs or erases, unless the operation is suspended. A die that
//! reads is in the set `changing` of its chip exactly while one of its planes could take a read.
//! Source: US patent 11,989,458 (asynchronous independent plane read); `docs/model-flash.md`.

use flashlane_engine::{Array, Time};
use flashlane_units::{ChipId, DieId, PlaneId, TransactionId};

use super::command::{Command, CommandTime};
use super::timing::Cells;
use super::{DieState, Flash, Running, channel};
use crate::context::Context;
use crate::transaction::{Op, Transactions, pages_from};

/// What a plane reads.
#[derive(Clone, Copy, Debug)]
struct PlaneRead {
    /// The page that is sensed, or that waits in the data register until the cache register is
    /// empty. `NONE`: there is none.
    head: TransactionId,
    /// Start and end of the array operation.
    since: Time,
    until: Time,
    /// True if the page is sensed, and waits for the cache register.
    sensed: bool,
    /// True if the plane holds data that waits for the channel, or is on it.
    holds_data: bool,
}

const NOTHING: PlaneRead = PlaneRead {
    head: TransactionId::NONE,
    since: Time::ZERO,
    until: Time::ZERO,
    sensed: false,
    holds_data: false,
};

impl PlaneRead {
    /// True if the array works.
    fn senses(&self) -> bool {
        self.head != TransactionId::NONE && !self.sensed
    }

    /// True if the plane does nothing.
    fn is_free(&self) -> bool {
        self.pages() == 0
    }

    /// Pages that the plane senses or holds.
    fn pages(&self) -> u32 {
        u32::from(self.head != TransactionId::NONE) + u32::from(self.holds_data)
    }
}

/// The reads of all planes.
#[derive(Clone, Debug)]
pub(super) struct PlaneReads {
    planes: Array<PlaneId, PlaneRead>,
    per_die: u32,
    /// True if planes have cache registers.
    cached: bool,
}

impl PlaneReads {
    /// The planes of a drive, which are free.
    pub(super) fn new(planes: u32, per_die: u32, cached: bool) -> Box<Self> {
        Box::new(Self { planes: Array::of(NOTHING, planes as usize), per_die, cached })
    }

    fn first(&self, die: DieId) -> PlaneId {
        PlaneId::new(die.get() * self.per_die)
    }

    /// The planes of a die.
    fn of(&self, die: DieId) -> &[PlaneRead] {
        let first = self.first(die).index();
        let all: &[PlaneRead] = &self.planes;
        &all[first..first + self.per_die as usize]
    }

    /// True if the plane could begin a read.
    fn is_open(&self, plane: &PlaneRead) -> bool {
        plane.head == TransactionId::NONE && (self.cached || !plane.holds_data)
    }

    /// The planes of a die that cannot begin a read, one bit each.
    fn closed(&self, die: DieId) -> u32 {
        (0..).zip(self.of(die)).map(|(at, plane)| u32::from(!self.is_open(plane)) << at).sum()
    }

    /// True if some plane of the die could begin a read.
    fn has_open(&self, die: DieId) -> bool {
        self.of(die).iter().any(|plane| self.is_open(plane))
    }
}

impl Flash {
    /// True if the planes of a die read independently.
    #[inline(always)]
    pub(crate) fn reads_by_plane(&self) -> bool {
        self.reads.is_some()
    }

    /// True if a plane may sense a page while it holds data.
    pub(crate) fn caches_reads(&self) -> bool {
        self.reads.as_ref().is_some_and(|reads| reads.cached)
    }

    /// True if a die reads, plane by plane.
    pub(crate) fn is_reading(&self, die: DieId) -> bool {
        self.dies[die].state == DieState::Reading
    }

    /// The planes of a die that reads which cannot take a read now, one bit each; `None` if no
    /// plane can. A die that has suspended an operation takes more reads only while it may stay
    /// suspended.
    pub(crate) fn closed_planes(&self, die: DieId, now: Time) -> Option<u32> {
        let reads = self.reads.as_ref()?;
        let it = &self.dies[die];
        let stays = it.suspended.as_ref().is_none_or(|suspended| {
            now.saturating_sub(suspended.since).0 < it.spare
                && self.gives_way(suspended.op, false, suspended.left)
        });
        let open = it.state == DieState::Reading && stays && reads.has_open(die);
        open.then(|| reads.closed(die))
    }

    /// The dies of a chip that may take a read for which something waits: idle ones, and those that
    /// read and have a free plane. Others whose operation may be interrupted may be among them.
    pub(crate) fn readable_dies(&self, chip: ChipId) -> u32 {
        let free = self.free_dies(chip);
        if self.reads.is_none() { free } else { free | self.interruptible_dies(chip) }
    }

    /// The read that a plane has begun last.
    pub(crate) fn read_of(&self, plane: PlaneId) -> Running {
        let reads = self.reads.as_ref().expect("planes read independently");
        let PlaneRead { head, since, until, .. } = reads.planes[plane];
        Running { head, op: Op::Read, commanded: since, since, until }
    }

    /// Sends a read of `sectors` sectors of one page to its plane, as
    /// [`issue_page`](Self::issue_page) does for a die.
    #[cold]
    #[inline(never)]
    pub(super) fn issue_read(
        &mut self,
        cx: &mut Context,
        die: DieId,
        (head, sectors): (TransactionId, u32),
        cells: Cells,
        lone: bool,
    ) {
        let bus = self.timing.command(Op::Read, 1);
        let after = DieState::Idle;
        let command = Command { op: Op::Read, head, sectors, cells, pages: 1, after };
        self.send_read(cx, die, command, CommandTime { bus, settle: 0 }, lone);
    }

    /// Sends a read of one page to its plane, which must be free. The channel must be free, too.
    /// `lone`: no queued work waits for the channel.
    #[cold]
    #[inline(never)]
    pub(super) fn send_read(
        &mut self,
        cx: &mut Context,
        die: DieId,
        command: Command,
        time: CommandTime,
        lone: bool,
    ) {
        let Command { op, head, sectors, cells, pages, .. } = command;
        assert!(op == Op::Read && pages == 1, "planes read a page each");
        let sent = cx.now + Time(time.bus);
        let array = self.array_time(&cx.transactions, (op, head), cells, sectors);
        let until = sent + Time(time.settle + array);
        let place = cx.events.reserve();
        let plane = cx.transactions[head].plane;
        let reads = self.reads.as_mut().expect("planes read independently");
        let state = &mut self.dies[die];
        let takes = matches!(state.state, DieState::Idle | DieState::Reading);
        assert!(takes, "no plane of die {die} reads while the die does something else");
        let before = reads.planes[plane];
        assert!(reads.is_open(&before), "plane {plane} does one thing at a time");
        reads.planes[plane] = PlaneRead { head, since: sent, until, ..before };
        (state.state, state.op) = (DieState::Reading, Op::Read);
        state.sectors = sectors as u16;
        let at = state.place(die);
        let others = self.sets[at.chip].idle | 1 << at.die_in_chip;
        self.note_open(die);
        self.count_command(Op::Read, 1, others != u32::MAX);
        let awaited = !lone && self.wanted[at.channel] != 0;
        let over = cx.events.reserve();
        self.channels[at.channel].sense(until, over, die);
        self.hold_channel(cx, at.channel, (sent, place), time.bus, awaited);
    }

    /// Notes whether a die that reads has a plane that could begin a read.
    fn note_open(&mut self, die: DieId) {
        let open = self.reads.as_ref().is_some_and(|reads| reads.has_open(die));
        let place = self.place_of(die);
        self.note(place, false, open);
    }

    /// A plane of a die has sensed its page, up to `end`: the data waits for the channel, or for
    /// the cache register.
    #[cold]
    #[inline(never)]
    pub(super) fn plane_has_read(
        &mut self,
        transactions: &mut Transactions,
        die: DieId,
        end: Time,
    ) {
        let reads = self.reads.as_mut().expect("planes read independently");
        let ended = |plane: &PlaneRead| plane.senses() && plane.until == end;
        let at = reads.of(die).iter().position(ended).expect("a plane has read then");
        let plane = reads.first(die).plus(at as u32);
        let PlaneRead { head, since, .. } = reads.planes[plane];
        self.plane_stops(die, (since, end), head, transactions);
        transactions[head].worked(since, end);
        let reads = self.reads.as_mut().expect("planes read independently");
        let it = &mut reads.planes[plane];
        it.sensed = true;
        if !it.holds_data {
            self.hand_over(plane, transactions);
            self.note_open(die);
        }
    }

    /// The data that a plane has sensed leaves its data register, and waits for the channel.
    fn hand_over(&mut self, plane: PlaneId, transactions: &Transactions) {
        let channel = self.dies[self.die_of(plane)].channel;
        let reads = self.reads.as_mut().expect("planes read independently");
        let it = &mut reads.planes[plane];
        assert!(it.sensed && !it.holds_data, "a register of plane {plane} is empty before");
        (it.sensed, it.holds_data) = (false, true);
        let id = std::mem::replace(&mut it.head, TransactionId::NONE);
        let class = channel::class_of(transactions[id].source);
        self.channels[channel].push_data(class, id);
    }

    /// The data of a plane is in the controller. The next page may leave the data register.
    #[cold]
    #[inline(never)]
    pub(super) fn plane_gave_data(&mut self, cx: &Context, plane: PlaneId) {
        let die = self.die_of(plane);
        let reads = self.reads.as_mut().expect("planes read independently");
        let it = &mut reads.planes[plane];
        assert!(it.holds_data, "plane {plane} gives its data away");
        it.holds_data = false;
        if it.sensed {
            self.hand_over(plane, &cx.transactions);
        }
        self.served_suspended(die, cx.now);
    }

    /// A page of read data has left a die whose planes read independently. True if the die is free
    /// and has suspended something.
    #[cold]
    #[inline(never)]
    pub(super) fn plane_is_free(&mut self, die: DieId) -> bool {
        assert!(self.is_reading(die), "die {die} gives its data away");
        if self.pages_on_planes(die) > 0 {
            self.note_open(die);
            return false;
        }
        self.set_state(die, DieState::Idle);
        self.dies[die].holds_suspended
    }

    /// Start of the earliest read that a plane of the chip senses; the end of time if there is
    /// none. Unit: picoseconds.
    pub(super) fn planes_read_since(&self, chip: ChipId) -> u64 {
        let of_chip = self.sensing_of_chip(chip);
        of_chip.map(|(since, _)| since.0).min().unwrap_or(u64::MAX)
    }

    /// Start and end of the reads that the planes of a chip sense.
    pub(super) fn sensing_of_chip(&self, chip: ChipId) -> impl Iterator<Item = (Time, Time)> + '_ {
        let dies = self.first_die(chip);
        let of_die = |die| self.reads.iter().flat_map(move |reads| reads.of(die));
        (0..self.dies_per_chip())
            .flat_map(move |at| of_die(dies.plus(at)))
            .filter(|plane| plane.senses())
            .map(|plane| (plane.since, plane.until))
    }

    /// The reads that planes sense: first pages, with start and end.
    pub(super) fn sensing(&self) -> impl Iterator<Item = (TransactionId, Time, Time)> + '_ {
        let planes = self.reads.iter().flat_map(|reads| reads.planes.iter());
        planes.filter(|plane| plane.senses()).map(|plane| (plane.head, plane.since, plane.until))
    }

    /// Pages that the planes of a die read or hold.
    #[cold]
    #[inline(never)]
    pub(super) fn pages_on_planes(&self, die: DieId) -> u32 {
        let planes = self.reads.iter().flat_map(|reads| reads.of(die));
        planes.map(PlaneRead::pages).sum()
    }

    /// Remaining time of the longest read that the planes of a die sense. Unit: picoseconds.
    #[cold]
    #[inline(never)]
    pub(super) fn plane_time_left(&self, die: DieId, now: Time) -> u64 {
        let planes = self.reads.iter().flat_map(|reads| reads.of(die));
        let left = |plane: &PlaneRead| plane.until.saturating_sub(now).0;
        planes.filter(|plane| plane.senses()).map(left).max().unwrap_or(0)
    }

    /// The first page that a plane of a die senses; `None` if no plane senses.
    #[cold]
    #[inline(never)]
    pub(super) fn sensed_by(&self, die: DieId) -> Option<TransactionId> {
        let mut planes = self.reads.iter().flat_map(|reads| reads.of(die));
        planes.find(|plane| plane.senses()).map(|plane| plane.head)
    }

    /// Checks the planes of a die, for audits.
    pub(super) fn audit_planes(&self, id: DieId, transactions: &Transactions) {
        let Some(reads) = &self.reads else { return };
        let die = &self.dies[id];
        let busy = !reads.of(id).iter().all(PlaneRead::is_free);
        let reading = die.state == DieState::Reading;
        assert_eq!(reading, busy, "no plane of die {id} reads while the die does more");
        let alone = !matches!(die.state, DieState::Array) || die.op != Op::Read;
        assert!(alone, "the planes of die {id} read by themselves");
        let open = self.sets[die.chip].changing >> die.die_in_chip & 1 != 0;
        assert!(!reading || open == reads.has_open(id), "it is known where die {id} may read");
        for (at, plane) in (0..).zip(reads.of(id)) {
            let pages = plane.pages();
            assert!(pages <= 1 || reads.cached, "a plane of die {id} does one thing at a time");
            assert!(!plane.sensed || pages == 2, "a page of die {id} waits for a full register");
            for page in pages_from(transactions, plane.head) {
                let tr = &transactions[page];
                let here = tr.op == Op::Read && tr.plane == reads.first(id).plus(at);
                assert!(here, "a plane of die {id} reads its own page");
            }
        }
    }
}
