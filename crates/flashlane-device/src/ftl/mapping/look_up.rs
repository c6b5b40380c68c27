//! Look-ups: the mapping is either in the cached mapping table, or its translation page is read
//! first.

use flashlane_units::{FlowId, Lpa, Ppa, TransactionId};

use super::MappingTable;
use crate::context::Context;
use crate::ftl::{Ftl, Seen};
use crate::transaction::{Op, Place, Source, Transaction};

/// Message for callers that may only come here if there is a mapping table.
const PRESENT: &str = "translation pages exist";

impl Ftl {
    pub(in crate::ftl) fn table(&self) -> &MappingTable {
        self.mapping.as_ref().expect(PRESENT)
    }

    pub(super) fn table_mut(&mut self) -> &mut MappingTable {
        self.mapping.as_mut().expect(PRESENT)
    }

    /// Looks up the mapping of a logical page that may have a place in the tables.
    pub(in crate::ftl) fn translate_mapped(&mut self, ctx: &mut Context, id: TransactionId) {
        let flow = ctx.transactions[id].flow;
        if self.begin_lookup(ctx, id, flow) {
            self.translated(ctx, id);
        }
    }

    /// Translation is known: the transaction goes on.
    fn translated(&mut self, ctx: &mut Context, id: TransactionId) {
        match ctx.transactions[id].op {
            Op::Read => self.resolve_read(ctx, id),
            _ => self.resolve_write(ctx, id),
        }
    }

    /// True if the mapping is known now. Otherwise the transaction continues by itself later.
    #[inline(always)]
    pub(in crate::ftl) fn begin_lookup(
        &mut self,
        ctx: &mut Context,
        id: TransactionId,
        flow: FlowId,
    ) -> bool {
        if self.mapping.is_some() {
            return self.look_up_entry(ctx, id);
        }
        self.flows[flow].cmt_hits += 1;
        true
    }

    /// Looks up the entry of a transaction's logical page in the cached mapping table.
    fn look_up_entry(&mut self, ctx: &mut Context, id: TransactionId) -> bool {
        let Transaction { flow, lpa, op, .. } = ctx.transactions[id];
        let pages = &mut self.flows[flow];
        let table = self.mapping.as_mut().expect(PRESENT);
        if table.cmt(flow).touch(lpa) {
            pages.cmt_hits += 1;
            return true;
        }
        pages.cmt_misses += 1;
        let page = table.page_of(flow, lpa);
        let known = table.on_flash(page) == Ppa::NONE || table.departing.get(page).is_some();
        if known {
            self.cache_entry(ctx, flow, lpa, page, false);
            return true;
        }
        let reserves = table.rules.reserves;
        let reading = table.reading.get(page);
        // One list holds all, in the order in which they came.
        let list = if reserves { Op::Read } else { op };
        match reading {
            Some(at) => table.waiting[at as usize].push(id, list),
            None => table.start_waiting(page, id, list),
        }
        ctx.transactions[id].place = Place::Translation;
        if reserves {
            self.reserve_entry(ctx, flow, lpa, page);
        }
        if reading.is_none() {
            self.read_translation_page(ctx, flow, page, TransactionId::NONE);
        }
        false
    }

    /// Takes a place in the cached mapping table for an entry whose translation page is being read.
    fn reserve_entry(&mut self, ctx: &mut Context, flow: FlowId, lpa: Lpa, page: u32) {
        let table = self.table_mut();
        if !table.cmt(flow).contains(lpa) && self.make_room(ctx, flow) {
            let table = self.table_mut();
            table.cmt(flow).reserve(lpa, page, flow);
        }
    }

    /// Reads a translation page for misses, or to merge it with changed entries (with a dependent
    /// write).
    pub(super) fn read_translation_page(
        &mut self,
        ctx: &mut Context,
        flow: FlowId,
        page: u32,
        dependent: TransactionId,
    ) -> TransactionId {
        let id = self.new_transaction(ctx, Source::Mapping, Op::Read, flow, Lpa::new(page));
        let table = self.table();
        let ppa = table.on_flash(page);
        let plane = self.blocks.plane_of_page(ppa);
        let mask = if table.rules.short_reads { 1 } else { self.pages.full_mask() };
        let tr = &mut ctx.transactions[id];
        assert!(ppa != Ppa::NONE, "translation page {page} is on flash");
        tr.ppa = ppa;
        tr.plane = plane;
        tr.set_part(mask, self.pages.sectors_in(mask));
        tr.dependent = dependent;
        tr.merging = dependent != TransactionId::NONE;
        self.read_physical(ctx, id);
        id
    }

    /// A translation page is in the controller.
    pub(crate) fn mapping_read_done(&mut self, ctx: &mut Context, id: TransactionId) {
        self.release_block(ctx, id);
        let tr = ctx.transactions[id];
        ctx.transactions.remove(id);
        if tr.merging {
            self.tell(Seen::TranslationRead { transaction: id });
            if tr.dependent != TransactionId::NONE {
                self.place_write(ctx, tr.dependent);
            }
            return;
        }
        let table = self.table_mut();
        let reserves = table.rules.reserves;
        let (at, mut waiting) = table.take_waiting(tr.lpa.get());
        if reserves {
            by_logical_page(&mut waiting.reads, ctx);
        }
        assert!(
            !(waiting.reads.is_empty() && waiting.writes.is_empty()),
            "somebody waits for translation page {}",
            tr.lpa
        );
        for &waiter in waiting.reads.iter().chain(&waiting.writes) {
            let since = ctx.transactions[waiter].mark.0;
            self.tell(Seen::WaitedForTranslation { transaction: waiter, since, read: id });
        }
        self.tell(Seen::TranslationRead { transaction: id });
        // Reads first: a host waits for them.
        for &waiter in waiting.reads.iter().chain(&waiting.writes) {
            let (flow, lpa) = (ctx.transactions[waiter].flow, ctx.transactions[waiter].lpa);
            self.cache_entry(ctx, flow, lpa, tr.lpa.get(), false);
            self.translated(ctx, waiter);
        }
        let table = self.table_mut();
        table.give_back(at, waiting);
    }

    /// Adds an entry to the cached mapping table; evicts the least recently used one if the table
    /// is full.
    fn cache_entry(&mut self, ctx: &mut Context, flow: FlowId, lpa: Lpa, page: u32, dirty: bool) {
        let table = self.table_mut();
        if table.cmt(flow).settle(lpa, dirty) {
            return;
        }
        let room = self.make_room(ctx, flow);
        let table = self.table_mut();
        if room {
            table.cmt(flow).insert(lpa, page, flow, dirty);
        } else if dirty {
            // Every place waits for a translation page, so the change goes to flash at once.
            self.write_back_page(ctx, flow, page);
        }
    }

    /// Evicts an entry of a full table; false if every place waits for a translation page.
    fn make_room(&mut self, ctx: &mut Context, flow: FlowId) -> bool {
        let table = self.table_mut();
        let cmt = table.cmt(flow);
        if cmt.has_room() {
            return true;
        }
        let Some(victim) = cmt.evict() else { return false };
        self.tell(Seen::Evicted { lpa: victim.lpa, flow });
        if victim.dirty {
            self.write_back_page(ctx, victim.flow, victim.page);
        }
        true
    }

    /// Notes that the mapping of a page changed: its entry is marked, or added as changed.
    pub(crate) fn mapping_changed(&mut self, ctx: &mut Context, flow: FlowId, lpa: Lpa) {
        let Some(table) = &self.mapping else { return };
        let page = table.page_of(flow, lpa);
        self.cache_entry(ctx, flow, lpa, page, true);
    }
}

/// Sorts transactions as the released MQSim serves them: page by page, in the order in which the
/// first for each page came, and its reads before its writes.
fn by_logical_page(waiting: &mut [TransactionId], ctx: &Context) {
    if waiting.len() < 2 {
        return;
    }
    // Page, place, and place of the first for the page.
    let mut keys: Vec<(Lpa, usize, usize)> =
        waiting.iter().enumerate().map(|(at, &id)| (ctx.transactions[id].lpa, at, at)).collect();
    keys.sort_unstable();
    for at in 1..keys.len() {
        if keys[at].0 == keys[at - 1].0 {
            keys[at].2 = keys[at - 1].2;
        }
    }
    let came = waiting.to_vec();
    let writes = |at: usize| ctx.transactions[came[at]].op != Op::Read;
    keys.sort_unstable_by_key(|&(_, at, first)| (first, writes(at), at));
    for (place, &(_, at, _)) in waiting.iter_mut().zip(&keys) {
        *place = came[at];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_goes_on_page_by_page_and_reads_before_writes() {
        let mut ctx = Context::new();
        let of = |(page, op)| {
            let mut tr = Transaction::default();
            (tr.lpa, tr.op) = (Lpa::new(page), op);
            tr
        };
        let came = [(7, Op::Program), (9, Op::Read), (7, Op::Read), (3, Op::Read), (7, Op::Read)];
        let ids: Vec<_> = came.map(|tr| ctx.transactions.insert(of(tr))).into();
        let mut waiting = ids.clone();
        by_logical_page(&mut waiting, &ctx);
        assert_eq!(waiting, [2, 4, 0, 1, 3].map(|at: usize| ids[at]));
    }
}
