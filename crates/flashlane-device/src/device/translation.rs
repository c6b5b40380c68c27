//! Between translation and the other stages: calls to `ftl`, and the handling of its outcomes.

use std::ops::Deref;

use super::Device;
use super::pages::PagePart;
use crate::cause::Cause;
use crate::context::Context;
use crate::ftl::{Ftl, Outcome, Seen};
use crate::request::Chain;
use crate::transaction::{Op, Source, Transaction};
use flashlane_units::{ChipId, FlowId, Ppa, RequestId, TransactionId};

/// The translation layer in the hands of the driver. Outcomes may follow from whatever it is asked
/// for, so the driver asks through [`Device::ask_ftl`], which hands them on. Other files can only
/// read the layer, and tell it what has no outcome.
#[derive(Clone)]
pub(super) struct Translation(Ftl);

impl Deref for Translation {
    type Target = Ftl;

    #[inline(always)]
    fn deref(&self) -> &Ftl {
        &self.0
    }
}

impl Translation {
    /// Takes over a translation layer before the first event.
    pub(super) fn new(ftl: Ftl) -> Self {
        assert!(ftl.outcome(0).is_none(), "nothing has happened before the first event");
        Self(ftl)
    }

    /// See [`Ftl::watch`].
    pub(super) fn watch(&mut self) {
        self.0.watch();
    }

    /// See [`Ftl::let_go`].
    pub(super) fn let_go(&mut self) {
        self.0.let_go();
    }

    /// See [`Ftl::sent`].
    #[inline(always)]
    pub(super) fn sent(&mut self, op: Op, ppa: Ppa, chip: ChipId) {
        self.0.sent(op, ppa, chip);
    }

    /// See [`Ftl::program_sent`].
    pub(super) fn program_sent(&mut self, ppa: Ppa) {
        self.0.program_sent(ppa);
    }

    /// See [`Ftl::idle_ends`].
    pub(super) fn idle_ends(&mut self) {
        self.0.idle_ends();
    }
}

impl Device {
    /// Asks the translation layer for something, and hands on what comes of it.
    #[inline(always)]
    pub(super) fn ask_ftl<R>(&mut self, ask: impl FnOnce(&mut Ftl, &mut Context) -> R) -> R {
        let answer = ask(&mut self.ftl.0, &mut self.context);
        self.hand_on();
        answer
    }

    /// Reads a page, or the part of it that the cache does not have, from flash.
    #[inline(always)]
    pub(super) fn read_flash(&mut self, id: RequestId, flow: FlowId, part: &PagePart) {
        let mut read =
            self.ftl.transaction(self.context.now, (Source::User, Op::Read), flow, part.lpa);
        debug_assert!(part.mask != 0, "a read asks for a sector");
        read.set_part(part.mask, part.sectors);
        read.request = id;
        let read = self.context.transactions.insert(read);
        self.context.requests[id].pending += 1;
        // A read that is ready goes before the outcomes.
        if self.ftl.0.read(&mut self.context, read, flow) {
            self.enlist(read);
        }
        self.hand_on();
    }

    /// Writes a page of a host to flash, past the cache.
    pub(super) fn write_through(&mut self, id: RequestId, part: &PagePart) {
        let flow = self.context.requests[id].flow;
        let mut write =
            self.ftl.transaction(self.context.now, (Source::User, Op::Program), flow, part.lpa);
        write.set_part(part.mask, part.sectors);
        write.request = id;
        let write = self.context.transactions.insert(write);
        self.context.requests[id].pending += 1;
        self.translate(write);
    }

    /// Looks up the mapping of a transaction's logical page. The transaction continues now, or
    /// later by itself.
    pub(super) fn translate(&mut self, id: TransactionId) {
        self.ask_ftl(|ftl, context| ftl.translate(context, id));
    }

    /// Trims every page of a request.
    pub(super) fn trim_pages(&mut self, id: RequestId) {
        let flow = self.context.requests[id].flow;
        for index in 0..self.page_count(id) {
            let part = self.page_part(id, index);
            if part.mask == 0 {
                continue;
            }
            self.trim_cached(flow, part.lpa, part.mask);
            self.ask_ftl(|ftl, context| ftl.trim(context, flow, part.lpa, part.mask));
        }
    }

    /// Starts collection at once on planes below the threshold.
    pub(super) fn start_collection(&mut self) {
        self.ask_ftl(Ftl::start);
    }

    /// A program or an erase is out of the array: continues work that waited for it.
    pub(super) fn change_done(&mut self, id: TransactionId, source: Source, op: Op) {
        self.tell_policy(id);
        if op == Op::Program && self.ftl.packs_units() {
            return self.units_programmed(id, source);
        }
        self.change_over(id, source, op);
    }

    /// A program or an erase is over.
    #[inline(always)]
    pub(super) fn change_over(&mut self, id: TransactionId, source: Source, op: Op) {
        match (source, op) {
            (_, Op::Read) => unreachable!("reads end with their data"),
            (Source::User | Source::Cache, Op::Program) => self.user_program_done(id),
            (Source::Mapping, Op::Program) => self.mapping_program_done(id),
            (Source::Gc, Op::Program) => {
                self.ask_ftl(|ftl, context| ftl.migration_program_done(context, id));
            }
            (_, Op::Erase) => self.ask_ftl(|ftl, context| ftl.erase_done(context, id)),
        }
    }

    /// A page of a host or of the cache is on flash.
    #[inline(always)]
    fn user_program_done(&mut self, id: TransactionId) {
        self.ask_ftl(|ftl, context| ftl.host_page_programmed(context, id));
        if self.observer.is_some() {
            self.observe_program(id);
        }
        let tr = self.context.transactions[id];
        self.transaction_over(&tr);
        self.context.transactions.remove(id);
        if tr.source == Source::Cache {
            self.write_back_done(&tr);
        } else {
            if self.zones.is_some() {
                self.page_filled(tr.request);
            }
            self.part_done(tr.request, &tr.chain);
        }
    }

    /// A write needs no page any more.
    #[cold]
    fn write_given_up(&mut self, id: TransactionId) {
        let tr = self.context.transactions[id];
        if tr.source == Source::User {
            self.observe_part(id);
        } else if let Some(observer) = &mut self.observer {
            observer.write_back(id, &tr, self.cache.pool_of(tr.flow));
        }
        self.context.transactions.remove(id);
        match tr.source {
            Source::Cache => self.write_back_done(&tr),
            _ => self.part_done(tr.request, &tr.chain),
        }
    }

    /// A translation page is on flash.
    fn mapping_program_done(&mut self, id: TransactionId) {
        let tr = self.context.transactions[id];
        self.ask_ftl(|ftl, context| ftl.mapping_program_done(context, id));
        if self.observer.is_some() {
            self.observe_translation_program(id, &tr);
        }
    }

    /// Read data is over the bus: continues work that waited for it.
    #[inline(always)]
    pub(super) fn read_over(&mut self, id: TransactionId, source: Source) {
        self.tell_policy(id);
        if self.ftl.packs_units() && self.context.transactions[id].rider() != TransactionId::NONE {
            return self.units_read(id, source);
        }
        self.unit_read(id, source);
    }

    /// A translation page is in the controller. With `compat.scan_at_once`, its channel still
    /// counts as busy: what the page sets free is offered to the other channels first.
    fn translation_page_read(&mut self, id: TransactionId) {
        let die = self.flash.die_of(self.context.transactions[id].plane);
        self.ask_ftl(|ftl, context| ftl.mapping_read_done(context, id));
        if self.flash.scans_at_once() {
            self.queue_lone();
            self.scheduler.withdraw(self.flash.place_of(die).channel);
            self.dispatch_offered();
        }
    }

    /// A page, or a unit of a page, is in the controller.
    #[inline(always)]
    pub(super) fn unit_read(&mut self, id: TransactionId, source: Source) {
        match source {
            Source::User | Source::Cache => self.user_read_done(id),
            Source::Gc => self.ask_ftl(|ftl, context| ftl.migration_read_done(context, id)),
            Source::Mapping => self.translation_page_read(id),
        }
    }

    /// Data of a host page, or of the old part of a partial write, is in the controller.
    #[inline(always)]
    fn user_read_done(&mut self, id: TransactionId) {
        let tr = &mut self.context.transactions[id];
        self.transaction_times[tr.flow][0].note(tr);
        let held = std::mem::take(&mut tr.holds_block);
        let (merging, request, chain) = (tr.merging, tr.request, tr.chain);
        let (flow, lpa, ppa, mask) = (tr.flow, tr.lpa, tr.ppa, tr.mask());
        if held {
            self.ask_ftl(|ftl, context| ftl.leave_block(context, ppa));
        }
        if merging {
            self.ask_ftl(|ftl, context| ftl.old_data_read(context, id));
        } else {
            self.fill_cache(flow, lpa, mask);
            self.user_read_over(id, request, &chain);
        }
    }

    /// Ends a read transaction; its request continues.
    #[inline(always)]
    fn user_read_over(&mut self, id: TransactionId, request: RequestId, chain: &Chain) {
        if self.observer.is_some() {
            self.observe_part(id);
        }
        self.context.transactions.remove(id);
        self.end_part(request, chain);
    }

    /// Hands on what happened in the translation layer.
    #[inline(always)]
    fn hand_on(&mut self) {
        if self.ftl.outcome(0).is_some() {
            self.hand_on_all();
        }
    }

    fn hand_on_all(&mut self) {
        let (mut at, mut given_up) = (0, Vec::new());
        while let Some(outcome) = self.ftl.outcome(at) {
            match outcome {
                Outcome::Ready { transaction } => self.enlist(transaction),
                Outcome::Unwritten { transaction } => {
                    let Transaction { request, chain, op, .. } =
                        self.context.transactions[transaction];
                    assert_eq!(op, Op::Read, "only a read can end without the flash");
                    self.user_read_over(transaction, request, &chain);
                }
                Outcome::GivenUp { transaction } => given_up.push(transaction),
                Outcome::Unblocked { transaction } => self.unblock(transaction),
                Outcome::Seen(seen) => self.pass_on(seen),
            }
            at += 1;
        }
        self.ftl.0.outcomes_over();
        // The ends of these writes let others go on, which have outcomes of their own.
        given_up.into_iter().for_each(|transaction| self.write_given_up(transaction));
    }

    /// Tells the observer what happened in the translation layer.
    #[cold]
    fn pass_on(&mut self, seen: Seen) {
        let now = self.context.now;
        let Some(observer) = &mut self.observer else { return };
        let tr = |id: TransactionId| &self.context.transactions[id];
        let mut die_wait = |id: TransactionId, since, cause| {
            let die = self.flash.die_of(tr(id).plane);
            observer.die_wait(now, (id, tr(id)), die, since, cause);
        };
        match seen {
            Seen::WaitedForProgram { transaction, since } => {
                die_wait(transaction, since, Cause::SamePage);
            }
            Seen::WaitedForBlock { transaction, since } => {
                die_wait(transaction, since, Cause::FreeBlock);
            }
            Seen::WaitedForWrite { transaction, since } => {
                observer.same_page(now, (transaction, tr(transaction)), since);
            }
            Seen::WaitedForTranslation { transaction, since, read } => {
                observer.translation(now, (transaction, tr(transaction)), since, read);
            }
            Seen::TranslationRead { transaction } => observer.end(transaction),
            Seen::Merged { write, read, queued } => {
                observer.merged(now, (write, tr(write)), read, queued);
            }
            Seen::PageBegins { leader } => observer.page_begins(leader),
            Seen::Evicted { lpa, flow } => observer.eviction(lpa, flow),
            Seen::Collection { plane, job, owner, valid } => {
                observer.job(plane, job, owner, valid);
            }
        }
    }
}
