//! What a door asks of a namespace, and what it gets.

use std::fmt;
use std::io;

use flashlane::Time;
use flashlane::drive::{Command, Completion, Refused};

/// A range of sectors in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First sector. Unit: sectors of 512 B.
    pub sector: u64,
    /// Length. Unit: sectors of 512 B.
    pub sectors: u64,
}

impl Range {
    /// The sector after the last one, if there is such a number.
    pub(crate) fn end(self) -> Option<u64> {
        self.sector.checked_add(self.sectors)
    }
}

/// What a namespace is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads a range.
    Read(Range),
    /// Writes data from a sector on.
    Write {
        /// First sector.
        sector: u64,
        /// Whole sectors.
        data: Vec<u8>,
        /// Complete only when the data is durable (FUA).
        durable: bool,
        /// Placement identifier of the drive; `None` for that of the tenant.
        placement: Option<u16>,
    },
    /// Makes a range zero. The drive deallocates it.
    Zero {
        /// The range.
        range: Range,
        /// Complete only when that is durable (FUA).
        durable: bool,
    },
    /// Deallocates ranges, which then read as zeroes.
    Trim(Vec<Range>),
    /// Makes all data of the namespace durable that was acknowledged before.
    Flush,
    /// Empties the namespace, whose range this is, for all its tenants, and makes that durable.
    Format(Range),
}

impl Action {
    /// The ranges that the action touches.
    pub(crate) fn ranges(&self) -> Vec<Range> {
        match self {
            Self::Read(range) | Self::Zero { range, .. } | Self::Format(range) => vec![*range],
            Self::Write { sector, data, .. } => {
                let sectors = data.len() as u64 / super::SECTOR_BYTES;
                vec![Range { sector: *sector, sectors }]
            }
            Self::Trim(ranges) => ranges.clone(),
            Self::Flush => Vec::new(),
        }
    }

    /// True if the store syncs at the end of the action.
    pub(crate) fn is_synced(&self) -> bool {
        self.is_durable() || matches!(self, Self::Format(_))
    }

    /// True if the action ends with a flush.
    pub(crate) fn is_durable(&self) -> bool {
        matches!(self, Self::Write { durable: true, .. } | Self::Zero { durable: true, .. })
    }
}

/// Reason for which work did not succeed.
#[derive(Debug)]
pub enum WorkError {
    /// There is no such namespace.
    Namespace {
        /// The namespace.
        found: u32,
        /// Number of namespaces; the first one is 1.
        namespaces: u32,
    },
    /// A range is empty or outside of the namespace.
    Range {
        /// The range.
        found: Range,
        /// Length of the namespace. Unit: sectors.
        sectors: u64,
    },
    /// The data is not a whole number of sectors.
    Data {
        /// Unit: bytes.
        found: usize,
    },
    /// The drive does not accept the command.
    Refused(Refused),
    /// The store cannot keep, read or sync the data.
    Store(io::Error),
}

impl fmt::Display for WorkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace { found, namespaces } => {
                write!(f, "namespace: found {found}, allowed: 1 to {namespaces}")
            }
            Self::Range { found: Range { sector, sectors }, sectors: space } => write!(
                f,
                "range: found sector {sector} + {sectors}, allowed: at least one sector, the last \
                 of which is before {space}"
            ),
            Self::Data { found } => {
                write!(f, "data: found {found} bytes, allowed: whole sectors of 512 bytes")
            }
            Self::Refused(refused) => write!(f, "{refused}"),
            Self::Store(error) => write!(f, "store: {error}"),
        }
    }
}

impl std::error::Error for WorkError {}

/// Work that is over.
#[derive(Debug)]
pub struct Finished {
    /// Time at which the drive completed it.
    pub at: Time,
    /// The submitter's own name of the work.
    pub tag: u64,
    /// The data of a read, and nothing of other work; or the media error.
    pub outcome: Result<Vec<u8>, WorkError>,
}

/// A command that entered the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number of the command, from 0, in the order of entering.
    pub number: u64,
    /// Time at which it entered, after all events up to and including this time.
    pub at: Time,
    /// The tenant.
    pub tenant: usize,
    /// The command.
    pub command: Command,
}

/// Is told about every command of the drive. Submitting the same arrivals to an unused drive, each
/// after the events up to and including its time, gives the same completions.
pub trait Journal: Send {
    /// A command enters the drive.
    fn arrived(&mut self, arrival: &Arrival);
    /// The command of a number is complete.
    fn completed(&mut self, number: u64, completion: &Completion);
}
