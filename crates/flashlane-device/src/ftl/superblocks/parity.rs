//! The parity of stripes, and other questions of the translation layer to superblocks.

use flashlane_units::{BlockId, ChipId, FlowId, Lpa, PlaneId, Ppa, TransactionId};

use crate::context::Context;
use crate::ftl::Ftl;
use crate::transaction::{Op, Source};

impl Ftl {
    /// After a page was allocated in a pool: writes the parity of its stripe, if it was the last
    /// page of data. The write is work of collection, for the flow whose page completed the
    /// stripe.
    pub(in crate::ftl) fn complete_stripe(
        &mut self,
        ctx: &mut Context,
        pool: PlaneId,
        flow: FlowId,
        ppa: Ppa,
    ) {
        if let Some(parity) = self.blocks.parity_after(ppa) {
            self.write_parity(ctx, pool, flow, parity);
        }
    }

    fn write_parity(&mut self, ctx: &mut Context, pool: PlaneId, flow: FlowId, parity: Ppa) {
        let id = self.new_transaction(ctx, Source::Gc, Op::Program, flow, Lpa::NONE);
        let mask = self.pages.full_mask();
        let tr = &mut ctx.transactions[id];
        tr.ppa = parity;
        tr.plane = self.blocks.plane_in_pool(pool, parity);
        tr.tag = flashlane_engine::NONE;
        tr.set_part(mask, self.pages.sectors_in(mask));
        let units = self.units_per_program();
        if units > 1 {
            // A whole row is programmed.
            tr.programs_whole(units * self.pages.sectors_per_page());
        }
        self.blocks.planes[pool].programs += units;
        self.schedule(ctx, id);
    }

    /// A pool became short of free blocks, or is so no more.
    #[cold]
    pub(in crate::ftl) fn urgency_changed(&mut self, pool: PlaneId, urgent: bool) {
        self.blocks.planes[pool].urgent = urgent;
        for plane in self.blocks.planes_of_pool(pool) {
            let chip = ChipId::new(self.planes_per_chip.divide(plane.get()));
            let planes = &mut self.urgent_planes[chip];
            *planes = if urgent { *planes + 1 } else { *planes - 1 };
        }
    }

    /// A page of a superblock got its place: finds its plane, and writes the parity of its stripe
    /// if the stripe is complete.
    #[inline(never)]
    pub(in crate::ftl) fn placed_in_stripe(
        &mut self,
        ctx: &mut Context,
        id: TransactionId,
        pool: PlaneId,
    ) {
        let tr = &mut ctx.transactions[id];
        let (flow, lpa, ppa) = (tr.flow, tr.lpa, tr.ppa);
        tr.plane = self.blocks.plane_in_pool(pool, ppa);
        self.complete_stripe(ctx, pool, flow, ppa);
        if self.ends_zone(flow, lpa) {
            self.send_last_row_of(ctx, pool, lpa);
        }
    }

    /// A plane of the flash for a pool, where any of its planes will do.
    pub(in crate::ftl) fn first_plane(&self, pool: PlaneId) -> PlaneId {
        self.blocks.planes_of_pool(pool).next().expect("a pool has planes")
    }

    /// The flow of a page that a block holds. `lpa`: the logical page, or the translation page.
    #[inline]
    pub(in crate::ftl) fn owner_of(&self, block: BlockId, lpa: Lpa) -> FlowId {
        if self.blocks.shares_frontiers() && !self.blocks.block(block).stream.is_data() {
            return self.table().flow_of(lpa.get());
        }
        self.blocks.owner_of(block, lpa)
    }
}
