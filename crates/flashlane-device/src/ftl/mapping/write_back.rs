//! Write-backs of changed entries: one write-back takes all changed entries of a translation page.

use flashlane_units::{FlowId, Lpa, Ppa, TransactionId};

use super::MappingTable;
use crate::context::Context;
use crate::ftl::Ftl;
use crate::ftl::blocks::Stream;
use crate::transaction::{Op, Place, Source};

impl MappingTable {
    /// A mask of the sectors of a translation page with cached entries that are unchanged. Adds the
    /// logical pages of its changed entries to `changed`.
    fn clean_sectors(
        &mut self,
        flow: FlowId,
        page: u32,
        sectors_per_page: u32,
        changed: &mut Vec<Lpa>,
    ) -> u64 {
        let (first_page, first_lpa) = self.flows[flow.index()];
        assert!(page >= first_page, "translation page {page} belongs to its flow");
        let per_page = u64::from(self.per_page.get());
        let first = first_lpa + u64::from(page - first_page) * per_page;
        let cmt = self.cmt(flow);
        let mut clean = 0;
        for entry in 0..per_page {
            let lpa = Lpa::new((first + entry) as u32);
            match cmt.changed(lpa) {
                Some(true) => changed.push(lpa),
                Some(false) => clean |= 1 << (entry * u64::from(sectors_per_page) / per_page),
                None => {}
            }
        }
        clean
    }
}

impl Ftl {
    /// Writes a translation page back, with all of its changed entries.
    pub(super) fn write_back_page(&mut self, ctx: &mut Context, flow: FlowId, page: u32) {
        let table = self.table_mut();
        if table.rules.unprogrammed {
            self.forget_write_back(ctx, flow, page);
            return;
        }
        table.cmt(flow).clean_page(page);
        let departing = table.departing.get(page).unwrap_or(0);
        if departing % 2 == 1 {
            // The change joins a write-back that still waits for the old page or for a free block.
            return;
        }
        table.writebacks += 1;
        table.departing.insert(page, departing + 3);
        let exists = table.on_flash(page) != Ppa::NONE;
        let write = self.new_transaction(ctx, Source::Mapping, Op::Program, flow, Lpa::new(page));
        let mask = self.pages.full_mask();
        ctx.transactions[write].set_part(mask, self.pages.sectors_in(mask));
        if exists {
            ctx.transactions[write].place = Place::Merge;
            self.read_translation_page(ctx, flow, page, write);
        } else {
            self.place_write(ctx, write);
        }
    }

    /// A write-back got its place: later changes need another write-back.
    pub(crate) fn write_back_placed(&mut self, page: u32) {
        let table = self.table_mut();
        let departing = table.departing.get(page).expect("the page is being written back");
        assert_eq!(departing % 2, 1, "one write-back at a time waits for its place");
        table.departing.insert(page, departing - 1);
    }

    /// Points the directory at a translation page's new place.
    pub(crate) fn bind_translation_page(&mut self, ctx: &mut Context, page: u32, ppa: Ppa) {
        let table = self.table_mut();
        let old = table.on_flash(page);
        table.set_on_flash(page, ppa);
        self.pages.set_lpa(ppa, Lpa::new(page));
        if old != Ppa::NONE {
            self.invalidate(ctx, old);
        }
    }

    /// A translation page is on flash.
    pub(crate) fn mapping_program_done(&mut self, ctx: &mut Context, id: TransactionId) {
        self.programmed(ctx, id);
        let tr = ctx.transactions[id];
        ctx.transactions.remove(id);
        self.flows[tr.flow].other_programs += 1;
        let table = self.table_mut();
        let departing = table.departing.get(tr.lpa.get()).expect("the page was being written back");
        assert!(departing >= 2, "a write-back that is over has begun");
        if departing == 2 {
            table.departing.remove(tr.lpa.get());
        } else {
            table.departing.insert(tr.lpa.get(), departing - 2);
        }
    }

    /// The write-back of the released MQSim: the old page is read, and the new one is never
    /// programmed. Here the new page counts as programmed in no time, so that its block is not
    /// lost.
    fn forget_write_back(&mut self, ctx: &mut Context, flow: FlowId, page: u32) {
        let sector_count = self.pages.sectors_per_page();
        let table = self.table_mut();
        table.writebacks += 1;
        let mut changed = std::mem::take(&mut table.changed);
        let sectors = table.clean_sectors(flow, page, sector_count, &mut changed);
        let cmt = table.cmt(flow);
        cmt.clean_page(page);
        for lpa in changed.drain(..) {
            cmt.touch(lpa);
        }
        table.changed = changed;
        // Counts neither as the start of a write-back nor as its end.
        table.departing.insert(page, 0);
        if table.on_flash(page) != Ppa::NONE {
            let read = self.read_translation_page(ctx, flow, page, TransactionId::NONE);
            ctx.transactions[read].merging = true;
            ctx.transactions[read].set_part(sectors, self.pages.sectors_in(sectors));
        }
        let table = self.table();
        let plane = self.allocator.translation_plane(flow, table.index_in_flow(flow, page));
        if let Some(ppa) = self.blocks.allocate(plane, flow, Stream::MAPPING, false) {
            self.blocks.written_at_once(ppa);
            self.bind_translation_page(ctx, page, ppa);
            self.pool_changed(plane);
            self.press(ctx, plane);
        }
    }
}
