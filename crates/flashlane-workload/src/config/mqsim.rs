//! Configuration of a flow of MQSim's own workload files.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A flow of an MQSim workload file, with the file's own parameters and units.
/// Source: the released MQSim's workload definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MqsimFlowConfig {
    /// `IO_Flow_Parameter_Set_Synthetic`.
    Synthetic(MqsimSyntheticConfig),
    /// `IO_Flow_Parameter_Set_Trace_Based`.
    Trace(MqsimTraceConfig),
}

/// `IO_Flow_Parameter_Set_Synthetic`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MqsimSyntheticConfig {
    /// Percent of the space, from its start.
    pub working_set_percent: u32,
    /// Closed loop by queue depth if true, open loop by bandwidth if false.
    pub closed_loop: bool,
    /// Percent of requests that read.
    pub read_percent: u32,
    /// Distribution of addresses.
    pub address: MqsimAddress,
    /// Percent of the space that is hot.
    pub hot_region_percent: u32,
    /// Addresses are aligned.
    pub aligned: bool,
    /// Unit: sectors.
    pub alignment_sectors: u32,
    /// Normal sizes if true, fixed if false.
    pub normal_size: bool,
    /// Unit: sectors.
    pub size_mean_sectors: u32,
    /// Used as the standard deviation. Unit: sectors.
    pub size_stddev_sectors: u32,
    /// Seed of the first generator of the flow.
    pub seed: i32,
    /// Requests outstanding (closed loop).
    pub queue_depth: u32,
    /// Unit: bytes per second (open loop).
    pub bandwidth: u64,
    /// No generation after this time; 0 for no limit. Unit: nanoseconds.
    pub stop_time_ns: u64,
    /// Number of requests, if `stop_time_ns` is 0.
    pub requests: u64,
}

impl MqsimSyntheticConfig {
    /// The last sector that the flow uses, of a space of `sectors` sectors.
    pub fn last_sector(&self, sectors: u64) -> u64 {
        let end = sectors.saturating_sub(1);
        let share = f64::from(self.working_set_percent.min(100)) / 100.0;
        ((end as f64 * share) as u64).min(end)
    }
}

/// MQSim's address distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MqsimAddress {
    /// `STREAMING`.
    Streaming,
    /// `RANDOM_UNIFORM`.
    Uniform,
    /// `RANDOM_HOTCOLD`.
    HotCold,
}

/// `IO_Flow_Parameter_Set_Trace_Based`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MqsimTraceConfig {
    /// The file.
    pub path: PathBuf,
    /// Percent of the lines that are replayed when there is one round.
    pub percent: u32,
    /// Rounds.
    pub rounds: u32,
}
