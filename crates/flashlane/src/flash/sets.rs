//! Which dies are idle, which could be interrupted, and for which something waits: a bit each, by chip.
//!
//! Invariant: a chip is wanted while something waits for one of its dies that could take a command.

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
    /// Something that may interrupt such an operation waits for them. The scheduler may find out late that
    /// it has left. Always a part of `waiting`.
    pub(super) interrupting: u32,
}

impl Flash {
    /// An operation of that kind may be interrupted.
    #[inline(always)]
    pub(super) fn may_be_interrupted(&self, op: Op) -> bool {
        self.interruptible >> op as u8 & 1 != 0
    }

    /// True if no die of the chip does anything.
    #[inline]
    pub(crate) fn chip_idle(&self, chip: u32) -> bool {
        self.idle_dies(chip) == u32::MAX
    }

    /// The dies of a chip that do nothing, a bit each.
    #[inline]
    pub(crate) fn idle_dies(&self, chip: u32) -> u32 {
        self.sets[chip as usize].idle
    }

    /// The dies of a chip whose array runs what may be interrupted, and for which something waits that may do so,
    /// a bit each.
    #[inline]
    pub(crate) fn interruptible_dies(&self, chip: u32) -> u32 {
        let DieSets { changing, interrupting, .. } = self.sets[chip as usize];
        changing & interrupting
    }

    /// The dies of a chip that do nothing although something waits for them, a bit each.
    #[inline]
    pub(crate) fn free_dies(&self, chip: u32) -> u32 {
        let DieSets { idle, waiting, .. } = self.sets[chip as usize];
        idle & waiting
    }

    /// Chips of a channel at which something waits for a die that is idle, or that it may interrupt, a bit each.
    #[inline]
    pub(crate) fn wanted_chips(&self, channel: u32) -> u64 {
        self.wanted[channel as usize]
    }

    /// True for such a chip.
    #[inline]
    pub(crate) fn is_wanted(&self, place: DiePlace) -> bool {
        self.wanted[place.channel as usize] >> place.chip_in_channel & 1 != 0
    }

    /// A die does something else now.
    #[inline(always)]
    pub(super) fn set_state(&mut self, die: u32, state: DieState) {
        let it = &mut self.dies[die as usize];
        it.state = state;
        let (op, place) = (it.op, it.place(die));
        let changing = state == DieState::Array && self.may_be_interrupted(op);
        self.note(place, state == DieState::Idle, changing);
    }

    /// A die does something else now.
    #[inline(always)]
    pub(super) fn note(&mut self, place: DiePlace, idle: bool, changing: bool) {
        let sets = &mut self.sets[place.chip as usize];
        let others = !(1 << place.die_in_chip);
        sets.idle = sets.idle & others | u32::from(idle) << place.die_in_chip;
        sets.changing = sets.changing & others | u32::from(changing) << place.die_in_chip;
        self.note_wanted(place);
    }

    /// Something waits for a die from now on. `interrupts`: it may interrupt a program or an erase,
    /// if these may be interrupted at all.
    #[inline(always)]
    pub(crate) fn begin_waiting(&mut self, place: DiePlace, interrupts: bool) {
        let sets = &mut self.sets[place.chip as usize];
        sets.waiting |= 1 << place.die_in_chip;
        sets.interrupting |= u32::from(interrupts) << place.die_in_chip;
        self.note_wanted(place);
    }

    /// Nothing waits for a die any more. True if nothing waits for its chip.
    #[inline(always)]
    pub(crate) fn end_waiting(&mut self, place: DiePlace) -> bool {
        let sets = &mut self.sets[place.chip as usize];
        sets.waiting &= !(1 << place.die_in_chip);
        sets.interrupting &= !(1 << place.die_in_chip);
        let chip_waits = sets.waiting != 0;
        self.note_wanted(place);
        !chip_waits
    }

    /// Nothing that waits for a die may interrupt what it does.
    pub(crate) fn end_interrupting(&mut self, place: DiePlace) {
        self.sets[place.chip as usize].interrupting &= !(1 << place.die_in_chip);
        self.note_wanted(place);
    }

    /// A die that can take a command is wanted at a chip, or none is any more.
    #[inline(always)]
    fn note_wanted(&mut self, place: DiePlace) {
        let wants = self.wants(place.chip);
        let wanted = &mut self.wanted[place.channel as usize];
        *wanted =
            *wanted & !(1 << place.chip_in_channel) | u64::from(wants) << place.chip_in_channel;
    }

    /// Something waits at a chip for a die that is idle, or that it may interrupt.
    #[inline(always)]
    fn wants(&self, chip: u32) -> bool {
        let DieSets { idle, changing, waiting, interrupting } = self.sets[chip as usize];
        (waiting & idle | interrupting & changing) != 0
    }

    /// The sets of wanted chips are what they should be, for audits.
    pub(crate) fn audit_wanted(&self) {
        for (channel, &wanted) in (0..).zip(&self.wanted) {
            let chips = self.chips_per_channel.get();
            let wants = |chip: u32| u64::from(self.wants(channel * chips + chip)) << chip;
            assert_eq!(wanted, (0..chips).map(wants).sum::<u64>(), "wanted chips of a channel");
        }
    }
}
