//! Stage 6 of 8: the transaction scheduling unit. Receives transactions that are ready for the
//! flash; forms commands for `flash` whenever a channel and a die are free.
//!
//! The policy decides, this file acts: it visits the chips of a free channel in turn and asks the
//! policy what a free die should do. The driver of the drive sends the command. Invariant: every
//! transaction enters once and leaves once. Source: MQSim (FAST'18) section 4.2.3.

mod accounts;
mod audit;
pub(crate) mod bench;
mod entering;
pub(crate) mod overhead;
pub mod policy;
pub(crate) mod queues;
mod rotating;
#[cfg(test)]
mod tests;
pub(crate) mod view;
mod visit;

use flashlane_engine::{Array, EventQueue, Time};
use flashlane_units::{ChannelId, ChipId, DieId, FlowId, TransactionId};

use crate::compat::CompatConfig;
use crate::event::Event;
use crate::flash::config::{FlashConfig, Technology};
use crate::flash::{DiePlace, Flash};
use crate::ftl::Ftl;
use crate::layout::Geometry;
use crate::transaction::{STARVING, Source, Transaction, Transactions};
use accounts::QueueAccount;
use overhead::SchedulerOverhead;
pub use policy::Scheduling;
use policy::{AnyPolicy, SchedulingPolicy};
use view::{Rules, View};
use visit::{Rest, Visit};

/// In the place of a handle: there were several.
const SEVERAL: TransactionId = TransactionId::new(u32::MAX - 1);

/// What the scheduling unit gets with a call: it asks the translation layer, and tells the flash
/// where work waits.
pub(crate) struct Surroundings<'a> {
    pub(crate) now: Time,
    pub(crate) events: &'a mut EventQueue<Event>,
    pub(crate) transactions: &'a mut Transactions,
    pub(crate) ftl: &'a Ftl,
    pub(crate) flash: &'a mut Flash,
}

impl Surroundings<'_> {
    /// The same for a call that is seldom made, so that this one need not lie in memory.
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
    /// What the die does is suspended for it.
    pub(crate) interrupts: bool,
    /// Its transactions, one per plane.
    pub(crate) pages: Vec<TransactionId>,
}

/// The scheduling unit.
#[derive(Clone)]
pub(crate) struct Scheduler {
    policy: AnyPolicy,
    /// The policy is told of what is done.
    observes: bool,
    /// The policy may want to be woken.
    holds_back: bool,
    /// When it is woken next.
    alarm: Option<Time>,
    /// Bit per chip of a channel: something waits there.
    pending: Array<ChannelId, u64>,
    /// Transactions that wait, by die.
    waiting: Array<DieId, u32>,
    /// The chip of each channel that is looked at first.
    turn: Array<ChannelId, u32>,
    /// Read commands that each die got before waiting read data, since it last chose among all.
    reads_first: Array<DieId, u32>,
    /// After so many it chooses among all: dies of a channel.
    reads_first_max: u32,
    /// Channels to look at when the current event is over; a bit each.
    offered: u64,
    /// There is something to do when the current event is over.
    due: bool,
    /// The only transaction that became ready in the current event, which is in no queue yet;
    /// `NONE` before there is one, `SEVERAL` when there were more.
    lone: TransactionId,
    /// What it is before there is one: `SEVERAL` where all go through their queues.
    no_lone: TransactionId,
    chips: Array<ChipId, QueueAccount>,
    flows: Array<FlowId, QueueAccount>,
    chips_per_channel: u32,
    rules: Rules,
    /// The command being formed, or formed last.
    command: Command,
    /// Migrations that turned out pointless while a command was formed.
    cancelled: Vec<TransactionId>,
    /// The look at a channel that goes on when they are settled.
    interrupted: Option<(Visit, Rest)>,
    one_die_per_dispatch: bool,
    /// Transactions that entered their queues, where their order matters.
    order: Option<u64>,
    /// Classes take turns as in the released MQSim: every look at a channel matters.
    rotates: bool,
    /// Looks in a row at a drive in which nothing is under way.
    in_vain: u32,
    /// What has waited for longer goes first.
    starving: Time,
    /// Whatever waits may interrupt a program or an erase; otherwise only reads may.
    writes_interrupt: bool,
    /// Host writes wait for the erases of collection that goes first.
    writes_wait: bool,
    /// They do on the chip that is served now.
    hold_writes: bool,
}

impl Scheduler {
    /// Empty queues.
    /// `preemptible`: host work goes before collection that is not urgent.
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
        let rotates = compat.class_rotation
            && compat.one_die_per_dispatch
            && policy.rotates_classes(geometry);
        let past_queues = policy.serves_what_waits()
            && !compat.one_die_per_dispatch
            && !compat.writes_wait_for_erases;
        let no_lone = if past_queues { TransactionId::NONE } else { SEVERAL };
        Self {
            observes: policy.observes(),
            holds_back: policy.holds_back(),
            alarm: None,
            pending: Array::of(0, geometry.channels as usize),
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
            },
            command: Command::default(),
            cancelled: Vec::new(),
            interrupted: None,
            one_die_per_dispatch: compat.one_die_per_dispatch,
            order: strict.then_some(0),
            rotates,
            in_vain: 0,
            starving: if strict { Time::MAX } else { STARVING },
            writes_interrupt: !policy.serves_what_waits() || flash.suspend.erase_for_write,
            writes_wait: compat.writes_wait_for_erases,
            hold_writes: false,
            policy,
        }
    }
}

impl Scheduler {
    /// Transactions wait for dies of a channel.
    #[inline]
    fn waits_on(&self, channel: ChannelId) -> bool {
        self.pending[channel] != 0
    }

    /// Keeps the accounts of a transaction that entered a queue.
    #[inline]
    fn entered(&mut self, place: DiePlace, flow: FlowId) {
        self.waiting[place.die] += 1;
        self.pending[place.channel] |= 1 << place.chip_in_channel;
        self.chips[place.chip].entered();
        self.flows[flow].entered();
    }

    /// Keeps the accounts of a transaction that left its queue; true if nothing waits for the die
    /// any more.
    #[inline]
    fn left(&mut self, place: DiePlace, flow: FlowId, waited: Time) -> bool {
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

    /// Work may have become ready since [`Scheduler::settle`].
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.due
    }

    /// A chip of a channel got a command: the next one is looked at first from now on.
    #[inline]
    fn served(&mut self, channel: ChannelId, chip_in_channel: u32) {
        let next = chip_in_channel + 1;
        self.turn[channel] = if next == self.chips_per_channel { 0 } else { next };
    }

    /// A chip or its queue changed: its channel is looked at when the current event is over, or
    /// when the command on its bus is.
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

    /// The next channel that was offered work.
    #[inline]
    pub(crate) fn take_offered(&mut self) -> Option<ChannelId> {
        if self.offered == 0 {
            return None;
        }
        let channel = ChannelId::at(self.offered.trailing_zeros() as usize);
        self.offered &= self.offered - 1;
        Some(channel)
    }

    /// Nothing has become ready since the channels were looked at. True until something does: an
    /// erase of a block, say, whose last moves were found pointless meanwhile.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.lone == self.no_lone
    }

    /// All channels have been looked at. Has the policy woken when it wants.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time, events: &mut EventQueue<Event>) {
        if self.holds_back {
            self.set_alarm(now, events);
        }
        // What a rotation passed over is looked for again after every event.
        self.due = self.holds_back || self.rotates;
    }

    /// An alarm that comes too early is set again then; one for which nothing waits any more is
    /// void.
    #[cold]
    fn set_alarm(&mut self, now: Time, events: &mut EventQueue<Event>) {
        let wanted = self.policy.wake().map(|time| time.max(now));
        let alarm = &mut self.alarm;
        match wanted {
            None => *alarm = None,
            Some(time) if alarm.is_none_or(|set| set > time) => {
                *alarm = Some(time);
                events.schedule(time, Event::Alarm);
            }
            Some(_) => {}
        }
    }

    /// Wakes the policy and has all channels looked at. False for a void alarm.
    pub(crate) fn wake(&mut self, at: &mut Surroundings<'_>) -> bool {
        if self.alarm != Some(at.now) {
            return false;
        }
        self.alarm = None;
        self.with_policy(at, false, |policy, view| policy.woken(view));
        for (channel, &pending) in (0..).zip(&self.pending) {
            self.offered |= u64::from(pending != 0) << channel;
            self.due = true;
        }
        true
    }

    /// The command that was formed last.
    #[inline]
    pub(crate) fn command(&self) -> &Command {
        &self.command
    }

    /// Something was found pointless while a command was formed, or none was.
    #[inline]
    pub(crate) fn has_cancelled(&self) -> bool {
        !self.cancelled.is_empty()
    }

    /// The next move of a page that was found pointless, which leaves its queue at the die.
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

    /// The old data of a queued write are here.
    pub(crate) fn unblocked(&mut self, at: &mut Surroundings<'_>, id: TransactionId) {
        let die = at.flash.die_of(at.transactions[id].plane);
        self.policy.unblocked(die);
        self.offer_at(at, at.flash.place_of(die));
    }

    /// A transaction is over the bus or out of the array.
    #[inline]
    pub(crate) fn completed(&mut self, at: &Surroundings<'_>, id: TransactionId) {
        if self.observes {
            let tr = &at.transactions[id];
            let die = at.flash.die_of(tr.plane);
            self.policy.completed(die, id, tr, at.now);
        }
    }

    /// Keeps the accounts of a transaction that left its queue.
    #[inline]
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

    /// What the policy cost the drive so far, with room for so many transactions in its memory.
    pub(crate) fn overhead(&self, room: u64) -> Option<SchedulerOverhead> {
        self.policy.overhead(room)
    }
}
