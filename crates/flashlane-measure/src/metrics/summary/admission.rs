//! Admission of writes in summaries.

use flashlane_device::cache::AdmissionCounts;
use flashlane_device::layout::SECTOR_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Admission of writes to the data cache by rate, and pauses of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdmissionSummary {
    /// Pages that were admitted at the pace, since the buffer was filled above its mark.
    pub paced: u64,
    /// The rate at which data got to flash while the buffer was filled above its mark; 0 if it
    /// never was. Where flows have buffers of their own, it is the mean of one buffer. Unit: bytes
    /// per second.
    pub drain_bytes_per_s: f64,
    /// Pauses of the write buffer that delayed a write (`[cache.pause]`).
    pub pauses: u64,
}

impl AdmissionSummary {
    /// The counts between two readings.
    pub(crate) fn between(from: &AdmissionCounts, to: &AdmissionCounts) -> Self {
        let bytes = (to.drained - from.drained) * SECTOR_BYTES;
        let time = to.drain_time - from.drain_time;
        let rate = if time > 0 { bytes as f64 * 1e12 / time as f64 } else { 0.0 };
        Self {
            paced: to.paced - from.paced,
            drain_bytes_per_s: rate,
            pauses: to.pauses - from.pauses,
        }
    }
}
