//! Blame: which flow delays which. `blame.json`, schema `flashlane.blame/2`.

pub(crate) mod account;
mod buses;
mod charge;
mod flash;
pub(crate) mod log;
mod matrix;
mod place;
mod planes;
mod retries;
mod seconds;
pub(crate) mod shadow;
mod sums;
mod waits;
mod weights;
mod without;
mod write_back;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Schema name written into every file.
pub const SCHEMA: &str = "flashlane.blame/2";

/// Name of the culprit of waits that no flow causes.
pub const DEVICE: &str = "device";

/// The waits of every flow's requests, by cause and by the flow whose work was in the way. Times
/// are exact here: the cells of a victim sum to its waiting time. Sums over many requests exceed
/// 2^64 ps, so the file gives them in seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blame {
    /// Always `flashlane.blame/2`.
    pub schema: String,
    /// Names of the flows, in the order of the workload.
    pub flows: Vec<String>,
    /// The causes that a cell may name.
    pub causes: Vec<BlameCause>,
    /// One entry for each flow, in the order of the workload.
    pub victims: Vec<BlameVictim>,
}

/// A kind of obstacle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlameCause {
    /// Name of the kind.
    pub name: String,
    /// Description of the obstacle.
    pub doc: String,
}

/// The waits of the counted requests of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlameVictim {
    /// Name of the flow.
    pub flow: String,
    /// Number of counted requests of the flow.
    pub requests: u64,
    /// Sum of the end-to-end times of these requests.
    #[serde(rename = "end_to_end_s", with = "seconds")]
    #[schemars(with = "f64")]
    pub end_to_end_ps: u128,
    /// The part of that sum in which the device worked for the requests: on the link, in firmware,
    /// in DRAM, on the bus and in the array.
    #[serde(rename = "service_s", with = "seconds")]
    #[schemars(with = "f64")]
    pub service_ps: u128,
    /// The rest of the end-to-end time: the sum of the cells.
    #[serde(rename = "waiting_s", with = "seconds")]
    #[schemars(with = "f64")]
    pub waiting_ps: u128,
    /// Largest first; none is 0.
    pub cells: Vec<BlameCell>,
}

/// Time that a victim waited for one culprit and one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlameCell {
    /// Name of a flow, which may be the victim itself; `device` where no flow's work was in the
    /// way.
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
