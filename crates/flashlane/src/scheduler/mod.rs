//! Stage 6 of 8: the transaction scheduling unit. Receives transactions that are ready for the
//! flash from `ftl`; sends commands to `flash` whenever a channel and a die are free.
//!
//! The policy decides, this file acts: it visits the chips of a free channel in turn, asks the
//! policy what a free die should do, and issues that. Invariant: every transaction enters once and
//! leaves once. Source: MQSim (FAST'18) section 4.2.3.

#[cfg(test)]
pub(crate) mod bench;
pub(crate) mod overhead;
pub mod policy;
pub(crate) mod queues;
pub(crate) mod view;

use flashlane_engine::{Array, NONE, Time};

use crate::compat::CompatConfig;
use crate::device::Device;
use crate::event::Event;
use crate::flash::DiePlace;
use crate::flash::config::{FlashConfig, Technology};
use crate::layout::Geometry;
use crate::transaction::{Op, Place, STARVING, Source};
pub use policy::Scheduling;
use policy::{AnyPolicy, Policy};
use view::View;

/// Time average and maximum of a queue length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueueAccount {
    pub(crate) length: u32,
    pub(crate) max: u32,
    /// Sum of length times duration, which is the sum of the times that those that left were in the
    /// queue. Unit: transactions times picoseconds.
    pub(crate) area: u128,
}

impl QueueAccount {
    #[inline]
    fn entered(&mut self) {
        self.length += 1;
        self.max = self.max.max(self.length);
    }

    /// One entered and left at once.
    #[inline]
    fn passed(&mut self) {
        self.max = self.max.max(self.length + 1);
    }

    #[inline]
    fn left(&mut self, waited: Time) {
        self.length -= 1;
        self.area += u128::from(waited.0);
    }
}

/// In the place of a handle: there were several.
const SEVERAL: u32 = NONE - 1;

/// The scheduling unit.
#[derive(Clone)]
pub(crate) struct Scheduler {
    pub(crate) policy: AnyPolicy,
    /// The policy is told of what is done.
    observes: bool,
    /// The policy may want to be woken.
    holds_back: bool,
    /// When it is woken next.
    alarm: Option<Time>,
    /// Bit per chip of a channel: something waits there.
    pending: Array<u64>,
    /// Transactions that wait, by die.
    waiting: Array<u32>,
    /// The chip of each channel that is looked at first.
    turn: Array<u32>,
    /// Read commands that each die got before waiting read data, since it last chose among all.
    reads_first: Array<u32>,
    /// After so many it chooses among all: dies of a channel.
    reads_first_max: u32,
    /// Channels to look at when the current event is over; a bit each.
    offered: u64,
    /// There is something to do when the current event is over.
    due: bool,
    /// The only transaction that became ready in the current event, which is in no queue yet; `NONE` before
    /// there is one, `SEVERAL` when there were more.
    lone: u32,
    /// What it is before there is one: `SEVERAL` where all go through their queues.
    no_lone: u32,
    pub(crate) chips: Array<QueueAccount>,
    pub(crate) flows: Array<QueueAccount>,
    one_die_per_dispatch: bool,
    ordered: bool,
    preemptible: bool,
    /// Whatever waits may interrupt a program or an erase, as far as is known here; else only reads may.
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
        let policy = policy::build(scheduling, geometry, flows);
        let past_queues = policy.serves_what_waits()
            && !compat.one_die_per_dispatch
            && !compat.writes_wait_for_erases;
        let no_lone = if past_queues { NONE } else { SEVERAL };
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
            one_die_per_dispatch: compat.one_die_per_dispatch,
            ordered: !compat.unordered_programs && flash.technology != Technology::InPlace,
            preemptible,
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
    fn waits_on(&self, channel: u32) -> bool {
        self.pending[channel as usize] != 0
    }

    /// Keeps the accounts of a transaction that entered a queue.
    #[inline]
    fn entered(&mut self, place: DiePlace, flow: u16) {
        self.waiting[place.die as usize] += 1;
        self.pending[place.channel as usize] |= 1 << place.chip_in_channel;
        self.chips[place.chip as usize].entered();
        self.flows[flow as usize].entered();
    }

    /// Keeps the accounts of a transaction that left its queue; true if nothing waits for the die any more.
    #[inline]
    fn left(&mut self, place: DiePlace, flow: u16, waited: Time) -> bool {
        self.flows[flow as usize].left(waited);
        self.chips[place.chip as usize].left(waited);
        let waiting = &mut self.waiting[place.die as usize];
        *waiting -= 1;
        *waiting == 0
    }
}

impl Device {
    /// Lends the policy a view of the rest of the device.
    #[inline]
    fn with_policy<R>(
        &mut self,
        urgent: bool,
        decide: impl FnOnce(&mut AnyPolicy, &mut View<'_>) -> R,
    ) -> R {
        let mut view = View {
            now: self.now,
            transactions: &mut self.transactions,
            blocks: &self.ftl.blocks,
            pages: &self.ftl.pages,
            flash: &self.flash,
            urgent,
            hold_writes: urgent && self.scheduler.hold_writes,
            ordered: self.scheduler.ordered,
            preemptible: self.scheduler.preemptible,
            planes_per_die: self.geometry.planes_per_die,
            batch: &mut self.batch,
            cancelled: &mut self.cancelled,
        };
        decide(&mut self.scheduler.policy, &mut view)
    }

    /// A transaction is ready for the flash.
    #[inline]
    pub(crate) fn schedule(&mut self, id: u32) {
        let now = self.now;
        let tr = &mut self.transactions[id];
        debug_assert_eq!(tr.mark, now, "the time in the queue begins");
        tr.place = Place::Queue;
        self.enlist(id);
    }

    /// The same for a transaction whose place is the queue already.
    #[inline]
    pub(crate) fn enlist(&mut self, id: u32) {
        debug_assert_eq!(self.transactions[id].mark, self.now, "the time in the queue begins");
        self.scheduler.due = true;
        if self.scheduler.lone == NONE {
            self.scheduler.lone = id;
        } else {
            self.queue_lone();
            self.enter_queue(id);
        }
    }

    /// The transaction that is in no queue yet, if there is one, enters its queue.
    #[inline]
    pub(crate) fn queue_lone(&mut self) {
        if self.scheduler.lone < SEVERAL {
            let id = std::mem::replace(&mut self.scheduler.lone, SEVERAL);
            self.enter_queue(id);
        }
    }

    /// Puts a transaction into its queue.
    #[inline]
    fn enter_queue(&mut self, id: u32) {
        let place = self.flash.place_of(self.flash.die_of(self.transactions[id].plane));
        self.enter_queue_at(id, place);
    }

    fn enter_queue_at(&mut self, id: u32, place: DiePlace) {
        let tr = &self.transactions[id];
        let flow = tr.flow;
        let interrupts = self.scheduler.writes_interrupt || tr.op == Op::Read;
        if !self.scheduler.policy.push(place.die, id, tr) {
            self.with_policy(false, |policy, view| policy.enqueue(place.die, id, view));
        }
        self.scheduler.entered(place, flow);
        self.flash.begin_waiting(place, interrupts);
        self.offer_at(place);
    }

    /// A single transaction became ready. If it is the only one for its channel, and channel and die have
    /// nothing to do, it goes at once, as it would have by way of its queue.
    #[inline(always)]
    fn serve_lone(&mut self, id: u32) {
        let tr = &self.transactions[id];
        let flow = tr.flow;
        let simple = tr.source != Source::Gc
            && match tr.op {
                Op::Read => true,
                Op::Program => view::is_ready(tr, self.scheduler.ordered, &self.ftl.blocks),
                Op::Erase => false,
            };
        let place = self.flash.place_of(self.flash.die_of(tr.plane));
        if !simple
            || self.scheduler.offered & !(1 << place.channel) != 0
            || self.scheduler.waits_on(place.channel)
            || self.flash.idle_dies(place.chip) >> place.die_in_chip & 1 == 0
            || self.channel_busy(place.channel)
        {
            self.enter_queue_at(id, place);
            return;
        }
        let scheduler = &mut self.scheduler;
        scheduler.offered = 0;
        scheduler.flows[flow as usize].passed();
        scheduler.chips[place.chip as usize].passed();
        scheduler.policy.passed(place.die, id, &self.transactions, self.now);
        let next = place.chip_in_channel + 1;
        let chips = self.geometry.chips_per_channel;
        scheduler.turn[place.channel as usize] = if next == chips { 0 } else { next };
        self.issue_page(place, id, true);
    }

    /// A chip or its queue changed: its channel is looked at when the current event is over, or when
    /// the command on its bus is.
    #[inline]
    pub(crate) fn offer_at(&mut self, place: DiePlace) {
        let channel = place.channel;
        if !self.channel_busy(channel) {
            self.scheduler.offered |= 1 << channel;
            self.scheduler.due = true;
        } else if self.flash.is_wanted(place) {
            self.await_channel(channel);
        }
    }

    /// Looks at all channels that were offered work.
    #[inline(always)]
    pub(crate) fn dispatch_offered(&mut self) {
        if self.scheduler.due {
            self.dispatch_all();
        }
    }

    fn dispatch_all(&mut self) {
        loop {
            let lone = std::mem::replace(&mut self.scheduler.lone, self.scheduler.no_lone);
            if lone < SEVERAL {
                self.serve_lone(lone);
            }
            while self.scheduler.offered != 0 {
                let channel = self.scheduler.offered.trailing_zeros();
                self.scheduler.offered &= self.scheduler.offered - 1;
                self.dispatch(channel);
            }
            // The erase of a block whose last moves were found pointless just now is ready in this event, too.
            if self.scheduler.lone == self.scheduler.no_lone {
                break;
            }
        }
        if self.scheduler.holds_back {
            self.set_alarm();
        }
        self.scheduler.due = self.scheduler.holds_back;
    }

    /// Has the policy woken when it wants. An alarm that comes too early is set again then; one for
    /// which nothing waits any more is void.
    #[cold]
    fn set_alarm(&mut self) {
        let wanted = self.scheduler.policy.wake().map(|time| time.max(self.now));
        let alarm = &mut self.scheduler.alarm;
        match wanted {
            None => *alarm = None,
            Some(time) if alarm.is_none_or(|set| set > time) => {
                *alarm = Some(time);
                self.queue.schedule(time, Event::Alarm);
            }
            Some(_) => {}
        }
    }

    /// Wakes the policy and looks at all channels. A void alarm takes no time: it must not make a
    /// finished simulation longer.
    pub(crate) fn on_alarm(&mut self, before: Time) {
        if self.scheduler.alarm != Some(self.now) {
            self.now = before;
            return;
        }
        self.scheduler.alarm = None;
        self.with_policy(false, |policy, view| policy.woken(view));
        for (channel, &pending) in (0..).zip(&self.scheduler.pending) {
            self.scheduler.offered |= u64::from(pending != 0) << channel;
            self.scheduler.due = true;
        }
    }

    /// Issues at most one command on a channel, if it is free.
    #[inline]
    pub(crate) fn dispatch(&mut self, channel: u32) {
        if !self.channel_busy(channel) {
            self.dispatch_free(channel);
        }
    }

    /// Issues at most one command on a free channel.
    #[inline]
    pub(crate) fn dispatch_free(&mut self, channel: u32) {
        self.visit_chips(channel, Self::serve);
    }

    /// Issues a read command for an idle die of a channel, if there is one; now and then another one.
    pub(crate) fn dispatch_read(&mut self, channel: u32) -> bool {
        self.visit_chips(channel, Self::serve_chip_read)
    }

    /// Offers the channel to its chips with waiting work in turn, from where the last visit ended,
    /// until `serve` issues a command on one.
    #[inline]
    fn visit_chips(&mut self, channel: u32, serve: impl Fn(&mut Self, u32) -> bool) -> bool {
        let chips = self.geometry.chips_per_channel;
        let turn = self.scheduler.turn[channel as usize];
        // Chips from the turn on, then those before it; while they are visited, none comes to them that
        // nothing waited for before.
        let mut left = self.scheduler.pending[channel as usize].rotate_right(turn);
        loop {
            let set = self.flash.wanted_chips(channel).rotate_right(turn) & left;
            if set == 0 {
                return false;
            }
            let step = set.trailing_zeros();
            left &= u64::MAX << step << 1;
            let way = (step + turn) % u64::BITS;
            if serve(self, channel * chips + way) {
                self.scheduler.turn[channel as usize] = if way + 1 == chips { 0 } else { way + 1 };
                return true;
            }
        }
    }

    /// Collection goes before user work on the chip.
    #[inline]
    fn is_urgent(&self, chip: u32) -> bool {
        !self.scheduler.preemptible || self.ftl.urgent_planes[chip as usize] > 0
    }

    /// Issues a read command on a chip, if one of its idle dies has one waiting. Chips that are
    /// short of free blocks are left to [`Device::dispatch`].
    #[inline]
    fn serve_chip_read(&mut self, chip: u32) -> bool {
        let free = self.flash.free_dies(chip);
        let closed = self.scheduler.one_die_per_dispatch && !self.flash.chip_idle(chip);
        let first = self.flash.dies_of(chip).start;
        free != 0
            && !self.is_urgent(chip)
            && !closed
            && bits(free).any(|die| self.serve_read(first + die))
    }

    /// Issues a read command on an idle die, if there is one waiting.
    ///
    /// After as many of them as the channel has dies, the die chooses among all its commands instead.
    /// The turn that the channel gives to all commands goes to whichever die is idle just then; dies that
    /// read in step would have it always be the same one, and writes would wait at the others for ever.
    fn serve_read(&mut self, die: u32) -> bool {
        let reads = &mut self.scheduler.reads_first[die as usize];
        if *reads == self.scheduler.reads_first_max {
            *reads = 0;
            return self.serve_die(die, false);
        }
        self.batch.clear();
        let formed = self.with_policy(false, |policy, view| policy.take_read(die, view));
        self.scheduler.reads_first[die as usize] += u32::from(formed);
        self.send_formed(die, formed, false);
        formed
    }

    /// Issues a command on a chip, if one of its dies can take one.
    fn serve(&mut self, chip: u32) -> bool {
        let urgent = self.is_urgent(chip);
        self.scheduler.hold_writes =
            self.scheduler.writes_wait && self.ftl.unerased[chip as usize] > 0;
        let dies = self.flash.dies_of(chip);
        if dies.len() == 1 {
            return self.serve_die(dies.start, urgent);
        }
        if self.scheduler.one_die_per_dispatch && !self.flash.chip_idle(chip) {
            return false;
        }
        let first = dies.start;
        let mut free = self.flash.free_dies(chip);
        while free != 0
            && let Some(die) = self.best_die(first, free, urgent)
        {
            if self.serve_die(die, urgent) {
                return true;
            }
            free &= !(1 << (die - first));
        }
        bits(self.flash.interruptible_dies(chip)).any(|die| self.serve_die(first + die, urgent))
    }

    /// The die whose next work ranks first, among those from `first` on whose bit is set in `free`. What
    /// is starving ranks as the best kind: another die may have better work each time that it is asked.
    #[inline]
    fn best_die(&mut self, first: u32, free: u32, urgent: bool) -> Option<u32> {
        if free.is_power_of_two() && self.scheduler.policy.serves_what_waits() {
            return Some(first + free.trailing_zeros());
        }
        self.with_policy(urgent, |policy, view| {
            let mut best = None;
            for die in bits(free).map(|die| first + die) {
                if let Some((kind, since)) = policy.rank(die, view) {
                    let starves = view.now.saturating_sub(since) > STARVING;
                    let kind = if starves { 0 } else { kind };
                    let rank = (kind, since, die);
                    best = Some(best.map_or(rank, |other: (u8, Time, u32)| other.min(rank)));
                }
            }
            best.map(|(.., die)| die)
        })
    }

    /// Issues a command on a die that is idle or may be interrupted.
    fn serve_die(&mut self, die: u32, urgent: bool) -> bool {
        let idle = self.flash.is_idle(die);
        if !idle && !self.scheduler.writes_interrupt && !self.scheduler.policy.holds_reads(die) {
            // The read that was to interrupt the die has left, or belongs to collection.
            self.flash.end_interrupting(self.flash.place_of(die));
            return false;
        }
        let interrupts = |writes| self.flash.may_suspend(die, writes, self.now);
        let (for_read, for_write) =
            if idle { (false, false) } else { (interrupts(false), interrupts(true) && !urgent) };
        if !(idle || for_read || for_write) {
            return false;
        }
        self.batch.clear();
        let formed = self.with_policy(urgent, |policy, view| {
            if idle {
                policy.take(die, view)
            } else {
                for_read && policy.interrupt(die, view)
                    || for_write && policy.interrupt_for_write(die, view)
            }
        });
        self.send_formed(die, formed, !idle);
        formed
    }

    /// Sends what the policy formed, and settles what it found pointless.
    fn send_formed(&mut self, die: u32, formed: bool, interrupt: bool) {
        if formed {
            let place = self.flash.place_of(die);
            if let [id] = self.batch[..]
                && !interrupt
            {
                self.issue_page(place, id, false);
            } else {
                self.send_batch(place, interrupt);
            }
        }
        if !self.cancelled.is_empty() {
            self.settle_cancelled(die);
            if !formed {
                // The policy may have decided for collection whose pages need not move any more. Nothing
                // else would ask it again: what it left in its queues would wait for ever.
                self.offer_at(self.flash.place_of(die));
            }
        }
    }

    /// Sends a command of several pages, or one that interrupts another.
    #[inline(never)]
    fn send_batch(&mut self, place: DiePlace, interrupt: bool) {
        for at in 0..self.batch.len() {
            self.take_from_queue(place, self.batch[at]);
        }
        self.issue(place.die, interrupt);
    }

    /// Migrations that turned out pointless leave their queues.
    #[inline(never)]
    fn settle_cancelled(&mut self, die: u32) {
        while let Some(id) = self.cancelled.pop() {
            self.take_from_queue(self.flash.place_of(die), id);
            assert_eq!(self.transactions[id].source, Source::Gc, "only migrations are cancelled");
            self.migration_cancelled(id);
        }
    }

    /// The old data of a queued write are here.
    pub(crate) fn unblock(&mut self, id: u32) {
        let tr = &mut self.transactions[id];
        tr.blocked = false;
        let die = self.flash.die_of(tr.plane);
        self.scheduler.policy.unblocked(die);
        self.offer_at(self.flash.place_of(die));
    }

    /// Checks the state of the policy.
    pub(crate) fn audit_policy(&self) {
        let is_ready = |id: u32| {
            view::is_ready(&self.transactions[id], self.scheduler.ordered, &self.ftl.blocks)
        };
        self.scheduler.policy.audit(&is_ready);
    }

    /// A transaction is over the bus or out of the array.
    #[inline]
    pub(crate) fn tell_policy(&mut self, id: u32) {
        if self.scheduler.observes {
            let tr = &self.transactions[id];
            let die = self.flash.die_of(tr.plane);
            self.scheduler.policy.completed(die, id, tr, self.now);
        }
    }

    /// Keeps the accounts of a transaction that leaves its queue now.
    #[inline]
    fn take_from_queue(&mut self, place: DiePlace, id: u32) {
        let tr = &self.transactions[id];
        self.left_queue(place, tr.op, tr.flow, self.now - tr.mark);
    }

    /// Keeps the accounts of a transaction that left its queue.
    #[inline]
    pub(crate) fn left_queue(&mut self, place: DiePlace, op: Op, flow: u16, waited: Time) {
        if op == Op::Erase {
            self.ftl.unerased[place.chip as usize] -= 1;
        }
        if self.scheduler.left(place, flow, waited) && self.flash.end_waiting(place) {
            self.scheduler.pending[place.channel as usize] &= !(1 << place.chip_in_channel);
        }
    }
}

/// The set bits of a number, lowest first.
#[inline]
fn bits(mut set: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let bit = set.trailing_zeros();
            set &= set - 1;
            bit
        })
    })
}

impl Device {
    /// Counts and bits of what waits are those of the queues of the policy.
    pub(crate) fn audit_scheduler(&self) {
        let scheduler = &self.scheduler;
        let mut of_chip = vec![0; scheduler.chips.len()];
        for (die, &waiting) in (0..).zip(&scheduler.waiting) {
            assert_eq!(
                waiting,
                scheduler.policy.waiting(die),
                "what waits for die {die} is counted"
            );
            assert_eq!(waiting > 0, self.flash.is_awaited(die), "die {die} is known to be awaited");
            of_chip[self.flash.chip_of(die) as usize] += waiting;
        }
        let chips = self.geometry.chips_per_channel as usize;
        for (chip, &waiting) in of_chip.iter().enumerate() {
            assert_eq!(
                scheduler.chips[chip].length, waiting,
                "the queue of chip {chip} is counted"
            );
            let pending = scheduler.pending[chip / chips] >> (chip % chips) & 1 != 0;
            assert_eq!(pending, waiting > 0, "chip {chip} is known to be pending");
        }
        let flows: u32 = scheduler.flows.iter().map(|flow| flow.length).sum();
        assert_eq!(flows, of_chip.iter().sum::<u32>(), "the queues of the flows are counted");
    }
}
