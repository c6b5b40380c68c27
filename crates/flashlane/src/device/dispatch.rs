//! Work goes to the flash: what is ready enters the scheduler, and the commands that it forms are
//! sent.

use super::{Device, moment};
use crate::flash::DiePlace;
use crate::scheduler::{Look, Surroundings};
use flashlane_engine::Time;
use flashlane_units::TransactionId;

/// What the scheduler gets with a call.
macro_rules! surroundings {
    ($device:expr) => {
        &mut Surroundings {
            now: $device.now,
            events: &mut $device.queue,
            transactions: &mut $device.transactions,
            ftl: &$device.ftl,
            flash: &mut $device.flash,
        }
    };
}

impl Device {
    /// A transaction is ready for the flash.
    #[inline]
    pub(super) fn enlist(&mut self, id: TransactionId) {
        if !self.scheduler.keep_lone(id) {
            self.scheduler.enlist(surroundings!(self), id);
        }
    }

    /// The transaction that is in no queue yet, if there is one, enters its queue.
    #[inline]
    pub(super) fn queue_lone(&mut self) {
        self.scheduler.queue_lone(surroundings!(self));
    }

    /// The old data of a queued write are here.
    pub(super) fn unblock(&mut self, id: TransactionId) {
        self.scheduler.unblocked(surroundings!(self), id);
    }

    /// A chip or its queue changed.
    #[inline]
    pub(super) fn offer_at(&mut self, place: DiePlace) {
        self.scheduler.offer_at(surroundings!(self), place);
    }

    /// A transaction is over the bus or out of the array.
    #[inline]
    pub(super) fn tell_policy(&mut self, id: TransactionId) {
        self.scheduler.completed(surroundings!(self), id);
    }

    /// The policy wanted to be woken now. A void alarm takes no time: it must not make a finished
    /// simulation longer.
    pub(super) fn on_alarm(&mut self, before: Time) {
        if !self.scheduler.wake(surroundings!(self)) {
            self.now = before;
        }
    }

    /// Looks at all channels that were offered work.
    #[inline(always)]
    pub(crate) fn dispatch_offered(&mut self) {
        if self.scheduler.is_due() {
            self.dispatch_all();
        }
    }

    fn dispatch_all(&mut self) {
        loop {
            if let Some(lone) = self.scheduler.take_lone()
                && let Some(place) = self.scheduler.pass_lone(surroundings!(self), lone)
            {
                self.issue_page(place, lone, true);
            }
            while let Some(channel) = self.scheduler.take_offered() {
                if !self.channel_busy(channel) {
                    self.dispatch_free(channel);
                }
            }
            if self.scheduler.is_settled() {
                break;
            }
        }
        self.scheduler.settle(self.now, &mut self.queue);
    }

    /// Sends at most one command over a free channel.
    #[inline]
    pub(super) fn dispatch_free(&mut self, channel: u32) {
        self.visit(channel, false);
    }

    /// Sends a read command over a free channel, if there is one; now and then another one.
    pub(super) fn dispatch_read(&mut self, channel: u32) -> bool {
        self.visit(channel, true)
    }

    /// True if a command was sent.
    #[inline(always)]
    fn visit(&mut self, channel: u32, reads: bool) -> bool {
        let mut look = self.scheduler.look(surroundings!(self), channel, reads);
        while let Look::Pointless { die, visit, rest } = look {
            self.settle_cancelled(die);
            // The policy may have decided for collection whose pages need not move any more.
            // Nothing else would ask it again: what it left in its queues would wait for ever.
            self.offer_at(self.flash.place_of(die));
            look = self.scheduler.look_on(surroundings!(self), visit, rest);
        }
        let Look::Command { die, interrupts } = look else { return false };
        self.send_formed(die, interrupts);
        true
    }

    /// Sends what the scheduler formed, and settles what it found pointless.
    fn send_formed(&mut self, die: u32, interrupts: bool) {
        let place = self.flash.place_of(die);
        if let &[id] = self.scheduler.batch()
            && !interrupts
        {
            self.issue_page(place, id, false);
        } else {
            self.issue(place, interrupts);
        }
        if self.scheduler.has_cancelled() {
            self.settle_cancelled(die);
        }
    }

    /// Moves that turned out pointless leave their queues.
    #[inline(never)]
    fn settle_cancelled(&mut self, die: u32) {
        while let Some(id) = self.scheduler.take_cancelled(surroundings!(self), die) {
            self.ftl.migration_cancelled(&mut moment!(self), id);
            self.hand_on();
        }
    }
}
