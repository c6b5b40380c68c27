//! Stage 7 of 8: the flash memory. Receives commands from `scheduler`, one per die at a time; sends
//! finished transactions back up to `ftl`, `cache` and `interface`.
//!
//! A command holds the channel for its command, address and program-data cycles; then the array of
//! its die works; read data takes the channel once more, page by page. Read data goes before new
//! commands. Invariants: a channel moves one thing at a time, a die runs one operation at a time
//! and has at most one suspended.
//! Source: MQSim (FAST'18) section 4.1; ONFI NV-DDR2.

mod copyback;
mod suspension;
pub(crate) mod timing;

use std::collections::VecDeque;

use flashlane_engine::{List, NONE, Slab, Time};

use crate::config::{CompatConfig, FlashConfig};
use crate::event::Event;
use crate::layout::Geometry;
use crate::ssd::Ssd;
use crate::transaction::{Op, Place, Source, Transaction};
use timing::FlashTiming;

/// What a die is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DieState {
    /// Nothing.
    Idle,
    /// A command is on the bus.
    Command,
    /// The array works.
    Array,
    /// Read data waits for the bus or is on it.
    DataOut,
    /// Pages in the registers of its planes wait for their program commands.
    Copyback,
}

/// An operation that was interrupted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspended {
    head: u32,
    op: Op,
    left: u64,
    whole: u64,
}

/// A die.
#[derive(Clone, Debug)]
pub(crate) struct Die {
    pub(crate) state: DieState,
    /// First transaction of the running command, linked by `sibling`.
    head: u32,
    op: Op,
    /// Counts interruptions, so that the end of an interrupted operation is recognised as stale.
    epoch: u16,
    /// Pages of read data still to move.
    data_left: u32,
    /// Sectors of the largest of them.
    sectors: u32,
    /// End of the command cycles, then of the array operation.
    until: Time,
    /// Start of the array operation, for accounts.
    since: Time,
    /// Array time of the operation without interruptions.
    whole: u64,
    /// From then on the operation may be interrupted.
    interruptible: Time,
    /// The die takes the command only after this delay: it was just suspended.
    settle: u64,
    suspended: Option<Suspended>,
    /// First page in a register that is programmed after the running command, or `NONE`.
    registers: u32,
}

/// A channel.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) busy: bool,
    /// The read data on the bus, or `NONE`.
    moving: u32,
    /// Read data that waits: mapping, user, collection.
    waiting: [List; 3],
    /// Dies with pages to program out of their registers.
    copybacks: VecDeque<u32>,
    /// Pages of read data moved since the scheduler last had the choice of all commands.
    moved: u32,
    /// Total time taken. Unit: picoseconds.
    pub(crate) taken: u64,
}

/// Accounts of a chip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChipAccount {
    /// Dies in an array operation.
    active: u32,
    active_since: Time,
    /// Time with at least one die active. Unit: picoseconds.
    pub(crate) busy: u64,
    /// Die-time by source: host, collection, mapping. Unit: picoseconds.
    pub(crate) by_source: [u64; 3],
}

/// Counters of the flash. Units: pages, unless named otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlashCounters {
    pub(crate) user_reads: u64,
    pub(crate) user_programs: u64,
    pub(crate) gc_reads: u64,
    pub(crate) gc_programs: u64,
    pub(crate) mapping_reads: u64,
    pub(crate) mapping_programs: u64,
    pub(crate) erases: u64,
    /// Commands by operation (reads, programs, erases); of one plane, of several, and the same while
    /// another die of the chip was busy.
    pub(crate) commands: [[u64; 4]; 3],
    pub(crate) program_suspends: u64,
    pub(crate) erase_suspends: u64,
    pub(crate) copybacks: u64,
}

/// The flash memory.
#[derive(Clone, Debug)]
pub(crate) struct Flash {
    pub(crate) timing: FlashTiming,
    pub(crate) channels: Vec<Channel>,
    pub(crate) dies: Vec<Die>,
    pub(crate) chips: Vec<ChipAccount>,
    pub(crate) counters: FlashCounters,
    /// Array time by flow and source, as in [`ChipAccount`]. Unit: picoseconds.
    pub(crate) by_flow: Vec<[u64; 3]>,
    dies_per_chip: u32,
    chips_per_channel: u32,
    planes_per_die: u32,
    suspend: crate::config::SuspendConfig,
    /// Collection moves pages inside their plane.
    copyback: bool,
    /// Waiting read data goes before every command.
    data_first: bool,
    /// What a finished page sets free is offered at once, while its die still counts as busy.
    scan_at_once: bool,
}

impl Flash {
    /// An idle flash memory.
    pub(crate) fn new(
        config: &FlashConfig,
        compat: &CompatConfig,
        copyback: bool,
        geometry: Geometry,
        flows: usize,
    ) -> Self {
        let channel = Channel {
            busy: false,
            moving: NONE,
            waiting: [List::default(); 3],
            copybacks: VecDeque::new(),
            moved: 0,
            taken: 0,
        };
        let die = Die {
            state: DieState::Idle,
            head: NONE,
            op: Op::Read,
            epoch: 0,
            data_left: 0,
            sectors: 0,
            until: Time::ZERO,
            since: Time::ZERO,
            whole: 0,
            interruptible: Time::ZERO,
            settle: 0,
            suspended: None,
            registers: NONE,
        };
        Self {
            timing: FlashTiming::new(config, compat),
            channels: vec![channel; geometry.channels as usize],
            dies: vec![die; geometry.dies() as usize],
            chips: vec![ChipAccount::default(); geometry.chips() as usize],
            counters: FlashCounters::default(),
            by_flow: vec![[0; 3]; flows],
            dies_per_chip: geometry.dies_per_chip,
            chips_per_channel: geometry.chips_per_channel,
            planes_per_die: geometry.planes_per_die,
            suspend: config.suspend.clone(),
            copyback,
            data_first: compat.data_before_commands,
            scan_at_once: compat.scan_at_once,
        }
    }

    /// The first transaction of the command that a die runs in its array.
    pub(crate) fn running(&self, die: u32) -> Option<u32> {
        let die = &self.dies[die as usize];
        (die.state == DieState::Array).then_some(die.head)
    }

    /// End of the array operation that a die runs; in the past where it runs none.
    pub(crate) fn busy_until(&self, die: u32) -> Time {
        let die = &self.dies[die as usize];
        if die.state == DieState::Array { die.until } else { Time::ZERO }
    }

    /// What is left until a die has served all that it has begun. Unit: picoseconds.
    pub(crate) fn service_left(
        &self,
        die: u32,
        now: Time,
        transactions: &Slab<Transaction>,
        page_of: impl Fn(&Transaction) -> u32,
    ) -> u64 {
        let die = &self.dies[die as usize];
        let suspended = die.suspended.map_or(0, |suspended| suspended.left);
        let (mut id, mut data, mut sectors) = (die.head, 0, 0);
        while matches!(die.state, DieState::Command | DieState::Array) && id != NONE {
            let tr = &transactions[id];
            sectors = sectors.max(tr.sectors());
            data += if die.op == Op::Read { self.timing.data(tr.sectors()) } else { 0 };
            id = tr.sibling;
        }
        suspended
            + match die.state {
                DieState::Idle | DieState::Copyback => 0,
                DieState::Command => {
                    let page = match die.op {
                        Op::Erase => 0,
                        _ => page_of(&transactions[die.head]),
                    };
                    let array = self.timing.array(die.op, page, sectors);
                    die.until.saturating_sub(now).0 + die.settle + array + data
                }
                DieState::Array => die.until.saturating_sub(now).0 + data,
                DieState::DataOut => u64::from(die.data_left) * self.timing.data(die.sectors),
            }
    }

    /// What is set free is offered at once, not when the event is over.
    pub(crate) fn scans_at_once(&self) -> bool {
        self.scan_at_once
    }

    /// Die of a plane.
    #[inline]
    pub(crate) fn die_of(&self, plane: u32) -> u32 {
        plane / self.planes_per_die
    }

    /// Chip of a die.
    #[inline]
    pub(crate) fn chip_of(&self, die: u32) -> u32 {
        die / self.dies_per_chip
    }

    /// Channel of a chip.
    #[inline]
    pub(crate) fn channel_of(&self, chip: u32) -> u32 {
        chip / self.chips_per_channel
    }

    /// Dies of a chip.
    #[inline]
    pub(crate) fn dies_of(&self, chip: u32) -> std::ops::Range<u32> {
        chip * self.dies_per_chip..(chip + 1) * self.dies_per_chip
    }

    /// True if no die of the chip does anything.
    pub(crate) fn chip_idle(&self, chip: u32) -> bool {
        self.dies_of(chip).all(|die| self.dies[die as usize].state == DieState::Idle)
    }

    /// Operations that the dies run or have suspended, for audits.
    pub(crate) fn on_dies(&self, transactions: &Slab<Transaction>) -> usize {
        let chain = |mut id: u32| {
            let mut count = 0;
            while id != NONE {
                count += 1;
                id = transactions[id].sibling;
            }
            count
        };
        self.dies
            .iter()
            .map(|die| {
                let running = if die.state == DieState::DataOut {
                    die.data_left as usize
                } else {
                    chain(die.head)
                };
                running + chain(die.registers) + die.suspended.map_or(0, |s| chain(s.head))
            })
            .sum()
    }

    /// Has a die run a command from now on, or nothing; for tests of policies.
    #[cfg(test)]
    pub(crate) fn pretend(&mut self, die: u32, running: Option<(u32, Op, Time)>) {
        let die = &mut self.dies[die as usize];
        (die.state, die.head) = (DieState::Idle, NONE);
        if let Some((head, op, until)) = running {
            (die.state, die.head, die.op, die.until) = (DieState::Array, head, op, until);
        }
    }

    fn die_starts(&mut self, die: u32, now: Time) {
        let chip_id = self.chip_of(die) as usize;
        let chip = &mut self.chips[chip_id];
        if chip.active == 0 {
            chip.active_since = now;
        }
        chip.active += 1;
    }

    /// The array of a die ends or interrupts the work of a command: its time belongs to the pages of the
    /// command in equal parts.
    fn die_stops(&mut self, die: u32, now: Time, transactions: &Slab<Transaction>) {
        let chip_id = self.chip_of(die) as usize;
        let Die { since, head, .. } = self.dies[die as usize];
        let chip = &mut self.chips[chip_id];
        chip.active -= 1;
        if chip.active == 0 {
            chip.busy += (now - chip.active_since).0;
        }
        let (mut pages, mut id) = (0, head);
        while id != NONE {
            pages += 1;
            id = transactions[id].sibling;
        }
        let whole = (now - since).0;
        let part = if pages == 1 { whole } else { whole / pages };
        let mut rest = whole - part * (pages - 1);
        id = head;
        while id != NONE {
            let tr = &transactions[id];
            let by = match tr.source {
                Source::User | Source::Cache => 0,
                Source::Gc => 1,
                Source::Mapping => 2,
            };
            // What does not divide evenly goes to the first.
            let taken = std::mem::replace(&mut rest, part);
            chip.by_source[by] += taken;
            self.by_flow[tr.flow as usize][by] += taken;
            id = tr.sibling;
        }
    }
}

impl Ssd {
    /// Sends the command in `self.batch` to a die. The channel must be free. With `interrupt`, the
    /// die runs a program or an erase that is suspended first.
    pub(crate) fn issue(&mut self, die: u32, interrupt: bool) {
        let now = self.now;
        let planes = self.batch.len() as u64;
        let op = self.transactions[self.batch[0]].op;
        let mut bus = self.flash.timing.command(op, planes);
        let mut settle = 0;
        if interrupt {
            bus += self.flash.timing.suspend_command;
            settle = self.suspend(die);
        }
        let mut head = NONE;
        for &id in self.batch.iter().rev() {
            let tr = &mut self.transactions[id];
            let waited = tr.lap(now);
            tr.chain.queue += waited;
            tr.sibling = head;
            tr.place = Place::Die;
            head = id;
            if op == Op::Program {
                bus += self.flash.timing.data(tr.moved_sectors());
                if !self.ftl.in_place {
                    let block = self.ftl.blocks.block_of(tr.ppa);
                    self.ftl.blocks.block_mut(block).issued += 1;
                }
            }
        }
        let chip = self.flash.chip_of(die);
        let siblings_busy = self
            .flash
            .dies_of(chip)
            .any(|d| d != die && self.flash.dies[d as usize].state != DieState::Idle);
        let counters = &mut self.flash.counters;
        let kind = usize::from(planes > 1) + 2 * usize::from(siblings_busy);
        counters.commands[op as usize][kind] += 1;
        let channel = &mut self.flash.channels[(chip / self.flash.chips_per_channel) as usize];
        assert!(!channel.busy, "a channel moves one thing at a time");
        channel.busy = true;
        channel.taken += bus;
        let state = &mut self.flash.dies[die as usize];
        assert_eq!(state.state, DieState::Idle, "a die runs one operation at a time");
        state.state = DieState::Command;
        state.head = head;
        state.op = op;
        state.settle = settle;
        state.until = now + Time(bus);
        self.queue.schedule(now + Time(bus), Event::CommandSent { die });
    }

    /// Command cycles are over: the array starts, the channel is free.
    pub(crate) fn on_command_sent(&mut self, die: u32) {
        let now = self.now;
        let state = &mut self.flash.dies[die as usize];
        let leader = state.head;
        let (mut id, mut sectors) = (leader, 0);
        while id != NONE {
            let tr = &mut self.transactions[id];
            let moved = tr.lap(now);
            tr.chain.bus += moved;
            sectors = sectors.max(tr.sectors());
            id = tr.sibling;
        }
        let page = match state.op {
            Op::Erase => 0,
            _ => self.ftl.blocks.page_of(self.transactions[leader].ppa),
        };
        let start = now + Time(state.settle);
        state.state = DieState::Array;
        state.since = now;
        state.sectors = sectors;
        state.whole = self.flash.timing.array(state.op, page, sectors);
        state.until = start + Time(state.whole);
        state.interruptible = now;
        let (until, epoch) = (state.until, state.epoch);
        self.flash.die_starts(die, now);
        self.queue.schedule(until, Event::ArrayDone { die, epoch });
        let channel = self.flash.channel_of(self.flash.chip_of(die));
        self.channel_free(channel);
    }

    /// The array is done: read data waits for the channel, programs and erases are complete.
    pub(crate) fn on_array_done(&mut self, die: u32, epoch: u16) {
        let now = self.now;
        let state = &mut self.flash.dies[die as usize];
        if state.epoch != epoch {
            return;
        }
        assert_eq!(state.state, DieState::Array, "an array operation ends once");
        let (op, head) = (state.op, state.head);
        self.flash.die_stops(die, now, &self.transactions);
        if op == Op::Read {
            if !(self.flash.copyback && self.copy_back(die)) {
                self.read_done(die, head);
            }
            return;
        }
        if !self.flash.scan_at_once {
            self.flash.dies[die as usize].state = DieState::Idle;
        }
        self.flash.dies[die as usize].head = NONE;
        let mut id = head;
        while id != NONE {
            let tr = &mut self.transactions[id];
            let worked = tr.lap(now);
            tr.chain.array += worked;
            let next = tr.sibling;
            tr.sibling = NONE;
            // A command may carry pages of several sources.
            let source = tr.source;
            self.count_operation(source, op);
            self.transaction_done(id);
            if self.flash.scan_at_once {
                self.dispatch_offered();
            }
            id = next;
        }
        self.flash.dies[die as usize].state = DieState::Idle;
        if self.flash.copyback && self.program_registers(die) {
            return;
        }
        self.resume(die);
        self.offer(self.flash.chip_of(die));
    }

    /// Queues the pages of a finished array read for the channel.
    fn read_done(&mut self, die: u32, head: u32) {
        let now = self.now;
        let channel = self.flash.channel_of(self.flash.chip_of(die));
        let class = match self.transactions[head].source {
            Source::Mapping => 0,
            Source::User | Source::Cache => 1,
            Source::Gc => 2,
        };
        let mut pages = 0;
        let mut id = head;
        while id != NONE {
            let tr = &mut self.transactions[id];
            let worked = tr.lap(now);
            tr.chain.array += worked;
            let next = tr.sibling;
            tr.sibling = NONE;
            pages += 1;
            let waiting = &mut self.flash.channels[channel as usize].waiting[class];
            waiting.push_back(id, &mut self.transactions);
            id = next;
        }
        let state = &mut self.flash.dies[die as usize];
        state.state = DieState::DataOut;
        state.head = NONE;
        state.data_left = pages;
        if !self.flash.channels[channel as usize].busy {
            self.move_data(channel);
        }
    }

    /// Starts the next transfer of read data on a free channel; false if none waits.
    fn move_data(&mut self, channel: u32) -> bool {
        let now = self.now;
        let state = &mut self.flash.channels[channel as usize];
        let Some(list) = state.waiting.iter_mut().find(|list| !list.is_empty()) else {
            return false;
        };
        let id = list.pop_front(&mut self.transactions);
        let tr = &mut self.transactions[id];
        let waited = tr.lap(now);
        tr.chain.queue += waited;
        let duration = self.flash.timing.data(tr.sectors());
        assert!(!state.busy, "a channel moves one thing at a time");
        state.busy = true;
        state.moved += 1;
        state.moving = id;
        state.taken += duration;
        self.queue.schedule(now + Time(duration), Event::DataSent { channel: channel as u16 });
        true
    }

    /// Read data is in the controller.
    pub(crate) fn on_data_sent(&mut self, channel: u16) {
        let now = self.now;
        let state = &mut self.flash.channels[channel as usize];
        let id = std::mem::replace(&mut state.moving, NONE);
        let tr = &mut self.transactions[id];
        let moved = tr.lap(now);
        tr.chain.bus += moved;
        let die = self.flash.die_of(tr.plane);
        let source = tr.source;
        self.count_operation(source, Op::Read);
        self.transaction_done(id);
        let state = &mut self.flash.dies[die as usize];
        state.data_left -= 1;
        if state.data_left == 0 {
            state.state = DieState::Idle;
            self.resume(die);
        }
        self.channel_free(u32::from(channel));
    }

    /// The channel is free. Read commands for idle dies go first: they are short, and an idle die
    /// behind a transfer is an array time lost. Then waiting read data, then the other commands; but
    /// after a page of data per die these have their turn, or reads without end would shut them out.
    fn channel_free(&mut self, channel: u32) {
        let dies = self.flash.chips_per_channel * self.flash.dies_per_chip;
        let state = &mut self.flash.channels[channel as usize];
        state.busy = false;
        if let Some(die) = state.copybacks.pop_front() {
            self.send_copyback(die);
            return;
        }
        let data_waits = state.waiting.iter().any(|list| !list.is_empty());
        let all_commands = !data_waits || (state.moved >= dies && !self.flash.data_first);
        if all_commands {
            self.dispatch(channel);
            let state = &mut self.flash.channels[channel as usize];
            if state.busy {
                return;
            }
            state.moved = 0;
        }
        if data_waits && (all_commands || self.flash.data_first || !self.dispatch_read(channel)) {
            self.move_data(channel);
        }
    }

    #[inline]
    fn count_operation(&mut self, source: Source, op: Op) {
        let c = &mut self.flash.counters;
        let counter = match (op, source) {
            (Op::Erase, _) => &mut c.erases,
            (Op::Read, Source::User | Source::Cache) => &mut c.user_reads,
            (Op::Read, Source::Gc) => &mut c.gc_reads,
            (Op::Read, Source::Mapping) => &mut c.mapping_reads,
            (Op::Program, Source::User | Source::Cache) => &mut c.user_programs,
            (Op::Program, Source::Gc) => &mut c.gc_programs,
            (Op::Program, Source::Mapping) => &mut c.mapping_programs,
        };
        *counter += 1;
    }
}
