//! The workload: flows, each of which is a tenant with its own queue pair and its own logical
//! space.

use std::collections::BTreeMap;

use flashlane_engine::Time;
use flashlane_units::{FlowId, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_device::cache::config::CacheMode;
use flashlane_device::interface::limits::RateLimit;
pub use flashlane_workload::config::{
    AddressConfig, Arrivals, CacheEngineConfig, CloneConfig, DecreasingTimes, FIO_SEED, FioConfig,
    FioDirection, FioDistribution, FioExtent, FioFileOrder, FioPlacement, FioRw, FioSkew, FioThink,
    FioZbd, FioZones, FlowConfig, GroupConfig, HotColdConfig, LimitConfig, LimitPlace, MixedConfig,
    MqsimAddress, MqsimFlowConfig, MqsimSyntheticConfig, MqsimTraceConfig, NormalSizeConfig, OnEnd,
    OutOfRange, RatesConfig, SizeConfig, SloConfig, SyntheticConfig, ThinkTimes, TraceConfig,
    WarpsConfig, ZipfConfig, ZoneUse, ZoneUseConfig,
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
    /// Flows that share limits of their rates.
    #[serde(default, rename = "group", skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupConfig>,
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

    /// The flows by the names that members of groups may have: that of a flow, or that of a flow
    /// with a `count` for all its copies. A flow is its place in the workload, which may have more
    /// flows than a drive takes.
    pub fn by_name(&self) -> BTreeMap<&str, Vec<usize>> {
        let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, flow) in self.flows.iter().enumerate() {
            let copies = flow.name.rsplit_once('-');
            let copies = copies.filter(|(_, number)| number.parse::<u32>().is_ok());
            if let Some((name, _)) = copies {
                found.entry(name).or_default().push(index);
            }
        }
        // A flow's own name goes before.
        let own = self.flows.iter().enumerate();
        found.extend(own.map(|(index, flow)| (flow.name.as_str(), vec![index])));
        found
    }

    /// The limits of the flows' rates, for the device.
    pub fn limits(&self) -> Vec<RateLimit> {
        let own = self.flows.iter().enumerate().filter_map(|(index, flow)| {
            flow.limit.as_ref().map(|limit| limit.of(&[FlowId::at(index)]))
        });
        let by_name = self.by_name();
        let shared = self.groups.iter().map(|group| {
            let members = group.members.iter().filter_map(|name| by_name.get(name.as_str()));
            group.limit.of(&members.flatten().map(|flow| FlowId::at(*flow)).collect::<Vec<_>>())
        });
        own.chain(shared).flatten().collect()
    }

    /// True if the rate of a flow is limited.
    pub fn limits_rates(&self) -> bool {
        let own = self.flows.iter().filter_map(|flow| flow.limit.as_ref());
        let limits = own.chain(self.groups.iter().map(|group| &group.limit));
        limits.into_iter().any(|limit| !limit.is_empty())
    }

    /// The priority class of each flow: 0 for urgent to 3 for low.
    pub fn classes(&self) -> Vec<u8> {
        self.flows.iter().map(|flow| flow.priority as u8).collect()
    }

    /// The weights of the queue pairs, flow by flow.
    pub fn queue_weights(&self) -> Vec<u32> {
        let of = |flow: &FlowConfig| {
            std::iter::repeat_n(flow.weight.unwrap_or(1), flow.queue_pairs().into())
        };
        self.flows.iter().flat_map(of).collect()
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
