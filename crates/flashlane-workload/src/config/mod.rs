//! Configuration of a flow: one tenant with its own queue pair and its own logical space.

mod cache_engine;
mod fio;
mod fio_zbd;
mod limit;
mod load;
mod mqsim;
mod parts;
mod size;
mod slo;
mod synthetic;
mod trace;
mod warps;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cache_engine::CacheEngineConfig;
pub use fio::{
    FIO_SEED, FioConfig, FioDirection, FioDistribution, FioExtent, FioFileOrder, FioPlacement,
    FioRw, FioSkew, FioThink, FioZones,
};
pub use fio_zbd::FioZbd;
use flashlane_device::cache::config::CacheMode;
use flashlane_device::interface::config::Priority;
use flashlane_engine::Time;
use flashlane_units::{Ratio, Span};
pub use limit::{GroupConfig, LimitConfig, LimitPlace, RatesConfig};
pub use mqsim::{MqsimAddress, MqsimFlowConfig, MqsimSyntheticConfig, MqsimTraceConfig};
pub use parts::{PARTS_MAX, PartConfig};
pub use slo::SloConfig;
pub use synthetic::{
    AddressConfig, Arrivals, HotColdConfig, MixedConfig, NormalSizeConfig, SizeConfig,
    SyntheticConfig, ZipfConfig, ZoneUse, ZoneUseConfig, ZonesConfig,
};
pub use trace::{DecreasingTimes, OutOfRange, TraceConfig};
pub use warps::{ThinkTimes, WARP_READS_MAX, WARPS_MAX, WarpsConfig};

/// Largest size of a request. Unit: bytes.
pub const MAX_REQUEST_BYTES: u64 = 16 << 20;

// A page has at least one sector, and a request that is not aligned touches one page more.
const _: () = assert!(
    MAX_REQUEST_BYTES / flashlane_units::SECTOR_BYTES < u16::MAX as u64,
    "the device counts the pages of a request in 16 bits"
);

/// Largest size of a request of a trace: 4 GiB, as in the block layer of Linux. Unit: bytes.
pub const MAX_TRACED_BYTES: u64 = 4 << 30;

/// A tenant: a queue pair, a share of the device, a source of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// Name in reports; unique.
    pub name: String,
    /// NVMe class of the submission queue.
    #[serde(default)]
    pub priority: Priority,
    /// Share beside the other flows, with `interface.arbitration = "stride"`; no effect with
    /// others. Each queue pair of the flow has this weight. Range: 1..=10000. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// The use of the data cache by this flow.
    #[serde(default)]
    pub cache: CacheMode,
    /// Channels that the flow's pages are striped over. All by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<u32>>,
    /// Chips of each channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chips: Option<Vec<u32>>,
    /// Dies of each chip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dies: Option<Vec<u32>>,
    /// Planes of each die.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planes: Option<Vec<u32>>,
    /// Placement identifier of the flow's writes: a handle of flexible data placement, or a stream.
    /// No effect on a drive with `placement.mode = "none"`. Range: below the number of the drive's
    /// identifiers (`placement.handles`). Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<u16>,
    /// Share of the flow's logical pages that hold data at the start, instead of the device's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<Ratio>,
    /// At the end of the first pass: start over while others still run, or stop. Default: start
    /// over when there are several flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_end: Option<OnEnd>,
    /// Time from the start of the run to the first requests. With `window = "steady"` nothing
    /// counts before the last flow has started. Range: up to 604800s, a week.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_after: Option<Span>,
    /// Promises to the tenant; each goal is judged at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slo: Option<SloConfig>,
    /// Largest rates. The device fetches no command that would exceed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitConfig>,
    /// Number of tenants of this kind, named `NAME-1`, `NAME-2`, …. Each has its own draws, queue
    /// pair and share of the drive. Range: 1..=1024. Default: one tenant, with the name unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Requests drawn from distributions. Exactly one of `synthetic`, `trace`, `clone`, `mqsim`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<SyntheticConfig>,
    /// Requests replayed from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceConfig>,
    /// Requests of a statistical clone of a published trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clone: Option<CloneConfig>,
    /// A flow of an MQSim workload file, in that file's own units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mqsim: Option<MqsimFlowConfig>,
}

impl FlowConfig {
    /// A tenant of a [`Drive`](crate::drive::Drive), whose requests come from the caller:
    /// everything is as in a workload file that gives only the name.
    ///
    /// A flow of a workload needs a source of requests as well.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            priority: Priority::default(),
            weight: None,
            cache: CacheMode::default(),
            channels: None,
            chips: None,
            dies: None,
            planes: None,
            placement: None,
            occupancy: None,
            on_end: None,
            starts_after: None,
            slo: None,
            limit: None,
            count: None,
            synthetic: None,
            trace: None,
            clone: None,
            mqsim: None,
        }
    }

    /// Number of its queue pairs.
    #[must_use]
    pub fn queue_pairs(&self) -> u16 {
        let warps = self.synthetic.as_ref().and_then(|synthetic| synthetic.warps.as_ref());
        warps.map_or(1, |warps| warps.queue_pairs)
    }

    /// Time of its first requests.
    pub fn starts_at(&self) -> Time {
        self.starts_after.map_or(Time::ZERO, |span| Time(span.0))
    }

    /// True if the flow has a source of requests.
    #[must_use]
    pub fn has_source(&self) -> bool {
        self.synthetic.is_some()
            || self.trace.is_some()
            || self.clone.is_some()
            || self.mqsim.is_some()
    }
}

/// Behaviour of a flow at the end of its first pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnEnd {
    /// Start over until every flow has ended its first pass.
    Repeat,
    /// Stop; the measurement ends with it.
    Stop,
}

fn one() -> f64 {
    1.0
}

/// A statistical clone of a published trace. Synthetic: only the statistics are the trace's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloneConfig {
    /// Name of a built-in parameter set, for example `tpcc` (`flashlane trace clone --list`), or a
    /// file of parameters, relative to the workload file; such a name ends in `.toml`.
    pub of: String,
    /// Gaps are multiplied by this: 0.1 is ten times the published rate. Range: above 0.
    #[serde(default = "one")]
    pub time_scale: f64,
    /// Number of requests after which the pass ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Simulated time after which the pass ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
    /// Time of the day at which a pass starts, unscaled: `"61200s"` for hour 17. Only for clones
    /// whose rates follow the hour. Range: 0s to below 86400s. Default: 0s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Span>,
    /// Length of the day, unscaled. A shorter day passes through all hours with their rates, as a
    /// sample of the day. Only for clones whose rates follow the hour. Range: 24s..=86400s.
    /// Default: 86400s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<Span>,
    /// Sizes of the sets of places that reads and writes go to, as multiples of those of the clone.
    /// Range: 0.001..=1000. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footprint: Option<f64>,
    /// Zipf exponent of the popularity of places, of reads and of writes, in place of the clone's.
    /// Range: 0..=5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// Sizes of reads in KiB, multiples of 0.5, with weights, in place of the clone's. Their mean
    /// stays that of the clone, so that the sizes must include it in their range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_sizes: Option<Vec<(f64, f64)>>,
}

impl CloneConfig {
    /// A clone with its published parameters and this number of requests.
    #[must_use]
    pub fn plain(of: impl Into<String>, requests: Option<u64>) -> Self {
        Self {
            of: of.into(),
            time_scale: 1.0,
            requests,
            duration: None,
            start: None,
            day: None,
            footprint: None,
            theta: None,
            read_sizes: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_flow_is_one_whose_file_gives_only_the_name() {
        let read: FlowConfig = toml::from_str("name = 'a'").expect("a name is enough");
        assert_eq!(FlowConfig::named("a"), read);
        assert!(!read.has_source());
    }
}
