//! Superblocks without time: the parity of their stripes, and the owners of the pages that move.

use flashlane_units::{BlockId, FlowId, Lpa, PlaneId, Ppa};

use super::Untimed;

impl Untimed {
    /// Programs the parity of a stripe.
    pub(super) fn program_parity(&mut self, pool: PlaneId, flow: FlowId, at: u64) {
        let units = u64::from(self.ftl.units_per_program());
        self.work[flow.index()].gc_programs += units;
        self.dies.work(self.dies.of(pool), at, self.dies.times.program);
    }

    /// Counts reads and programs of pages that move out of a block of the flow. Where flows share
    /// blocks, pages are counted when they get their new places.
    #[inline]
    pub(super) fn count_moves(&mut self, flow: FlowId, [reads, programs]: [u32; 2]) {
        if !self.ftl.blocks.shares_frontiers() {
            let work = &mut self.work[flow.index()];
            work.gc_reads += u64::from(reads);
            work.gc_programs += u64::from(programs);
        }
    }

    /// With superblocks: counts the work of a move for the owner of the page, and programs the
    /// parity of a stripe that is complete with it. Returns the owner.
    #[inline(never)]
    pub(super) fn moves_for(
        &mut self,
        pool: PlaneId,
        block: BlockId,
        (lpa, to): (Lpa, Ppa),
    ) -> FlowId {
        let flow = self.ftl.owner_of(block, lpa);
        let parity = self.ftl.blocks.parity_after(to).is_some();
        if self.ftl.layer.frees_at_once() {
            return flow;
        }
        let work = &mut self.work[flow.index()];
        work.gc_reads += 1;
        work.gc_programs += 1;
        self.ftl.copied_by_handle(block, lpa);
        if parity {
            self.program_parity(pool, flow, 0);
        }
        flow
    }
}
