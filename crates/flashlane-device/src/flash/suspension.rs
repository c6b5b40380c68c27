//! Suspension of programs and erases by more urgent work, and how they resume. Source: MQSim
//! (FAST'18) section 4.1.

use flashlane_engine::{EventQueue, Time};
use flashlane_units::{ChannelId, DieId, TransactionId};

use super::channel::COMMANDS;
use super::config::SuspendConfig;
use super::die::Suspended;
use super::{Die, DieState, Flash};
use crate::compat::CompatConfig;
use crate::context::Context;
use crate::event::Event;
use crate::transaction::Op;

/// A resumed operation also runs at least for this multiple of the settling time of an
/// interruption; otherwise a die with slow suspensions would spend most of its time on settling.
const SETTLING_WEIGHT: u64 = 2;

/// Suspensions of an operation may last longer than their first commands, so that other waiting
/// commands go as well: in all for this part of the operation's time. Without a bound, endless
/// reads would stop collection, and the writes behind it.
const SPARE_PART: u64 = 4;

/// Denominator of the part of its time for which a resumed operation runs at least.
const PARTS: u64 = 1 << 16;

/// What bounds the suspensions of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Suspensions of an operation.
    most: u16,
    /// Time for which a resumed operation runs at least. Unit: 1/65536 of its whole time.
    progress: u64,
}

impl Bounds {
    pub(super) fn new(config: &SuspendConfig) -> Self {
        let most = config.max_per_operation.map_or(u16::MAX, |most| most.min(0xffff) as u16);
        Self { most, progress: (config.min_progress.0 * PARTS as f64).round() as u64 }
    }

    /// Time for which a resumed operation runs at least. Unit: picoseconds. Range: 1 and above, by
    /// which an operation that was resumed is told from one that was not.
    fn guard(self, whole: u64, settling: u64) -> u64 {
        let progress = (u128::from(whole) * u128::from(self.progress) / u128::from(PARTS)) as u64;
        (SETTLING_WEIGHT * settling).max(progress).max(1)
    }
}

/// Kinds of operations that may be interrupted, one bit each.
pub(super) fn interruptible(config: &SuspendConfig, compat: &CompatConfig) -> u8 {
    if compat.no_suspension {
        return 0;
    }
    let programs = u8::from(config.program) << Op::Program as u8;
    let erases = u8::from(config.erase || config.erase_for_write) << Op::Erase as u8;
    programs | erases
}

impl Flash {
    /// True if a read may interrupt the operation of the die now. `writes`: if a write may.
    pub(crate) fn may_suspend(&self, die: DieId, writes: bool, now: Time) -> bool {
        let it = &self.dies[die];
        let interruptible = it.state == DieState::Array && it.suspended.is_none();
        interruptible
            && now >= it.interruptible
            && self.has_suspensions_left(it)
            && self.gives_way(it.op, writes, it.until.saturating_sub(now).0)
    }

    /// True if the operation that a die runs may be suspended once more.
    pub(super) fn has_suspensions_left(&self, die: &Die) -> bool {
        die.suspensions() < self.bounds.most
    }

    /// True if an operation with `left` picoseconds left gives way to a read. `writes`: to a write.
    pub(super) fn gives_way(&self, op: Op, writes: bool, left: u64) -> bool {
        if left == 0 || !self.may_be_interrupted(op) {
            return false;
        }
        let suspend = &self.suspend;
        match op {
            Op::Read => false,
            Op::Erase if writes => {
                suspend.erase_for_write && left >= suspend.erase_min_left_for_write.0
            }
            Op::Program if writes => false,
            Op::Program => suspend.program && left >= suspend.program_min_left.0,
            Op::Erase => suspend.erase && left >= suspend.erase_min_left.0,
        }
    }

    /// Makes the end of the guard of a resumed operation an event, if a read at the die has to wait
    /// for it. `writes`: the waiting work may be a write. Without this event the read would wait
    /// until something else makes the scheduler look at the die.
    #[cold]
    pub(crate) fn await_progress(
        &mut self,
        die: DieId,
        writes: bool,
        (now, events): (Time, &mut EventQueue<Event>),
    ) {
        let it = &self.dies[die];
        let (op, at) = (it.op, it.interruptible);
        let runs = it.state == DieState::Array && it.suspended.is_none();
        if !runs || now >= at || it.awaited || !self.has_suspensions_left(it) {
            return;
        }
        let left = it.until.saturating_sub(at).0;
        if self.gives_way(op, false, left) || writes && self.gives_way(op, true, left) {
            self.dies[die].awaited = true;
            events.schedule(at, Event::Progressed { die });
        }
    }

    /// Notes that nothing may interrupt the running operation of a die now: it is not looked at
    /// again before the end of the guard, if that is an event, or else before the end of the
    /// operation. Where writes may interrupt, the answer can change earlier, and the die is looked
    /// at each time.
    pub(crate) fn keeps_on(&mut self, die: DieId) {
        debug_assert!(self.dies[die].state != DieState::Idle, "die {die} works");
        if !self.suspend.erase_for_write {
            self.note_changing(die, false);
        }
    }

    /// The time of [`Flash::await_progress`] has come. False if the die was interrupted at that
    /// instant.
    pub(crate) fn has_progressed(&mut self, die: DieId, now: Time) -> bool {
        let it = &mut self.dies[die];
        let due = it.awaited && it.interruptible == now;
        if due {
            it.awaited = false;
            assert_eq!(it.state, DieState::Array, "a guarded operation runs");
            self.note_changing(die, true);
        }
        due
    }

    /// Checks that nothing waits for a time in the past.
    #[inline(always)]
    pub(super) fn assert_woken(&self, die: DieId, now: Time) {
        let it = &self.dies[die];
        assert!(!it.awaited || it.interruptible >= now, "what may interrupt a die again is told");
    }

    /// Notes that a command is done for which the die suspended an operation.
    pub(crate) fn served_suspended(&mut self, die: DieId, now: Time) {
        if let Some(suspended) = &mut self.dies[die].suspended {
            suspended.since = suspended.since.min(now);
        }
    }

    /// True if the die may serve more reads before it resumes its suspended operation.
    pub(crate) fn may_stay_suspended(&self, die: DieId, now: Time) -> bool {
        let it = &self.dies[die];
        let Some(suspended) = &it.suspended else { return false };
        it.state == DieState::Idle
            && now.saturating_sub(suspended.since).0 < it.spare
            && self.gives_way(suspended.op, false, suspended.left)
    }
}

impl Flash {
    /// Interrupts the running operation of a die; returns how long the die needs to settle.
    pub(super) fn suspend(&mut self, cx: &mut Context, die: DieId) -> u64 {
        let now = cx.now;
        let channel = self.place_of(die).channel;
        self.look_at_sensing(cx, channel);
        self.die_stops(die, now, &cx.transactions);
        self.assert_woken(die, now);
        let state = &mut self.dies[die];
        assert_eq!(state.state, DieState::Array, "only array operations are suspended");
        assert!(state.suspended.is_none(), "one level of suspension");
        state.awaited = false;
        let left = (state.until - now).0;
        let Die { head, op, whole, .. } = *state;
        let suspensions = state.suspensions() + 1;
        assert!(suspensions <= self.bounds.most, "an operation is not suspended too often");
        state.suspended = Some(Suspended { head, op, left, whole, since: Time::MAX });
        if suspensions == 1 {
            state.spare = whole / SPARE_PART;
        }
        state.suspended_before = suspensions;
        state.holds_suspended = true;
        state.epoch = state.epoch.wrapping_add(1);
        let (op, since, mut id) = (state.op, state.since, state.head);
        self.set_state(die, DieState::Idle);
        while id != TransactionId::NONE {
            let tr = &mut cx.transactions[id];
            tr.worked(since, now);
            id = tr.sibling;
        }
        match op {
            Op::Read => unreachable!("reads do not give way"),
            Op::Program => self.counters.program_suspends += 1,
            Op::Erase => self.counters.erase_suspends += 1,
        }
        self.timing.settling(op)
    }

    /// The channel has moved a page of read data. True if it may take a read command at once, for a
    /// die that has suspended something.
    pub(crate) fn data_is_over(&mut self, cx: &mut Context, channel: ChannelId) -> bool {
        self.look_at_sensing(cx, channel);
        let state = &mut self.channels[channel];
        state.busy[state.data_bus & 1] = false;
        let data_goes = self.data_first && state.has_work();
        !(data_goes || state.busy[COMMANDS])
    }

    /// Continues the suspended operation of an idle die.
    pub(crate) fn resume(&mut self, cx: &mut Context, die: DieId) {
        let now = cx.now;
        let state = &mut self.dies[die];
        let suspended = state.suspended.take().expect("something is suspended");
        assert_eq!(state.state, DieState::Idle, "an idle die resumes");
        assert!(suspended.left <= suspended.whole, "no more is left than there was");
        state.holds_suspended = false;
        state.spare = state.spare.saturating_sub(now.saturating_sub(suspended.since).0);
        state.head = suspended.head;
        state.op = suspended.op;
        state.until = now + Time(suspended.left);
        state.since = now;
        state.whole = suspended.whole;
        let settling = self.timing.settling(suspended.op);
        state.interruptible = now + Time(self.bounds.guard(suspended.whole, settling));
        state.awaited = false;
        let (until, epoch, mut id) = (state.until, state.epoch, state.head);
        self.set_state(die, DieState::Array);
        while id != TransactionId::NONE {
            let tr = &mut cx.transactions[id];
            let waited = tr.lap(now);
            tr.chain.queue += waited;
            id = tr.sibling;
        }
        cx.events.schedule(until, Event::ArrayDone { die, epoch });
    }
}
