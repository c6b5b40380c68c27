//! The workload: flows, each one tenant with its own queue pair and its own logical space.

use flashlane_engine::Time;
use flashlane_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cache::config::CacheMode;
pub use crate::workload::config::{
    AddressConfig, Arrivals, CloneConfig, DecreasingTimes, FIO_SEED, FioConfig, FioDirection,
    FioDistribution, FioExtent, FioFileOrder, FioRw, FioSkew, FioThink, FioZones, FlowConfig,
    HotColdConfig, MixedConfig, MqsimAddress, MqsimFlowConfig, MqsimSyntheticConfig,
    MqsimTraceConfig, NormalSizeConfig, OnEnd, OutOfRange, SizeConfig, SloConfig, SyntheticConfig,
    TraceConfig, ZipfConfig,
};

/// A workload: one or more flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadConfig {
    /// Name in reports.
    #[serde(default)]
    pub name: String,
    /// The flows, after `count` of each was counted. Range: 1..=1024.
    #[serde(rename = "flow")]
    pub flows: Vec<FlowConfig>,
    /// What is counted. Files of MQSim count the whole run, drain included.
    #[serde(default)]
    pub window: WindowRule,
    /// Load that does not count, where the run does not say otherwise (`--warmup`). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Span>,
    /// Requests that come by the clock (open loops), of all flows together, that may be outstanding
    /// at once. The arrival that reaches this number is the last one: the load ends there, every
    /// request that has arrived completes, and the verdict says so. Memory grows by some 150 bytes
    /// for each. Range: 1..=16777216.
    #[serde(default = "outstanding_max", skip_serializing_if = "is_usual")]
    pub outstanding_max: u64,
}

/// Where a workload does not say how many requests of open loops may be outstanding.
pub const OUTSTANDING_MAX: u64 = 1 << 20;

fn outstanding_max() -> u64 {
    OUTSTANDING_MAX
}

fn is_usual(outstanding_max: &u64) -> bool {
    *outstanding_max == OUTSTANDING_MAX
}

impl WorkloadConfig {
    /// When the last flow starts.
    pub(crate) fn last_start(&self) -> Time {
        self.flows.iter().map(FlowConfig::starts_at).max().unwrap_or(Time::ZERO)
    }

    /// The priority class of each flow: 0 for urgent to 3 for low.
    pub(crate) fn classes(&self) -> Vec<u8> {
        self.flows.iter().map(|flow| flow.priority as u8).collect()
    }

    /// What the data cache does for each flow.
    pub(crate) fn cache_modes(&self) -> Vec<CacheMode> {
        self.flows.iter().map(|flow| flow.cache).collect()
    }

    /// Requests that the flows make in any case: those of first passes whose number is given.
    #[must_use]
    pub fn requests_at_least(&self) -> u64 {
        let of = |flow: &FlowConfig| {
            let drawn = flow.synthetic.as_ref().and_then(|flow| flow.requests);
            drawn.or(flow.clone.as_ref().and_then(|flow| flow.requests)).unwrap_or(0)
        };
        self.flows.iter().map(of).fold(0, u64::saturating_add)
    }
}

/// Which requests are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowRule {
    /// Those that arrive after the warm-up and while every flow is still loading the device.
    #[default]
    Steady,
    /// All of them.
    WholeRun,
}
