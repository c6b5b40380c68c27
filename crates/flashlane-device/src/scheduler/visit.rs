//! A visit to a free channel: its chips are asked in turn until one takes a command.

use flashlane_engine::Time;
use flashlane_units::{ChannelId, ChipId, DieId};

use super::policy::SchedulingPolicy;
use super::view::Beside;
use super::{Scheduler, Surroundings};
use crate::flash::DiePlace;

/// A look at the dies of a channel, which can be continued after an interruption.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) channel: ChannelId,
    /// True if only reads are looked for; now and then another command goes even so.
    pub(super) reads: bool,
    /// The chip of the channel that was asked first.
    pub(super) turn: u32,
    /// Chips that were not asked yet, counted from `turn` on; one bit each.
    pub(super) left: u64,
    /// The chip of the channel that is asked now.
    pub(super) way: u32,
    /// True if collection goes first on the current chip.
    pub(super) urgent: bool,
    /// The die that was asked last, where the look was interrupted.
    pub(super) die: DieId,
}

/// Dies of a chip that were not asked yet, counted from its first die on; one bit each.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rest {
    /// Idle dies. The best is asked first, and after them the dies that may be interrupted.
    Idle { first: DieId, set: u32 },
    /// Idle or interruptible dies, which are asked in their order.
    InOrder { first: DieId, set: u32 },
}

impl Scheduler {
    /// Looks at a free channel until a die takes a command, or turns out to have only pointless
    /// work. `reads`: look only for reads; now and then another command goes even so.
    #[inline(always)]
    pub(crate) fn look(
        &mut self,
        at: &mut Surroundings<'_>,
        channel: ChannelId,
        reads: bool,
    ) -> bool {
        let turn = self.turn[channel];
        if self.rotation_decides() {
            return self.look_rotating(at, channel, turn);
        }
        // Chips from the turn on, then those before it. During the visit no work comes to a chip
        // that had none.
        let left = self.pending[channel].rotate_right(turn);
        self.look_at_chips(
            at,
            Visit { channel, reads, turn, left, way: 0, urgent: false, die: DieId::NONE },
        )
    }

    /// Goes on with a look after the pointless moves were settled.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_on(&mut self, at: &mut Surroundings<'_>) -> bool {
        let Some((visit, rest)) = self.interrupted.take() else { return false };
        let formed = match rest {
            Rest::Idle { first, set } => self.ask_idle(at, visit, first, set),
            Rest::InOrder { first, set } => self.ask_in_order(at, visit, first, set),
        };
        formed || self.interrupted.is_none() && self.look_at_chips(at, visit)
    }

    /// The die whose pointless moves must be settled before the interrupted look goes on; `None` if
    /// the look is over.
    #[inline(always)]
    pub(crate) fn interrupted_at(&self) -> Option<DieId> {
        self.interrupted.map(|(visit, _)| visit.die)
    }

    #[inline(always)]
    fn look_at_chips(&mut self, at: &mut Surroundings<'_>, mut visit: Visit) -> bool {
        loop {
            let set = at.flash.wanted_chips(visit.channel).rotate_right(visit.turn) & visit.left;
            if set == 0 {
                return false;
            }
            let step = set.trailing_zeros();
            visit.left &= u64::MAX << step << 1;
            visit.way = (step + visit.turn) % u64::BITS;
            debug_assert!(visit.way < self.chips_per_channel, "a chip of the channel is wanted");
            let chip = at.flash.chip_at(visit.channel, visit.way);
            visit.urgent = !self.rules.preemptible || at.ftl.is_urgent(chip);
            let look = match visit.reads {
                true => self.ask_for_read(at, visit, chip),
                false => self.ask_chip(at, visit, chip),
            };
            if look || self.interrupted.is_some() {
                return look;
            }
        }
    }

    /// Asks the idle dies of a chip for reads. On chips that are short of free blocks, dies choose
    /// among all commands.
    #[inline(always)]
    fn ask_for_read(&mut self, at: &mut Surroundings<'_>, visit: Visit, chip: ChipId) -> bool {
        let set = at.flash.readable_dies(chip);
        if set == 0 || visit.urgent || self.is_closed(at, chip) {
            return false;
        }
        self.ask_in_order(at, visit, at.flash.first_die(chip), set)
    }

    /// Asks the dies of a chip.
    #[inline(always)]
    fn ask_chip(&mut self, at: &mut Surroundings<'_>, visit: Visit, chip: ChipId) -> bool {
        self.hold_writes = self.writes_wait && at.ftl.awaits_erase(chip);
        let first = at.flash.first_die(chip);
        if at.flash.dies_per_chip() == 1 {
            return self.ask(at, visit, first, Rest::InOrder { first, set: 0 });
        }
        if self.is_closed(at, chip) {
            return false;
        }
        self.ask_idle(at, visit, first, at.flash.free_dies(chip))
    }

    /// True if a die of the chip works, and this keeps all its dies from getting a command.
    #[inline(always)]
    fn is_closed(&self, at: &Surroundings<'_>, chip: ChipId) -> bool {
        self.one_die_per_dispatch && !at.flash.chip_idle(chip)
    }

    /// Asks idle dies, the best first, and then dies that may be interrupted.
    #[inline(always)]
    fn ask_idle(
        &mut self,
        at: &mut Surroundings<'_>,
        visit: Visit,
        first: DieId,
        mut set: u32,
    ) -> bool {
        while set != 0
            && let Some(die) = self.best_die(at, first, set, visit.urgent)
        {
            set &= !(1 << die.since(first));
            let look = self.ask(at, visit, die, Rest::Idle { first, set });
            if look || self.interrupted.is_some() {
                return look;
            }
        }
        let chip = at.flash.chip_at(visit.channel, visit.way);
        self.ask_in_order(at, visit, first, at.flash.interruptible_dies(chip))
    }

    /// Asks dies in their order.
    #[inline(always)]
    fn ask_in_order(
        &mut self,
        at: &mut Surroundings<'_>,
        visit: Visit,
        first: DieId,
        mut set: u32,
    ) -> bool {
        while set != 0 {
            let die = first.plus(set.trailing_zeros());
            set &= set - 1;
            let look = self.ask(at, visit, die, Rest::InOrder { first, set });
            if look || self.interrupted.is_some() {
                return look;
            }
        }
        false
    }

    /// Asks a die for a command. `rest`: the dies to ask after it.
    #[inline(always)]
    fn ask(&mut self, at: &mut Surroundings<'_>, visit: Visit, die: DieId, rest: Rest) -> bool {
        if !visit.reads && self.beside_turns.is_some() {
            // The die may choose among all its commands.
            self.reads_first[die] = 0;
        }
        let idle = visit.reads || at.flash.is_idle(die);
        let first = !visit.reads && visit.urgent && self.collection_goes_first(die, at.now);
        let formed = match visit.reads {
            true => self.serve_read(at, die),
            false => self.serve_die(at, die, idle, first),
        };
        if formed {
            self.note_turn(at, die, first);
            debug_assert!(!self.command.pages.is_empty(), "a command that was formed has a page");
            self.served(visit.channel, visit.way);
            self.may_interrupt_again(at, die);
            let reads_on = || self.rules.reads_by_plane && at.flash.is_reading(die);
            let interrupts = !idle && !reads_on();
            (self.command.die, self.command.interrupts) = (die, interrupts);
        } else if self.has_cancelled() {
            self.interrupt(Visit { die, ..visit }, rest);
        }
        formed
    }

    /// A command leaves for the die: what waits there may now be worth an interruption to a policy
    /// that had nothing before.
    #[inline(always)]
    pub(super) fn may_interrupt_again(&self, at: &mut Surroundings<'_>, die: DieId) {
        if self.all_interrupt {
            at.flash.may_interrupt_again(at.flash.place_of(die));
        }
    }

    /// Interrupts the look until the pointless moves are settled.
    #[cold]
    #[inline(never)]
    pub(super) fn interrupt(&mut self, visit: Visit, rest: Rest) {
        assert!(self.interrupted.is_none(), "one look is interrupted at a time");
        assert!(self.has_cancelled(), "pointless moves interrupt a look");
        self.interrupted = Some((visit, rest));
    }

    /// Forms a read command for an idle die, if a read waits.
    ///
    /// After as many read commands as the channel has dies, the die chooses among all its commands
    /// instead. Otherwise writes might never go: the turn that the channel gives to all commands
    /// goes to whichever die is idle just then, and among dies that read in step that would always
    /// be the same die.
    #[inline(always)]
    fn serve_read(&mut self, at: &mut Surroundings<'_>, die: DieId) -> bool {
        if self.rules.reads_by_plane && !at.flash.is_idle(die) {
            return self.serve_reading(at, die, false);
        }
        let reads = &mut self.reads_first[die];
        if *reads == self.reads_first_max {
            *reads = 0;
            return self.serve_die(&mut at.again(), die, true, false);
        }
        self.command.pages.clear();
        let formed = self.with_policy(at, false, |policy, view| policy.take_read(die, view));
        self.reads_first[die] += u32::from(formed);
        formed
    }

    /// The die whose next work ranks first, among those from `first` on whose bit is set in `free`.
    /// Starving work ranks as the best kind; otherwise another die could have better work each
    /// time.
    #[inline(always)]
    fn best_die(
        &mut self,
        at: &mut Surroundings<'_>,
        first: DieId,
        free: u32,
        urgent: bool,
    ) -> Option<DieId> {
        if free.is_power_of_two() && self.policy.serves_what_waits() {
            return Some(first.plus(free.trailing_zeros()));
        }
        let starving = self.starving;
        self.with_policy(at, urgent, |policy, view| {
            let mut best = None;
            let mut left = free;
            while left != 0 {
                let die = first.plus(left.trailing_zeros());
                left &= left - 1;
                if let Some((kind, since)) = policy.rank(die, view) {
                    let starves = view.now.saturating_sub(since) > starving;
                    let kind = if starves { 0 } else { kind };
                    let rank = (kind, since, die);
                    best = Some(best.map_or(rank, |other: (u8, Time, DieId)| other.min(rank)));
                }
            }
            best.map(|(.., die)| die)
        })
    }

    /// Forms a command for a die that is idle or may be interrupted, or that takes a program into
    /// its register.
    fn serve_die(
        &mut self,
        at: &mut Surroundings<'_>,
        die: DieId,
        idle: bool,
        urgent: bool,
    ) -> bool {
        if !idle {
            if self.rules.reads_by_plane && at.flash.is_reading(die) {
                return self.serve_reading(at, die, urgent);
            }
            if at.flash.takes_program(die) {
                return self.serve_register(at, die, urgent);
            }
            if !self.writes_interrupt && !self.policy.may_interrupt(die) {
                // The work that was to interrupt the die has left, or belongs to collection.
                at.flash.end_interrupting(at.flash.place_of(die));
                return false;
            }
        }
        let interrupts = |writes| at.flash.may_suspend(die, writes, at.now);
        let (for_read, for_write) =
            if idle { (false, false) } else { (interrupts(false), interrupts(true) && !urgent) };
        if !(idle || for_read || for_write) {
            at.flash.await_progress(die, !urgent, (at.now, at.events));
            at.flash.keeps_on(die);
            return false;
        }
        self.command.pages.clear();
        self.with_policy(at, urgent, |policy, view| {
            if idle {
                policy.take(die, view)
            } else {
                for_read && policy.interrupt(die, view)
                    || for_write && policy.interrupt_for_write(die, view)
            }
        })
    }

    /// Forms a program for the register of a die that programs, if that is what the die would do
    /// next.
    #[cold]
    fn serve_register(&mut self, at: &mut Surroundings<'_>, die: DieId, urgent: bool) -> bool {
        self.command.pages.clear();
        let formed = self.with_policy(at, urgent, |policy, view| policy.take_program(die, view));
        debug_assert_eq!(formed, !self.command.pages.is_empty(), "a command has a page");
        formed
    }

    /// Forms a read for a free plane of a die that reads on other planes, if that is what the die
    /// would do next. While the die has suspended something, only reads that may interrupt go.
    #[cold]
    #[inline(never)]
    pub(super) fn serve_reading(
        &mut self,
        at: &mut Surroundings<'_>,
        die: DieId,
        urgent: bool,
    ) -> bool {
        let Some(closed) = at.flash.closed_planes(die, at.now) else { return false };
        self.command.pages.clear();
        self.rules.beside = Beside { reads: true, closed };
        let suspended = at.flash.is_suspended(die);
        let formed = self.with_policy(at, urgent, |policy, view| match suspended {
            true => policy.interrupt(die, view),
            false => policy.take_read_beside(die, view),
        });
        self.rules.beside = Beside::default();
        debug_assert_eq!(formed, !self.command.pages.is_empty(), "a command has a page");
        formed
    }

    /// Forms a command for an idle die that has suspended something: only reads that may interrupt
    /// go before the die resumes. A write goes alone, since waiting writes may need the very blocks
    /// that the suspended erase frees. The channel must be free.
    #[cold]
    pub(crate) fn serve_suspended(&mut self, at: &mut Surroundings<'_>, die: DieId) -> bool {
        let DiePlace { chip, channel, chip_in_channel, .. } = at.flash.place_of(die);
        assert!(at.flash.is_idle(die) && at.flash.is_suspended(die), "die {die} waits to resume");
        let urgent = !self.rules.preemptible || at.ftl.is_urgent(chip);
        at.flash.served_suspended(die, at.now);
        if self.waiting[die] == 0 || !at.flash.may_stay_suspended(die, at.now) {
            return false;
        }
        self.hold_writes = self.writes_wait && at.ftl.awaits_erase(chip);
        self.command.pages.clear();
        let formed = self.with_policy(at, urgent, |policy, view| policy.interrupt(die, view));
        if formed {
            self.note_turn(at, die, false);
            self.served(channel, chip_in_channel);
            self.may_interrupt_again(at, die);
            (self.command.die, self.command.interrupts) = (die, false);
        }
        formed
    }
}
