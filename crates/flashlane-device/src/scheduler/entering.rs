//! Transactions enter their queues. A transaction that is alone may bypass its queue.

use flashlane_units::{ChannelId, TransactionId};

use super::policy::SchedulingPolicy;
use super::{SEVERAL, Scheduler, Surroundings, view};
use crate::flash::DiePlace;
use crate::transaction::{Op, Source};

impl Scheduler {
    /// Keeps a transaction that is ready for the flash out of the queues, if it is the first one in
    /// the current event. False if it is not the first: the caller then calls
    /// [`Scheduler::enlist`].
    #[inline(always)]
    pub(crate) fn keep_lone(&mut self, id: TransactionId) -> bool {
        self.due = true;
        let first = self.lone == TransactionId::NONE;
        if first {
            self.lone = id;
        }
        first
    }

    /// Queues a transaction that is ready for the flash, behind an earlier one that was kept out.
    #[inline(never)]
    pub(crate) fn enlist(&mut self, at: &mut Surroundings<'_>, id: TransactionId) {
        debug_assert_eq!(at.transactions[id].mark, at.now, "the time in the queue begins");
        self.queue_lone(at);
        self.enter_queue(at, id);
    }

    /// Queues the transaction that was kept out of the queues, if there is one.
    #[inline]
    pub(crate) fn queue_lone(&mut self, at: &mut Surroundings<'_>) {
        if self.lone < SEVERAL {
            let id = std::mem::replace(&mut self.lone, SEVERAL);
            self.enter_queue(at, id);
        }
    }

    /// Puts a transaction into its queue.
    #[inline(never)]
    fn enter_queue(&mut self, at: &mut Surroundings<'_>, id: TransactionId) {
        let place = at.flash.place_of(at.flash.die_of(at.transactions[id].plane));
        self.enter_queue_at(at, id, place);
    }

    #[inline(always)]
    fn enter_queue_at(&mut self, at: &mut Surroundings<'_>, id: TransactionId, place: DiePlace) {
        let tr = &at.transactions[id];
        debug_assert_eq!(at.flash.die_of(tr.plane), place.die, "it waits at its die");
        let flow = tr.flow;
        let interrupts = self.all_interrupt || tr.op == Op::Read;
        if let Some(order) = &mut self.order {
            *order += 1;
            at.transactions[id].order = *order;
        }
        let tr = &at.transactions[id];
        if !self.policy.push(place.die, id, tr) {
            self.with_policy(at, false, |policy, view| policy.enqueue(place.die, id, view));
        }
        if let Some(turns) = &mut self.turns {
            turns.entered(place.die, &at.transactions[id], at.now);
        }
        self.entered(place, flow);
        at.flash.begin_waiting(place, interrupts);
        self.offer_at(at, place);
        if self.rotates {
            self.offer_all();
        }
    }

    /// Takes the only transaction that became ready in the current event, if it is in no queue yet.
    #[inline]
    pub(crate) fn take_lone(&mut self) -> Option<TransactionId> {
        let lone = std::mem::replace(&mut self.lone, self.no_lone);
        (lone < SEVERAL).then_some(lone)
    }

    /// Handles the only transaction that became ready in the current event. If nothing else waits
    /// for its channel, and channel and die are idle, it goes at once, with the same result as by
    /// way of its queue; its place is returned. Otherwise it enters its queue.
    #[inline(always)]
    pub(crate) fn pass_lone(
        &mut self,
        at: &mut Surroundings<'_>,
        id: TransactionId,
    ) -> Option<DiePlace> {
        let tr = &at.transactions[id];
        let flow = tr.flow;
        let simple = tr.source != Source::Gc
            && match tr.op {
                Op::Read => true,
                Op::Program => view::is_ready(tr, self.rules.ordered, at.ftl.view()),
                Op::Erase => false,
            };
        let place = at.flash.place_of(at.flash.die_of(tr.plane));
        if !simple
            || self.offered & !(1 << place.channel.get()) != 0
            || self.waits_on(place.channel)
            || at.flash.idle_dies(place.chip) >> place.die_in_chip & 1 == 0
            || at.flash.channel_busy(place.channel, at.events)
            || at.flash.data_bus_busy(place.channel)
        {
            self.enter_queue_at(at, id, place);
            return None;
        }
        self.offered = 0;
        self.flows[flow].passed();
        debug_assert_eq!(self.waiting[place.die], 0, "it overtakes nothing");
        self.chips[place.chip].passed();
        self.policy.passed(place.die, id, at.transactions, at.now);
        self.served(place.channel, place.chip_in_channel);
        Some(place)
    }

    /// Leaves out a channel that was offered work: it is looked at anyway.
    pub(crate) fn withdraw(&mut self, channel: ChannelId) {
        self.offered &= !(1 << channel.get());
    }
}
