//! A block that collection empties.

use flashlane_units::{BlockId, PlaneId, Ppa};

use super::arrival::Awaits;
use super::pace::ALL;
use crate::ftl::gc::{JobKind, Pace};

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
    /// Pages that may move now and have not begun to.
    pub(super) released: u32,
    /// The pace at which writes release pages; `None` if all are released at the start.
    pub(super) pace: Option<Pace>,
    /// With collection in order of arrival: the operations that the job waits for, and the end of
    /// its last program.
    pub(super) awaits: Awaits,
    pub(super) programmed_at: u64,
}

impl Job {
    pub(super) fn new(plane: PlaneId, block: BlockId, first_page: Ppa, kind: JobKind) -> Self {
        Self {
            plane,
            block,
            next: first_page,
            programs: 0,
            page: 0,
            kind,
            released: ALL,
            pace: None,
            awaits: Awaits::Nothing,
            programmed_at: 0,
        }
    }

    /// Lets the pages of the job wait for writes, unless there is no pace.
    pub(super) fn paced(self, pace: Option<Pace>) -> Self {
        Self { released: if pace.is_some() { 0 } else { ALL }, pace, ..self }
    }

    /// Notes that `count` released pages begin to move.
    pub(super) fn begin_moves(&mut self, count: u32) {
        if self.released != ALL {
            assert!(self.released >= count, "only released pages move");
            self.released -= count;
        }
    }

    /// Notes that `count` pages are programmed.
    pub(super) fn program(&mut self, count: u32, pages_per_block: u32) {
        assert!(count <= self.programs, "pages are programmed after they got their places");
        self.programs -= count;
        self.page += count;
        if self.page >= pages_per_block {
            self.page -= pages_per_block;
        }
    }
}
