//! Memory that is written in place: 3D XPoint, phase-change memory.
//!
//! A logical page has one place for good: its plane in the static order, and its row there. Nothing
//! is looked up, erased or collected; a write of a part of a page writes that part. The page tables
//! stay empty, and so do the blocks.
//! Source: MQSim (FAST'18) section 3.3 and Fig. 4b.

use super::Ftl;
use crate::context::Moment;
use crate::transaction::Place;
use flashlane_units::TransactionId;

impl Ftl {
    /// Finds the place of a host page, to be read or written. The transaction is ready for its die.
    pub(super) fn find_in_place(&mut self, ctx: &mut Moment<'_>, id: TransactionId) {
        let now = ctx.now;
        let tr = &mut ctx.transactions[id];
        let (plane, page) = self.allocator.home(tr.flow, tr.lpa);
        tr.plane = plane;
        tr.ppa = page;
        let waited = tr.lap(now);
        tr.chain.mapping += waited;
        tr.place = Place::Queue;
    }
}
