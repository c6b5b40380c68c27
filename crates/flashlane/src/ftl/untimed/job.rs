//! A block that collection empties.

use flashlane_units::{BlockId, PlaneId, Ppa};

use super::arrival::Awaits;
use crate::ftl::gc::JobKind;

/// A block being emptied: its valid pages are read and get new places, then they are programmed
/// there, then it is erased.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) plane: PlaneId,
    pub(super) block: BlockId,
    /// Physical page to look at next.
    pub(super) next: Ppa,
    /// Pages that have their new places and are not programmed yet.
    pub(super) programs: u32,
    /// Page number, inside its block, of the first of these pages' new places.
    pub(super) page: u32,
    pub(super) kind: JobKind,
    /// With collection in order of arrival: the operations that the job waits for, and the end of
    /// its last program.
    pub(super) awaits: Awaits,
    pub(super) programmed_at: u64,
}

impl Job {
    pub(super) fn new(plane: PlaneId, block: BlockId, first_page: Ppa, kind: JobKind) -> Self {
        let (awaits, programmed_at) = (Awaits::Nothing, 0);
        Self { plane, block, next: first_page, programs: 0, page: 0, kind, awaits, programmed_at }
    }

    /// Notes that `count` pages are programmed.
    pub(super) fn program(&mut self, count: u32, pages_per_block: u32) {
        self.programs -= count;
        self.page += count;
        if self.page >= pages_per_block {
            self.page -= pages_per_block;
        }
    }
}
