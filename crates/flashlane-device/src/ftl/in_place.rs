//! Memory that is written in place: 3D XPoint, phase-change memory.
//!
//! A logical page never changes its place: its plane in the static order, and its row there.
//! Nothing is looked up, erased or collected, and a partial write writes only its part of the page.
//! The page tables stay empty, and so do the blocks. Source: MQSim (FAST'18) section 3.3 and Fig.
//! 4b.

use super::Ftl;
use crate::context::Context;
use crate::transaction::Place;
use flashlane_units::TransactionId;

impl Ftl {
    /// Finds the place of a host page, for a read or a write. The transaction is then ready for its
    /// die.
    pub(super) fn find_in_place(&mut self, ctx: &mut Context, id: TransactionId) {
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
