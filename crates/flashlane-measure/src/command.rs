//! Commands of a tenant to a drive, and the reasons for which a drive refuses them.

use std::fmt;

use flashlane_engine::Time;

use crate::observe::requests::RequestRecord;
use flashlane_config::DeviceConfig;
use flashlane_device::config::PlacementMode;
use flashlane_device::interface::zones::ZoneRefusal;
use flashlane_units::RequestOp;
use flashlane_workload::config::MAX_TRACED_BYTES;

/// Operation of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads sectors.
    Read,
    /// Writes sectors.
    Write,
    /// Deallocates sectors.
    Trim,
    /// Makes all data durable that was acknowledged before. Its range must be empty.
    Flush,
    /// Writes at the write pointer of a zone. `sector` is the start of the zone; the record of the
    /// completion has the place.
    ZoneAppend,
    /// Empties the zone that starts at `sector`. Length: 0, or that of a zone.
    ZoneReset,
    /// Makes the zone that starts at `sector` full. Length: 0, or that of a zone.
    ZoneFinish,
    /// Opens the zone that starts at `sector` until it is closed, full or reset. Length: 0, or that
    /// of a zone.
    ZoneOpen,
    /// Closes the zone that starts at `sector`. Length: 0, or that of a zone.
    ZoneClose,
    /// Moves the write pointer of a zone with a random write area behind the logical block at
    /// `sector`, and so commits what was written there. Length: 0.
    ZoneCommit,
}

impl Operation {
    /// All operations. The first four need no zones.
    pub const ALL: [Self; 10] = [
        Self::Read,
        Self::Write,
        Self::Trim,
        Self::Flush,
        Self::ZoneAppend,
        Self::ZoneReset,
        Self::ZoneFinish,
        Self::ZoneOpen,
        Self::ZoneClose,
        Self::ZoneCommit,
    ];

    /// The name, as in records of requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.request_op().name()
    }

    /// The operation that becomes this request; `None` for an answer of the drive.
    pub(crate) fn of(op: RequestOp) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.request_op() == op)
    }

    /// The operation of a request.
    fn request_op(self) -> RequestOp {
        match self {
            Self::Read => RequestOp::Read,
            Self::Write => RequestOp::Write,
            Self::Trim => RequestOp::Trim,
            Self::Flush => RequestOp::Flush,
            Self::ZoneAppend => RequestOp::ZoneAppend,
            Self::ZoneReset => RequestOp::ZoneReset,
            Self::ZoneFinish => RequestOp::ZoneFinish,
            Self::ZoneOpen => RequestOp::ZoneOpen,
            Self::ZoneClose => RequestOp::ZoneClose,
            Self::ZoneCommit => RequestOp::ZoneCommit,
        }
    }
}

/// A command of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The operation.
    pub operation: Operation,
    /// Namespace. Every tenant has one, number 1.
    pub namespace: u32,
    /// First sector in the tenant's space. Unit: sectors of 512 B.
    pub sector: u64,
    /// Length. Unit: sectors of 512 B. Range: 1 to the drive's largest transfer
    /// (`interface.max_transfer`, 16 MiB by default), for trims to 8,388,608 (4 GiB); 0 for
    /// flushes.
    pub sectors: u32,
    /// Placement identifier of a write: a handle of flexible data placement, or a stream. `None`:
    /// that of the tenant. Range: below the number of the drive's identifiers
    /// (`placement.handles`).
    pub placement: Option<u16>,
}

impl Command {
    /// A command for the only namespace, without a placement identifier.
    #[must_use]
    pub fn new(operation: Operation, sector: u64, sectors: u32) -> Self {
        Self { operation, namespace: 1, sector, sectors, placement: None }
    }

    /// Reads sectors.
    #[must_use]
    pub fn read(sector: u64, sectors: u32) -> Self {
        Self::new(Operation::Read, sector, sectors)
    }

    /// Writes sectors.
    #[must_use]
    pub fn write(sector: u64, sectors: u32) -> Self {
        Self::new(Operation::Write, sector, sectors)
    }

    /// Deallocates sectors.
    #[must_use]
    pub fn trim(sector: u64, sectors: u32) -> Self {
        Self::new(Operation::Trim, sector, sectors)
    }

    /// Makes all acknowledged data durable.
    #[must_use]
    pub fn flush() -> Self {
        Self::new(Operation::Flush, 0, 0)
    }

    /// The request operation for the command to a drive, in a space of `space` sectors. The zone of
    /// a command is checked when the command arrives.
    pub fn check(&self, space: u64, drive: &DeviceConfig) -> Result<RequestOp, Refused> {
        let (op, identifiers) = (self.operation.request_op(), drive.placement.identifiers());
        let of_zones = op.manages_zone() || op == RequestOp::ZoneAppend;
        if of_zones && drive.placement.mode != PlacementMode::Zones {
            return Err(Refused::NoZones);
        }
        if let Some(found) = self.placement {
            let writes = op == RequestOp::Write;
            if !writes || u32::from(found) >= identifiers {
                return Err(Refused::Placement { found, identifiers, writes });
            }
        }
        if self.namespace != 1 {
            return Err(Refused::Namespace { found: self.namespace });
        }
        let bytes = u64::from(self.sectors) * flashlane_device::layout::SECTOR_BYTES;
        let fits = self.sector.checked_add(self.sectors.into()).is_some_and(|end| end <= space);
        let length = match op {
            RequestOp::Flush => self.sectors == 0,
            RequestOp::Trim => self.sectors > 0 && bytes <= MAX_TRACED_BYTES,
            _ if op.moves_data() => self.sectors > 0 && bytes <= drive.interface.max_transfer.0,
            _ => self.sector < space,
        };
        if !fits || !length {
            return Err(Refused::Range { sector: self.sector, sectors: self.sectors, space });
        }
        Ok(op)
    }
}

/// A completed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The submitter's own name of the command.
    pub cookie: u64,
    /// Times of its stages. `record.flow` is the tenant, `record.complete_ps` the time of the
    /// completion.
    pub record: RequestRecord,
    /// The rule of zones that the command broke, if it did: then the drive did nothing. The record
    /// of an append has the place of the data.
    pub refusal: Option<ZoneRefusal>,
}

impl Completion {
    /// Time at which the host saw the completion.
    #[must_use]
    pub fn at(&self) -> Time {
        Time(self.record.complete_ps)
    }
}

/// Reason why a drive does not accept a command. The drive is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// The time is before the drive's present time, or at or after the end of simulated time.
    Time {
        /// The time in the request.
        at: Time,
        /// The drive's present time.
        now: Time,
    },
    /// There is no such tenant.
    Tenant {
        /// The tenant in the request.
        found: usize,
        /// Number of tenants.
        tenants: usize,
    },
    /// There is no such namespace.
    Namespace {
        /// The namespace in the request.
        found: u32,
    },
    /// The range is empty, too long, or ends outside of the tenant's space.
    Range {
        /// First sector.
        sector: u64,
        /// Length. Unit: sectors.
        sectors: u32,
        /// The tenant's space. Unit: sectors.
        space: u64,
    },
    /// The command names a placement identifier that the drive has not, or is no write.
    Placement {
        /// The identifier in the command.
        found: u16,
        /// Identifiers of the drive; 0 if it offers none.
        identifiers: u32,
        /// True if the command writes.
        writes: bool,
    },
    /// The largest number of commands that a drive accepts, 2^24, is outstanding.
    Full,
    /// The command is one of zones, and the drive has none.
    NoZones,
    /// An earlier step failed, so the drive cannot continue.
    Dead,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time { at, now } => {
                write!(f, "at: found {at}, allowed: from {now}, the drive's present, to 213 days")
            }
            Self::Tenant { found, tenants } => {
                write!(f, "tenant: found {found}, allowed: 0 to {}", tenants - 1)
            }
            Self::Namespace { found } => write!(f, "namespace: found {found}, allowed: 1"),
            Self::Range { sector, sectors, space } => write!(
                f,
                "range: found sector {sector} + {sectors}, allowed: 1 to 32768 sectors that end at \
                 {space} or before; 0 sectors for a flush"
            ),
            Self::Placement { found, writes: false, .. } => {
                write!(
                    f,
                    "placement: found {found}, allowed: none, since the command writes nothing"
                )
            }
            Self::Placement { found, identifiers: 0, .. } => write!(
                f,
                "placement: found {found}, allowed: none, since the drive has placement.mode = \
                 \"none\""
            ),
            Self::Placement { found, identifiers, .. } => {
                write!(f, "placement: found {found}, allowed: 0 to {}", identifiers - 1)
            }
            Self::Full => {
                write!(f, "2^24 commands are outstanding, which is all that a drive takes")
            }
            Self::NoZones => write!(
                f,
                "op: found a command of zones, allowed: none, since the drive has no zones \
                 (placement.mode = \"zones\")"
            ),
            Self::Dead => write!(f, "an earlier step failed, and the drive cannot go on"),
        }
    }
}

impl std::error::Error for Refused {}
