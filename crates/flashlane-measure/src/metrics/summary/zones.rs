//! Zones in summaries.

use flashlane_device::interface::zones::ZoneCounts;
use flashlane_device::layout::{SECTOR_BYTES, ZoneGeometry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Commands to zones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ZonesSummary {
    /// Data that a zone holds.
    pub capacity_bytes: u64,
    /// From the start of a zone to that of the next.
    pub size_bytes: u64,
    /// Zones of all flows.
    pub zones: u64,
    /// Appends.
    pub appends: u64,
    /// Resets of zones that were not empty.
    pub resets: u64,
    /// Finishes of zones that were neither empty nor full.
    pub finishes: u64,
    /// What those zones had left. The drive fills it, unless `placement.zones.finish` leaves it.
    pub left_bytes: u64,
    /// Most zones that were active, since the start of the run.
    pub active_max: u32,
}

impl ZonesSummary {
    /// The summary of the commands between two readings of a drive with `zones` zones.
    #[must_use]
    pub fn between(
        before: ZoneCounts,
        counts: ZoneCounts,
        (geometry, zones): (ZoneGeometry, u64),
    ) -> Self {
        Self {
            capacity_bytes: geometry.capacity * SECTOR_BYTES,
            size_bytes: geometry.size * SECTOR_BYTES,
            zones,
            appends: counts.appends - before.appends,
            resets: counts.resets - before.resets,
            finishes: counts.finishes - before.finishes,
            left_bytes: (counts.left_sectors - before.left_sectors) * SECTOR_BYTES,
            active_max: counts.active_max,
        }
    }
}
