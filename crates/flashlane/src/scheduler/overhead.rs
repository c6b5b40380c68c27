//! What a scheduling policy costs the drive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What FLIN costs the drive, over the whole run. Source: FLIN (ISCA'18) section 5.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchedulerOverhead {
    /// DRAM for what the policy keeps, with as many transactions as the drive's DRAM holds pages.
    /// Unit: bytes.
    pub dram_bytes: u64,
    /// Transactions that stage 1 put in their place.
    pub insertions: u64,
    /// Queue positions that the two passes of stage 1 look at, over all insertions.
    pub positions_scanned: u64,
    /// The same for an insertion, on average.
    pub positions_scanned_mean: f64,
    /// The same for the longest insertion.
    pub positions_scanned_max: u64,
    /// Transactions moved ahead of all others of high intensity (line 20 of Algorithm 1).
    pub promotions: u64,
    /// Programs and erases that were interrupted for the read slot.
    pub suspensions: u64,
    /// Pages that collection moved ahead of a write (lines 13 to 16 of Algorithm 2).
    pub migrations_with_writes: u64,
}
