//! Stage 7 of 8: the flash memory. Receives commands from `scheduler`, one per die at a time; sends
//! finished transactions back up to `ftl`, `cache` and `interface`.
//!
//! A command holds the channel for its command, address and program-data cycles; then the array of
//! its die works; read data takes the channel once more, page by page. Read data goes before new
//! commands. Invariants: a channel moves one thing at a time, a die runs one operation at a time
//! and has at most one suspended.
//! Source: MQSim (FAST'18) section 4.1; ONFI NV-DDR2.

mod accounts;
mod audit;
mod cache_program;
mod channel;
mod command;
mod command_bus;
pub mod config;
mod copyback;
mod die;
pub(crate) mod page_types;
mod plane_reads;
mod retries;
mod sets;
mod suspension;
pub mod timing;
pub mod unit_pages;

use flashlane_engine::{Array, Divisor, Time};
use flashlane_units::{ChannelId, ChipId, DieId, FlowId, PlaneId, TransactionId};

use crate::compat::CompatConfig;
use crate::flash::config::{CommandBus, FlashConfig};
use crate::layout::Geometry;
use crate::transaction::{Op, Transactions, pages_from};
pub use accounts::ArrayWork;
use accounts::ChipAccount;
use cache_program::Held;
use channel::Channel;
pub(crate) use channel::Next;
pub(crate) use command::{ArrayEnd, PageSectors};
pub(crate) use command_bus::BusWork;
pub(crate) use copyback::CopybackPages;
pub(crate) use die::DiePlace;
use die::{Die, DieState};
use plane_reads::PlaneReads;
use retries::Retries;
use sets::DieSets;
use timing::FlashTiming;
use unit_pages::UnitPages;

/// The command that a die runs.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    /// First transaction; the others follow by `sibling`.
    pub head: TransactionId,
    /// Read, program or erase.
    pub op: Op,
    /// End of the command and address cycles, which the data of a program follows.
    pub commanded: Time,
    /// Start of the array operation.
    pub since: Time,
    /// End of the array operation.
    pub until: Time,
}

/// Counters of the flash. Units: pages, unless named otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlashCounters {
    /// Read for requests.
    pub user_reads: u64,
    /// Programmed for requests.
    pub user_programs: u64,
    /// Read by collection.
    pub gc_reads: u64,
    /// Programmed by collection.
    pub gc_programs: u64,
    /// Translation pages read.
    pub mapping_reads: u64,
    /// Translation pages programmed.
    pub mapping_programs: u64,
    /// Erases. Unit: blocks.
    pub erases: u64,
    /// Commands by operation (reads, programs, erases). For each: commands of one plane, of several
    /// planes, and both again for commands while another die of the chip was busy.
    pub commands: [[u64; 4]; 3],
    /// Suspensions of programs. Unit: commands.
    pub program_suspends: u64,
    /// Suspensions of erases. Unit: commands.
    pub erase_suspends: u64,
    /// Pages that were moved inside of a plane, without the bus.
    pub copybacks: u64,
}

/// The flash memory.
#[derive(Clone, Debug)]
pub(crate) struct Flash {
    timing: FlashTiming,
    channels: Array<ChannelId, Channel>,
    dies: Array<DieId, Die>,
    /// State of the dies of each chip.
    sets: Array<ChipId, DieSets>,
    /// For each channel one bit a chip: set if something waits there for a die that is idle, or
    /// that it may interrupt.
    wanted: Array<ChannelId, u64>,
    /// Kinds of operations that may be interrupted, or beside which a die takes another command;
    /// one bit each.
    interruptible: u8,
    chips: Array<ChipId, ChipAccount>,
    counters: FlashCounters,
    /// Array time by flow and source, as in [`ChipAccount`]. Unit: picoseconds.
    by_flow: Array<FlowId, [u128; 3]>,
    dies_per_chip: Divisor,
    chips_per_channel: Divisor,
    planes_per_die: Divisor,
    suspend: crate::flash::config::SuspendConfig,
    bounds: suspension::Bounds,
    /// True if collection moves pages inside their plane.
    copyback: bool,
    /// True if waiting read data goes before every command.
    data_first: bool,
    /// True if work that a finished page frees is offered at once, while the die still counts as
    /// busy.
    scan_at_once: bool,
    /// Pages that are decoded or read again; `None` where bit errors are not modelled.
    retries: Option<Box<Retries>>,
    /// True if pages may wait in registers: with copyback, or with cache program.
    registers: bool,
    /// Cache registers; `None` where dies take no program while they run another.
    held: Option<Array<DieId, Held>>,
    /// Reads by plane; `None` where a die reads as a whole.
    reads: Option<Box<PlaneReads>>,
    /// Programs of the flash that a program of the translation layer counts as: 1 for a page or a
    /// word line, and the pages of a unit that are programmed one by one.
    programs_per_unit: u64,
    /// The pages of a mapping unit; `None` unless units have several.
    unit_pages: Option<UnitPages>,
    /// True if commands have a bus of their own.
    separate: bool,
    /// With that: time of the data of the program whose command is sent next, or 0. Unit:
    /// picoseconds.
    following: u64,
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
        let dies = geometry.chips_per_channel * geometry.dies_per_chip;
        let separate = config.command_bus == CommandBus::Separate;
        let channel = Channel::new(dies, compat.data_before_commands, separate);
        Self {
            timing: FlashTiming::new(config, compat),
            channels: Array::of(channel, geometry.channels as usize),
            dies: DieId::first(geometry.dies()).map(|die| Die::new(die, geometry)).collect(),
            sets: Array::of(
                DieSets { idle: u32::MAX, changing: 0, waiting: 0, interrupting: 0 },
                geometry.chips() as usize,
            ),
            wanted: Array::of(0, geometry.channels as usize),
            interruptible: suspension::interruptible(&config.suspend, compat)
                | u8::from(config.cache_program) << Op::Program as u8
                | u8::from(config.independent_plane_reads) << Op::Read as u8,
            chips: Array::of(ChipAccount::default(), geometry.chips() as usize),
            counters: FlashCounters::default(),
            by_flow: Array::of([0; 3], flows),
            dies_per_chip: Divisor::new(geometry.dies_per_chip),
            chips_per_channel: Divisor::new(geometry.chips_per_channel),
            planes_per_die: Divisor::new(geometry.planes_per_die),
            suspend: config.suspend.clone(),
            bounds: suspension::Bounds::new(&config.suspend),
            copyback,
            registers: copyback || config.cache_program,
            data_first: compat.data_before_commands,
            scan_at_once: compat.scan_at_once,
            retries: None,
            held: cache_program::registers(config.cache_program, geometry.dies() as usize),
            reads: config.independent_plane_reads.then(|| {
                PlaneReads::new(geometry.planes(), geometry.planes_per_die, config.cache_read)
            }),
            programs_per_unit: 1,
            unit_pages: None,
            separate,
            following: 0,
        }
    }

    /// All latencies.
    pub(crate) fn timing(&self) -> &FlashTiming {
        &self.timing
    }

    /// Maps units of several pages from now on.
    pub(crate) fn map_units(&mut self, config: &FlashConfig, geometry: Geometry) {
        self.timing.map_units(config, geometry);
        self.programs_per_unit = geometry.programs_per_unit().into();
        self.unit_pages = Some(UnitPages::new(config, geometry));
    }

    /// The latencies, to be changed before the run.
    pub(crate) fn timing_mut(&mut self) -> &mut FlashTiming {
        &mut self.timing
    }

    /// The counters since the start of the run.
    pub(crate) fn counters(&self) -> &FlashCounters {
        &self.counters
    }

    /// Array time of the dies of each chip, by source: host, collection, mapping. Operations count
    /// when they end. Unit: picoseconds.
    pub(crate) fn array_time_of_chips(&self) -> impl ExactSizeIterator<Item = [u128; 3]> + '_ {
        self.chips.iter().map(|chip| chip.by_source)
    }

    /// Array time of each flow, by source: host, collection, mapping. Operations count when they
    /// end. Unit: picoseconds.
    pub(crate) fn array_time_of_flows(&self) -> impl ExactSizeIterator<Item = [u128; 3]> + '_ {
        self.by_flow.iter().copied()
    }

    /// True if a die is idle.
    #[inline]
    pub(crate) fn is_idle(&self, die: DieId) -> bool {
        self.dies[die].state == DieState::Idle
    }

    /// The command that a die got last, or resumed last.
    pub(crate) fn command_of(&self, die: DieId) -> Running {
        let Die { head, op, since, until, .. } = self.dies[die];
        Running { head, op, commanded: self.commanded(die, since), since, until }
    }

    /// Pages of read data that a die still holds.
    pub(crate) fn pages_left(&self, die: DieId) -> u32 {
        self.dies[die].data_left
    }

    /// The first transaction of the command that a die runs in its array, or that an idle die has
    /// suspended.
    pub(crate) fn running(&self, die: DieId, now: Time) -> Option<TransactionId> {
        let sensed = if self.reads_by_plane() { self.sensed_by(die) } else { None };
        let die = &self.dies[die];
        let running = die.works_at(now).then_some(die.head).or(sensed);
        running.or_else(|| die.paused().map(|suspended| suspended.head))
    }

    /// Remaining time of the array operation that a die runs, or that an idle die has suspended.
    /// Unit: picoseconds.
    pub(crate) fn busy(&self, die: DieId, now: Time) -> u64 {
        let reads = if self.reads_by_plane() { self.plane_time_left(die, now) } else { 0 };
        let die = &self.dies[die];
        if die.works_at(now) {
            die.until.saturating_sub(now).0
        } else if reads > 0 {
            reads
        } else {
            die.paused().map_or(0, |suspended| suspended.left)
        }
    }

    /// Remaining time until a die has served all that it has begun. Unit: picoseconds.
    pub(crate) fn service_left(&self, die: DieId, now: Time, transactions: &Transactions) -> u64 {
        let held = self.held_time(die);
        let (reads, on_planes) = match self.reads_by_plane() {
            true => (self.plane_time_left(die, now), self.pages_on_planes(die)),
            false => (0, 0),
        };
        let die = &self.dies[die];
        let suspended = die.suspended.map_or(0, |suspended| suspended.left);
        let of_data = |pages: u32| u64::from(pages) * self.timing.data(u32::from(die.sectors));
        let pages = pages_from(transactions, die.head);
        suspended
            + held
            + match die.state {
                DieState::Idle | DieState::Copyback => 0,
                DieState::Array if die.op != Op::Read => die.until.saturating_sub(now).0,
                DieState::Array if die.until <= now => of_data(pages.count() as u32),
                DieState::Array => {
                    let data = |id: TransactionId| self.timing.data(transactions[id].sectors());
                    die.until.saturating_sub(now).0 + pages.map(data).sum::<u64>()
                }
                DieState::DataOut => of_data(die.data_left),
                DieState::Reading => reads + of_data(on_planes),
            }
    }

    /// True if freed work is offered at once, and not only when the event is over.
    pub(crate) fn scans_at_once(&self) -> bool {
        self.scan_at_once
    }

    /// Die of a plane.
    #[inline]
    pub(crate) fn die_of(&self, plane: PlaneId) -> DieId {
        DieId::new(self.planes_per_die.divide(plane.get()))
    }

    /// Chip and channel of a die.
    #[inline(always)]
    pub(crate) fn place_of(&self, die: DieId) -> DiePlace {
        self.dies[die].place(die)
    }

    /// Chip of a die.
    #[inline]
    pub(crate) fn chip_of(&self, die: DieId) -> ChipId {
        self.place_of(die).chip
    }

    /// The chip with this number on a channel.
    #[inline]
    pub(crate) fn chip_at(&self, channel: ChannelId, way: u32) -> ChipId {
        ChipId::new(channel.get() * self.chips_per_channel.get() + way)
    }

    /// The first die of a chip.
    #[inline(always)]
    pub(crate) fn first_die(&self, chip: ChipId) -> DieId {
        DieId::new(chip.get() * self.dies_per_chip.get())
    }

    /// Number of dies of each chip.
    #[inline(always)]
    pub(crate) fn dies_per_chip(&self) -> u32 {
        self.dies_per_chip.get()
    }

    /// Operations that the dies run or have suspended, for audits.
    pub(crate) fn on_dies(&self, transactions: &Transactions) -> usize {
        let chain = |mut id: TransactionId| {
            let mut count = 0;
            while id != TransactionId::NONE {
                count += 1;
                id = transactions[id].sibling;
            }
            count
        };
        self.dies
            .numbered()
            .map(|(id, die)| {
                let running = match die.state {
                    DieState::DataOut => die.data_left as usize,
                    DieState::Reading => self.pages_on_planes(id) as usize,
                    _ => chain(die.head),
                };
                running + chain(die.registers) + die.suspended.map_or(0, |s| chain(s.head))
            })
            .sum::<usize>()
            + self.held.iter().flatten().map(|held| chain(held.head)).sum::<usize>()
            + self.retries.as_ref().map_or(0, |retries| retries.pages())
    }

    /// For the bench of policies: makes a die run a command from now on, or nothing.
    pub(crate) fn pretend(&mut self, die: DieId, running: Option<(TransactionId, Op, Time)>) {
        self.set_state(die, if running.is_some() { DieState::Array } else { DieState::Idle });
        let die = &mut self.dies[die];
        die.head = TransactionId::NONE;
        (die.suspended, die.holds_suspended) = (None, false);
        if let Some((head, op, until)) = running {
            (die.head, die.op, die.until) = (head, op, until);
        }
    }

    /// For the bench of policies: makes an idle die hold a suspended command with `left`
    /// picoseconds left.
    pub(crate) fn pretend_suspended(&mut self, die: DieId, head: TransactionId, op: Op, left: u64) {
        self.pretend(die, None);
        let die = &mut self.dies[die];
        let since = Time::ZERO;
        die.suspended = Some(die::Suspended { head, op, left, whole: left, since });
        die.holds_suspended = true;
    }
}

#[cfg(test)]
mod tests {
    use flashlane_units::{FlowId, Ppa};

    use super::*;
    use crate::context::Context;
    use crate::event::Event;
    use crate::flash::config::{FlashConfig, Technology};
    use crate::flash::timing::Cells;
    use crate::transaction::{Place, Source, Transaction};

    /// A flash memory of one channel with two dies, and the driver's part of its calls.
    struct Bench {
        flash: Flash,
        context: Context,
    }

    impl Bench {
        fn new() -> Self {
            let text = "technology = 'slc'\nchannels = 1\nchips_per_channel = 1\ndies_per_chip = 2\n\
                planes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 16\npage_size = '4KiB'\n\
                channel_rate = '400MT/s'\nread_time = ['50us']\nprogram_time = ['500us']\n\
                erase_time = '3ms'\nsuspend = { program = true }";
            let config: FlashConfig = toml::from_str(text).expect("a valid flash");
            assert_eq!(config.technology, Technology::Slc);
            let geometry = Geometry::new(&config);
            Self {
                flash: Flash::new(&config, &CompatConfig::default(), false, geometry, 1),
                context: Context::new(),
            }
        }

        fn call<R>(&mut self, call: impl FnOnce(&mut Flash, &mut Context) -> R) -> R {
            call(&mut self.flash, &mut self.context)
        }

        fn page(&mut self, op: Op, plane: PlaneId) -> TransactionId {
            let mut tr = Transaction::new(Source::User, op, FlowId::new(0), 0, self.context.now);
            (tr.plane, tr.ppa) = (plane, Ppa::new(plane.get() * 256));
            tr.set_mask(0xff);
            self.context.transactions.insert(tr)
        }

        fn issue(&mut self, op: Op, die: DieId, interrupt: bool) -> TransactionId {
            let id = self.page(op, PlaneId::new(die.get()));
            self.call(|flash, cx| flash.issue(cx, die, &[id], Cells::of_page(0), interrupt));
            id
        }

        fn next(&mut self) -> Event {
            let (now, event) = self.context.events.pop().expect("an event is due");
            self.context.now = now;
            event
        }
    }

    #[test]
    fn a_read_takes_bus_array_and_bus() {
        let mut bench = Bench::new();
        let id = bench.issue(Op::Read, DieId::new(0), false);
        assert_eq!(bench.context.transactions[id].place, Place::Die);
        assert!(!bench.flash.is_idle(DieId::new(0)) && bench.flash.is_idle(DieId::new(1)));
        let command = bench.flash.timing().command(Op::Read, 1);
        assert_eq!(bench.next(), Event::Sensed { channel: ChannelId::new(0) });
        let array = bench.flash.timing().array(Op::Read, Cells::of_page(0), 8);
        assert!(array >= 50_000_000, "tR at least");
        assert_eq!(bench.context.now, Time(command + array));
        bench.call(|flash, cx| flash.look_at_sensing(cx, ChannelId::new(0)));
        assert!(
            !bench.flash.channel_busy(ChannelId::new(0), &bench.context.events),
            "the command is over"
        );
        let moved = bench
            .call(|flash, cx| flash.move_data(cx, ChannelId::new(0)))
            .expect("read data waits");
        assert_eq!((moved.id, moved.duration), (id, bench.flash.timing().data(8)));
        assert_eq!(bench.next(), Event::DataSent { channel: ChannelId::new(0) });
        let arrived = bench.call(|flash, cx| flash.data_arrives(cx, ChannelId::new(0)));
        assert_eq!(arrived, (id, Source::User, DieId::new(0)));
        assert!(!bench.flash.data_left(DieId::new(0)), "nothing was suspended");
        assert!(bench.flash.is_idle(DieId::new(0)));
        let chain = bench.context.transactions[id].chain;
        assert_eq!(chain.total(), bench.context.now.0, "its stages span the time");
        assert_eq!((chain.bus, chain.array), (command + moved.duration, array));
        assert_eq!(bench.flash.counters().user_reads, 1);
    }

    #[test]
    fn a_read_interrupts_a_program_that_goes_on_after_it() {
        let mut bench = Bench::new();
        let program = bench.issue(Op::Program, DieId::new(0), false);
        // The end of the command is an event only where something waits for the channel.
        bench.context.now = Time::from_us(100);
        assert!(bench.flash.may_suspend(DieId::new(0), false, bench.context.now));
        let busy = bench.flash.busy(DieId::new(0), bench.context.now);
        bench.context.events.schedule(bench.context.now, Event::Alarm);
        assert_eq!(bench.next(), Event::Alarm);
        assert!(!bench.flash.channel_busy(ChannelId::new(0), &bench.context.events));
        bench.issue(Op::Read, DieId::new(0), true);
        assert!(bench.flash.is_suspended(DieId::new(0)));
        let (at, _) = bench.context.events.pop().expect("the read ends");
        bench.context.now = at;
        bench.call(|flash, cx| flash.look_at_sensing(cx, ChannelId::new(0)));
        assert!(!bench.flash.channel_busy(ChannelId::new(0), &bench.context.events));
        bench.call(|flash, cx| flash.move_data(cx, ChannelId::new(0))).expect("read data waits");
        let (at, _) = bench.context.events.pop().expect("the data arrives");
        bench.context.now = at;
        bench.call(|flash, cx| flash.data_arrives(cx, ChannelId::new(0)));
        assert!(bench.flash.data_left(DieId::new(0)), "the die has suspended the program");
        bench.call(|flash, cx| flash.resume(cx, DieId::new(0)));
        let went_on = bench.context.now;
        // The end that was scheduled before the interruption is stale.
        let Event::ArrayDone { die, epoch } = bench.next() else { panic!("an end") };
        assert!(matches!(bench.flash.array_ends(die, epoch), ArrayEnd::Stale));
        let Event::ArrayDone { die, epoch } = bench.next() else { panic!("an end") };
        let ArrayEnd::Change(ended) = bench.flash.array_ends(die, epoch) else { panic!("an end") };
        assert_eq!((ended.op, ended.head), (Op::Program, program));
        assert_eq!(bench.context.now, went_on + Time(busy), "as much as was left");
        assert_eq!(bench.flash.counters().program_suspends, 1);
    }

    #[test]
    #[should_panic(expected = "a die runs one operation at a time")]
    fn a_busy_die_takes_no_command() {
        let mut bench = Bench::new();
        bench.issue(Op::Program, DieId::new(0), false);
        bench.issue(Op::Program, DieId::new(0), false);
    }

    #[test]
    #[should_panic(expected = "a channel moves one thing at a time")]
    fn a_busy_channel_takes_no_command() {
        let mut bench = Bench::new();
        bench.issue(Op::Program, DieId::new(0), false);
        bench.issue(Op::Program, DieId::new(1), false);
    }
}
