//! Counts of requests and bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts by kind of request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestCounts {
    /// Reads.
    pub read: u64,
    /// Writes.
    pub write: u64,
    /// Trims (deallocate).
    pub trim: u64,
    /// Flushes.
    pub flush: u64,
    /// Commands that manage zones. Left out where there are none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub zone: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl RequestCounts {
    /// Requests of all kinds.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.read + self.write + self.trim + self.flush + self.zone
    }
}

/// Bytes by direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ByteCounts {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub write: u64,
}
