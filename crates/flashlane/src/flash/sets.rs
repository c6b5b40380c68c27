//! Which dies are idle, which could be interrupted, and for which something waits: a bit each, by
//! chip.
//!
//! Invariant: a chip is wanted while something waits for one of its dies that could take a command.

use flashlane_units::{ChannelId, ChipId, DieId};

use super::{DiePlace, DieState, Flash};
use crate::transaction::Op;

/// What the dies of a chip do, a bit each.
#[derive(Clone, Copy, Debug)]
pub(super) struct DieSets {
    /// Nothing.
    pub(super) idle: u32,
    /// The array runs an operation that may be interrupted.
    pub(super) changing: u32,
    /// Whatever it is, something waits for them in the scheduler.
    pub(super) waiting: u32,
    /// Something that may interrupt such an operation waits for them. The scheduler may find out
    /// late that it has left. Always a part of `waiting`.
    pub(super) interrupting: u32,
}

impl DieSets {
    /// A die does something else now.
    #[inline(always)]
    pub(super) fn note(&mut self, place: DiePlace, idle: bool, changing: bool) {
        let others = !(1 << place.die_in_chip);
        self.idle = self.idle & others | u32::from(idle) << place.die_in_chip;
        self.changing = self.changing & others | u32::from(changing) << place.die_in_chip;
    }

    /// Something waits at the chip for a die that is idle, or that it may interrupt.
    #[inline(always)]
    pub(super) fn wants(&self) -> bool {
        (self.waiting & self.idle | self.interrupting & self.changing) != 0
    }
}

impl Flash {
    /// An operation of that kind may be interrupted.
    #[inline(always)]
    pub(super) fn may_be_interrupted(&self, op: Op) -> bool {
        self.interruptible >> op as u8 & 1 != 0
    }

    /// True if no die of the chip does anything.
    #[inline]
    pub(crate) fn chip_idle(&self, chip: ChipId) -> bool {
        self.idle_dies(chip) == u32::MAX
    }

    /// The dies of a chip that do nothing, a bit each.
    #[inline]
    pub(crate) fn idle_dies(&self, chip: ChipId) -> u32 {
        self.sets[chip].idle
    }

    /// The dies of a chip whose array runs what may be interrupted, and for which something waits
    /// that may do so, a bit each.
    #[inline]
    pub(crate) fn interruptible_dies(&self, chip: ChipId) -> u32 {
        let DieSets { changing, interrupting, .. } = self.sets[chip];
        changing & interrupting
    }

    /// The dies of a chip that do nothing although something waits for them, a bit each.
    #[inline]
    pub(crate) fn free_dies(&self, chip: ChipId) -> u32 {
        let DieSets { idle, waiting, .. } = self.sets[chip];
        idle & waiting
    }

    /// Chips of a channel at which something waits for a die that is idle, or that it may
    /// interrupt, a bit each.
    #[inline]
    pub(crate) fn wanted_chips(&self, channel: ChannelId) -> u64 {
        self.wanted[channel]
    }

    /// True for such a chip.
    #[inline]
    pub(crate) fn is_wanted(&self, place: DiePlace) -> bool {
        self.wanted[place.channel] >> place.chip_in_channel & 1 != 0
    }

    /// A die does something else now.
    #[inline(always)]
    pub(super) fn set_state(&mut self, die: DieId, state: DieState) {
        let it = &mut self.dies[die];
        it.state = state;
        let (op, place) = (it.op, it.place(die));
        let changing = state == DieState::Array && self.may_be_interrupted(op);
        self.note(place, state == DieState::Idle, changing);
    }

    /// A die does something else now.
    #[inline(always)]
    pub(super) fn note(&mut self, place: DiePlace, idle: bool, changing: bool) {
        let sets = &mut self.sets[place.chip];
        sets.note(place, idle, changing);
        let wants = sets.wants();
        self.note_wanted(place, wants);
    }

    /// Something waits for a die from now on. `interrupts`: it may interrupt a program or an erase,
    /// if these may be interrupted at all.
    #[inline(always)]
    pub(crate) fn begin_waiting(&mut self, place: DiePlace, interrupts: bool) {
        let sets = &mut self.sets[place.chip];
        sets.waiting |= 1 << place.die_in_chip;
        sets.interrupting |= u32::from(interrupts) << place.die_in_chip;
        let wants = sets.wants();
        self.note_wanted(place, wants);
    }

    /// Nothing waits for a die any more. True if nothing waits for its chip.
    #[inline(always)]
    pub(crate) fn end_waiting(&mut self, place: DiePlace) -> bool {
        let sets = &mut self.sets[place.chip];
        sets.waiting &= !(1 << place.die_in_chip);
        sets.interrupting &= !(1 << place.die_in_chip);
        let (chip_waits, wants) = (sets.waiting != 0, sets.wants());
        self.note_wanted(place, wants);
        !chip_waits
    }

    /// Nothing that waits for a die may interrupt what it does.
    pub(crate) fn end_interrupting(&mut self, place: DiePlace) {
        let sets = &mut self.sets[place.chip];
        sets.interrupting &= !(1 << place.die_in_chip);
        let wants = sets.wants();
        self.note_wanted(place, wants);
    }

    /// A die that can take a command is wanted at a chip, or none is any more.
    #[inline(always)]
    pub(super) fn note_wanted(&mut self, place: DiePlace, wants: bool) {
        let wanted = &mut self.wanted[place.channel];
        *wanted =
            *wanted & !(1 << place.chip_in_channel) | u64::from(wants) << place.chip_in_channel;
    }

    /// The sets of wanted chips are what they should be, for audits.
    pub(crate) fn audit_wanted(&self) {
        for (channel, &wanted) in self.wanted.numbered() {
            let chips = self.chips_per_channel.get();
            let sets = |way: u32| &self.sets[self.chip_at(channel, way)];
            let wants = |way: u32| u64::from(sets(way).wants()) << way;
            assert_eq!(wanted, (0..chips).map(wants).sum::<u64>(), "wanted chips of a channel");
        }
    }
}
