//! Stage 6 of 8: the transaction scheduling unit. Receives transactions that are ready for the
//! flash; forms commands for `flash` whenever a channel and a die are free.
//!
//! The policy decides and this file acts: it visits the chips of a free channel in turn and asks
//! the policy what a free die should do. The driver of the drive sends the command. Invariant:
//! every transaction enters once and leaves once. Source: MQSim (FAST'18) section 4.2.3.

mod accounts;
mod alarm;
mod audit;
pub(crate) mod bench;
mod beside_data;
mod entering;
pub mod overhead;
pub mod policy;
pub(crate) mod queues;
mod rotating;
#[cfg(test)]
mod tests;
mod turns;
pub(crate) mod view;
mod visit;

use flashlane_engine::{Array, EventQueue, Time};
use flashlane_units::{ChannelId, ChipId, DieId, FlowId, TransactionId};

use crate::compat::CompatConfig;
use crate::context::Context;
use crate::event::Event;
use crate::flash::config::{FlashConfig, Technology};
use crate::flash::{DiePlace, Flash};
use crate::ftl::Ftl;
use crate::layout::Geometry;
use crate::transaction::{STARVING, Source, Transaction, Transactions};
use accounts::QueueAccount;
pub use policy::Scheduling;
use policy::{AnyPolicy, SchedulingPolicy};
use view::{Beside, Rules, View};
use visit::{Rest, Visit};

/// Takes the place of a handle where several transactions became ready.
const SEVERAL: TransactionId = TransactionId::new(u32::MAX - 1);

/// The parts of the drive that the scheduling unit gets with a call. It asks the translation layer,
/// and tells the flash where work waits.
pub(crate) struct Surroundings<'a> {
    pub(crate) now: Time,
    pub(crate) events: &'a mut EventQueue<Event>,
    pub(crate) transactions: &'a mut Transactions,
    pub(crate) ftl: &'a Ftl,
    pub(crate) flash: &'a mut Flash,
}

impl<'a> Surroundings<'a> {
    /// The parts that the driver lends.
    #[inline(always)]
    pub(crate) fn of(context: &'a mut Context, ftl: &'a Ftl, flash: &'a mut Flash) -> Self {
        let Context { now, events, transactions, .. } = context;
        Self { now: *now, events, transactions, ftl, flash }
    }
}

impl Surroundings<'_> {
    /// Borrows the parts again, for a call that is seldom made: then the original can stay in
    /// registers.
    #[inline(always)]
    fn again(&mut self) -> Surroundings<'_> {
        Surroundings {
            now: self.now,
            events: self.events,
            transactions: self.transactions,
            ftl: self.ftl,
            flash: self.flash,
        }
    }
}

/// A command for a die.
#[derive(Clone, Debug, Default)]
pub(crate) struct Command {
    pub(crate) die: DieId,
    /// True if the die suspends its operation for this command.
    pub(crate) interrupts: bool,
    /// The transactions of the command, at most one per plane.
    pub(crate) pages: Vec<TransactionId>,
}

/// The scheduling unit.
#[derive(Clone)]
pub(crate) struct Scheduler {
    policy: AnyPolicy,
    /// True if the policy wants to be told of completed work.
    observes: bool,
    /// True if the policy may hold work back, and must be woken.
    holds_back: bool,
    /// Time of the next call of [`SchedulingPolicy::woken`].
    alarm: Option<Time>,
    /// One bit for each chip of a channel: set if work waits there.
    pending: Array<ChannelId, u64>,
    /// By channel: chips whose rotation of classes another look at nothing may still move.
    unrested: Array<ChannelId, u64>,
    /// Number of waiting transactions, by die.
    waiting: Array<DieId, u32>,
    /// For each channel, the chip that is asked first.
    turn: Array<ChannelId, u32>,
    /// Read commands that each die got before waiting read data, since its last free choice.
    reads_first: Array<DieId, u32>,
    /// After this many read commands a die chooses among all: the number of dies of a channel.
    reads_first_max: u32,
    /// Channels to look at when the current event is over, one bit each.
    offered: u64,
    /// True if there is something to do when the current event is over.
    due: bool,
    /// The only transaction that became ready in the current event, which is in no queue yet.
    /// `NONE` before there is one, `SEVERAL` when there were more.
    lone: TransactionId,
    /// Initial value of `lone` in an event: `SEVERAL` where all transactions go through their
    /// queues.
    no_lone: TransactionId,
    chips: Array<ChipId, QueueAccount>,
    flows: Array<FlowId, QueueAccount>,
    chips_per_channel: u32,
    rules: Rules,
    /// The command that is being formed, or was formed last.
    command: Command,
    /// Migrations that turned out pointless while a command was formed; they are settled later.
    cancelled: Vec<TransactionId>,
    /// The interrupted look at a channel, which goes on when these are settled.
    interrupted: Option<(Visit, Rest)>,
    one_die_per_dispatch: bool,
    /// Number of transactions that entered their queues so far, where their order matters.
    order: Option<u64>,
    /// True if classes take turns as in the released MQSim, where every look at a channel matters.
    rotates: bool,
    /// Looks in a row while nothing is under way in the drive.
    in_vain: u32,
    /// A transaction that has waited longer than this goes first.
    starving: Time,
    /// Turns of the looks at channels while data moves; `None` where commands have no bus of their
    /// own.
    beside_turns: Option<Array<ChannelId, u32>>,
    /// Turns of reads and of collection that goes first; `None` if nothing bounds the latter.
    turns: Option<Box<turns::Turns>>,
    /// True if writes may interrupt an erase as well; otherwise only reads may.
    writes_interrupt: bool,
    /// True if whatever comes to a die may make the policy interrupt it, or give it a command
    /// beside another; otherwise only reads do.
    all_interrupt: bool,
    /// True if host writes wait for the erases of urgent collection.
    writes_wait: bool,
    /// True if host writes wait on the chip that is asked now.
    hold_writes: bool,
}

impl Scheduler {
    /// Empty queues. `preemptible`: host work goes before collection that is not urgent.
    pub(crate) fn new(
        scheduling: &Scheduling,
        compat: &CompatConfig,
        flash: &FlashConfig,
        preemptible: bool,
        geometry: Geometry,
        flows: usize,
    ) -> Self {
        let mut policy = policy::build(scheduling, geometry, flows);
        let strict = compat.strict_queues && policy.be_strict();
        let may_rotate = compat.class_rotation && compat.one_die_per_dispatch;
        let rotates = may_rotate && policy.rotates_classes(geometry);
        let past_queues = policy.serves_what_waits()
            && !compat.one_die_per_dispatch
            && !compat.writes_wait_for_erases;
        let no_lone = if past_queues { TransactionId::NONE } else { SEVERAL };
        Self {
            observes: policy.observes(),
            holds_back: policy.holds_back(),
            alarm: None,
            pending: Array::of(0, geometry.channels as usize),
            unrested: Array::of(u64::MAX, geometry.channels as usize),
            waiting: Array::of(0, geometry.dies() as usize),
            turn: Array::of(0, geometry.channels as usize),
            reads_first: Array::of(0, geometry.dies() as usize),
            reads_first_max: geometry.chips_per_channel * geometry.dies_per_chip,
            offered: 0,
            due: true,
            lone: no_lone,
            no_lone,
            chips: Array::of(QueueAccount::default(), geometry.chips() as usize),
            flows: Array::of(QueueAccount::default(), flows),
            chips_per_channel: geometry.chips_per_channel,
            rules: Rules {
                ordered: !compat.unordered_programs && flash.technology != Technology::InPlace,
                preemptible,
                planes_per_die: geometry.planes_per_die,
                reads_by_plane: flash.independent_plane_reads,
                beside: Beside::default(),
            },
            command: Command::default(),
            cancelled: Vec::new(),
            interrupted: None,
            one_die_per_dispatch: compat.one_die_per_dispatch,
            order: strict.then_some(0),
            rotates,
            in_vain: 0,
            beside_turns: beside_data::turns(flash, geometry),
            turns: None,
            starving: if strict { Time::MAX } else { STARVING },
            writes_interrupt: flash.suspend.erase_for_write,
            all_interrupt: !policy.serves_what_waits()
                || flash.suspend.erase_for_write
                || flash.cache_program
                || flash.independent_plane_reads,
            writes_wait: compat.writes_wait_for_erases,
            hold_writes: false,
            policy,
        }
    }
}

impl Scheduler {
    /// True if transactions wait for dies of a channel.
    #[inline]
    fn waits_on(&self, channel: ChannelId) -> bool {
        self.pending[channel] != 0
    }

    /// Updates the accounts for a transaction that entered a queue.
    #[inline]
    fn entered(&mut self, place: DiePlace, flow: FlowId) {
        debug_assert!(flow.index() < self.flows.len(), "a transaction is of a flow of the run");
        self.waiting[place.die] += 1;
        self.pending[place.channel] |= 1 << place.chip_in_channel;
        self.chips[place.chip].entered();
        self.flows[flow].entered();
    }

    /// Updates the accounts for a transaction that left its queue; true if nothing waits for the
    /// die any more.
    #[inline]
    fn left(&mut self, place: DiePlace, flow: FlowId, waited: Time) -> bool {
        debug_assert!(self.waiting[place.die] > 0, "what leaves has waited at its die");
        self.flows[flow].left(waited);
        self.chips[place.chip].left(waited);
        let waiting = &mut self.waiting[place.die];
        *waiting -= 1;
        *waiting == 0
    }
}

impl Scheduler {
    /// Lends the policy a view of the rest of the device.
    #[inline]
    fn with_policy<R>(
        &mut self,
        at: &mut Surroundings<'_>,
        urgent: bool,
        decide: impl FnOnce(&mut AnyPolicy, &mut View<'_>) -> R,
    ) -> R {
        let mut view = View {
            now: at.now,
            transactions: at.transactions,
            ftl: at.ftl.view(),
            flash: at.flash,
            urgent,
            hold_writes: urgent && self.hold_writes,
            rules: &self.rules,
            batch: &mut self.command.pages,
            cancelled: &mut self.cancelled,
        };
        decide(&mut self.policy, &mut view)
    }

    /// True if work may have become ready since [`Scheduler::settle`].
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.due
    }

    /// Notes that a chip of a channel got a command: from now on the next chip is asked first.
    #[inline]
    fn served(&mut self, channel: ChannelId, chip_in_channel: u32) {
        debug_assert!(chip_in_channel < self.chips_per_channel, "a chip of the channel");
        let next = chip_in_channel + 1;
        self.turn[channel] = if next == self.chips_per_channel { 0 } else { next };
    }

    /// Notes that a chip or its queue changed. Its channel is looked at when the current event is
    /// over, or when the command on its bus ends.
    #[inline]
    pub(crate) fn offer_at(&mut self, at: &mut Surroundings<'_>, place: DiePlace) {
        let channel = place.channel;
        if !at.flash.channel_busy(channel, at.events) {
            self.offered |= 1 << channel.get();
            self.due = true;
        } else if self.rotates || at.flash.is_wanted(place) {
            at.flash.await_channel(channel, at.events);
        }
    }

    /// Takes the next channel that was offered work.
    #[inline]
    pub(crate) fn take_offered(&mut self) -> Option<ChannelId> {
        if self.offered == 0 {
            return None;
        }
        let channel = ChannelId::at(self.offered.trailing_zeros() as usize);
        debug_assert!(channel.index() < self.turn.len(), "a channel of the drive is offered");
        self.offered &= self.offered - 1;
        Some(channel)
    }

    /// True if nothing has become ready since the channels were looked at. Something may: for
    /// example the erase of a block whose last moves were found pointless meanwhile.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.lone == self.no_lone
    }

    /// Called when all channels have been looked at. Sets the alarm of a policy that holds work
    /// back.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time, events: &mut EventQueue<Event>) {
        if self.holds_back {
            self.set_alarm(now, events);
        }
        // After every event, a rotation looks again for work that it passed over.
        self.due = self.holds_back || self.rotates;
    }

    /// The command that was formed last.
    #[inline]
    pub(crate) fn command(&self) -> &Command {
        &self.command
    }

    /// True if a move was found pointless while a command was formed.
    #[inline]
    pub(crate) fn has_cancelled(&self) -> bool {
        !self.cancelled.is_empty()
    }

    /// Takes the next pointless move out of the list; it leaves its queue at the die.
    pub(crate) fn take_cancelled(
        &mut self,
        at: &mut Surroundings<'_>,
        die: DieId,
    ) -> Option<TransactionId> {
        let id = self.cancelled.pop()?;
        let Transaction { source, flow, mark, .. } = at.transactions[id];
        assert_eq!(source, Source::Gc, "only migrations are cancelled");
        self.leaves(at.flash, at.flash.place_of(die), flow, at.now - mark);
        Some(id)
    }

    /// Notes that a queued write has received the old data of its page.
    pub(crate) fn unblocked(&mut self, at: &mut Surroundings<'_>, id: TransactionId) {
        let place = at.flash.place_of(at.flash.die_of(at.transactions[id].plane));
        self.policy.unblocked(place.die);
        if self.all_interrupt {
            at.flash.begin_waiting(place, true);
        }
        self.offer_at(at, place);
    }

    /// Notes that programs may go now that had to stay behind a program that is over, which was on
    /// the same plane.
    #[cold]
    #[inline(never)]
    pub(crate) fn programs_may_go(&mut self, at: &mut Surroundings<'_>, over: TransactionId) {
        let die = at.flash.die_of(at.transactions[over].plane);
        if self.waiting[die] > 0 {
            self.unblocked(at, over);
        }
    }

    /// Notes that a transaction is over the bus or out of the array.
    #[inline]
    pub(crate) fn completed(&mut self, at: &Surroundings<'_>, id: TransactionId) {
        if self.observes {
            debug_assert!(at.transactions[id].ppa.get() != flashlane_engine::NONE, "it has a page");
            let tr = &at.transactions[id];
            let die = at.flash.die_of(tr.plane);
            self.policy.completed(die, id, tr, at.now);
        }
    }

    /// Updates the accounts for a transaction that left its queue.
    #[inline(always)]
    pub(crate) fn leaves(
        &mut self,
        flash: &mut Flash,
        place: DiePlace,
        flow: FlowId,
        waited: Time,
    ) {
        if self.left(place, flow, waited) && flash.end_waiting(place) {
            self.pending[place.channel] &= !(1 << place.chip_in_channel);
        }
    }
}
