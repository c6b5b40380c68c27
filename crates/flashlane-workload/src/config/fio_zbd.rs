//! Configuration of a job of fio on the zones of a drive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_units::ByteSize;

/// A job on the zones of a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FioZbd {
    /// Size of a zone (`zonesize`). Default: that of the drive, which it has to equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<ByteSize>,
    /// Bytes that can be written of a zone (`zonecapacity`). Default: those of the drive, which it
    /// has to equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<ByteSize>,
    /// Zones that all copies of the job write at a time (`max_open_zones`). Range: at least one for
    /// each file of each copy, and at most what the drive lets be open. Default: the equal share of
    /// the flow of `placement.zones.max_open`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_open: Option<u32>,
    /// Zones that each copy writes at a time (`job_max_open_zones`). Range: at least one for each
    /// file. Default: no limit beside `max_open`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_open_each: Option<u32>,
    /// `max_open` may be above the open zones of the drive, up to its active zones
    /// (`ignore_zone_limits`).
    pub ignore_limits: bool,
    /// Reads go to the whole capacity of each zone (`read_beyond_wp`). Otherwise they go to what
    /// is written, and to all of a zone that the job has not touched.
    pub read_beyond: bool,
}

impl FioZbd {
    /// Zones that a job writes at a time for each file of each copy. `share`: the zones of the flow
    /// where the job names no number. Range: 1 and above.
    #[must_use]
    pub fn open_for_file(&self, share: u32, copies: u32, files: u32) -> u32 {
        let (copies, files) = (copies.max(1), files.max(1));
        let each = self.max_open.unwrap_or(share) / copies;
        (each.min(self.max_open_each.unwrap_or(each)) / files).max(1)
    }
}
