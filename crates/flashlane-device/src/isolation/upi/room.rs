//! Room for a page: where there is some, and how a flow gets more.

use flashlane_units::{ChipId, FlowId, PlaneId};

use super::{MovingSets, Upi};
use crate::ftl::blocks::{Block, Blocks};

impl Upi {
    /// True if the flow has room on a chip of its set other than `but`.
    pub(super) fn keeps_room(&self, flow: usize, but: Option<ChipId>, blocks: &Blocks) -> bool {
        self.sets
            .of(flow)
            .filter(|&chip| Some(chip) != but)
            .any(|chip| self.has_space(chip, blocks, true))
    }

    /// True if a plane of the chip may hold more pages. `spared`: with pages to spare.
    fn has_space(&self, chip: ChipId, blocks: &Blocks, spared: bool) -> bool {
        self.planes_of(chip).any(|plane| self.may_take(plane, false, blocks, spared))
    }

    /// True if the plane may hold another page. `replaces`: a page that lies there now.
    pub(super) fn may_take(
        &self,
        plane: PlaneId,
        replaces: bool,
        blocks: &Blocks,
        spared: bool,
    ) -> bool {
        blocks.within_limit(plane, FlowId::new(0), replaces)
            && (!spared || blocks.held(plane) - u32::from(replaces) < self.fill)
    }

    /// True if the pages of a block would go to another chip.
    pub(super) fn may_leave(&self, block: &Block, plane: PlaneId, blocks: &Blocks) -> bool {
        block.stream.is_data()
            && !self.may_write(block.flow, plane)
            && self.keeps_room(block.flow.index(), None, blocks)
    }

    /// Gives a flow whose set has no room the emptiest chip of the largest set that has one to
    /// spare. False if there is none.
    pub(super) fn force_transfer(&mut self, flow: usize, blocks: &Blocks, spared: bool) -> bool {
        let held = |chip| self.planes_of(chip).map(|plane| blocks.held(plane)).sum::<u32>();
        let found = self
            .sets
            .all()
            .filter_map(|chip| Some((chip, self.sets.owner(chip)?)))
            .filter(|&(chip, owner)| {
                owner != flow
                    && self.sets.own(owner) > 1
                    && self.has_space(chip, blocks, spared)
                    && (!spared || self.keeps_room(owner, Some(chip), blocks))
            })
            .max_by_key(|&(chip, owner)| {
                (self.sets.own(owner), std::cmp::Reverse((held(chip), chip)))
            });
        if let Some((chip, _)) = found {
            self.summary.forced_transfers += 1;
            self.transfer(chip, flow);
        }
        found.is_some()
    }

    /// A plane outside the flow's set that may take a page, the one with the fewest.
    pub(super) fn outside(&self, flow: usize, blocks: &Blocks, spared: bool) -> Option<PlaneId> {
        PlaneId::first(self.geometry.planes())
            .filter(|&plane| {
                let chip = self.chip_of(plane);
                self.sets.is_written(chip)
                    && !self.sets.holds(flow, chip)
                    && self.may_take(plane, false, blocks, spared)
            })
            .min_by_key(|&plane| blocks.held(plane))
    }

    /// The next plane of the flow's set that may take a page: one with a free block if there is
    /// one.
    pub(super) fn inside(
        &mut self,
        flow: FlowId,
        old: PlaneId,
        blocks: &Blocks,
        spared: bool,
    ) -> Option<PlaneId> {
        let mut rotation = std::mem::take(&mut self.rotations[flow.index()]);
        let may = |plane: PlaneId| self.may_take(plane, plane == old, blocks, spared);
        let found = rotation
            .next(blocks, |plane| blocks.has_room(plane, flow) && may(plane))
            .or_else(|| rotation.next(blocks, may));
        self.rotations[flow.index()] = rotation;
        found
    }
}
