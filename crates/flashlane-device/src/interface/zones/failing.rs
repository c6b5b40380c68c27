//! Zones that fail: they can be read only, or not even that.
//!
//! Nothing in the model makes a zone fail by itself. A program that tests a host says when one
//! does, as with a drive of the kernel's null block device.

use std::fmt;

use flashlane_units::{FlowId, Handle};

use super::{OfFlow, ZoneState, Zones};

/// The use that is left of a zone that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneFailure {
    /// Data can be read, and nothing can be written or reset.
    ReadOnly,
    /// Nothing: not even reads are answered.
    Offline,
}

impl ZoneFailure {
    fn state(self) -> ZoneState {
        match self {
            Self::ReadOnly => ZoneState::ReadOnly,
            Self::Offline => ZoneState::Offline,
        }
    }
}

/// Why a zone cannot fail now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotFail {
    /// The tenant has no such zone.
    NoZone {
        /// The zone that was named.
        found: u32,
        /// Zones of the tenant.
        count: u32,
    },
    /// Writes of the zone have not entered the drive.
    Busy {
        /// The zone.
        zone: u32,
    },
    /// The zone is offline, and cannot become read only again.
    Offline {
        /// The zone.
        zone: u32,
    },
}

impl fmt::Display for CannotFail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoZone { found, count: 0 } => {
                write!(f, "zone: found {found}, allowed: none; the tenant has no zones")
            }
            Self::NoZone { found, count } => {
                write!(f, "zone: found {found}, allowed: 0 to {}", count - 1)
            }
            Self::Busy { zone } => {
                write!(f, "zone: writes of zone {zone} are under way, allowed: after their ends")
            }
            Self::Offline { zone } => write!(f, "zone: zone {zone} is offline for ever"),
        }
    }
}

impl std::error::Error for CannotFail {}

/// A zone that failed while it was active.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedZone {
    /// The first sector of the zone, in the space of the flow.
    pub(crate) start: u64,
    /// The handle that it had.
    pub(crate) handle: Handle,
}

impl Zones {
    /// A zone fails. Returns the zone if it was active: an active zone leaves its superblock.
    pub(crate) fn fail(
        &mut self,
        flow: FlowId,
        zone: u32,
        failure: ZoneFailure,
    ) -> Result<Option<FailedZone>, CannotFail> {
        let OfFlow { first, count } = self.flows[flow];
        if zone >= count {
            return Err(CannotFail::NoZone { found: zone, count });
        }
        let at = (first + zone) as usize;
        let before = self.zones[at];
        if before.state == ZoneState::Offline && failure == ZoneFailure::ReadOnly {
            return Err(CannotFail::Offline { zone });
        }
        if before.life > 0 && self.awaits(before.life) {
            return Err(CannotFail::Busy { zone });
        }
        self.leave(at, failure.state());
        let start = u64::from(zone) * self.size;
        let active = before.state.is_active();
        assert!(!active || before.handle != Handle::NONE, "an active zone has a handle");
        Ok(active.then_some(FailedZone { start, handle: before.handle }))
    }
}
