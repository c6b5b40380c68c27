//! Commands: from the channel to the array of a die, and their ends there.

use super::timing::Cells;
use flashlane_engine::{Sequence, Time};
use flashlane_units::{ChannelId, DieId, TransactionId};

use super::channel::COMMANDS;
use super::{DieState, Flash, channel};
use crate::context::Context;
use crate::event::Event;
use crate::flash::DiePlace;
use crate::transaction::{Op, Source, Transaction, Transactions};

/// A command for a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    pub(super) op: Op,
    /// First transaction of the command; the others follow by `sibling`.
    pub(super) head: TransactionId,
    /// Sectors of its largest page.
    pub(super) sectors: u32,
    /// The cells of its first page.
    pub(super) cells: Cells,
    /// Number of pages.
    pub(super) pages: u64,
    /// State of the die before the command.
    pub(super) after: DieState,
}

/// A program or an erase that has ended in the array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) op: Op,
    /// First transaction of the operation; the others follow by `sibling`.
    pub(crate) head: TransactionId,
    since: Time,
}

/// The event at the end of an array operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArrayEnd {
    /// The operation was interrupted, and ends later.
    Stale,
    /// The end of a read, with its first transaction.
    Read(TransactionId),
    /// The end of a program or an erase.
    Change(Ended),
}

/// The sectors of a page that a command concerns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageSectors {
    /// Sectors that the operation concerns.
    pub(crate) all: u32,
    /// Sectors that cross the channel.
    pub(crate) moved: u32,
}

/// The pages of a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    /// The first one; the others follow by `sibling`.
    pub(super) head: TransactionId,
    /// Sectors of the largest page.
    pub(super) sectors: u32,
    /// Time on the channel of the data that goes with the command. Unit: picoseconds.
    pub(super) data: u64,
}

/// Times of the start of a command. Unit: picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandTime {
    /// Time on the channel: command, addresses and program data.
    pub(super) bus: u64,
    /// Time after the channel until the die takes the command.
    pub(super) settle: u64,
}

impl Flash {
    /// Sends a command to a die. The channel must be free. `cells`: those of its first page. With
    /// `interrupt`, the die first suspends the program or erase that it runs.
    pub(crate) fn issue(
        &mut self,
        cx: &mut Context,
        die: DieId,
        pages: &[TransactionId],
        cells: Cells,
        interrupt: bool,
    ) {
        let planes = pages.len() as u64;
        debug_assert!(
            planes > 0 && planes <= u64::from(self.planes_per_die.get()),
            "a page a plane"
        );
        let op = cx.transactions[pages[0]].op;
        let mut bus = self.timing.command(op, planes);
        let mut settle = 0;
        if interrupt {
            bus += self.timing.suspend_command;
            settle = self.suspend(cx, die);
        }
        let Joined { head, sectors, data } = self.join_pages(cx, op, pages);
        if op == Op::Program {
            bus += data;
            self.data_follows(data);
        }
        let command = Command { op, head, sectors, cells, pages: planes, after: DieState::Idle };
        let time = CommandTime { bus, settle };
        if op == Op::Read && self.reads_by_plane() {
            self.send_read(cx, die, command, time, false);
        } else {
            self.send_command(cx, die, command, time, false);
        }
    }

    /// The pages of a command of `op` leave for their die.
    #[inline(always)]
    pub(super) fn join_pages(&self, cx: &mut Context, op: Op, pages: &[TransactionId]) -> Joined {
        let mut joined = Joined { head: TransactionId::NONE, sectors: 0, data: 0 };
        for &id in pages.iter().rev() {
            let tr = &mut cx.transactions[id];
            tr.goes_to_die(cx.now);
            tr.sibling = joined.head;
            joined.sectors = joined.sectors.max(tr.sectors());
            joined.head = id;
            if op == Op::Program {
                joined.data += self.timing.data(tr.moved_sectors());
            }
        }
        joined
    }

    /// Sends a command of one page to a die that is idle. The channel must be free. `lone`: nothing
    /// else waits for the channel.
    #[inline(always)]
    pub(crate) fn issue_page(
        &mut self,
        cx: &mut Context,
        die: DieId,
        (id, op): (TransactionId, Op),
        sectors: PageSectors,
        cells: Cells,
        lone: bool,
    ) {
        if op == Op::Read && self.reads_by_plane() {
            return self.issue_read(cx, die, (id, sectors.all), cells, lone);
        }
        let mut bus = self.timing.command(op, 1);
        if op == Op::Program {
            let data = self.timing.data(sectors.moved);
            bus += data;
            self.data_follows(data);
        }
        let sectors = sectors.all;
        let command = Command { op, head: id, sectors, cells, pages: 1, after: DieState::Idle };
        self.send_command(cx, die, command, CommandTime { bus, settle: 0 }, lone);
    }

    /// Takes the channel for a command, and the array of the die for its work after that. The die
    /// takes the command only after `settle`. Unit: picoseconds. `lone`: no queued work waits for
    /// the channel.
    #[inline(always)]
    pub(super) fn send_command(
        &mut self,
        cx: &mut Context,
        die: DieId,
        command: Command,
        time: CommandTime,
        lone: bool,
    ) {
        let CommandTime { bus, settle } = time;
        debug_assert!(bus > 0, "a command takes the channel");
        let Command { op, head, sectors, cells, pages, after } = command;
        let sent = cx.now + Time(bus);
        let place = cx.events.reserve();
        let whole = self.array_time(&cx.transactions, (op, head), cells, sectors);
        let state = &mut self.dies[die];
        assert_eq!(state.state, after, "a die runs one operation at a time");
        let at = state.place(die);
        state.state = DieState::Array;
        state.head = head;
        state.op = op;
        state.sectors = sectors as u16;
        state.whole = whole;
        state.since = sent;
        state.interruptible = sent;
        state.until = sent + Time(settle + state.whole);
        let (until, epoch) = (state.until, state.epoch);
        let DiePlace { chip, channel, die_in_chip, .. } = at;
        let changing = self.may_be_interrupted(op);
        let sets = &mut self.sets[chip];
        let others = sets.idle | 1 << die_in_chip;
        sets.note(at, false, changing);
        let wants = sets.wants();
        self.note_wanted(at, wants);
        let beside = after == DieState::Idle && others != u32::MAX;
        self.count_command(op, pages, beside);
        let awaited = !lone && self.wanted[channel] != 0;
        let over = cx.events.reserve();
        if op == Op::Read && !self.copyback {
            self.channels[channel].sense(until, over, die);
        } else {
            cx.events.schedule_at(until, over, Event::ArrayDone { die, epoch });
        }
        self.hold_channel(cx, channel, (sent, place), bus, awaited);
    }

    /// Counts a command. `beside`: another die of the chip is busy.
    #[inline(always)]
    pub(super) fn count_command(&mut self, op: Op, pages: u64, beside: bool) {
        self.counters.commands[op as usize][usize::from(pages > 1) + 2 * usize::from(beside)] += 1;
    }

    /// Takes the channel for a command and its data, for `bus` picoseconds up to `sent`. `place`:
    /// that of its end in the order of events; `awaited`: something waits for that end.
    #[inline(always)]
    pub(super) fn hold_channel(
        &mut self,
        cx: &mut Context,
        channel: ChannelId,
        (sent, place): (Time, Sequence),
        bus: u64,
        awaited: bool,
    ) {
        if self.separate {
            return self.hold_buses(cx, channel, (sent, place), bus);
        }
        let state = &mut self.channels[channel];
        assert!(!state.busy[COMMANDS], "a channel moves one thing at a time");
        state.busy[COMMANDS] = true;
        state.taken[COMMANDS] += bus;
        state.until = sent;
        if state.has_work() || awaited {
            cx.events.schedule_at(sent, place, Event::ChannelFree { channel });
        } else {
            state.unawaited = Some(place);
            state.await_sensing(channel, &mut cx.events);
        }
    }

    /// Handles the end of an array operation of a die.
    pub(crate) fn array_ends(&mut self, die: DieId, epoch: u16) -> ArrayEnd {
        let state = &self.dies[die];
        if state.epoch != epoch {
            return ArrayEnd::Stale;
        }
        assert_eq!(state.state, DieState::Array, "an array operation ends once");
        let (op, head, since) = (state.op, state.head, state.since);
        if op == Op::Read {
            ArrayEnd::Read(head)
        } else {
            ArrayEnd::Change(Ended { op, head, since })
        }
    }

    /// A program or an erase has ended. The die is idle now, unless the freed work is offered at
    /// once.
    pub(crate) fn change_ends(&mut self, cx: &mut Context, die: DieId) {
        let state = &self.dies[die];
        assert_eq!(state.until, cx.now, "an operation ends when its time is over");
        assert!(!state.awaited, "what may interrupt a die again is told");
        let channel = state.channel;
        self.look_at_sensing(cx, channel);
        self.die_stops(die, cx.now, &cx.transactions);
        if !self.scan_at_once {
            self.set_state(die, DieState::Idle);
        }
        self.dies[die].head = TransactionId::NONE;
    }

    /// Takes the next page off a program or an erase that has ended. Returns the page, its source,
    /// and the page after it.
    #[inline]
    pub(crate) fn take_page(
        &mut self,
        cx: &mut Context,
        ended: Ended,
        id: TransactionId,
    ) -> (Source, TransactionId) {
        let tr = &mut cx.transactions[id];
        tr.worked(ended.since, cx.now);
        let next = std::mem::replace(&mut tr.sibling, TransactionId::NONE);
        // A command may carry pages of several sources.
        let source = tr.source;
        self.count_change(source, ended.op);
        (source, next)
    }

    /// All pages of a program or an erase are handled, so that the die is idle.
    pub(crate) fn stands_idle(&mut self, die: DieId) {
        self.set_state(die, DieState::Idle);
    }

    /// A read has ended whose end is an event: its pages wait for the channel.
    #[inline(never)]
    pub(crate) fn read_arrives(&mut self, cx: &mut Context, die: DieId) {
        self.read_done(&mut cx.transactions, die, cx.now);
    }

    /// Queues the pages of an array read that ended at `end` for the channel.
    #[inline(always)]
    pub(super) fn read_done(&mut self, transactions: &mut Transactions, die: DieId, end: Time) {
        if self.reads_by_plane() {
            return self.plane_has_read(transactions, die, end);
        }
        let source = self.die_stops(die, end, transactions);
        let state = &mut self.dies[die];
        let class = channel::class_of(source);
        let channel = &mut self.channels[state.channel];
        let mut pages = 0;
        let mut id = state.head;
        while id != TransactionId::NONE {
            let tr = &mut transactions[id];
            tr.worked(state.since, end);
            let next = tr.sibling;
            tr.sibling = TransactionId::NONE;
            pages += 1;
            channel.push_data(class, id);
            id = next;
        }
        assert!(pages > 0, "a read has a page");
        state.state = DieState::DataOut;
        state.head = TransactionId::NONE;
        state.data_left = pages;
    }

    /// The array operation that has just been counted was the first pass of a word line, which
    /// counts as programmed after its second pass.
    pub(crate) fn first_pass_over(&mut self, source: Source) {
        *self.counter_of(source, Op::Program) -= self.programs_per_unit;
    }

    /// Counts a program or an erase that is over.
    #[inline]
    fn count_change(&mut self, source: Source, op: Op) {
        let programs = self.programs_per_unit;
        *self.counter_of(source, op) += if op == Op::Program { programs } else { 1 };
    }

    /// Counts the pages that were sensed for a read.
    #[inline(always)]
    pub(super) fn count_read(
        &mut self,
        transactions: &Transactions,
        id: TransactionId,
        source: Source,
    ) {
        *self.counter_of(source, Op::Read) += 1;
        if self.unit_pages.is_some() {
            self.count_more_pages(&transactions[id]);
        }
    }

    /// Counts the pages but for one that were sensed for a read, where units have several.
    #[cold]
    #[inline(never)]
    fn count_more_pages(&mut self, tr: &Transaction) {
        let pages = self.unit_pages.map_or(1, |unit| unit.sensed(tr).len());
        *self.counter_of(tr.source, Op::Read) += u64::from(pages) - 1;
    }

    /// The number of operations of this kind.
    #[inline]
    fn counter_of(&mut self, source: Source, op: Op) -> &mut u64 {
        let c = &mut self.counters;
        match (op, source) {
            (Op::Erase, _) => &mut c.erases,
            (Op::Read, Source::User | Source::Cache) => &mut c.user_reads,
            (Op::Read, Source::Gc) => &mut c.gc_reads,
            (Op::Read, Source::Mapping) => &mut c.mapping_reads,
            (Op::Program, Source::User | Source::Cache) => &mut c.user_programs,
            (Op::Program, Source::Gc) => &mut c.gc_programs,
            (Op::Program, Source::Mapping) => &mut c.mapping_programs,
        }
    }
}
