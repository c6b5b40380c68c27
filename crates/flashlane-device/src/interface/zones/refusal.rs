//! Why a drive refuses a command to a zone.

use std::fmt;

use crate::request::Planned;
use flashlane_reading::Error;
use flashlane_units::FlowId;

/// A rule of zones that a command breaks. Sectors are counted in the space of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneRefusal {
    /// The range of the command reaches over the end of the capacity of the zone. NVMe: zone
    /// boundary error.
    Boundary {
        /// The zone, counted in the space of the flow.
        zone: u32,
        /// The first sector that no command may reach.
        end: u64,
    },
    /// The zone is full. NVMe: zone is full.
    Full {
        /// The zone.
        zone: u32,
    },
    /// The zone failed, and can only be read. NVMe: zone is read only.
    ReadOnly {
        /// The zone.
        zone: u32,
    },
    /// The zone failed, and cannot even be read. NVMe: zone is offline.
    Offline {
        /// The zone.
        zone: u32,
    },
    /// A write does not begin at the write pointer, or lies outside of the random write area.
    /// NVMe: zone invalid write.
    Pointer {
        /// The zone.
        zone: u32,
        /// The write pointer.
        pointer: u64,
    },
    /// A commit names no block at which the write pointer may end. NVMe: invalid zone operation
    /// request.
    Commit {
        /// The zone.
        zone: u32,
        /// The write pointer.
        pointer: u64,
        /// The end of the random write area.
        last: u64,
        /// The write pointer moves by multiples of this many sectors.
        step: u64,
    },
    /// The command has to name the start of a zone. NVMe: invalid field in command.
    Start {
        /// The zone.
        zone: u32,
        /// Start of the zone.
        start: u64,
    },
    /// As many zones are active as may be. NVMe: too many active zones.
    TooManyActive {
        /// The largest number.
        max: u32,
    },
    /// As many zones are open as may be, all of them by a command. NVMe: too many open zones.
    TooManyOpen {
        /// The largest number.
        max: u32,
    },
    /// The zone is in a state in which the command has no meaning. NVMe: invalid zone state
    /// transition.
    State {
        /// The zone.
        zone: u32,
        /// What it is.
        state: super::ZoneState,
    },
    /// A write does not begin and end at a logical block, which is the mapping unit of the drive.
    /// NVMe: invalid field in command, since no command can name a part of a block.
    Block {
        /// Size of a logical block. Unit: sectors.
        sectors: u32,
    },
    /// Zones are reset; none of their sectors is trimmed.
    Trim,
}

impl ZoneRefusal {
    /// The error that ends a run in which a flow breaks the rule by a command.
    #[must_use]
    pub fn error(self, flow: FlowId, command: &Planned) -> Error {
        let &Planned { op, sector, sectors, .. } = command;
        let command = format!("{} of {sectors} sectors at sector {sector}", op.name());
        Error::config(format!("flow[{flow}]"), format!("{command}: {self}"))
    }

    /// Status code type and status code of the completion. Source: NVMe Zoned Namespace Command Set
    /// 1.1, figure of status codes.
    #[must_use]
    pub fn status(self) -> (u8, u8) {
        match self {
            Self::Boundary { .. } => (1, 0xb8),
            Self::Full { .. } => (1, 0xb9),
            Self::ReadOnly { .. } => (1, 0xba),
            Self::Offline { .. } => (1, 0xbb),
            Self::Pointer { .. } => (1, 0xbc),
            Self::Commit { .. } => (1, 0xb6),
            Self::TooManyActive { .. } => (1, 0xbd),
            Self::TooManyOpen { .. } => (1, 0xbe),
            Self::State { .. } => (1, 0xbf),
            Self::Start { .. } | Self::Block { .. } => (0, 0x02),
            Self::Trim => (0, 0x01),
        }
    }
}

impl fmt::Display for ZoneRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boundary { zone, end } => {
                write!(f, "it reaches over the end of zone {zone}, allowed: up to sector {end}")
            }
            Self::Full { zone } => write!(f, "zone {zone} is full, allowed: after a reset"),
            Self::ReadOnly { zone } => write!(f, "zone {zone} failed, allowed: reads"),
            Self::Offline { zone } => write!(f, "zone {zone} failed, allowed: nothing"),
            Self::Pointer { zone, pointer } => {
                write!(f, "the write pointer of zone {zone} is at sector {pointer}")
            }
            Self::Commit { zone, pointer, last, step } => write!(
                f,
                "the write pointer of zone {zone} moves from sector {pointer} up to {last}, by \
                 multiples of {step} sectors"
            ),
            Self::Start { zone, start } => {
                write!(f, "it names no start of a zone, allowed: {start} for zone {zone}")
            }
            Self::TooManyActive { max } => {
                write!(f, "{max} zones are active, which is all (placement.zones.max_active)")
            }
            Self::TooManyOpen { max } => {
                write!(f, "{max} zones are open, which is all (placement.zones.max_open)")
            }
            Self::State { zone, state } => {
                write!(f, "zone {zone} is {state}, in which the command has no meaning")
            }
            Self::Block { sectors } => {
                write!(f, "it cuts a logical block, allowed: multiples of {sectors} sectors")
            }
            Self::Trim => write!(f, "a drive with zones resets zones, and trims nothing"),
        }
    }
}

impl std::error::Error for ZoneRefusal {}
