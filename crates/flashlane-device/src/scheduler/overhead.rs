//! Cost of a scheduling policy for the drive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scheduler;
use super::policy::SchedulingPolicy;

/// Cost of FLIN for the drive, over the whole run. Source: FLIN (ISCA'18) section 5.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchedulerOverhead {
    /// DRAM for the tables of the policy, with as many transactions as the drive's DRAM holds
    /// pages. Unit: bytes.
    pub dram_bytes: u64,
    /// Transactions that stage 1 inserted.
    pub insertions: u64,
    /// Queue positions that the two passes of stage 1 look at, over all insertions.
    pub positions_scanned: u64,
    /// Mean of `positions_scanned` over the insertions.
    pub positions_scanned_mean: f64,
    /// Largest number of positions that one insertion looked at.
    pub positions_scanned_max: u64,
    /// Transactions moved ahead of all others of high intensity (line 20 of Algorithm 1).
    pub promotions: u64,
    /// Programs and erases that were interrupted for the read slot.
    pub suspensions: u64,
    /// Pages that collection moved ahead of a write (lines 13 to 16 of Algorithm 2).
    pub migrations_with_writes: u64,
}

impl Scheduler {
    /// The cost of the policy for the drive so far. `room`: transactions that its memory has room
    /// for.
    pub(crate) fn overhead(&self, room: u64) -> Option<SchedulerOverhead> {
        self.policy.overhead(room)
    }
}
