//! How many data pages a flow may place on each plane, where that is limited.

use super::{Block, Blocks};
use flashlane_units::{BlockId, FlowId, PlaneId};

impl Blocks {
    /// From now on each flow may place only so many data pages on each plane (by plane and flow);
    /// or all flows together, with one number for each plane.
    pub(crate) fn limit_data(&mut self, limits: Vec<u32>) {
        self.held_flows = (limits.len() / self.planes.len()) as u32;
        self.held = vec![0; limits.len()];
        self.limits = limits;
        for block in self.blocks.numbers() {
            let Block { valid, .. } = self.blocks[block];
            self.count_held(block, i32::from(valid));
        }
    }

    /// Keeps the count of data pages, where they are limited.
    #[inline]
    pub(super) fn count_held(&mut self, block: BlockId, change: i32) {
        let Block { flow, stream, .. } = self.blocks[block];
        if self.held.is_empty() || !stream.is_data() {
            return;
        }
        let at = self.held_at(self.plane_of(block), flow);
        let held = &mut self.held[at];
        *held = held.checked_add_signed(change).expect("data pages are counted");
    }

    /// True if the flow may place a data page on the plane; `replaces`: one that now lies there.
    #[must_use]
    pub fn within_limit(&self, plane: PlaneId, flow: FlowId, replaces: bool) -> bool {
        let at = self.held_at(plane, flow);
        self.held.is_empty() || self.held[at] - u32::from(replaces) < self.limits[at]
    }

    /// Place of a limit.
    #[inline]
    fn held_at(&self, plane: PlaneId, flow: FlowId) -> usize {
        (plane.get() * self.held_flows + u32::from(flow.get()).min(self.held_flows - 1)) as usize
    }

    /// Valid data pages of a plane, where those of all flows are limited together.
    #[inline]
    pub(crate) fn held(&self, plane: PlaneId) -> u32 {
        self.held[plane.index()]
    }
}
