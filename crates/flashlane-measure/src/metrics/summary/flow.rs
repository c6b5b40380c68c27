//! The figures of a flow in a summary.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::{DeviceTime, HitCounts};
use super::errors::RetrySummary;
use crate::metrics::energy::{EnergySummary, WearSummary};
use crate::metrics::slo::SloSummary;
use flashlane_device::device::reading::TransactionTimes;
use flashlane_device::host::counts::{ByteCounts, RequestCounts};

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

impl TransactionSummary {
    /// The means of transactions that are over.
    pub(crate) fn of(times: TransactionTimes) -> Self {
        let count = times.count;
        let mean = |sum: u128| if count == 0 { 0.0 } else { sum as f64 / count as f64 / 1e6 };
        Self {
            count,
            wait_us: mean(times.wait),
            transfer_us: mean(times.transfer),
            execution_us: mean(times.execution),
        }
    }
}

/// A flow in a summary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowSummary {
    /// Name of the flow.
    pub name: String,
    /// NVMe class.
    pub priority: String,
    /// Counted requests: those that arrived inside the window. All latencies are those of these
    /// requests, however late they ended.
    pub requests: RequestCounts,
    /// Bytes of these requests.
    pub bytes: ByteCounts,
    /// Arrivals per second of the window.
    pub offered_iops: f64,
    /// Completions inside the window per second of it, including requests that arrived before it.
    /// It never exceeds the rate of the drive.
    pub iops: f64,
    /// Bytes of reads and writes that completed inside the window, per second of it.
    pub bandwidth_bytes_per_s: f64,
    /// The completions from which these two rates are computed.
    pub completed_in_window: CompletedInWindow,
    /// Requests that arrived inside the window and were not complete at its end.
    pub backlog_at_end: u64,
    /// True if the drive does not keep up with the flow, which is an open loop. Then its latencies
    /// and its slowdowns depend on the length of the run, and say nothing about the drive.
    ///
    /// There are two criteria. In the first, the outstanding requests grow by more than 5 % of the
    /// flow's arrivals over the window, and likewise over its second half. (The request that
    /// arrives last is not enough.) In the second, they rise and do not come back. In the last
    /// quarter of the window they then always exceed the mean of the first quarter by more than 16,
    /// and by more than chance would give for steps like those of the first half. At least a third
    /// of that rise comes after the second quarter. Where the window is the whole run, the load up
    /// to the last arrival decides.
    pub saturated: bool,
    /// True if the flow starves: the drive serves other flows, but nothing of this one.
    ///
    /// Over the second half of the window, at least 20 ms, requests of the flow were outstanding
    /// all the time and none completed. In that time other flows completed at least 1,000 requests,
    /// and ten times as many as they had outstanding in the middle. Or a flow was in this state for
    /// 20 s at any time, which ends the load. The requests of such a flow complete only because the
    /// load ends, so its times say nothing about the drive. Summaries before `flashlane.summary/3`
    /// have false.
    #[serde(default)]
    pub starved: bool,
    /// Submission queue entry written to completion seen by the host.
    pub response_time_us: Latency,
    /// Response times of reads.
    pub read_response_time_us: Latency,
    /// Response times of writes.
    pub write_response_time_us: Latency,
    /// Response times of trims. Summaries before `flashlane.summary/3` have none.
    #[serde(default)]
    pub trim_response_time_us: Latency,
    /// Response times of flushes. Summaries before `flashlane.summary/3` have none.
    #[serde(default)]
    pub flush_response_time_us: Latency,
    /// Response times of commands that manage zones, and of commands that break a rule of zones.
    /// Left out where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone_response_time_us: Option<Latency>,
    /// Arrival to completion seen by the host.
    pub end_to_end_us: Latency,
    /// Response times that the trace of the flow reports, from the event that counts as the arrival
    /// (`Q`, or `D`) to the completion (`C`). They are of the requests of the first pass that
    /// arrive inside the window. [`FlowSummary::end_to_end_us`] is the model's time for the same
    /// span. Left out where the trace has no completions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_response_time_us: Option<Latency>,
    /// Relative error of the model: `end_to_end_us.mean / measured_response_time_us.mean - 1`. Left
    /// out where that is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_error: Option<f64>,
    /// Mean per stage; sums to the mean response time. Keys in pipeline order.
    pub breakdown_us: BreakdownSummary,
    /// Page transactions of the whole run; with `--until-steady`, of the window.
    pub transactions: TransactionSummary,
    /// Page transactions that read.
    pub read_transactions: TransactionSummary,
    /// Page transactions that write.
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
    /// Host pages of which only a part was written, so that the rest was read first.
    #[serde(default)]
    pub read_modify_writes: u64,
    /// Page programs on behalf of the flow, divided by its host page programs, inside the window; 0
    /// without writes. It is large for a flow that writes little beside a flow that writes much,
    /// because collection moves the data of both.
    pub write_amplification: f64,
    /// Time of the arrays of all dies for the flow, inside the window.
    pub device_time: DeviceTime,
    /// Mean end-to-end time of the same requests with the flow alone. Null without `--alone`.
    pub alone_end_to_end_us: Option<f64>,
    /// The part of the drive that the flow has when it runs alone. Left out without `--alone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone_basis: Option<AloneBasis>,
    /// `end_to_end_us.mean / alone_end_to_end_us`.
    pub slowdown: Option<f64>,
    /// Slowdown against the flow's own run alone, where [`FlowSummary::slowdown`] and the fairness
    /// of the run are against the runs alone of another run. Left out where they are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_slowdown: Option<f64>,
    /// Slowdown by mean response times.
    pub slowdown_device: Option<f64>,
    /// Slowdown by the mean turnaround of the flow's page transactions, from their creation to
    /// their end. It is the sum of the times in [`FlowSummary::transactions`].
    pub slowdown_transaction: Option<f64>,
    /// The flow when it has the drive to itself. Null without `--alone`.
    pub alone: Option<AloneSummary>,
    /// Mean end-to-end time of the same requests without another flow, by the name of that flow.
    /// Unit: microseconds. The difference from `end_to_end_us.mean` is what the other flow really
    /// costs this one. Left out without `--leave-one-out`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<BTreeMap<String, f64>>,
    /// Results of the tenant's goals; left out where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slo: Option<SloSummary>,
    /// Pages that were read again for the flow inside the window; left out where bit errors are not
    /// modelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<RetrySummary>,
    /// Energy of the flow inside the window; left out without `--energy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergySummary>,
    /// The flow's part of the wear; left out without `--energy`.
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
    /// Trace records that were delayed or rejected; left out where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changed_records: u64,
    /// The first ten lines of each kind that were not replayed unchanged, with the reason; left out
    /// where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named_lines: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The part of the drive that a flow has when it runs alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AloneBasis {
    /// All of it, whatever the isolation policy or the flow's lists of channels, chips, dies and
    /// planes give to it beside the others. Slowdowns of different policies then compare.
    #[default]
    WholeDrive,
    /// What it has beside the others.
    SameIsolation,
}

impl FlowSummary {
    /// True if the slowdown against the own run alone differs by 1 % or more.
    #[must_use]
    pub fn own_slowdown_differs(&self) -> bool {
        let both = self.own_slowdown.zip(self.slowdown);
        both.is_some_and(|(own, common)| (own / common - 1.0).abs() >= 0.01)
    }

    /// True if the times of the flow depend on the length of the run and not on the speed of the
    /// drive: it is saturated or starves.
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
    /// DRAM access, and waiting for cache room.
    pub cache: f64,
    /// Waiting for translation pages.
    pub mapping: f64,
    /// Waiting in the scheduler, suspended time included.
    pub flash_queue: f64,
    /// Commands, addresses and data on the channel.
    pub flash_bus: f64,
    /// tR, tPROG; and decoding, where bit errors are modelled.
    pub flash_array: f64,
    /// Read data and completion over the link, and waiting for a full completion queue.
    pub transfer_out: f64,
}

/// Requests of a flow that completed inside the window, whenever they arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletedInWindow {
    /// Requests by kind.
    pub requests: RequestCounts,
    /// Bytes of these requests.
    pub bytes: ByteCounts,
}
