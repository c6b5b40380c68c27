//! Suspension of programs and erases by more urgent work, and their way back.
//! Source: MQSim (FAST'18) section 4.1.

use flashlane_engine::Time;
use flashlane_units::{DieId, TransactionId};

use super::config::SuspendConfig;
use super::die::Suspended;
use super::{DieState, Flash};
use crate::context::Context;
use crate::event::Event;
use crate::transaction::Op;

/// A resumed operation runs for this part of its time before it is interrupted again: reads that
/// never end would stop it for ever.
const PROGRESS_PART: u64 = 16;

/// Operations that may be interrupted: the bit of the number of each.
pub(super) fn interruptible(config: &SuspendConfig) -> u8 {
    let programs = u8::from(config.program) << Op::Program as u8;
    let erases = u8::from(config.erase || config.erase_for_write) << Op::Erase as u8;
    programs | erases
}

impl Flash {
    /// True if a read may interrupt what the die does now; `writes`: if a write may.
    pub(crate) fn may_suspend(&self, die: DieId, writes: bool, now: Time) -> bool {
        let die = &self.dies[die];
        if die.state != DieState::Array || die.suspended.is_some() || die.until <= now {
            return false;
        }
        if now < die.interruptible || !self.may_be_interrupted(die.op) {
            return false;
        }
        let left = (die.until - now).0;
        match die.op {
            Op::Read => false,
            Op::Erase if writes => {
                let suspend = &self.suspend;
                suspend.erase_for_write && left >= suspend.erase_min_left_for_write.0
            }
            Op::Program if writes => false,
            Op::Program => self.suspend.program && left >= self.suspend.program_min_left.0,
            Op::Erase => self.suspend.erase && left >= self.suspend.erase_min_left.0,
        }
    }
}

impl Flash {
    /// Interrupts the running operation of a die; returns how long the die needs to settle.
    pub(super) fn suspend(&mut self, cx: &mut Context<'_>, die: DieId) -> u64 {
        let now = cx.now;
        let channel = self.place_of(die).channel;
        self.look_at_sensing(cx, channel);
        self.die_stops(die, now, cx.transactions);
        let state = &mut self.dies[die];
        assert_eq!(state.state, DieState::Array, "only array operations are suspended");
        assert!(state.suspended.is_none(), "one level of suspension");
        let left = (state.until - now).0;
        state.suspended =
            Some(Suspended { head: state.head, op: state.op, left, whole: state.whole });
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
            Op::Program => {
                self.counters.program_suspends += 1;
                self.timing.suspend_program
            }
            _ => {
                self.counters.erase_suspends += 1;
                self.timing.suspend_erase
            }
        }
    }

    /// Continues the suspended operation of a die that became idle; false if there is none.
    #[inline]
    pub(crate) fn resume(&mut self, cx: &mut Context<'_>, die: DieId) -> bool {
        let resumes = self.dies[die].holds_suspended;
        if resumes {
            self.resume_suspended(cx, die);
        }
        resumes
    }

    pub(super) fn resume_suspended(&mut self, cx: &mut Context<'_>, die: DieId) {
        let now = cx.now;
        let state = &mut self.dies[die];
        let suspended = state.suspended.take().expect("something is suspended");
        state.holds_suspended = false;
        state.head = suspended.head;
        state.op = suspended.op;
        state.until = now + Time(suspended.left);
        state.since = now;
        state.whole = suspended.whole;
        state.interruptible = now + Time(suspended.whole / PROGRESS_PART);
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
