//! Looks for read commands while data moves, where commands have a bus of their own
//! (`flash.command_bus`).
//!
//! A die that is asked here gets what it would get before read data on a shared bus: a read, if the
//! policy would choose it next, or one that suspends its program or erase. All else waits for a
//! look at which both buses are free, and so do the reads of a die that has had many of them.

use flashlane_engine::Array;
use flashlane_units::{ChannelId, DieId};

use super::policy::SchedulingPolicy;
use super::{Scheduler, Surroundings};
use crate::flash::config::{CommandBus, FlashConfig};
use crate::layout::Geometry;

/// For each channel, the chip that is asked first while data moves. These looks have a turn of
/// their own: otherwise they could always end just before the chip that waits for the other looks.
pub(super) fn turns(flash: &FlashConfig, geometry: Geometry) -> Option<Array<ChannelId, u32>> {
    let separate = flash.command_bus == CommandBus::Separate;
    separate.then(|| Array::of(0, geometry.channels as usize))
}

impl Scheduler {
    /// Forms a read command for a die of a channel whose data bus is in use. False if there is
    /// none, or if the look was interrupted by pointless moves at the die of the command.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_beside_data(
        &mut self,
        at: &mut Surroundings<'_>,
        channel: ChannelId,
    ) -> bool {
        let turn = self.beside_turns.as_ref().map_or(0, |turns| turns[channel]);
        let left = self.pending[channel] & at.flash.wanted_chips(channel);
        for step in 0..self.chips_per_channel {
            let way = (turn + step) % self.chips_per_channel;
            if left >> way & 1 == 0 {
                continue;
            }
            let chip = at.flash.chip_at(channel, way);
            let urgent = !self.rules.preemptible || at.ftl.is_urgent(chip);
            let first = at.flash.first_die(chip);
            let mut set = at.flash.free_dies(chip) | at.flash.interruptible_dies(chip);
            while set != 0 {
                let die = first.plus(set.trailing_zeros());
                set &= set - 1;
                let idle = at.flash.is_idle(die);
                let formed = match idle {
                    // Collection goes first, which is chosen among all commands.
                    true => !urgent && self.serve_idle_beside_data(at, die),
                    false => self.serve_busy_beside_data(at, die, urgent),
                };
                self.command.die = die;
                if formed {
                    let reads_on = self.rules.reads_by_plane && at.flash.is_reading(die);
                    self.command.interrupts = !idle && !reads_on;
                    self.note_turn(at, die, false);
                    self.may_interrupt_again(at, die);
                    if let Some(turns) = &mut self.beside_turns {
                        turns[channel] = (way + 1) % self.chips_per_channel;
                    }
                }
                if formed || self.has_cancelled() {
                    return formed;
                }
            }
        }
        false
    }

    /// Forms a read command for an idle die, unless the die has to choose among all commands first.
    fn serve_idle_beside_data(&mut self, at: &mut Surroundings<'_>, die: DieId) -> bool {
        if self.reads_first[die] >= self.reads_first_max {
            return false;
        }
        self.command.pages.clear();
        let formed = self.with_policy(at, false, |policy, view| policy.take_read(die, view));
        self.reads_first[die] += u32::from(formed);
        formed
    }

    /// Forms a read command for a die that reads on other planes, or whose program or erase it
    /// suspends. Whether a die is left out of further looks is decided when both buses are free.
    fn serve_busy_beside_data(
        &mut self,
        at: &mut Surroundings<'_>,
        die: DieId,
        urgent: bool,
    ) -> bool {
        if self.rules.reads_by_plane && at.flash.is_reading(die) {
            return self.serve_reading(at, die, urgent);
        }
        let may = !at.flash.takes_program(die)
            && self.policy.may_interrupt(die)
            && at.flash.may_suspend(die, false, at.now);
        self.command.pages.clear();
        may && self.with_policy(at, urgent, |policy, view| policy.interrupt(die, view))
    }
}
