//! Reclaim units that are open for too long.
//!
//! The next write of the handle leaves such a unit as a zone leaves its superblock: it is taken
//! from the handle, and closed when no program of it is under way.

use flashlane_units::{FlowId, Lpa};

use crate::context::Context;
use crate::ftl::Ftl;

impl Ftl {
    /// True if reclaim units may not be open for ever.
    pub(super) fn limits_open_times(&self) -> bool {
        self.handles.as_ref().is_some_and(|handles| handles.open_times.is_some())
    }

    /// A page was accepted. Leaves the open reclaim units of its identifier whose time is over. In
    /// a set of dies one unit at a time waits for its programs.
    pub(super) fn leave_old_units(&mut self, ctx: &mut Context, lpa: Lpa) {
        for set in self.blocks.planes.numbers() {
            let handles = self.handles.as_ref().expect("asked only where hosts place data");
            let (handle, stream) = handles.stream_of(lpa);
            let times = handles.open_times.as_ref().expect("times are limited");
            let waits = handles.zones.left.iter().any(|&left| self.blocks.plane_of(left) == set);
            let open =
                handles.uses(handle, set) && self.blocks.next_page(set, FlowId::new(0), stream) > 0;
            if open && !waits && times.is_over(set, handle, ctx.now) {
                self.leave_unit(ctx, set, stream);
                let events = &mut self.handles.as_mut().expect("there are handles").events;
                events.now = ctx.now;
                events.over_time(handle);
            }
            self.look_after_zones(ctx, set);
        }
    }
}
