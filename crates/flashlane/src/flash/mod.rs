//! Stage 7 of 8: the flash memory. Receives commands from `scheduler`, one per die at a time; sends
//! finished transactions back up to `ftl`, `cache` and `interface`.
//!
//! A command holds the channel for its command, address and program-data cycles; then the array of
//! its die works; read data takes the channel once more, page by page. Read data goes before new
//! commands. Invariants: a channel moves one thing at a time, a die runs one operation at a time
//! and has at most one suspended.
//! Source: MQSim (FAST'18) section 4.1; ONFI NV-DDR2.

mod accounts;
mod channel;
pub(crate) mod config;
mod copyback;
mod die;
mod sets;
mod suspension;
pub(crate) mod timing;

use flashlane_engine::{Array, Divisor, NONE, Slab, Time};

use crate::compat::CompatConfig;
use crate::device::Device;
use crate::event::Event;
use crate::flash::config::FlashConfig;
use crate::layout::Geometry;
use crate::transaction::{Op, Place, Source, Transaction};
use accounts::ChipAccount;
use channel::Channel;
use die::Suspended;
pub(crate) use die::{Die, DiePlace, DieState};
use sets::DieSets;
use timing::FlashTiming;

/// What a die does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    /// First transaction, linked by `sibling`.
    pub(crate) head: u32,
    pub(crate) op: Op,
    /// Start and end of the array operation.
    pub(crate) since: Time,
    pub(crate) until: Time,
}

/// A command for a die.
#[derive(Clone, Copy, Debug)]
struct Command {
    op: Op,
    /// Its first transaction, linked by `sibling`.
    head: u32,
    /// Sectors of its largest page.
    sectors: u32,
    /// Place of its first page in the block.
    page: u32,
    /// How many pages it has.
    pages: u64,
    /// What the die did before.
    after: DieState,
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
    pub(crate) channels: Array<Channel>,
    pub(crate) dies: Array<Die>,
    /// What the dies of each chip do.
    sets: Array<DieSets>,
    /// Chips of each channel at which something waits for a die that is idle, or that it may interrupt, a bit each.
    wanted: Array<u64>,
    /// Operations that may be interrupted: the bit of the number of each.
    interruptible: u8,
    pub(crate) chips: Array<ChipAccount>,
    pub(crate) counters: FlashCounters,
    /// Array time by flow and source, as in [`ChipAccount`]. Unit: picoseconds.
    pub(crate) by_flow: Array<[u128; 3]>,
    dies_per_chip: Divisor,
    chips_per_channel: Divisor,
    planes_per_die: Divisor,
    suspend: crate::flash::config::SuspendConfig,
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
        let small = |number: u32| u8::try_from(number).expect("a valid geometry");
        let die = |die: u32| Die {
            chip: die / geometry.dies_per_chip,
            die_in_chip: small(die % geometry.dies_per_chip),
            chip_in_channel: small(die / geometry.dies_per_chip % geometry.chips_per_channel),
            channel: small(die / geometry.dies_per_chip / geometry.chips_per_channel),
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
            suspended: None,
            holds_suspended: false,
            registers: NONE,
        };
        let dies = geometry.chips_per_channel * geometry.dies_per_chip;
        let channel = Channel::new(dies, compat.data_before_commands);
        Self {
            timing: FlashTiming::new(config, compat),
            channels: Array::of(channel, geometry.channels as usize),
            dies: (0..geometry.dies()).map(die).collect(),
            sets: Array::of(
                DieSets { idle: u32::MAX, changing: 0, waiting: 0, interrupting: 0 },
                geometry.chips() as usize,
            ),
            wanted: Array::of(0, geometry.channels as usize),
            interruptible: if compat.no_suspension {
                0
            } else {
                suspension::interruptible(&config.suspend)
            },
            chips: Array::of(ChipAccount::default(), geometry.chips() as usize),
            counters: FlashCounters::default(),
            by_flow: Array::of([0; 3], flows),
            dies_per_chip: Divisor::new(geometry.dies_per_chip),
            chips_per_channel: Divisor::new(geometry.chips_per_channel),
            planes_per_die: Divisor::new(geometry.planes_per_die),
            suspend: config.suspend.clone(),
            copyback,
            data_first: compat.data_before_commands,
            scan_at_once: compat.scan_at_once,
        }
    }

    /// The command that a die got last or goes on with.
    pub(crate) fn command_of(&self, die: u32) -> Running {
        let Die { head, op, since, until, .. } = self.dies[die as usize];
        Running { head, op, since, until }
    }

    /// Pages of read data that a die still holds.
    pub(crate) fn pages_left(&self, die: u32) -> u32 {
        self.dies[die as usize].data_left
    }

    /// The first transaction of the command that a die runs in its array.
    pub(crate) fn running(&self, die: u32, now: Time) -> Option<u32> {
        let die = &self.dies[die as usize];
        die.works_at(now).then_some(die.head)
    }

    /// What is left of the array operation that a die runs. Unit: picoseconds.
    pub(crate) fn busy(&self, die: u32, now: Time) -> u64 {
        let die = &self.dies[die as usize];
        if die.works_at(now) { die.until.saturating_sub(now).0 } else { 0 }
    }

    /// What is left until a die has served all that it has begun. Unit: picoseconds.
    pub(crate) fn service_left(
        &self,
        die: u32,
        now: Time,
        transactions: &Slab<Transaction>,
    ) -> u64 {
        let die = &self.dies[die as usize];
        let suspended = die.suspended.map_or(0, |suspended| suspended.left);
        let of_data = |pages: u32| u64::from(pages) * self.timing.data(u32::from(die.sectors));
        let known = |id: u32| (id != NONE).then_some(id);
        let pages =
            || std::iter::successors(known(die.head), |&id| known(transactions[id].sibling));
        suspended
            + match die.state {
                DieState::Idle | DieState::Copyback => 0,
                DieState::Array if die.op != Op::Read => die.until.saturating_sub(now).0,
                DieState::Array if die.until <= now => of_data(pages().count() as u32),
                DieState::Array => {
                    let data = |id: u32| self.timing.data(transactions[id].sectors());
                    die.until.saturating_sub(now).0 + pages().map(data).sum::<u64>()
                }
                DieState::DataOut => of_data(die.data_left),
            }
    }

    /// What is set free is offered at once, not when the event is over.
    pub(crate) fn scans_at_once(&self) -> bool {
        self.scan_at_once
    }

    /// Die of a plane.
    #[inline]
    pub(crate) fn die_of(&self, plane: u32) -> u32 {
        self.planes_per_die.divide(plane)
    }

    /// Chip and channel of a die.
    #[inline(always)]
    pub(crate) fn place_of(&self, die: u32) -> DiePlace {
        self.dies[die as usize].place(die)
    }

    /// Chip of a die.
    #[inline]
    pub(crate) fn chip_of(&self, die: u32) -> u32 {
        self.place_of(die).chip
    }

    /// Dies of a chip.
    #[inline]
    pub(crate) fn dies_of(&self, chip: u32) -> std::ops::Range<u32> {
        let dies = self.dies_per_chip.get();
        chip * dies..(chip + 1) * dies
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
        self.set_state(die, if running.is_some() { DieState::Array } else { DieState::Idle });
        let die = &mut self.dies[die as usize];
        die.head = NONE;
        if let Some((head, op, until)) = running {
            (die.head, die.op, die.until) = (head, op, until);
        }
    }
}

impl Device {
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
        let (mut head, mut sectors) = (NONE, 0);
        for &id in self.batch.iter().rev() {
            let tr = &mut self.transactions[id];
            let waited = tr.lap(now);
            tr.chain.queue += waited;
            tr.sibling = head;
            tr.place = Place::Die;
            sectors = sectors.max(tr.sectors());
            head = id;
            if op == Op::Program {
                bus += self.flash.timing.data(tr.moved_sectors());
                if !self.ftl.in_place {
                    let block = self.ftl.blocks.block_of(tr.ppa);
                    self.ftl.blocks.block_mut(block).issued += 1;
                }
            }
        }
        let page = self.ftl.blocks.page_of(self.transactions[head].ppa);
        let command = Command { op, head, sectors, page, pages: planes, after: DieState::Idle };
        self.send_command(die, command, bus, settle, false);
    }

    /// Sends a command of one page to a die that is idle. The channel must be free. `lone`: the transaction was
    /// in no queue, and nothing else waits for the channel.
    #[inline(always)]
    pub(crate) fn issue_page(&mut self, at: DiePlace, id: u32, lone: bool) {
        let now = self.now;
        let tr = &mut self.transactions[id];
        let waited = tr.lap(now);
        tr.chain.queue += waited;
        tr.sibling = NONE;
        tr.place = Place::Die;
        let (op, sectors, flow) = (tr.op, tr.sectors(), tr.flow);
        let mut bus = self.flash.timing.command(op, 1);
        if op == Op::Program {
            bus += self.flash.timing.data(tr.moved_sectors());
            if !self.ftl.in_place {
                let block = self.ftl.blocks.block_of(tr.ppa);
                self.ftl.blocks.block_mut(block).issued += 1;
            }
        }
        let page = self.ftl.blocks.page_of(tr.ppa);
        if !lone {
            self.left_queue(at, op, flow, Time(waited));
        }
        let command = Command { op, head: id, sectors, page, pages: 1, after: DieState::Idle };
        self.send_command(at.die, command, bus, 0, lone);
    }

    /// Takes the channel for a command, and the array of the die for its work after that. The die takes
    /// the command only after `settle`. Units: picoseconds. `lone`: no queued work waits for the channel.
    #[inline(always)]
    fn send_command(&mut self, die: u32, command: Command, bus: u64, settle: u64, lone: bool) {
        let Command { op, head, sectors, page, pages, after } = command;
        let sent = self.now + Time(bus);
        let place = self.queue.reserve();
        let flash = &mut self.flash;
        let state = &mut flash.dies[die as usize];
        assert_eq!(state.state, after, "a die runs one operation at a time");
        let at = state.place(die);
        state.state = DieState::Array;
        state.head = head;
        state.op = op;
        state.sectors = sectors as u16;
        state.whole = flash.timing.array(op, page, sectors);
        state.since = sent;
        state.interruptible = sent;
        state.until = sent + Time(settle + state.whole);
        let (until, epoch) = (state.until, state.epoch);
        let DiePlace { chip, channel, die_in_chip, .. } = at;
        let changing = flash.may_be_interrupted(op);
        let sets = &mut flash.sets[chip as usize];
        let others = sets.idle | 1 << die_in_chip;
        sets.note(at, false, changing);
        let wants = sets.wants();
        flash.note_wanted(at, wants);
        let beside = after == DieState::Idle && others != u32::MAX;
        flash.counters.commands[op as usize][usize::from(pages > 1) + 2 * usize::from(beside)] += 1;
        let awaited = !lone && flash.wanted[channel as usize] != 0;
        let state = &mut flash.channels[channel as usize];
        assert!(!state.busy, "a channel moves one thing at a time");
        state.busy = true;
        state.taken += bus;
        state.until = sent;
        let over = self.queue.reserve();
        if op == Op::Read && !flash.copyback {
            state.sense(until, over, die);
        } else {
            self.queue.schedule_at(until, over, Event::ArrayDone { die, epoch });
        }
        let channel = channel as u16;
        if state.has_work() || awaited {
            self.queue.schedule_at(sent, place, Event::ChannelFree { channel });
        } else {
            state.unawaited = Some(place);
            state.await_sensing(channel, &mut self.queue);
        }
        if self.observer.is_some() {
            self.observe_command(die);
        }
    }

    /// The array is done: read data waits for the channel, programs and erases are complete.
    pub(crate) fn on_array_done(&mut self, die: u32, epoch: u16) {
        let now = self.now;
        let state = &mut self.flash.dies[die as usize];
        if state.epoch != epoch {
            return;
        }
        assert_eq!(state.state, DieState::Array, "an array operation ends once");
        let (op, head, since) = (state.op, state.head, state.since);
        let channel = u32::from(state.channel);
        if op == Op::Read {
            if !self.copy_back(die) {
                self.read_done(die, now);
                if self.channel_busy(channel) {
                    self.await_channel(channel);
                } else {
                    self.move_data(channel);
                }
            }
            return;
        }
        self.look_at_sensing(channel);
        self.flash.die_stops(die, now, &self.transactions);
        if !self.flash.scan_at_once {
            self.flash.set_state(die, DieState::Idle);
        }
        self.flash.dies[die as usize].head = NONE;
        let mut id = head;
        while id != NONE {
            let tr = &mut self.transactions[id];
            tr.worked(since, now);
            let next = tr.sibling;
            tr.sibling = NONE;
            // A command may carry pages of several sources.
            let source = tr.source;
            self.count_operation(source, op);
            self.change_done(id, source, op);
            if self.flash.scan_at_once {
                self.dispatch_offered();
            }
            id = next;
        }
        self.flash.set_state(die, DieState::Idle);
        if self.flash.copyback && self.program_registers(die) {
            return;
        }
        self.resume(die);
        self.offer_at(self.flash.place_of(die));
    }

    /// Queues the pages of an array read that ended at `end` for the channel.
    fn read_done(&mut self, die: u32, end: Time) {
        let source = self.flash.die_stops(die, end, &self.transactions);
        let state = &mut self.flash.dies[die as usize];
        let class = match source {
            Source::Mapping => channel::MAPPING,
            Source::User | Source::Cache => channel::USER,
            Source::Gc => channel::COLLECTION,
        };
        let channel = &mut self.flash.channels[state.channel as usize];
        let mut pages = 0;
        let mut id = state.head;
        while id != NONE {
            let tr = &mut self.transactions[id];
            tr.worked(state.since, end);
            let next = tr.sibling;
            tr.sibling = NONE;
            pages += 1;
            channel.push_data(class, id);
            id = next;
        }
        state.state = DieState::DataOut;
        state.head = NONE;
        state.data_left = pages;
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
