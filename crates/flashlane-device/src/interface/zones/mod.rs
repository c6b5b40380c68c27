//! Zones: the rules of the zoned command set, which the interface checks before anything else
//! happens to a command.
//!
//! A zone is written in order. Its *write pointer* tells where the next write has to begin; an
//! append names only the zone, and learns the place from its completion. A zone is empty, open,
//! closed or full. The first write opens it *implicitly*, and the drive may close such a zone again
//! to open another one. A command opens it *explicitly*: then only a command closes it. Open and
//! closed zones are *active*: they hold resources of the drive, and their number is bounded. A
//! reset empties the zone; a finish makes it full. A zone may fail: it can be read only, or is
//! offline. A command that breaks a rule changes nothing, and is completed with the reason.
//!
//! Commands are checked in the order in which they arrive, so that the answer does not depend on
//! how long others take. Behind this stage a zone is a run of logical pages: an append is a write
//! at its place. Each active zone has a placement handle, so that its pages fill a superblock of
//! their own.
//!
//! Source: NVMe Zoned Namespace Command Set 1.1 (TP4053), and TP4076 for the random write area.

mod config;
mod failing;
mod lives;
mod refusal;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;

use flashlane_engine::Array;
use flashlane_units::{FlowId, Handle, Lpa};

use crate::layout::{FlowSpace, Layout};
use crate::request::Planned;
pub use config::{FinishKind, ZonesConfig};
pub(crate) use failing::FailedZone;
pub use failing::{CannotFail, ZoneFailure};
use lives::Lives;
pub use refusal::ZoneRefusal;

/// Placement handles of a drive with zones: more than zones can be active, so that the last pages
/// of a full zone can leave the cache before its handle is another zone's.
pub const ZONE_HANDLES: u32 = 72;
const _: () = assert!(ZONE_HANDLES <= Handle::NONE.get() as u32, "each handle of a zone is one");
/// Zones that may be active.
pub const ACTIVE_ZONES: std::ops::RangeInclusive<u32> = 1..=64;

/// What a zone is. Source: NVMe Zoned Namespace Command Set, zone state machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZoneState {
    /// Nothing is written.
    #[default]
    Empty,
    /// Open by a write.
    ImplicitlyOpen,
    /// Open by a command.
    ExplicitlyOpen,
    /// Written in part, and not open.
    Closed,
    /// Nothing can be written.
    Full,
    /// Failed: data can only be read.
    ReadOnly,
    /// Failed: data cannot even be read.
    Offline,
}

impl ZoneState {
    /// True if the zone is open.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::ImplicitlyOpen | Self::ExplicitlyOpen)
    }

    /// True if the zone failed.
    #[must_use]
    pub fn has_failed(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Offline)
    }

    /// True if the zone is open or closed.
    #[must_use]
    pub fn is_active(self) -> bool {
        self.is_open() || self == Self::Closed
    }
}

impl fmt::Display for ZoneState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "empty",
            Self::ImplicitlyOpen => "implicitly open",
            Self::ExplicitlyOpen => "explicitly open",
            Self::Closed => "closed",
            Self::Full => "full",
            Self::ReadOnly => "read only",
            Self::Offline => "offline",
        })
    }
}

/// A zone as a host sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneReport {
    /// First sector in the space of the flow.
    pub start: u64,
    /// Sectors that can be written.
    pub capacity: u64,
    /// The state.
    pub state: ZoneState,
    /// The sector at which the next write begins; of a full zone, the end of its capacity; of a
    /// zone that failed, where it was then.
    pub pointer: u64,
}

/// Commands that changed zones, since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoneCounts {
    /// Appends.
    pub appends: u64,
    /// Resets of zones that were not empty.
    pub resets: u64,
    /// Finishes of zones that were neither empty nor full.
    pub finishes: u64,
    /// Sectors that those zones had left.
    pub left_sectors: u64,
    /// Commands that were refused.
    pub refused: u64,
    /// Most zones that were active.
    pub active_max: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Zone {
    state: ZoneState,
    /// Sectors before the write pointer.
    written: u64,
    /// The end of what was written: behind the write pointer only with a random write area.
    end: u64,
    /// The handle of an active zone; `NONE` for others.
    handle: Handle,
    /// The life in which the data of the zone was written: the time from when it became active to
    /// its reset. 0 for an empty zone, and for one that was full at the start.
    life: u64,
    /// The zone has a random write area.
    random: bool,
}

/// The zones of a flow.
#[derive(Clone, Copy, Debug)]
struct OfFlow {
    /// The first one, among those of all flows.
    first: u32,
    count: u32,
}

/// The zones of a drive.
#[derive(Clone, Debug)]
pub struct Zones {
    config: ZonesConfig,
    /// Sectors of a zone that can be written.
    capacity: u64,
    /// Sectors from the start of a zone to that of the next.
    size: u64,
    /// Sectors of a logical block: those of a page.
    block: u32,
    zones: Vec<Zone>,
    flows: Array<FlowId, OfFlow>,
    /// Open zones, the longest open one first.
    open: VecDeque<u32>,
    active: u32,
    /// Handles that no active zone has; the one that has been free for longest is first.
    free: VecDeque<Handle>,
    lives: Lives,
    counts: ZoneCounts,
}

impl Zones {
    /// The zones of a drive; `None` where flows have none. Those are full whose first page holds
    /// data, and the others empty.
    pub fn new(config: &ZonesConfig, layout: &Layout, holds: impl Fn(Lpa) -> bool) -> Option<Self> {
        let geometry = layout.zones?;
        let mut zones = Vec::new();
        let of_flow = |space: &FlowSpace| {
            let count = space.zone_count() as u32;
            let first = zones.len() as u32;
            zones.extend((0..count).map(|nth| {
                let lpa = Lpa::new(space.first_lpa as u32 + nth * geometry.pages);
                let (state, written) = match holds(lpa) {
                    true => (ZoneState::Full, geometry.capacity),
                    false => (ZoneState::Empty, 0),
                };
                Zone { state, written, end: written, handle: Handle::NONE, life: 0, random: false }
            }));
            OfFlow { first, count }
        };
        let flows = layout.flows.iter().map(of_flow).collect();
        Some(Self {
            config: *config,
            capacity: geometry.capacity,
            size: geometry.size,
            block: layout.geometry.sectors_per_page,
            zones,
            flows,
            open: VecDeque::new(),
            active: 0,
            free: (0..ZONE_HANDLES as u8).map(Handle::new).collect(),
            lives: Lives::default(),
            counts: ZoneCounts::default(),
        })
    }

    /// Commands that changed zones.
    #[must_use]
    pub fn counts(&self) -> ZoneCounts {
        self.counts
    }

    /// The life of the zone of a command that was checked just now: the one that a finish ends. 0
    /// where there is none.
    pub(crate) fn life_of(&self, flow: FlowId, planned: &Planned) -> u64 {
        if planned.sectors == 0 {
            return 0;
        }
        let (at, _, _) = self.place(flow, planned.sector);
        self.zones[at].life
    }

    /// The data of a write in a life has entered the drive.
    pub(crate) fn entered(&mut self, life: u64) {
        self.lives.entered(life);
    }

    /// True if data of a life has not entered the drive.
    pub(crate) fn awaits(&self, life: u64) -> bool {
        self.lives.awaits(life)
    }

    /// True if a zone is still in a life. Otherwise it was reset since the command was checked.
    pub(crate) fn is_current(&self, flow: FlowId, sector: u64, life: u64) -> bool {
        let (at, _, _) = self.place(flow, sector);
        self.zones[at].life == life
    }

    /// The write pointer of a zone with a random write area, and the start of the zone. Unit:
    /// sectors.
    pub(crate) fn area(&self, flow: FlowId, sector: u64) -> Option<(u64, u64)> {
        let (at, nth, _) = self.place(flow, sector);
        let (zone, start) = (&self.zones[at], u64::from(nth) * self.size);
        zone.random.then_some((start, start + zone.written))
    }

    /// The zones of a flow as its host sees them.
    pub(crate) fn report(&self, flow: FlowId) -> Vec<ZoneReport> {
        let OfFlow { first, count } = self.flows[flow];
        let report = |nth: u32| {
            let zone = &self.zones[(first + nth) as usize];
            let start = u64::from(nth) * self.size;
            ZoneReport {
                start,
                capacity: self.capacity,
                state: zone.state,
                pointer: start + zone.written,
            }
        };
        (0..count).map(report).collect()
    }

    /// Checks the counts and lists against the states of the zones.
    pub(crate) fn audit(&self) {
        let with = |is: fn(ZoneState) -> bool| self.zones.iter().filter(|z| is(z.state)).count();
        assert_eq!(self.active as usize, with(ZoneState::is_active), "active zones are counted");
        assert_eq!(self.open.len(), with(ZoneState::is_open), "open zones are in the list");
        assert!(self.open.len() as u32 <= self.config.max_open, "no more are open than may be");
        assert!(self.active <= self.config.max_active, "no more are active than may be");
        let listed = self.open.iter().all(|&at| self.zones[at as usize].state.is_open());
        assert!(listed, "only open zones are in the list");
        let mut handles: Vec<u8> = self.free.iter().map(|handle| handle.get()).collect();
        for zone in &self.zones {
            assert_eq!(zone.handle != Handle::NONE, zone.state.is_active(), "an active zone's");
            let full = zone.written == self.capacity;
            assert!(zone.state.has_failed() || full == (zone.state == ZoneState::Full), "full");
            assert!(zone.state != ZoneState::Empty || zone.written == 0, "empty");
            handles.extend((zone.handle != Handle::NONE).then_some(zone.handle.get()));
        }
        handles.sort_unstable();
        assert!(handles.into_iter().eq(0..ZONE_HANDLES as u8), "a handle is free or a zone's");
    }
}
