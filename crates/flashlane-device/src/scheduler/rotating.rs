//! Looks at channels as in the released MQSim, where classes take turns and every look moves the
//! turns on.

use flashlane_engine::EventQueue;
use flashlane_units::ChannelId;

use super::policy::ChipLook;
use super::visit::{Rest, Visit};
use super::{Scheduler, Surroundings};
use crate::event::Event;

/// Looks in a row while nothing is under way in the drive. By then every rotation has come round.
const MOST_IN_VAIN: u32 = 32;

impl Scheduler {
    /// True if all channels must be looked at once more: nothing is under way, but a rotation of
    /// classes passed over waiting work, which in the released MQSim would wait without end. Work
    /// that no rotation serves, such as a write beside an erase that waits for it, goes in the
    /// usual order.
    #[inline]
    pub(crate) fn looks_again(&mut self, events: &EventQueue<Event>) -> bool {
        if !self.rotates {
            return false;
        }
        if !events.is_empty() || self.pending.iter().all(|&set| set == 0) {
            self.in_vain = 0;
            return false;
        }
        self.in_vain += 1;
        if self.in_vain > MOST_IN_VAIN + 1 {
            return false;
        }
        self.offer_all();
        true
    }

    /// True if the rotation of classes decides about the next look.
    #[inline]
    pub(super) fn rotation_decides(&self) -> bool {
        self.rotates && self.in_vain <= MOST_IN_VAIN
    }

    /// True if every look at a channel matters.
    #[inline]
    pub(crate) fn rotates(&self) -> bool {
        self.rotates
    }

    /// Offers all channels, to be looked at when the current event is over.
    pub(super) fn offer_all(&mut self) {
        self.offered = u64::MAX >> (u64::BITS - self.turn.len() as u32);
        self.due = true;
    }

    /// Looks at all chips of a channel, as the released MQSim does, until one takes a command.
    #[cold]
    pub(super) fn look_rotating(
        &mut self,
        at: &mut Surroundings<'_>,
        channel: ChannelId,
        turn: u32,
    ) -> bool {
        if at.flash.channel_busy(channel, at.events) {
            at.flash.await_channel(channel, at.events);
        }
        for step in 0..self.chips_per_channel {
            let way = (turn + step) % self.chips_per_channel;
            let waits = self.pending[channel] >> way & 1 != 0;
            if !waits && self.unrested[channel] >> way & 1 == 0 {
                continue;
            }
            let chip = at.flash.chip_at(channel, way);
            if !waits {
                let rests = self.policy.rest_chip(chip);
                self.unrested[channel] &= !(u64::from(rests) << way);
                continue;
            }
            self.unrested[channel] |= 1 << way;
            let urgent = !self.rules.preemptible || at.ftl.is_urgent(chip);
            let look = ChipLook {
                chip,
                first: at.flash.first_die(chip),
                dies: at.flash.dies_per_chip(),
                idle: at.flash.chip_idle(chip),
                awaits_erase: self.writes_wait && at.ftl.awaits_erase(chip),
            };
            let formed = self.with_policy(at, urgent, |policy, view| policy.serve_chip(look, view));
            let Some(die) = formed else { continue };
            if !self.command.pages.is_empty() {
                self.served(channel, way);
                (self.command.die, self.command.interrupts) = (die, false);
                return true;
            }
            if self.has_cancelled() {
                // The channel is offered again when the pointless moves are settled.
                let visit = Visit { channel, reads: false, turn, left: 0, way, urgent, die };
                self.interrupt(visit, Rest::InOrder { first: die, set: 0 });
                return false;
            }
        }
        false
    }
}
