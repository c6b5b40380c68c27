//! `summary.json`, schema `flashlane.summary/2`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::steady::SteadySummary;
pub use crate::ftl::moving::{IsolationSummary, IsolationWindow};
pub use crate::host::counts::{ByteCounts, RequestCounts};
pub use crate::scheduler::overhead::SchedulerOverhead;

/// Schema name written into every summary.
pub const SCHEMA: &str = "flashlane.summary/2";

/// The result of one scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Always `flashlane.summary/2`.
    pub schema: String,
    /// Version of the program.
    pub version: String,
    /// What to know before any other number, in sentences: the flows that the drive does not keep
    /// up with, and the flows without a request in the window. Empty where there are none.
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
    /// The drive does not keep up with the load of at least one flow: see `flows[].saturated`.
    pub saturated: bool,
    /// Wall time of the run, preconditioning excluded. Unit: seconds. Differs from run to run.
    pub wall_s: f64,
    /// Wall time of preconditioning. Unit: seconds. Differs from run to run.
    pub precondition_wall_s: f64,
    /// Events that went through the queue. A doorbell that comes next does not.
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
    /// The same comparison window by window; null without `--windows`.
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
    /// What happened after the window: requests that were not complete at its end, flows that
    /// started over meanwhile, collection that went on.
    pub after_window: OutsideWindow,
    /// What the scheduling policy costs the drive; null for policies that do not count it.
    pub scheduler_overhead: Option<SchedulerOverhead>,
    /// What the sets of chips did over the whole run, for isolation policies that change them, else
    /// null.
    pub isolation_sets: Option<IsolationSummary>,
    /// What the page tables cost.
    pub memory: MemorySummary,
    /// What a run without time adds; left out of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waf_only: Option<WafOnlySummary>,
}

/// A run without time (`--waf-only`): of the fields above, those that are times, rates or shares of
/// simulated time are 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WafOnlySummary {
    /// Pages programmed, whatever for.
    pub page_writes: u64,
    /// The same per wall second, preconditioning excluded. Differs from run to run.
    pub page_writes_per_wall_s: f64,
    /// Pages programmed for the host per wall second. Differs from run to run.
    pub host_page_writes_per_wall_s: f64,
    /// Free blocks at the end of the plane with the fewest.
    pub free_blocks_min: u32,
    /// Free blocks of a plane at the end, on average.
    pub free_blocks_mean: f64,
    /// Free blocks at the end of the plane with the most.
    pub free_blocks_max: u32,
    /// One entry per flow, in the order of the workload. Unit: pages.
    pub flows: Vec<WafOnlyFlow>,
}

/// Pages programmed on behalf of a flow without time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WafOnlyFlow {
    /// For its requests.
    pub host_programs: u64,
    /// By collection and wear levelling.
    pub gc_programs: u64,
    /// Translation pages written back.
    pub mapping_programs: u64,
}

/// Time of the arrays of the dies by cause. A command over several planes belongs to its pages in
/// equal parts; a page moved or erased by collection belongs to the flow that owns it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceTime {
    /// Host reads and programs. Unit: seconds.
    pub host_s: f64,
    /// Collection: copies and erases. Unit: seconds.
    pub gc_s: f64,
    /// Translation pages. Unit: seconds.
    pub mapping_s: f64,
    /// `host_s` over the time of all dies. Range: 0..=1.
    pub host_share: f64,
    /// `gc_s` over the time of all dies. Range: 0..=1.
    pub gc_share: f64,
    /// `mapping_s` over the time of all dies. Range: 0..=1.
    pub mapping_share: f64,
}

/// Memory of the page tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemorySummary {
    /// Pages of the flash.
    pub physical_pages: u64,
    /// Tables with an entry per page. Unit: bytes, whether touched or not.
    pub page_table_bytes: u64,
    /// Side table of pages written in part; 0 if there never was one. Unit: bytes, whether touched
    /// or not.
    pub partial_page_bytes: u64,
}

/// Distribution of a latency. Unit: microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Number of requests.
    pub count: u64,
    /// Mean, exact.
    pub mean: f64,
    /// Smallest, exact.
    pub min: f64,
    /// Largest, exact.
    pub max: f64,
    /// Population standard deviation.
    pub stddev: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p99_9: f64,
    /// 99.99th percentile.
    pub p99_99: f64,
}

/// Mean times of page transactions on behalf of a flow's requests. Unit: microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransactionSummary {
    /// Flash transactions.
    pub count: u64,
    /// Waiting in the scheduler and for the bus.
    pub wait_us: f64,
    /// On the bus.
    pub transfer_us: f64,
    /// In the array.
    pub execution_us: f64,
}

/// Hits and misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HitCounts {
    /// Found.
    pub hits: u64,
    /// Not found.
    pub misses: u64,
}

/// One flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowSummary {
    /// Name of the flow.
    pub name: String,
    /// NVMe class.
    pub priority: String,
    /// Counted requests: those that arrived inside the window. All latencies are theirs, however
    /// late they ended.
    pub requests: RequestCounts,
    /// Their bytes.
    pub bytes: ByteCounts,
    /// Arrivals per second of the window.
    pub offered_iops: f64,
    /// Completions inside the window per second of it, also of requests that arrived before it:
    /// never more than the drive does.
    pub iops: f64,
    /// Bytes of reads and writes that completed inside the window, per second of it.
    pub bandwidth_bytes_per_s: f64,
    /// The completions that these two rates are made of.
    pub completed_in_window: CompletedInWindow,
    /// Requests that arrived inside the window and were not complete at its end.
    pub backlog_at_end: u64,
    /// The drive does not keep up with the flow, an open loop: its outstanding requests at the end
    /// of the window exceed those at its start by more than 5 % of its arrivals (and by more than
    /// the one that arrives last), and over the second half of the window by more than 5 % of the
    /// arrivals in it. Then its latencies and its slowdowns depend on how long the run is: they say
    /// nothing about the drive. Where the window is the whole run, the load up to the last arrival
    /// decides.
    pub saturated: bool,
    /// Submission queue entry written to completion seen by the host.
    pub response_time_us: Latency,
    /// The same for reads.
    pub read_response_time_us: Latency,
    /// The same for writes.
    pub write_response_time_us: Latency,
    /// Arrival to completion seen by the host.
    pub end_to_end_us: Latency,
    /// Mean per stage; sums to the mean response time. Keys in pipeline order.
    pub breakdown_us: BreakdownSummary,
    /// Page transactions of the whole run; with `--until-steady`, of the window.
    pub transactions: TransactionSummary,
    /// Those that read.
    pub read_transactions: TransactionSummary,
    /// Those that write.
    pub write_transactions: TransactionSummary,
    /// Mapping look-ups of the flow inside the window.
    pub cmt: HitCounts,
    /// Data cache accesses of the flow inside the window, pages.
    pub cache: HitCounts,
    /// Mean number of the flow's transactions that wait at a chip, inside the window.
    pub mean_chip_queue_length: f64,
    /// Page programs on behalf of the flow over its host page programs, inside the window; 0
    /// without writes. Large for a flow that writes little beside one that writes much: collection
    /// moves the data of both.
    pub write_amplification: f64,
    /// Time of the arrays of all dies for the flow, inside the window.
    pub device_time: DeviceTime,
    /// Mean end-to-end time of the same requests with the flow alone. Null without `--alone`.
    pub alone_end_to_end_us: Option<f64>,
    /// `end_to_end_us.mean / alone_end_to_end_us`.
    pub slowdown: Option<f64>,
    /// The same of mean response times.
    pub slowdown_device: Option<f64>,
    /// The same of the mean turnaround of the flow's page transactions, from their creation to
    /// their end: what [`FlowSummary::transactions`] sums up to.
    pub slowdown_transaction: Option<f64>,
    /// The same flow with the drive to itself. Null without `--alone`.
    pub alone: Option<AloneSummary>,
    /// Trace requests whose address was wrapped into the flow's space.
    pub wrapped_requests: u64,
    /// Trace requests dropped because of their address.
    pub clipped_requests: u64,
    /// Trace lines that could not be read, by reason.
    pub rejected_lines: BTreeMap<String, u64>,
}

/// A flow that has the drive to itself, over the same window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AloneSummary {
    /// Completions inside the window per second of it.
    pub iops: f64,
    /// Submission queue entry written to completion seen by the host.
    pub response_time_us: Latency,
    /// Mapping look-ups.
    pub cmt: HitCounts,
    /// Data cache accesses, pages.
    pub cache: HitCounts,
    /// Mean number of the flow's transactions that wait at a chip.
    pub mean_chip_queue_length: f64,
    /// Time of the arrays of all dies inside the window.
    pub device_time: DeviceTime,
}

/// Mean time per stage of the life of a request. Unit: microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BreakdownSummary {
    /// In the submission queue until the device starts to fetch it.
    pub submission: f64,
    /// Entry and write data over the link.
    pub transfer_in: f64,
    /// Firmware.
    pub firmware: f64,
    /// DRAM access, waiting for cache room.
    pub cache: f64,
    /// Waiting for translation pages.
    pub mapping: f64,
    /// Waiting in the scheduler, suspended time included.
    pub flash_queue: f64,
    /// Commands, addresses and data on the channel.
    pub flash_bus: f64,
    /// tR, tPROG.
    pub flash_array: f64,
    /// Read data and completion over the link, waiting for a full completion queue.
    pub transfer_out: f64,
}

/// Comparison of the flows with themselves alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fairness {
    /// Smallest slowdown over largest. Range: 0..=1.
    pub fairness: Option<f64>,
    /// Largest slowdown.
    pub max_slowdown: Option<f64>,
    /// Population standard deviation of the slowdowns.
    pub stdev_slowdown: Option<f64>,
    /// Sum of alone over shared mean end-to-end times.
    pub weighted_speedup: Option<f64>,
    /// The same four from `slowdown_transaction`.
    pub by_transaction: TransactionFairness,
}

/// Fairness of the turnaround of page transactions, instead of that of requests.
/// Source: FLIN (ISCA'18) section 6, Eq. 11.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransactionFairness {
    /// Smallest slowdown over largest. Range: 0..=1.
    pub fairness: Option<f64>,
    /// Largest slowdown.
    pub max_slowdown: Option<f64>,
    /// Population standard deviation of the slowdowns.
    pub stdev_slowdown: Option<f64>,
    /// Sum of alone over shared mean turnaround times.
    pub weighted_speedup: Option<f64>,
}

/// Slowdown over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WindowedSlowdown {
    /// Length of a window. Unit: seconds.
    pub window_s: f64,
    /// The windows in which a flow has a counted request, in order of time.
    pub windows: Vec<SlowdownWindow>,
}

/// One window of [`WindowedSlowdown`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowdownWindow {
    /// Start, from the beginning of the run. Unit: seconds.
    pub start_s: f64,
    /// One entry per flow, in the order of the workload.
    pub flows: Vec<FlowWindow>,
    /// Smallest slowdown over largest; null where a flow has no slowdown in the window. Range:
    /// 0..=1.
    pub fairness: Option<f64>,
    /// Largest slowdown; null where a flow has no slowdown in the window.
    pub max_slowdown: Option<f64>,
}

/// One flow in a window: requests that arrived in it or, in a closed loop, completed in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowWindow {
    /// Counted requests.
    pub requests: u64,
    /// Their mean time from arrival to completion; null without requests. Unit: microseconds.
    pub end_to_end_us: Option<f64>,
    /// Counted requests with the flow alone: the same ones in an open loop.
    pub alone_requests: u64,
    /// Their mean time from arrival to completion; null without requests. Unit: microseconds.
    pub alone_end_to_end_us: Option<f64>,
    /// `end_to_end_us / alone_end_to_end_us`; null where one of them is.
    pub slowdown: Option<f64>,
}

/// Flash operations. Unit: pages unless named otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlashSummary {
    /// Pages read for the host, reads that complete partial writes included.
    pub user_reads: u64,
    /// Reads of never-written pages answered by the controller.
    pub zero_fill_reads: u64,
    /// Pages programmed for the host.
    pub user_programs: u64,
    /// Pages read by collection.
    pub gc_reads: u64,
    /// Pages programmed by collection.
    pub gc_programs: u64,
    /// Translation pages read.
    pub mapping_reads: u64,
    /// Translation pages programmed.
    pub mapping_programs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Blocks moved by static wear levelling.
    pub wear_leveling_moves: u64,
    /// Erases of each block.
    pub block_erases: EraseSummary,
    /// Pages that collection moved inside their plane, without the channel.
    pub copybacks: u64,
    /// Commands that used more than one plane.
    pub multiplane_commands: u64,
    /// Commands sent to a chip another die of which was busy.
    pub interleaved_commands: u64,
    /// Programs suspended.
    pub program_suspends: u64,
    /// Erases suspended.
    pub erase_suspends: u64,
    /// Blocks that collection started on; with hybrid mapping, blocks that merges
    /// gave up.
    pub gc_invocations: u64,
    /// What collection owed at the end: blocks that planes had fewer free than `ftl.gc.threshold`
    /// asks for. It goes on until this is 0, or nothing is left to collect. 0 with hybrid mapping,
    /// and without time (`--waf-only`).
    #[serde(default)]
    pub blocks_owed_at_end: u64,
    /// Hybrid mapping: logical blocks gathered in a new data block.
    pub full_merges: u64,
    /// Hybrid mapping: sequential log blocks completed by copies.
    pub partial_merges: u64,
    /// Hybrid mapping: sequential log blocks that became data blocks as they were.
    pub switch_merges: u64,
    /// All page programs over host page programs; 0 without writes.
    pub write_amplification: f64,
}

/// What happened outside the measurement window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutsideWindow {
    /// Its length. Unit: seconds.
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

/// Requests of a flow that completed inside the window, whenever they arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletedInWindow {
    /// By kind.
    pub requests: RequestCounts,
    /// Their bytes.
    pub bytes: ByteCounts,
}

/// Erases by block. Unit: erases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EraseSummary {
    /// Of the least erased block.
    pub min: u32,
    /// Of the most erased block.
    pub max: u32,
    /// On average.
    pub mean: f64,
    /// Population standard deviation.
    pub stddev: f64,
}

impl EraseSummary {
    /// Of the erases of each block.
    pub(crate) fn of(erases: impl Iterator<Item = u32> + Clone) -> Self {
        let sum: u64 = erases.clone().map(u64::from).sum();
        let squares: f64 = erases.clone().map(|e| f64::from(e) * f64::from(e)).sum();
        let count = erases.clone().count().max(1) as f64;
        let mean = sum as f64 / count;
        Self {
            min: erases.clone().min().unwrap_or(0),
            max: erases.max().unwrap_or(0),
            mean,
            stddev: (squares / count - mean * mean).max(0.0).sqrt(),
        }
    }
}

/// Commands sent to dies, by operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandSummary {
    /// Reads.
    pub read: CommandCounts,
    /// Programs, copybacks included.
    pub program: CommandCounts,
    /// Erases.
    pub erase: CommandCounts,
}

/// Commands of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandCounts {
    /// Of one plane, while no other die of the chip was busy.
    pub single: u64,
    /// Of several planes, while no other die of the chip was busy.
    pub multiplane: u64,
    /// Of one plane, while another die of the chip was busy.
    pub interleaved: u64,
    /// Of several planes, while another die of the chip was busy.
    pub interleaved_multiplane: u64,
}

/// Data cache. Unit: pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheSummary {
    /// Page accesses found.
    pub hits: u64,
    /// Page accesses not found.
    pub misses: u64,
    /// Pages evicted, clean or dirty.
    pub evictions: u64,
}

/// Cached mapping table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CmtSummary {
    /// Look-ups that found the entry.
    pub hits: u64,
    /// Look-ups that did not.
    pub misses: u64,
    /// Translation pages written back.
    pub writebacks: u64,
}

/// One channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelSummary {
    /// Index.
    pub channel: u32,
    /// Share of the window in which the bus was taken.
    pub busy_fraction: f64,
}

/// One chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChipSummary {
    /// Channel index.
    pub channel: u32,
    /// Index on the channel.
    pub chip: u32,
    /// Share of the window in which at least one die was in an array operation.
    pub busy_fraction: f64,
    /// Array time of the dies by cause, as a share of the window.
    pub busy_by_source: BusyBySource,
    /// Time average of waiting transactions.
    pub mean_queue_length: f64,
    /// Most transactions that waited at a time.
    pub max_queue_length: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// Array time by cause, as a share of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BusyBySource {
    /// Host reads and programs.
    pub host: f64,
    /// Collection: copies and erases.
    pub gc: f64,
    /// Translation pages.
    pub mapping: f64,
}
