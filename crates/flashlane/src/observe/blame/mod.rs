//! Who made whom wait: `blame.json`, schema `flashlane.blame/2`.

pub(crate) mod account;
mod charge;
mod flash;
pub(crate) mod log;
mod matrix;
mod place;
mod seconds;
mod shadow;
mod sums;
mod waits;
mod weights;
mod without;
mod write_back;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Schema name written into every file.
pub const SCHEMA: &str = "flashlane.blame/2";

/// Name of the culprit where no flow is one.
pub const DEVICE: &str = "device";

/// Of every flow, what its requests waited for and whose work that was. Times are exact here: the
/// cells of a victim sum to its waiting time. Sums over many requests exceed 2^64 ps, so the file
/// gives them in seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blame {
    /// Always `flashlane.blame/2`.
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
    /// Sum of their end-to-end times.
    #[serde(rename = "end_to_end_s", with = "seconds")]
    #[schemars(with = "f64")]
    pub end_to_end_ps: u128,
    /// The part of that sum in which the device worked for them: on the link, in firmware, in DRAM,
    /// on the bus and in the array.
    #[serde(rename = "service_s", with = "seconds")]
    #[schemars(with = "f64")]
    pub service_ps: u128,
    /// The rest: the sum of the cells.
    #[serde(rename = "waiting_s", with = "seconds")]
    #[schemars(with = "f64")]
    pub waiting_ps: u128,
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
    /// Sum over the counted requests of the victim.
    #[serde(rename = "waiting_s", with = "seconds")]
    #[schemars(with = "f64")]
    pub ps: u128,
}

impl BlameVictim {
    /// Waiting time by culprit: names, and picoseconds.
    #[must_use]
    pub fn by_culprit(&self, culprit: &str) -> u128 {
        self.cells.iter().filter(|cell| cell.culprit == culprit).map(|cell| cell.ps).sum()
    }
}
