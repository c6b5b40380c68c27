//! The configuration of zones.

use flashlane_units::ByteSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Zones of a drive, with `placement.mode = "zones"`. A zone is written in order from its start,
/// and emptied as a whole. It is a superblock: its capacity is the data that a superblock holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ZonesConfig {
    /// Distance from the start of a zone to that of the next, at least the capacity of a zone, and
    /// a multiple of the mapping unit. Hosts like powers of two. Default: the capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<ByteSize>,
    /// Zones that may be open at a time, by a write or by a command. Range: 1..=`max_active`.
    pub max_open: u32,
    /// Zones that may be open or closed at a time: those that are neither empty nor full. Range:
    /// 1..=64.
    pub max_active: u32,
    /// Size of the random write area in front of the write pointer of a zone (ZRWA), in which
    /// sectors may be written in any order, and again. Writes behind it move the write pointer.
    /// Up to the capacity of a zone. 0: none.
    pub random_write_area: ByteSize,
    /// The write pointer of a zone with a random write area moves by multiples of this. A divisor
    /// of the area, and a multiple of the mapping unit.
    pub random_write_granularity: ByteSize,
    /// What finishing a zone does to the rest of it.
    pub finish: FinishKind,
}

impl Default for ZonesConfig {
    fn default() -> Self {
        Self {
            size: None,
            max_open: 14,
            max_active: 14,
            random_write_area: ByteSize(0),
            random_write_granularity: ByteSize(16 << 10),
            finish: FinishKind::Fill,
        }
    }
}

impl ZonesConfig {
    /// True for the default, of which configurations that are kept with results say nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What finishing a zone does to the pages that it has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FinishKind {
    /// The drive fills them with data that nobody asked for, so that no word line stays open. The
    /// command is complete when the last page is on flash. Source: "Exploring I/O Management
    /// Performance in ZNS with ConfZNS++" (SYSTOR'24), of a drive on the market.
    #[default]
    Fill,
    /// Nothing: they stay empty until the zone is reset.
    Leave,
}
