//! Between translation and the other stages: calls to `ftl`, and the handling of its outcomes.

use super::Device;
use super::pages::PagePart;
use crate::cause::Cause;
use crate::ftl::{Outcome, Seen};
use crate::request::Chain;
use crate::transaction::{Op, Source, Transaction};
use flashlane_units::{FlowId, RequestId, TransactionId};

impl Device {
    /// Reads a page, or the part of it that the cache does not have, from flash.
    #[inline(always)]
    pub(super) fn read_flash(&mut self, id: RequestId, flow: FlowId, part: &PagePart) {
        let mut read =
            self.ftl.transaction(self.context.now, (Source::User, Op::Read), flow, part.lpa);
        read.set_mask(part.mask);
        read.request = id;
        let read = self.context.transactions.insert(read);
        self.context.requests[id].pending += 1;
        if self.ftl.read(&mut self.context, read, flow) {
            self.enlist(read);
        }
        self.hand_on();
    }

    /// Writes a page of a host to flash, past the cache.
    pub(super) fn write_through(&mut self, id: RequestId, part: &PagePart) {
        let flow = self.context.requests[id].flow;
        let mut write =
            self.ftl.transaction(self.context.now, (Source::User, Op::Program), flow, part.lpa);
        write.set_mask(part.mask);
        write.request = id;
        let write = self.context.transactions.insert(write);
        self.context.requests[id].pending += 1;
        self.translate(write);
    }

    /// Looks up the mapping of a transaction's logical page. The transaction continues now, or
    /// later by itself.
    pub(super) fn translate(&mut self, id: TransactionId) {
        self.ftl.translate(&mut self.context, id);
        self.hand_on();
    }

    /// Trims every page of a request.
    pub(super) fn trim_pages(&mut self, id: RequestId) {
        let flow = self.context.requests[id].flow;
        for index in 0..self.page_count(id) {
            let part = self.page_part(id, index);
            self.trim_cached(flow, part.lpa, part.mask);
            self.ftl.trim(&mut self.context, flow, part.lpa, part.mask);
            self.hand_on();
        }
    }

    /// Starts collection at once on planes below the threshold.
    pub(super) fn start_collection(&mut self) {
        self.ftl.start(&mut self.context);
        self.hand_on();
    }

    /// A program or an erase is out of the array: continues work that waited for it.
    pub(super) fn change_done(&mut self, id: TransactionId, source: Source, op: Op) {
        self.tell_policy(id);
        match (source, op) {
            (_, Op::Read) => unreachable!("reads end with their data"),
            (Source::User | Source::Cache, Op::Program) => return self.user_program_done(id),
            (Source::Mapping, Op::Program) => return self.mapping_program_done(id),
            (Source::Gc, Op::Program) => self.ftl.migration_program_done(&mut self.context, id),
            (_, Op::Erase) => self.ftl.erase_done(&mut self.context, id),
        }
        self.hand_on();
    }

    /// A page of a host or of the cache is on flash.
    fn user_program_done(&mut self, id: TransactionId) {
        self.ftl.host_page_programmed(&mut self.context, id);
        self.hand_on();
        if self.observer.is_some() {
            self.observe_program(id);
        }
        let tr = self.context.transactions[id];
        self.transaction_over(&tr);
        self.context.transactions.remove(id);
        if tr.source == Source::Cache {
            self.write_back_done(&tr);
        } else {
            self.part_done(tr.request, &tr.chain);
        }
    }

    /// A translation page is on flash.
    fn mapping_program_done(&mut self, id: TransactionId) {
        let tr = self.context.transactions[id];
        self.ftl.mapping_program_done(&mut self.context, id);
        self.hand_on();
        if self.observer.is_some() {
            self.observe_translation_program(id, &tr);
        }
    }

    /// Read data is over the bus: continues work that waited for it.
    #[inline(always)]
    pub(super) fn read_over(&mut self, id: TransactionId, source: Source) {
        self.tell_policy(id);
        match source {
            Source::User | Source::Cache => return self.user_read_done(id),
            Source::Gc => self.ftl.migration_read_done(&mut self.context, id),
            Source::Mapping => self.ftl.mapping_read_done(&mut self.context, id),
        }
        self.hand_on();
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
            self.ftl.leave_block(&mut self.context, ppa);
            self.hand_on();
        }
        if merging {
            self.ftl.old_data_read(&mut self.context, id);
            self.hand_on();
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
    pub(super) fn hand_on(&mut self) {
        if self.ftl.outcome(0).is_some() {
            self.hand_on_all();
        }
    }

    fn hand_on_all(&mut self) {
        let mut at = 0;
        while let Some(outcome) = self.ftl.outcome(at) {
            match outcome {
                Outcome::Ready { transaction } => self.enlist(transaction),
                Outcome::Unwritten { transaction } => {
                    let Transaction { request, chain, .. } = self.context.transactions[transaction];
                    self.user_read_over(transaction, request, &chain);
                }
                Outcome::Unblocked { transaction } => self.unblock(transaction),
                Outcome::Seen(seen) => self.pass_on(seen),
            }
            at += 1;
        }
        self.ftl.outcomes_over();
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
            Seen::Evicted { lpa, flow } => observer.eviction(lpa, flow),
            Seen::Collection { plane, job, owner, valid } => {
                observer.job(plane, job, owner, valid);
            }
        }
    }
}
