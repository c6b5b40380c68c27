//! Sets of dies by chip, one bit a die: the idle ones, those that could be interrupted, and those
//! that something waits for.
//!
//! Invariant: a chip is wanted while something waits for one of its dies that could take a command.

use flashlane_units::{ChannelId, ChipId, DieId};

use super::{DiePlace, DieState, Flash};
use crate::transaction::Op;

/// State of the dies of a chip, one bit a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct DieSets {
    /// Dies that are idle.
    pub(super) idle: u32,
    /// Dies whose array runs an operation that may be interrupted, or beside which the die takes
    /// another command. A die is left out while it is
    /// known that it is not interrupted before its next event: see [`Flash::keeps_on`].
    pub(super) changing: u32,
    /// Dies for which something waits in the scheduler, whatever they do.
    pub(super) waiting: u32,
    /// Dies for which something waits that may interrupt such an operation. The scheduler may clear
    /// a bit late. Always a part of `waiting`.
    pub(super) interrupting: u32,
}

impl DieSets {
    /// Notes the new state of a die.
    #[inline(always)]
    pub(super) fn note(&mut self, place: DiePlace, idle: bool, changing: bool) {
        let others = !(1 << place.die_in_chip);
        self.idle = self.idle & others | u32::from(idle) << place.die_in_chip;
        self.changing = self.changing & others | u32::from(changing) << place.die_in_chip;
    }

    /// True if something waits at the chip for a die that is idle, or that it may interrupt.
    #[inline(always)]
    pub(super) fn wants(&self) -> bool {
        (self.waiting & self.idle | self.interrupting & self.changing) != 0
    }
}

impl Flash {
    /// True if an operation of that kind may be interrupted, or a die that runs it may take another
    /// command.
    #[inline(always)]
    pub(super) fn may_be_interrupted(&self, op: Op) -> bool {
        self.interruptible >> op as u8 & 1 != 0
    }

    /// True if no die of the chip does anything.
    #[inline]
    pub(crate) fn chip_idle(&self, chip: ChipId) -> bool {
        self.idle_dies(chip) == u32::MAX
    }

    /// The idle dies of a chip, one bit each.
    #[inline]
    pub(crate) fn idle_dies(&self, chip: ChipId) -> u32 {
        self.sets[chip].idle
    }

    /// The dies of a chip whose operation may be interrupted, and for which something waits that
    /// may do so; one bit each.
    #[inline]
    pub(crate) fn interruptible_dies(&self, chip: ChipId) -> u32 {
        let DieSets { changing, interrupting, .. } = self.sets[chip];
        changing & interrupting
    }

    /// The idle dies of a chip for which something waits, one bit each.
    #[inline]
    pub(crate) fn free_dies(&self, chip: ChipId) -> u32 {
        let DieSets { idle, waiting, .. } = self.sets[chip];
        idle & waiting
    }

    /// Chips of a channel at which something waits for a die that is idle, or that it may
    /// interrupt; one bit each.
    #[inline]
    pub(crate) fn wanted_chips(&self, channel: ChannelId) -> u64 {
        self.wanted[channel]
    }

    /// True if the chip is in [`Flash::wanted_chips`] of its channel.
    #[inline]
    pub(crate) fn is_wanted(&self, place: DiePlace) -> bool {
        self.wanted[place.channel] >> place.chip_in_channel & 1 != 0
    }

    /// Notes the new state of a die.
    #[inline(always)]
    pub(super) fn set_state(&mut self, die: DieId, state: DieState) {
        let it = &mut self.dies[die];
        it.state = state;
        let (op, place) = (it.op, it.place(die));
        let changing = state == DieState::Array && self.may_be_interrupted(op);
        self.note(place, state == DieState::Idle, changing);
    }

    /// Notes whether a die is idle now, and whether its operation may be interrupted.
    #[inline(always)]
    pub(super) fn note(&mut self, place: DiePlace, idle: bool, changing: bool) {
        let sets = &mut self.sets[place.chip];
        sets.note(place, idle, changing);
        let wants = sets.wants();
        self.note_wanted(place, wants);
    }

    /// Notes that something waits for a die. `interrupts`: it may interrupt a program or an erase,
    /// if these may be interrupted at all.
    #[inline(always)]
    pub(crate) fn begin_waiting(&mut self, place: DiePlace, interrupts: bool) {
        let sets = &mut self.sets[place.chip];
        sets.waiting |= 1 << place.die_in_chip;
        sets.interrupting |= u32::from(interrupts) << place.die_in_chip;
        let wants = sets.wants();
        self.note_wanted(place, wants);
    }

    /// Notes that nothing waits for a die any more. True if nothing waits for its chip.
    #[inline(always)]
    pub(crate) fn end_waiting(&mut self, place: DiePlace) -> bool {
        let sets = &mut self.sets[place.chip];
        debug_assert!(sets.waiting >> place.die_in_chip & 1 != 0, "something waited for the die");
        sets.waiting &= !(1 << place.die_in_chip);
        sets.interrupting &= !(1 << place.die_in_chip);
        let (chip_waits, wants) = (sets.waiting != 0, sets.wants());
        self.note_wanted(place, wants);
        !chip_waits
    }

    /// Notes that nothing that waits for a die may interrupt its operation.
    pub(crate) fn end_interrupting(&mut self, place: DiePlace) {
        let sets = &mut self.sets[place.chip];
        sets.interrupting &= !(1 << place.die_in_chip);
        let wants = sets.wants();
        self.note_wanted(place, wants);
    }

    /// Notes that something that waits for a die may interrupt its next operation, or an operation
    /// that it takes up again. Only before a command for the die.
    #[inline]
    pub(crate) fn may_interrupt_again(&mut self, place: DiePlace) {
        let sets = &mut self.sets[place.chip];
        sets.interrupting |= sets.waiting & 1 << place.die_in_chip;
    }

    /// Notes whether the running operation of a die may be interrupted.
    pub(super) fn note_changing(&mut self, die: DieId, changing: bool) {
        debug_assert!(self.may_be_interrupted(self.dies[die].op) || !changing, "a read runs on");
        let place = self.place_of(die);
        self.note(place, false, changing);
    }

    /// Updates the set of wanted chips of a channel.
    #[inline(always)]
    pub(super) fn note_wanted(&mut self, place: DiePlace, wants: bool) {
        let wanted = &mut self.wanted[place.channel];
        *wanted =
            *wanted & !(1 << place.chip_in_channel) | u64::from(wants) << place.chip_in_channel;
    }

    /// Checks the sets of wanted chips, for audits.
    pub(crate) fn audit_wanted(&self) {
        for (channel, &wanted) in self.wanted.numbered() {
            let chips = self.chips_per_channel.get();
            let sets = |way: u32| &self.sets[self.chip_at(channel, way)];
            let wants = |way: u32| u64::from(sets(way).wants()) << way;
            assert_eq!(wanted, (0..chips).map(wants).sum::<u64>(), "wanted chips of a channel");
        }
    }
}
