//! `summary.json`, schema `flashlane.summary/3`.

mod admission;
mod device;
mod errors;
mod fairness;
mod flow;
mod placement;
mod separation;
mod slc_cache;
mod units;
mod zones;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::steady::SteadySummary;
use crate::metrics::energy::{EnergySummary, WearSummary};
pub use admission::AdmissionSummary;
pub use device::{
    BusyBySource, CacheSummary, ChannelSummary, ChipSummary, CmtSummary, CommandCounts,
    CommandSummary, DeviceTime, EraseSummary, FlashSummary, HitCounts, MemorySummary,
};
pub use errors::{ErrorSummary, RetrySummary};
pub use fairness::{Fairness, FlowWindow, SlowdownWindow, TransactionFairness, WindowedSlowdown};
pub use flashlane_device::ftl::moving::{IsolationSummary, IsolationWindow};
pub use flashlane_device::host::counts::{ByteCounts, RequestCounts};
pub use flashlane_device::scheduler::overhead::SchedulerOverhead;
pub use flow::{
    AloneBasis, AloneSummary, BreakdownSummary, CompletedInWindow, FlowSummary, Latency,
    TransactionSummary,
};
pub use placement::{HandleSummary, PlacementEvents, PlacementSummary};
pub use separation::SeparationSummary;
pub use slc_cache::SlcCacheSummary;
pub use units::UnitSummary;
pub use zones::ZonesSummary;

/// Schema name written into every summary.
pub const SCHEMA: &str = "flashlane.summary/3";

/// Schema names of summaries that can be read. Fields that an older one lacks are empty.
pub const SCHEMAS_READ: [&str; 2] = ["flashlane.summary/2", SCHEMA];

/// The result of one scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Always `flashlane.summary/3`.
    pub schema: String,
    /// Version of the program.
    pub version: String,
    /// Warnings that come before any other number, in sentences: flows that the drive does not keep
    /// up with, and flows without a request in the window. Empty where there are none.
    #[serde(default)]
    pub verdict: Vec<String>,
    /// Name of the workload, or of this scenario of a workload file with several; empty where it
    /// has none.
    #[serde(default)]
    pub workload: String,
    /// Name of the device.
    pub device: String,
    /// Name of the scheduling policy.
    pub scheduler: String,
    /// Name of the isolation policy.
    pub isolation: String,
    /// Root seed of the random streams.
    pub seed: u64,
    /// `mqsim` with `--compat mqsim`, else null.
    pub compat: Option<String>,
    /// Simulated time of the run. Unit: seconds.
    pub simulated_s: f64,
    /// Measurement window: its start, from the beginning of the run. Unit: seconds.
    pub window_start_s: f64,
    /// Measurement window: its end. Unit: seconds.
    pub window_end_s: f64,
    /// True if the drive does not keep up with the load of at least one flow: see
    /// `flows[].saturated`.
    pub saturated: bool,
    /// The runs whose load ended before its time, because the largest number of requests of open
    /// loops was outstanding (`outstanding_max` of the workload): the run of all flows, then runs
    /// of `--alone`. Empty where there are none.
    #[serde(default)]
    pub overload: Vec<OverloadSummary>,
    /// True if at least one flow starves: see `flows[].starved`.
    #[serde(default)]
    pub starved: bool,
    /// Wall time of the run, preconditioning excluded. Unit: seconds. Differs from run to run.
    pub wall_s: f64,
    /// Wall time of preconditioning. Unit: seconds. Differs from run to run.
    pub precondition_wall_s: f64,
    /// Events that went through the queue. A doorbell that is the next event anyway does not count.
    pub events: u64,
    /// Requests (counted or not) per wall second. Differs from run to run.
    pub requests_per_wall_s: f64,
    /// Peak resident memory of the process. Unit: bytes. Differs from run to run.
    pub peak_rss_bytes: u64,
    /// Requests that the hosts generated, counted or not.
    pub requests_generated: u64,
    /// Requests completed, counted or not. Equal to `requests_generated` in a finished run.
    pub requests_completed: u64,
    /// Rounds of a run until steady state, whose last five are the measurement window; null without
    /// `--until-steady`.
    pub steady_state: Option<SteadySummary>,
    /// One entry per flow, in the order of the workload.
    pub flows: Vec<FlowSummary>,
    /// Comparison with runs of each flow alone; all null without `--alone`.
    pub fairness: Fairness,
    /// Slowdown and fairness window by window; null without `--windows`.
    pub slowdown_over_time: Option<WindowedSlowdown>,
    /// Flash operations inside the window. Unit: pages unless named otherwise.
    pub flash: FlashSummary,
    /// Flash commands inside the window.
    pub commands: CommandSummary,
    /// Data cache, page accesses inside the window.
    pub cache: CacheSummary,
    /// Cached mapping table, look-ups inside the window.
    pub cmt: CmtSummary,
    /// One entry per channel, inside the window.
    pub channels: Vec<ChannelSummary>,
    /// One entry per chip, inside the window.
    pub chips: Vec<ChipSummary>,
    /// Time of the arrays of all dies inside the window.
    pub device_time: DeviceTime,
    /// What happened before the window: the warm-up.
    pub before_window: OutsideWindow,
    /// What happened after the window: completions of requests that were outstanding at its end,
    /// flows that started over meanwhile, and collection that went on.
    pub after_window: OutsideWindow,
    /// Cost of the scheduling policy for the drive; null for policies that do not count it.
    pub scheduler_overhead: Option<SchedulerOverhead>,
    /// Changes to the sets of chips over the whole run, for isolation policies that change them;
    /// otherwise null.
    pub isolation_sets: Option<IsolationSummary>,
    /// Memory of the page tables.
    pub memory: MemorySummary,
    /// The controller's processors inside the window; left out where they are not modelled
    /// (`interface.processors`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<ProcessorsSummary>,
    /// Bit errors inside the window; left out where they are not modelled (`[errors]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorSummary>,
    /// Mapping units inside the window; left out where pages are mapped whole
    /// (`ftl.mapping.unit`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<UnitSummary>,
    /// The SLC cache inside the window; left out where there is none (`[slc_cache]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc_cache: Option<SlcCacheSummary>,
    /// Hot and cold pages that the host wrote inside the window; left out where no policy tells
    /// them apart (`ftl.separation = "counts"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separation: Option<SeparationSummary>,
    /// Data by placement handle inside the window; left out where hosts place nothing
    /// (`placement.mode`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementSummary>,
    /// Commands to zones inside the window; left out where the drive has none (`placement.mode`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZonesSummary>,
    /// Admission of writes to the data cache inside the window; left out unless that is by rate
    /// (`cache.admission`), or there are pauses (`cache.pause`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission: Option<AdmissionSummary>,
    /// Energy of the drive inside the window: the sums over its tenants. Left out without
    /// `--energy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergySummary>,
    /// Wear of the drive's flash; left out without `--energy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<WearSummary>,
    /// Additional figures of a run without time; left out of other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waf_only: Option<WafOnlySummary>,
}

impl Summary {
    /// True if the times of some flow depend on the length of the run and not on the speed of the
    /// drive: a flow is saturated or starves.
    #[must_use]
    pub fn depends_on_length(&self) -> bool {
        self.saturated || self.starved
    }

    /// The summary with wall times and memory set to 0, so that it does not differ from machine to
    /// machine.
    #[must_use]
    pub fn without_clocks(&self) -> Self {
        let mut summary = self.clone();
        (summary.wall_s, summary.precondition_wall_s) = (0.0, 0.0);
        (summary.requests_per_wall_s, summary.peak_rss_bytes) = (0.0, 0);
        if let Some(waf_only) = &mut summary.waf_only {
            waf_only.page_writes_per_wall_s = 0.0;
            waf_only.host_page_writes_per_wall_s = 0.0;
        }
        summary
    }
}

/// A load that ended before its time. Every request that had arrived by then completed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverloadSummary {
    /// The flow with the most outstanding requests.
    pub flow: String,
    /// True if that flow had the drive to itself.
    pub alone: bool,
    /// Time at which the load ended, from the beginning of the run. Unit: seconds.
    pub at_s: f64,
    /// Requests of open loops that were outstanding at that time.
    pub outstanding: u64,
}

/// Work of the controller's processors, as shares of the time of all cores. Work that was begun
/// counts whole, so that a share may slightly exceed 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessorsSummary {
    /// Sum of the next three.
    pub busy_fraction: f64,
    /// Commands of hosts with their pages and look-ups.
    pub commands: f64,
    /// Pages that collection, the data cache and the mapping move.
    pub own_pages: f64,
    /// Decisions that lead to flash commands.
    pub decisions: f64,
    /// Look-ups of the mapping table.
    pub lookups: u64,
    /// Look-ups that missed the processors' cache.
    pub lookup_misses: u64,
}

/// A run without time (`--waf-only`): the fields above that are times, rates or shares of simulated
/// time are 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WafOnlySummary {
    /// Pages programmed, for any purpose.
    pub page_writes: u64,
    /// Pages programmed, for any purpose, per wall second, preconditioning excluded. Differs from
    /// run to run.
    pub page_writes_per_wall_s: f64,
    /// Pages programmed for the host per wall second. Differs from run to run.
    pub host_page_writes_per_wall_s: f64,
    /// Free blocks at the end on the plane with the fewest.
    pub free_blocks_min: u32,
    /// Mean number of free blocks of a plane at the end.
    pub free_blocks_mean: f64,
    /// Free blocks at the end on the plane with the most.
    pub free_blocks_max: u32,
    /// One entry per flow, in the order of the workload. Unit: pages.
    pub flows: Vec<WafOnlyFlow>,
}

/// Pages programmed on behalf of a flow in a run without time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WafOnlyFlow {
    /// Pages programmed for its requests.
    pub host_programs: u64,
    /// Pages programmed by collection and wear levelling.
    pub gc_programs: u64,
    /// Translation pages written back.
    pub mapping_programs: u64,
}

/// What happened outside the measurement window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutsideWindow {
    /// Length of this part of the run. Unit: seconds.
    pub length_s: f64,
    /// Requests that completed in it, counted or not.
    pub requests_completed: u64,
    /// Flash operations. Unit: pages unless named otherwise.
    pub flash: FlashSummary,
    /// Data cache, page accesses.
    pub cache: CacheSummary,
    /// Cached mapping table, look-ups.
    pub cmt: CmtSummary,
}
