//! Who made whom wait: `blame.json`, schema `flashlane.blame/1`.

pub(crate) mod account;
pub(crate) mod cause;
mod charge;
mod credit;
pub(crate) mod log;
mod matrix;
mod place;
mod waits;
mod weights;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Schema name written into every file.
pub const SCHEMA: &str = "flashlane.blame/1";

/// Name of the culprit where no flow is one.
pub const DEVICE: &str = "device";

/// Of every flow, what its requests waited for and whose work that was. Times are exact: the cells of a
/// victim sum to its waiting time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blame {
    /// Always `flashlane.blame/1`.
    pub schema: String,
    /// Names of the flows, in the order of the workload.
    pub flows: Vec<String>,
    /// What a cell may name as its cause.
    pub causes: Vec<BlameCause>,
    /// One entry for each flow, in the order of the workload.
    pub victims: Vec<BlameVictim>,
}

/// A kind of obstacle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlameCause {
    /// Its name.
    pub name: String,
    /// What stands in the way.
    pub doc: String,
}

/// What the counted requests of a flow waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlameVictim {
    /// Name of the flow.
    pub flow: String,
    /// Its counted requests.
    pub requests: u64,
    /// Sum of their end-to-end times. Unit: picoseconds.
    pub end_to_end_ps: u64,
    /// Part of it that is their own work: on the link, in firmware, DRAM, on the bus and in the array. Unit:
    /// picoseconds.
    pub service_ps: u64,
    /// The rest. Unit: picoseconds. Sum of the cells.
    pub waiting_ps: u64,
    /// Largest first; none is 0.
    pub cells: Vec<BlameCell>,
}

/// Time that a victim waited for one culprit and one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlameCell {
    /// Name of a flow, of the victim itself too; or `device` where nobody's work was in the way.
    pub culprit: String,
    /// Name of the cause.
    pub cause: String,
    /// Unit: picoseconds.
    pub ps: u64,
}

impl BlameVictim {
    /// Waiting time by culprit: names, and picoseconds.
    #[must_use]
    pub fn by_culprit(&self, culprit: &str) -> u64 {
        self.cells.iter().filter(|cell| cell.culprit == culprit).map(|cell| cell.ps).sum()
    }
}
