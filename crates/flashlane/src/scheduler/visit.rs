//! A visit to a free channel: its chips are asked in turn until one takes a command.

use flashlane_engine::Time;

use super::policy::Policy;
use super::{Scheduler, Surroundings};
use crate::transaction::STARVING;

/// A look at the dies of a channel, which may go on after it was interrupted.
pub(crate) struct Visit {
    channel: u32,
    /// Only reads are looked for; now and then there is another command.
    reads: bool,
    /// The chip of the channel that was looked at first.
    turn: u32,
    /// Chips that were not looked at, from the turn on; a bit each.
    left: u64,
    /// The chip of the channel that is looked at.
    chip: u32,
    /// Collection goes first there.
    urgent: bool,
    dies: Dies,
}

/// Dies of a chip that were not asked yet.
enum Dies {
    /// None.
    Over,
    /// The only one of the chip, idle or not.
    Only(u32),
    /// From the first die of the chip on, a bit each: idle ones. The best is asked first.
    Idle { first: u32, set: u32 },
    /// The same in their order, whether idle or interruptible.
    InOrder { first: u32, set: u32 },
}

/// What came of a look.
pub(crate) enum Look {
    /// No die takes a command.
    Nothing,
    /// There is a command for the die; with `interrupts`, what it does is suspended for it.
    Command { die: u32, interrupts: bool },
    /// Moves for the die were found pointless, and no command was formed. There may be one when they are settled.
    Pointless { die: u32 },
}

impl Scheduler {
    /// Begins a visit to a free channel. `reads`: only reads are looked for; now and then there is another command.
    #[inline(always)]
    pub(crate) fn visit(&self, channel: u32, reads: bool) -> Visit {
        let turn = self.turn[channel as usize];
        // Chips from the turn on, then those before it; while they are visited, none comes to them that
        // nothing waited for before.
        let left = self.pending[channel as usize].rotate_right(turn);
        Visit { channel, reads, turn, left, chip: 0, urgent: false, dies: Dies::Over }
    }

    /// Goes on with a visit until a die takes a command, or is found to have nothing but pointless work.
    #[inline(always)]
    pub(crate) fn look(&mut self, at: &mut Surroundings<'_>, visit: &mut Visit) -> Look {
        loop {
            while let Some(die) = self.next_die(at, visit) {
                let idle = visit.reads || at.flash.is_idle(die);
                let formed = match visit.reads {
                    true => self.serve_read(at, die),
                    false => self.serve_die(at, die, idle, visit.urgent),
                };
                if formed {
                    self.served(visit.channel, visit.chip);
                    return Look::Command { die, interrupts: !idle };
                }
                if self.has_cancelled() {
                    return Look::Pointless { die };
                }
            }
            let set = at.flash.wanted_chips(visit.channel).rotate_right(visit.turn) & visit.left;
            if set == 0 {
                return Look::Nothing;
            }
            let step = set.trailing_zeros();
            visit.left &= u64::MAX << step << 1;
            visit.chip = (step + visit.turn) % u64::BITS;
            self.turn_to_chip(at, visit);
        }
    }

    /// The dies of the chip that is looked at now.
    #[inline(always)]
    fn turn_to_chip(&mut self, at: &Surroundings<'_>, visit: &mut Visit) {
        let chip = visit.channel * self.chips_per_channel + visit.chip;
        let dies = at.flash.dies_of(chip);
        let first = dies.start;
        let urgent = !self.preemptible || at.ftl.is_urgent(chip);
        let closed = || self.one_die_per_dispatch && !at.flash.chip_idle(chip);
        visit.urgent = urgent;
        visit.dies = if visit.reads {
            // Chips that are short of free blocks choose among all commands.
            match at.flash.free_dies(chip) {
                0 => Dies::Over,
                _ if urgent || closed() => Dies::Over,
                set => Dies::InOrder { first, set },
            }
        } else if dies.len() == 1 {
            Dies::Only(first)
        } else if closed() {
            Dies::Over
        } else {
            Dies::Idle { first, set: at.flash.free_dies(chip) }
        };
        if !visit.reads {
            self.hold_writes = self.writes_wait && at.ftl.awaits_erase(chip);
        }
    }

    /// The die to ask next on the chip that is looked at.
    #[inline(always)]
    fn next_die(&mut self, at: &mut Surroundings<'_>, visit: &mut Visit) -> Option<u32> {
        loop {
            match &mut visit.dies {
                Dies::Over => return None,
                &mut Dies::Only(die) => {
                    visit.dies = Dies::Over;
                    return Some(die);
                }
                Dies::Idle { first, set } => {
                    let first = *first;
                    if *set != 0
                        && let Some(die) = self.best_die(at, first, *set, visit.urgent)
                    {
                        *set &= !(1 << (die - first));
                        return Some(die);
                    }
                    let chip = visit.channel * self.chips_per_channel + visit.chip;
                    let set = at.flash.interruptible_dies(chip);
                    visit.dies = Dies::InOrder { first, set };
                }
                Dies::InOrder { first, set } => {
                    if *set == 0 {
                        visit.dies = Dies::Over;
                        return None;
                    }
                    let die = *first + set.trailing_zeros();
                    *set &= *set - 1;
                    return Some(die);
                }
            }
        }
    }

    /// Forms a read command for an idle die, if there is one waiting.
    ///
    /// After as many of them as the channel has dies, the die chooses among all its commands instead.
    /// The turn that the channel gives to all commands goes to whichever die is idle just then; dies that
    /// read in step would have it always be the same one, and writes would wait at the others for ever.
    fn serve_read(&mut self, at: &mut Surroundings<'_>, die: u32) -> bool {
        let reads = &mut self.reads_first[die as usize];
        if *reads == self.reads_first_max {
            *reads = 0;
            return self.serve_die(at, die, true, false);
        }
        self.batch.clear();
        let formed = self.with_policy(at, false, |policy, view| policy.take_read(die, view));
        self.reads_first[die as usize] += u32::from(formed);
        formed
    }

    /// The die whose next work ranks first, among those from `first` on whose bit is set in `free`. What
    /// is starving ranks as the best kind: another die may have better work each time that it is asked.
    #[inline]
    fn best_die(
        &mut self,
        at: &mut Surroundings<'_>,
        first: u32,
        free: u32,
        urgent: bool,
    ) -> Option<u32> {
        if free.is_power_of_two() && self.policy.serves_what_waits() {
            return Some(first + free.trailing_zeros());
        }
        self.with_policy(at, urgent, |policy, view| {
            let mut best = None;
            let mut left = free;
            while left != 0 {
                let die = first + left.trailing_zeros();
                left &= left - 1;
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

    /// Forms a command for a die that is idle or may be interrupted.
    fn serve_die(&mut self, at: &mut Surroundings<'_>, die: u32, idle: bool, urgent: bool) -> bool {
        if !idle && !self.writes_interrupt && !self.policy.holds_reads(die) {
            // The read that was to interrupt the die has left, or belongs to collection.
            at.flash.end_interrupting(at.flash.place_of(die));
            return false;
        }
        let interrupts = |writes| at.flash.may_suspend(die, writes, at.ctx.now);
        let (for_read, for_write) =
            if idle { (false, false) } else { (interrupts(false), interrupts(true) && !urgent) };
        if !(idle || for_read || for_write) {
            return false;
        }
        self.batch.clear();
        self.with_policy(at, urgent, |policy, view| {
            if idle {
                policy.take(die, view)
            } else {
                for_read && policy.interrupt(die, view)
                    || for_write && policy.interrupt_for_write(die, view)
            }
        })
    }
}
