//! How many data pages a flow may place on each plane, where that is limited.

use super::{Block, Blocks};
use flashlane_units::{BlockId, FlowId, PlaneId};

impl Blocks {
    /// Forgets what the planes were doing when nothing is under way any more: another run starts
    /// from the blocks.
    pub(in crate::ftl) fn forget_work(&mut self) {
        for plane in self.planes.iter_mut() {
            assert_eq!(plane.jobs, 0, "nothing is in collection");
            assert!(plane.parked.is_empty(), "no write waits for a block");
            (plane.programs, plane.owed) = (0, 0);
            (plane.gc_wanted, plane.urgent) = (false, false);
        }
        self.forget_erases();
    }

    /// Limits the data pages of each flow on each plane; `limits` is indexed by plane and flow.
    /// With one number for each plane, the limit is for all flows together.
    pub(crate) fn limit_data(&mut self, limits: Vec<u32>) {
        self.held_flows = (limits.len() / self.planes.len()) as u32;
        self.held = vec![0; limits.len()];
        self.limits = limits;
        for block in self.blocks.numbers() {
            let Block { valid, .. } = self.blocks[block];
            self.count_held(block, valid as i32);
        }
    }

    /// Updates the count of data pages of a block's owner by `change`, where they are limited.
    #[inline]
    pub(super) fn count_held(&mut self, block: BlockId, change: i32) {
        if !self.held.is_empty() {
            self.count_limited(block, change);
        }
    }

    fn count_limited(&mut self, block: BlockId, change: i32) {
        let Block { flow, stream, .. } = self.blocks[block];
        if !stream.is_data() {
            return;
        }
        let at = self.held_at(self.plane_of(block), flow);
        let held = &mut self.held[at];
        *held = held.checked_add_signed(change).expect("data pages are counted");
    }

    /// True if the flow may place a data page on the plane. `replaces`: the page that it replaces
    /// lies on this plane.
    #[must_use]
    pub fn within_limit(&self, plane: PlaneId, flow: FlowId, replaces: bool) -> bool {
        let at = self.held_at(plane, flow);
        self.held.is_empty() || self.held[at] - u32::from(replaces) < self.limits[at]
    }

    /// Index of a limit.
    #[inline]
    fn held_at(&self, plane: PlaneId, flow: FlowId) -> usize {
        (plane.get() * self.held_flows + u32::from(flow.get()).min(self.held_flows - 1)) as usize
    }

    /// Valid data pages of a plane, where one limit is for all flows.
    #[inline]
    pub(crate) fn held(&self, plane: PlaneId) -> u32 {
        self.held[plane.index()]
    }
}
