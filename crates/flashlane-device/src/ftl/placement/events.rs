//! What a drive tells of the placement of data: the events of flexible data placement.
//!
//! Source: NVMe 2.1 (TP4146), log page 23h.

use std::collections::VecDeque;

use flashlane_engine::Time;
use flashlane_units::{Handle, PlaneId};

/// Events that are kept: as many as the log page of the standard has.
const KEPT: usize = 63;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlacementEventKind {
    /// A reclaim unit was full, and its handle moved to another one by itself. Type 81h.
    Moved,
    /// A reclaim unit was open for longer than `placement.unit_time`, and its handle moved to
    /// another one before it was full. Type 1h.
    TimeLimit,
    /// Data lies elsewhere than the host has put it: collection copied it, or its reclaim group had
    /// no room. Type 80h.
    Reallocated,
}

impl PlacementEventKind {
    /// All kinds, in the order of [`EventCounts`].
    pub const ALL: [Self; 3] = [Self::Moved, Self::TimeLimit, Self::Reallocated];

    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Moved => "moved",
            Self::TimeLimit => "time-limit",
            Self::Reallocated => "reallocated",
        }
    }

    /// The type of the event in log page 23h.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Moved => 0x81,
            Self::TimeLimit => 0x01,
            Self::Reallocated => 0x80,
        }
    }
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacementEvent {
    /// When it happened; 0 in a run without time.
    pub at: Time,
    /// What happened.
    pub kind: PlacementEventKind,
    /// The placement identifier; `None` for copies in a reclaim unit that all handles share.
    pub identifier: Option<u8>,
    /// Pages that lie elsewhere, as they are mapped; 0 for the other kinds.
    pub pages: u32,
}

/// Events of each kind, in the order of [`PlacementEventKind::ALL`].
pub type EventCounts = [u64; PlacementEventKind::ALL.len()];

/// Counts of all events, and the latest ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    pub(super) counts: EventCounts,
    pub(super) latest: VecDeque<PlacementEvent>,
    /// The time of the last write or erase of a drive with handles.
    pub(super) now: Time,
}

impl Events {
    /// A reclaim unit was full.
    pub(super) fn moved(&mut self, handle: Handle) {
        self.happened(PlacementEventKind::Moved, handle, 0);
    }

    /// A reclaim unit was open for too long.
    pub(super) fn over_time(&mut self, handle: Handle) {
        self.happened(PlacementEventKind::TimeLimit, handle, 0);
    }

    /// Pages lie elsewhere than the host has put them.
    pub(super) fn reallocated(&mut self, handle: Handle, pages: u32) {
        assert!(pages > 0, "an event has something to tell");
        self.happened(PlacementEventKind::Reallocated, handle, pages);
    }

    #[cold]
    fn happened(&mut self, kind: PlacementEventKind, handle: Handle, pages: u32) {
        self.counts[kind as usize] += 1;
        if self.latest.len() == KEPT {
            self.latest.pop_front();
        }
        let identifier = (handle != Handle::NONE).then(|| handle.get());
        self.latest.push_back(PlacementEvent { at: self.now, kind, identifier, pages });
    }
}

/// When the reclaim units of a drive with a time limit were opened.
#[derive(Clone, Debug)]
pub(super) struct OpenTimes {
    limit: Time,
    identifiers: usize,
    /// By set of dies and identifier.
    since: Vec<Time>,
}

impl OpenTimes {
    pub(super) fn new(limit: Time, identifiers: usize, sets: usize) -> Self {
        assert!(limit.0 > 0, "validation refuses no time");
        Self { limit, identifiers, since: vec![Time::ZERO; identifiers * sets] }
    }

    fn at(&self, set: PlaneId, handle: Handle) -> usize {
        set.index() * self.identifiers + handle.index()
    }

    pub(super) fn opened(&mut self, set: PlaneId, handle: Handle, now: Time) {
        let at = self.at(set, handle);
        self.since[at] = now;
    }

    /// True if a reclaim unit that is open has been so for longer than the limit.
    pub(super) fn is_over(&self, set: PlaneId, handle: Handle, now: Time) -> bool {
        now.0 - self.since[self.at(set, handle)].0 > self.limit.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_events_are_kept_and_all_are_counted() {
        let mut events = Events::default();
        for nth in 0..100 {
            events.now = Time(nth);
            match nth % 2 {
                0 => events.moved(Handle::new(1)),
                _ => events.reallocated(Handle::new(2), nth as u32),
            }
        }
        assert_eq!(events.counts, [50, 0, 50]);
        assert_eq!(events.latest.len(), KEPT);
        assert_eq!(events.latest[0].at, Time(100 - KEPT as u64));
        assert_eq!(events.latest[KEPT - 1].pages, 99);
        let order = PlacementEventKind::ALL.map(|kind| kind as usize);
        assert_eq!(order, [0, 1, 2], "counts are by number");
    }

    #[test]
    fn a_reclaim_unit_is_over_after_its_time() {
        let mut times = OpenTimes::new(Time(10), 3, 2);
        let (set, handle) = (PlaneId::new(1), Handle::new(2));
        times.opened(set, handle, Time(5));
        assert!(!times.is_over(set, handle, Time(15)));
        assert!(times.is_over(set, handle, Time(16)));
        assert!(times.is_over(set, Handle::new(1), Time(16)), "another one has its own time");
    }
}
