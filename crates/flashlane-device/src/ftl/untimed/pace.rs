//! Paced collection without events: the writes of the host release the moves of a block, as in the
//! timed drive (`ftl/gc/pacing.rs`), and dies do released moves in the time that the host leaves.

use flashlane_units::{DieId, PlaneId};

use super::Untimed;
use super::job::Job;
use crate::ftl::gc::Pace;

/// Moves of a job of which nothing has to wait.
pub(super) const ALL: u32 = u32::MAX;

impl Untimed {
    /// The pace of a block that is about to be emptied; `None` if its pages need not wait.
    pub(super) fn pace_of(&self, job: &Job) -> Option<Pace> {
        (self.ftl.is_paced() && !self.is_urgent(job.plane)).then(|| {
            let valid = self.ftl.blocks.block(job.block).valid;
            Pace::of(valid, self.ftl.blocks.pages_per_block())
        })
    }

    /// Valid pages of a job that may move now.
    pub(super) fn movable(&self, job: &Job) -> u32 {
        self.ftl.blocks.block(job.block).valid.min(job.released)
    }

    /// True if a job only has to be erased.
    pub(super) fn is_emptied(&self, job: &Job) -> bool {
        job.programs == 0 && self.ftl.blocks.block(job.block).valid == 0
    }

    /// True if collection has something to do on a die now.
    #[inline]
    pub(super) fn can_collect(&self, die: DieId) -> bool {
        let jobs = &self.jobs[die];
        if !self.ftl.is_paced() {
            // Everything is released.
            return !jobs.is_empty();
        }
        let ready = |job: &Job| job.programs > 0 || self.movable(job) > 0 || self.is_emptied(job);
        jobs.iter().any(ready)
    }

    /// Counts a page that was written to the plane, and releases the moves that it asks for; all of
    /// them if the plane is short of free blocks.
    pub(super) fn pace_write(&mut self, plane: PlaneId) {
        let die = self.dies.of(plane);
        if self.is_urgent(plane) {
            self.release_all(plane);
            return;
        }
        let blocks = &self.ftl.blocks;
        let held = self.jobs[die]
            .iter_mut()
            .find(|job| job.plane == plane && blocks.block(job.block).valid > 0);
        if let Some(job) = held
            && let Some(pace) = &mut job.pace
        {
            job.released = job.released.saturating_add(pace.write());
            self.has_work(die);
        }
    }

    /// Releases all moves of those planes that are short of free blocks.
    #[inline]
    pub(super) fn release_urgent(&mut self, planes: impl Iterator<Item = PlaneId>) {
        if self.ftl.is_paced() {
            for plane in planes {
                if self.is_urgent(plane) {
                    self.release_paced(plane);
                }
            }
        }
    }

    /// Releases all moves of the jobs of a plane, if moves wait at all.
    #[inline]
    pub(super) fn release_all(&mut self, plane: PlaneId) {
        if self.ftl.is_paced() {
            self.release_paced(plane);
        }
    }

    fn release_paced(&mut self, plane: PlaneId) {
        let die = self.dies.of(plane);
        for job in self.jobs[die].iter_mut().filter(|job| job.plane == plane) {
            job.released = ALL;
        }
        if !self.jobs[die].is_empty() {
            self.has_work(die);
        }
    }
}
