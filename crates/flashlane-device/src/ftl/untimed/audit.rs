//! The state of a drive without time, checked with `--check`.

use flashlane_engine::Array;
use flashlane_units::PlaneId;

use super::Untimed;
use crate::ftl::blocks::{Block, BlockState};
use crate::layout::Layout;

impl Untimed {
    /// Checks all invariants between two requests.
    pub fn audit(&self, layout: &Layout) {
        self.ftl.audit_tables(layout);
        self.cache.audit_slots();
        self.audit_jobs();
        self.audit_programs();
        assert!(self.leaving.is_empty(), "pages that left the cache are on flash");
        assert!(self.write_backs.is_empty(), "every translation page is written back");
    }

    /// Checks the jobs against the blocks.
    pub(super) fn audit_jobs(&self) {
        let blocks = &self.ftl.blocks;
        let mut jobs: Array<PlaneId, u32> = Array::of(0, blocks.planes.len());
        for job in self.jobs.iter().flatten() {
            jobs[job.plane] += 1;
        }
        for (plane, &jobs) in jobs.numbered() {
            assert_eq!(blocks.planes[plane].jobs, jobs, "jobs of plane {plane}");
            let collected = |block: &&Block| block.state == BlockState::Collected;
            let found = blocks.of_plane(plane).iter().filter(collected).count();
            assert_eq!(found, jobs as usize, "blocks in collection of plane {plane}");
            assert!(jobs <= self.max_jobs, "jobs of plane {plane} are bounded");
        }
    }

    /// Checks the programs that count, with `--check`.
    pub(super) fn audit_programs(&self) {
        if !self.balances {
            assert!(self.programs.is_empty(), "programs count for dynamic allocation only");
            assert!(self.at_work.is_empty(), "dies are looked at for dynamic allocation only");
            return;
        }
        let at_work = self.is_at_work.iter().filter(|&&at_work| at_work).count();
        assert_eq!(self.at_work.len(), at_work, "a die with work is looked at once");
        let planes = self.ftl.blocks.planes.iter();
        let counted: usize = planes.map(|plane| plane.programs as usize).sum();
        let moving: usize = self.jobs.iter().flatten().map(|job| job.programs as usize).sum();
        let expected = self.programs.len() + if self.dies.arrival.is_none() { moving } else { 0 };
        assert_eq!(counted, expected, "programs of all planes are counted until they end");
    }
}
