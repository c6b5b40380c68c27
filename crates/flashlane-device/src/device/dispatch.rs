//! Work goes to the flash: ready transactions enter the scheduler, and its commands are sent.

use flashlane_engine::Time;
use flashlane_units::{ChannelId, DieId, Ppa, TransactionId};

use super::Device;
use crate::flash::DiePlace;
use crate::interface::processors::OwnWork;
use crate::scheduler::{Scheduler, Surroundings};
use crate::transaction::Source;

impl Device {
    /// The scheduler, and the parts of the drive that it gets with a call.
    #[inline(always)]
    pub(super) fn scheduling(&mut self) -> (&mut Scheduler, Surroundings<'_>) {
        let surroundings = Surroundings::of(&mut self.context, &self.ftl, &mut self.flash);
        (&mut self.scheduler, surroundings)
    }

    /// Gives a transaction that is ready for the flash to the scheduler.
    #[inline]
    pub(super) fn enlist(&mut self, id: TransactionId) {
        debug_assert!(self.context.transactions[id].ppa != Ppa::NONE, "ready means placed");
        if self.attended && !self.attend(id) {
            return;
        }
        if !self.scheduler.keep_lone(id) {
            let (scheduler, mut at) = self.scheduling();
            scheduler.enlist(&mut at, id);
        }
    }

    /// Queues the transaction that was kept out of the queues, if there is one.
    #[inline]
    pub(super) fn queue_lone(&mut self) {
        let (scheduler, mut at) = self.scheduling();
        scheduler.queue_lone(&mut at);
    }

    /// Notes that a queued write has received the old data of its page.
    pub(super) fn unblock(&mut self, id: TransactionId) {
        let (scheduler, mut at) = self.scheduling();
        scheduler.unblocked(&mut at, id);
    }

    /// Notes that programs may go that waited for the end of another one on their plane.
    #[cold]
    pub(super) fn let_programs_go(&mut self, over: TransactionId) {
        let (scheduler, mut at) = self.scheduling();
        scheduler.programs_may_go(&mut at, over);
    }

    /// Notes that a chip or its queue changed.
    #[inline]
    pub(super) fn offer_at(&mut self, place: DiePlace) {
        let (scheduler, mut at) = self.scheduling();
        scheduler.offer_at(&mut at, place);
    }

    /// Notes that a transaction is over the bus or out of the array.
    #[inline]
    pub(super) fn tell_policy(&mut self, id: TransactionId) {
        let (scheduler, at) = self.scheduling();
        scheduler.completed(&at, id);
    }

    /// The policy wanted to be woken now. A void alarm takes no time, because it must not make a
    /// finished simulation longer.
    pub(super) fn on_alarm(&mut self, before: Time) {
        assert!(before <= self.context.now, "the last event was before the alarm");
        let (scheduler, mut at) = self.scheduling();
        if !scheduler.wake(&mut at) {
            self.context.now = before;
        }
    }

    /// Dispatches on all channels that were offered work.
    #[inline(always)]
    pub fn dispatch_offered(&mut self) {
        if self.scheduler.is_due() {
            self.dispatch_all();
        }
    }

    fn dispatch_all(&mut self) {
        loop {
            let (scheduler, mut at) = self.scheduling();
            if let Some(lone) = scheduler.take_lone()
                && let Some(place) = scheduler.pass_lone(&mut at, lone)
            {
                if self.attended {
                    self.work_on_decision(lone);
                }
                self.issue_page(place, lone, true);
            }
            while let Some(channel) = self.scheduler.take_offered() {
                if !self.channel_busy(channel) {
                    if self.flash.has_command_bus() {
                        self.use_buses(channel);
                    } else {
                        self.dispatch_free(channel);
                    }
                }
            }
            if self.scheduler.is_settled() && !self.scheduler.looks_again(&self.context.events) {
                break;
            }
        }
        self.scheduler.settle(self.context.now, &mut self.context.events);
    }

    /// Sends at most one command over a free channel.
    #[inline]
    pub(super) fn dispatch_free(&mut self, channel: ChannelId) {
        self.visit(channel, false);
    }

    /// Sends a read command over a free channel, if there is one; now and then a command of another
    /// kind.
    #[inline(always)]
    pub(super) fn dispatch_read(&mut self, channel: ChannelId) -> bool {
        (self.flash.wanted_chips(channel) != 0 || self.scheduler.rotates())
            && self.visit_for_read(channel)
    }

    #[inline(never)]
    fn visit_for_read(&mut self, channel: ChannelId) -> bool {
        self.visit(channel, true)
    }

    /// Lets the scheduler look at a free channel. True if a command was sent.
    #[inline(always)]
    fn visit(&mut self, channel: ChannelId, reads: bool) -> bool {
        let (scheduler, mut at) = self.scheduling();
        let mut formed = scheduler.look(&mut at, channel, reads);
        if !formed {
            while let Some(die) = self.scheduler.interrupted_at() {
                self.settle_cancelled(die);
                // The policy may have chosen collection whose pages need not move any more. It has
                // to be asked again: nothing else would, and the rest of its queues would wait
                // without end.
                self.offer_at(self.flash.place_of(die));
                let (scheduler, mut at) = self.scheduling();
                formed = scheduler.look_on(&mut at);
            }
        }
        if formed {
            self.send_formed();
            if self.scheduler.rotates() {
                self.await_channel(channel);
            }
        }
        formed
    }

    /// An idle die has suspended something, and its channel is free: sends a command that may go
    /// before the die resumes. False if no such command waits.
    pub(super) fn stay_suspended(&mut self, die: DieId) -> bool {
        let (scheduler, mut at) = self.scheduling();
        let formed = scheduler.serve_suspended(&mut at, die);
        if formed {
            self.send_formed();
        } else if self.scheduler.has_cancelled() {
            self.settle_cancelled(die);
        }
        formed
    }

    /// Sends the command that the scheduler formed, and settles the moves that it found pointless.
    pub(super) fn send_formed(&mut self) {
        let command = self.scheduler.command();
        let die = command.die;
        let place = self.flash.place_of(die);
        debug_assert!(!command.pages.is_empty(), "a command has a page");
        if self.attended {
            self.work_on_decision(command.pages[0]);
        }
        let command = self.scheduler.command();
        if let [id] = command.pages[..]
            && !command.interrupts
        {
            self.issue_page(place, id, false);
        } else {
            self.issue(place, command.interrupts);
        }
        if self.scheduler.has_cancelled() {
            self.settle_cancelled(die);
        }
    }

    /// Notes a ready transaction for the observer. Pages that the drive moves for itself cost time
    /// of the processors, where these are modelled. False: the transaction needs nothing more for
    /// now.
    #[cold]
    fn attend(&mut self, id: TransactionId) -> bool {
        let tr = &self.context.transactions[id];
        let source = tr.source;
        if source != Source::User && self.interface.has_processors() {
            let time = self.interface.work_own(self.context.now, OwnWork::Page { lpa: tr.lpa });
            self.observe_own_firmware(id, time);
        }
        self.observe_enlisted(id);
        !self.withhold(id, source)
    }

    /// Charges the processors for the scheduling decision. `id`: a page of the command.
    #[cold]
    fn work_on_decision(&mut self, id: TransactionId) {
        if !self.interface.has_processors() {
            return;
        }
        let time = self.interface.work_own(self.context.now, OwnWork::Decision);
        self.observe_own_firmware(id, time);
    }

    /// Removes pointless moves from their queues.
    #[inline(never)]
    pub(super) fn settle_cancelled(&mut self, die: DieId) {
        loop {
            let (scheduler, mut at) = self.scheduling();
            let Some(id) = scheduler.take_cancelled(&mut at, die) else { return };
            let source = self.context.transactions[id].source;
            assert_eq!(source, Source::Gc, "only moves of collection become pointless");
            if self.observer.is_some() {
                self.observe_cancelled(id);
            }
            self.ask_ftl(|ftl, context| ftl.migration_cancelled(context, id));
        }
    }
}
