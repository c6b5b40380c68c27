//! What a summary says of a flow.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::{DeviceTime, HitCounts};
use crate::host::counts::{ByteCounts, RequestCounts};
use crate::metrics::energy::{EnergySummary, WearSummary};
use crate::metrics::slo::SloSummary;

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
    /// arrivals in it. Or they rise and do not come back: in the last quarter of the window they
    /// always exceed the mean of the first quarter by more than 16, and by more than steps like
    /// those of the first half would add up to by chance; and a third of that rise or more comes
    /// after the second quarter. Then its latencies and its slowdowns depend on how long the run
    /// is: they say nothing about the drive. Where the window is the whole run, the load up to the
    /// last arrival decides.
    pub saturated: bool,
    /// The flow starves: the drive serves other flows, and of this one it serves nothing. Over the
    /// second half of the window, at least 20 ms, requests of the flow were outstanding all the
    /// time and none completed, while other flows completed at least 1,000 and ten times as many as
    /// they had outstanding in the middle. Or, at any time, that lasted for 20 s: the load ends
    /// there. The requests of such a flow complete only because the load ends, so that its times
    /// say nothing about the drive. Summaries of before `flashlane.summary/3` have false.
    #[serde(default)]
    pub starved: bool,
    /// Submission queue entry written to completion seen by the host.
    pub response_time_us: Latency,
    /// The same for reads.
    pub read_response_time_us: Latency,
    /// The same for writes.
    pub write_response_time_us: Latency,
    /// The same for trims. Summaries of before `flashlane.summary/3` have none.
    #[serde(default)]
    pub trim_response_time_us: Latency,
    /// The same for flushes. Summaries of before `flashlane.summary/3` have none.
    #[serde(default)]
    pub flush_response_time_us: Latency,
    /// Arrival to completion seen by the host.
    pub end_to_end_us: Latency,
    /// What the trace of the flow says of its own response times: from the event that counts as the
    /// arrival (`Q`, or `D`) to the completion (`C`), of the requests of the first pass that arrive
    /// inside the window. [`FlowSummary::end_to_end_us`] is what the model says of the same span.
    /// Left out where the trace has no completions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_response_time_us: Option<Latency>,
    /// Relative error of the model: `end_to_end_us.mean / measured_response_time_us.mean - 1`. Left
    /// out with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_error: Option<f64>,
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
    /// Host pages of the flow that were programmed inside the window.
    #[serde(default)]
    pub page_writes: u64,
    /// Those that brought part of a page, so that the rest of it was read first.
    #[serde(default)]
    pub read_modify_writes: u64,
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
    /// What became of the tenant's goals; left out where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slo: Option<SloSummary>,
    /// What the flow spent inside the window; left out without `--energy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergySummary>,
    /// How much of the wear is the flow's; left out without `--energy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<WearSummary>,
    /// Trace requests whose address was wrapped into the flow's space.
    pub wrapped_requests: u64,
    /// Trace requests dropped because of their address.
    pub clipped_requests: u64,
    /// Reads and writes above the drive's largest transfer, which went out in pieces.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub split_requests: u64,
    /// Trace lines that could not be read, by reason.
    pub rejected_lines: BTreeMap<String, u64>,
    /// Records of a trace that were read, in all passes over the file; left out without a trace.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trace_records: u64,
    /// Those of them that were delayed or rejected; left out where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changed_records: u64,
    /// The first ten lines of each kind that were not replayed as they are, with the reason; left
    /// out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named_lines: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl FlowSummary {
    /// Its times say how long the run is, not how fast the drive is: it is saturated or starves.
    #[must_use]
    pub fn depends_on_length(&self) -> bool {
        self.saturated || self.starved
    }

    /// Response times of each operation, with its name (`read`). The key in the summary is that
    /// name with `_response_time_us`.
    #[must_use]
    pub fn by_operation(&self) -> [(&'static str, &Latency); 4] {
        [
            ("read", &self.read_response_time_us),
            ("write", &self.write_response_time_us),
            ("trim", &self.trim_response_time_us),
            ("flush", &self.flush_response_time_us),
        ]
    }
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

/// Requests of a flow that completed inside the window, whenever they arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletedInWindow {
    /// By kind.
    pub requests: RequestCounts,
    /// Their bytes.
    pub bytes: ByteCounts,
}
