//! The planes of a set, in turns.

use flashlane_units::{ChipId, PlaneId};

use super::sets::Sets;
use crate::ftl::blocks::Blocks;
use crate::layout::Geometry;

/// The planes that one flow writes to, in the order of writing: over the channels first, then their
/// chips, then dies and planes.
#[derive(Clone, Debug, Default)]
pub(super) struct Rotation {
    planes: Vec<PlaneId>,
    /// Where the next search starts.
    next: usize,
    planes_per_die: u32,
}

impl Rotation {
    pub(super) fn new(geometry: Geometry, sets: &Sets, flow: usize) -> Self {
        let per_chip = geometry.dies_per_chip * geometry.planes_per_die;
        let mut chips: Vec<ChipId> = sets.of(flow).collect();
        chips.sort_by_key(|&chip| (geometry.way_of(chip), chip));
        let planes = (0..per_chip)
            .map(|at| {
                at % geometry.dies_per_chip * geometry.planes_per_die + at / geometry.dies_per_chip
            })
            .flat_map(|at| chips.iter().map(move |&chip| geometry.first_plane(chip).plus(at)))
            .collect();
        Self { planes, next: 0, planes_per_die: geometry.planes_per_die }
    }

    /// The next plane that `admits` accepts. Prefers a plane of a die without queued or running
    /// programs.
    pub(super) fn next(
        &mut self,
        blocks: &Blocks,
        admits: impl Fn(PlaneId) -> bool,
    ) -> Option<PlaneId> {
        let count = self.planes.len();
        let mut busy = None;
        for step in 0..count {
            let at = (self.next + step) % count;
            let plane = self.planes[at];
            if !admits(plane) {
                continue;
            }
            if self.is_free(plane, blocks) {
                self.next = (at + 1) % count;
                return Some(plane);
            }
            busy.get_or_insert(at);
        }
        let at = busy?;
        self.next = (at + 1) % count;
        Some(self.planes[at])
    }

    fn is_free(&self, plane: PlaneId, blocks: &Blocks) -> bool {
        let first = plane.get() - plane.get() % self.planes_per_die;
        (first..first + self.planes_per_die)
            .map(PlaneId::new)
            .all(|plane| blocks.planes[plane].programs == 0)
    }

    /// True if each plane of the set is there exactly once.
    pub(super) fn covers(&self, geometry: Geometry, sets: &Sets, flow: usize) -> bool {
        let mut planes = self.planes.clone();
        planes.sort_unstable();
        let all = sets.of(flow).flat_map(|chip| geometry.planes_of_chip(ChipId::at(chip.index())));
        planes.into_iter().eq(all)
    }
}
