//! The zones of tenants, and the events of placement.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use flashlane::drive::{
    self, PlacementEvent as Event, PlacementEventKind as Kind, ZoneFailure, ZoneReport,
};

use crate::border::{with_living, with_state};
use crate::drive::Drive;
use crate::error::{Failure, Status};
use crate::pointers::{fill, needed};
use crate::types::FLASHLANE_PLACED;

/// The state of a zone, with the numbers of NVMe.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneState {
    /// Nothing is written.
    Empty = 1,
    /// Open by a write.
    ImplicitlyOpen = 2,
    /// Open by a command.
    ExplicitlyOpen = 3,
    /// Written in part, and not open.
    Closed = 4,
    /// Failed: data can only be read.
    ReadOnly = 13,
    /// Nothing can be written.
    Full = 14,
    /// Failed: data cannot even be read.
    Offline = 15,
}

/// A zone of a tenant.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// First sector in the tenant's space. Unit: sectors of 512 bytes.
    pub start: u64,
    /// Sectors that can be written. Unit: sectors of 512 bytes.
    pub capacity: u64,
    /// The sector in the tenant's space at which the next write begins. A full zone has the end of
    /// its capacity here, and a zone that failed keeps its last pointer. Unit: sectors of 512
    /// bytes.
    pub pointer: u64,
    /// A flashlane_zone_state.
    pub state: u8,
    /// 0.
    pub reserved: [u8; 7],
}

/// Kinds of events, with the numbers of NVMe.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A reclaim unit was open for longer than placement.unit_time, and its handle moved to another
    /// one before it was full.
    TimeLimit = 1,
    /// Data lies elsewhere than the host has put it: collection copied it, or its reclaim group had
    /// no room.
    Reallocated = 128,
    /// A reclaim unit was full, and its handle moved to another one by itself.
    Moved = 129,
}

/// What a drive tells of the placement of data, as the log page 23h of NVMe does.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlacementEvent {
    /// When it happened. Unit: picoseconds.
    pub at_ps: u64,
    /// Pages that lie elsewhere, for FLASHLANE_EVENT_KIND_REALLOCATED; 0 for the other kinds.
    pub pages: u32,
    /// The placement identifier, where "flags" has FLASHLANE_PLACED. Copies in a reclaim unit that
    /// all handles share have none.
    pub placement: u16,
    /// A flashlane_event_kind.
    pub kind: u8,
    /// 0 or FLASHLANE_PLACED.
    pub flags: u8,
}

const _: () = assert!(size_of::<Zone>() == 32, "programs are compiled with this size");
const _: () = assert!(size_of::<PlacementEvent>() == 16, "programs are compiled with this size");

/// The zones of a tenant, in order. *count is their number; 0 on a drive without zones. The first
/// of them are written to the array, as many as it has places (capacity). With a capacity of 0,
/// zones may be NULL. A command counts from its arrival on.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_zones(
    drive: Option<NonNull<Drive>>,
    tenant: u32,
    zones: Option<NonNull<MaybeUninit<Zone>>>,
    capacity: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    with_state(drive, |state| {
        let count = needed(count, "count")?.write(0);
        let found = state.drive.zones(state.tenant(tenant)?);
        fill(zones, capacity, found.iter().map(Zone::from), "zones")?;
        *count = found.len();
        Ok(Status::Ok)
    })
}

/// A zone of a tenant fails, from now on: a program tests what a host does then. "zone" is the
/// place of the zone in flashlane_zones(), and "zone_state" is FLASHLANE_ZONE_STATE_READ_ONLY or
/// FLASHLANE_ZONE_STATE_OFFLINE. A zone cannot fail while writes of it are under way, and a zone
/// that is offline cannot become read only: both are FLASHLANE_STATUS_ARGUMENT. A tenant without
/// zones is FLASHLANE_STATUS_UNSUPPORTED.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_fail_zone(
    drive: Option<NonNull<Drive>>,
    tenant: u32,
    zone: u32,
    zone_state: u32,
) -> Status {
    with_living(drive, |state| {
        let failure = match zone_state {
            state if state == ZoneState::ReadOnly as u32 => ZoneFailure::ReadOnly,
            state if state == ZoneState::Offline as u32 => ZoneFailure::Offline,
            other => {
                let allowed = "allowed: FLASHLANE_ZONE_STATE_READ_ONLY, _OFFLINE";
                let text = format!("zone_state: found {other}, {allowed}");
                return Err(Failure::new(Status::Argument, text));
            }
        };
        let tenant = state.tenant(tenant)?;
        state.drive.fail_zone(tenant, zone, failure)?;
        Ok(Status::Ok)
    })
}

/// The latest events of flexible data placement and streams, oldest first: 63 at most. *count is
/// their number; 0 on a drive without placement. The oldest of them are written to the array, as
/// many as it has places (capacity). With a capacity of 0, events may be NULL.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_placement_events(
    drive: Option<NonNull<Drive>>,
    events: Option<NonNull<MaybeUninit<PlacementEvent>>>,
    capacity: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    with_state(drive, |state| {
        let count = needed(count, "count")?.write(0);
        let found = state.drive.placement_events();
        fill(events, capacity, found.iter().map(PlacementEvent::from), "events")?;
        *count = found.len();
        Ok(Status::Ok)
    })
}

impl From<&ZoneReport> for Zone {
    fn from(zone: &ZoneReport) -> Self {
        let state = match zone.state {
            drive::ZoneState::Empty => ZoneState::Empty,
            drive::ZoneState::ImplicitlyOpen => ZoneState::ImplicitlyOpen,
            drive::ZoneState::ExplicitlyOpen => ZoneState::ExplicitlyOpen,
            drive::ZoneState::Closed => ZoneState::Closed,
            drive::ZoneState::Full => ZoneState::Full,
            drive::ZoneState::ReadOnly => ZoneState::ReadOnly,
            drive::ZoneState::Offline => ZoneState::Offline,
        };
        let &ZoneReport { start, capacity, pointer, .. } = zone;
        Self { start, capacity, pointer, state: state as u8, reserved: [0; 7] }
    }
}

impl From<&Event> for PlacementEvent {
    fn from(event: &Event) -> Self {
        let kind = match event.kind {
            Kind::Moved => EventKind::Moved,
            Kind::TimeLimit => EventKind::TimeLimit,
            Kind::Reallocated => EventKind::Reallocated,
        };
        Self {
            at_ps: event.at.0,
            pages: event.pages,
            placement: event.identifier.map_or(0, u16::from),
            kind: kind as u8,
            flags: event.identifier.map_or(0, |_| FLASHLANE_PLACED),
        }
    }
}
