//! The full check of the flash (`--check`).

use flashlane_engine::{Ring, Time};
use flashlane_units::DieId;

use super::{Die, DieState, Flash};
use crate::transaction::Transactions;

impl Flash {
    /// Checks everything that must hold between two events.
    pub(crate) fn audit(&self, now: Time, transactions: &Transactions) {
        self.audit_wanted();
        self.audit_retries();
        for (id, die) in self.dies.numbered() {
            self.assert_woken(id, now);
            self.audit_awaited(id, die, now);
            self.audit_register(id, die, transactions);
            self.audit_planes(id, transactions);
            assert_eq!(
                die.holds_suspended,
                die.suspended.is_some(),
                "a suspended command is noted"
            );
            let idle = die.state == DieState::Idle;
            assert!(!idle || die.suspended.is_none(), "an idle die resumes what it suspended");
            let known = self.sets[die.chip].idle >> die.die_in_chip & 1 != 0;
            assert_eq!(idle, known, "idle dies are known");
        }
        for channel in &self.channels {
            channel.audit();
        }
        self.audit_buses(now);
        // If a channel did two things at a time, it would have used more time than has passed.
        let most = |taken: Vec<u64>| taken.into_iter().max().unwrap_or(0);
        assert!(
            most(self.taken(now, transactions)) <= now.0,
            "a channel moves one thing at a time"
        );
        let commands = most(self.command_buses_taken(now));
        assert!(commands <= now.0, "a command bus carries one command at a time");
        assert!(most(self.busy_chips(now)) <= now.0, "a chip is busy once at a time");
    }

    /// Checks a read that may interrupt the resumed operation of a die later: that time must be an
    /// event, unless the channel is busy, since the die is looked at when the channel is free.
    fn audit_awaited(&self, id: DieId, die: &Die, now: Time) {
        let runs = die.state == DieState::Array && die.suspended.is_none();
        if !runs || !self.may_be_interrupted(die.op) {
            return;
        }
        let sets = &self.sets[die.chip];
        let has = |set: u32| set >> die.die_in_chip & 1 != 0;
        let channel_busy = self.channels[die.channel].busy.contains(&true);
        let left = die.until.saturating_sub(die.interruptible.max(now)).0;
        let later = self.has_suspensions_left(die) && self.gives_way(die.op, false, left);
        if has(sets.interrupting) && now < die.interruptible && !channel_busy {
            assert!(die.awaited || !later, "the end of the guard of die {} is an event", id.get());
        }
        let looked_at = has(sets.changing) || die.awaited;
        assert!(looked_at || !later, "die {} is left out while nothing interrupts it", id.get());
    }

    /// Checks what must hold when no event is left.
    pub(crate) fn audit_stuck(&self) {
        let idle = self.dies.iter().all(|die| die.state == DieState::Idle);
        assert!(idle, "every operation of a die ends");
    }

    /// True if something waits for a die.
    pub(crate) fn is_awaited(&self, die: DieId) -> bool {
        let place = self.place_of(die);
        self.sets[place.chip].waiting >> place.die_in_chip & 1 != 0
    }
}

impl super::Channel {
    fn audit(&self) {
        let waiting: usize = self.waiting.iter().map(Ring::len).sum();
        assert_eq!(self.pages_waiting as usize, waiting, "read data that waits is counted");
    }
}
