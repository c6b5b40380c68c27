//! The workload: flows, each of which is a tenant with its own queue pair and its own logical
//! space.

use flashlane_engine::Time;
use flashlane_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_device::cache::config::CacheMode;
pub use flashlane_workload::config::{
    AddressConfig, Arrivals, CloneConfig, DecreasingTimes, FIO_SEED, FioConfig, FioDirection,
    FioDistribution, FioExtent, FioFileOrder, FioRw, FioSkew, FioThink, FioZones, FlowConfig,
    HotColdConfig, MixedConfig, MqsimAddress, MqsimFlowConfig, MqsimSyntheticConfig,
    MqsimTraceConfig, NormalSizeConfig, OnEnd, OutOfRange, SizeConfig, SloConfig, SyntheticConfig,
    ThinkTimes, TraceConfig, WarpsConfig, ZipfConfig,
};

/// A workload: one or more flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadConfig {
    /// Name in reports.
    #[serde(default)]
    pub name: String,
    /// The flows. `count` multiplies them; the range is for the result. Range: 1..=1024.
    #[serde(rename = "flow")]
    pub flows: Vec<FlowConfig>,
    /// The requests that count. Files of MQSim count the whole run, drain included.
    #[serde(default)]
    pub window: WindowRule,
    /// Load before the measurement that does not count, unless the run overrides it (`--warmup`).
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Span>,
    /// Most requests of open loops (which come by the clock), of all flows together, that may be
    /// outstanding at once. The arrival that reaches this number is the last: the load ends there,
    /// every request that has arrived completes, and the verdict says so. Each outstanding request
    /// takes some 150 bytes of memory. Range: 1..=16777216.
    #[serde(default = "outstanding_max", skip_serializing_if = "is_usual")]
    pub outstanding_max: u64,
}

/// Default for the outstanding requests of open loops.
pub const OUTSTANDING_MAX: u64 = 1 << 20;

fn outstanding_max() -> u64 {
    OUTSTANDING_MAX
}

fn is_usual(outstanding_max: &u64) -> bool {
    *outstanding_max == OUTSTANDING_MAX
}

impl WorkloadConfig {
    /// Time at which the last flow starts.
    pub fn last_start(&self) -> Time {
        self.flows.iter().map(FlowConfig::starts_at).max().unwrap_or(Time::ZERO)
    }

    /// The priority class of each flow: 0 for urgent to 3 for low.
    pub fn classes(&self) -> Vec<u8> {
        self.flows.iter().map(|flow| flow.priority as u8).collect()
    }

    /// The number of queue pairs of each flow.
    pub fn queue_pairs(&self) -> Vec<u16> {
        self.flows.iter().map(FlowConfig::queue_pairs).collect()
    }

    /// The use of the data cache by each flow.
    pub fn cache_modes(&self) -> Vec<CacheMode> {
        self.flows.iter().map(|flow| flow.cache).collect()
    }

    /// Least number of requests that the flows make: those of first passes with a given number.
    #[must_use]
    pub fn requests_at_least(&self) -> u64 {
        let of = |flow: &FlowConfig| {
            let drawn = flow.synthetic.as_ref().and_then(|flow| flow.requests);
            drawn.or(flow.clone.as_ref().and_then(|flow| flow.requests)).unwrap_or(0)
        };
        self.flows.iter().map(of).fold(0, u64::saturating_add)
    }
}

/// The rule for the requests that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowRule {
    /// Requests that arrive after the warm-up, while every flow still loads the device.
    #[default]
    Steady,
    /// All requests.
    WholeRun,
}
