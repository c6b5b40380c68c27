//! The run in windows of time: throughput, latencies, queues, free blocks, utilisation.

mod area;
mod histogram;
pub(crate) mod recorder;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A run in windows of equal length, from its start to its end. The end may be later than the last
/// completion, since collection goes on. Only the last window may be shorter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSeries {
    /// Length of a window. Unit: seconds.
    pub window_s: f64,
    /// Names of the flows, in the order of the workload.
    pub flows: Vec<String>,
    /// The windows in order of time, none left out.
    pub windows: Vec<SeriesWindow>,
}

/// A window of a time series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesWindow {
    /// Start of the window, from the beginning of the run. Unit: seconds.
    pub start_s: f64,
    /// End of the window. Unit: seconds.
    pub end_s: f64,
    /// One point for each flow, in the order of the workload.
    pub flows: Vec<FlowPoint>,
    /// The device as a whole.
    pub device: DevicePoint,
    /// Share of the window in which each chip has a die at work, in the order of `chips` in the
    /// summary. Empty if there are too many windows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chips: Vec<f64>,
}

/// A flow in a window. It counts all requests that complete in the window, whether or not they
/// count for the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowPoint {
    /// Requests that completed, of every kind.
    pub requests: u64,
    /// Reads per second.
    pub read_iops: f64,
    /// Writes per second.
    pub write_iops: f64,
    /// Bytes read per second.
    pub read_bytes_per_s: f64,
    /// Bytes written per second.
    pub write_bytes_per_s: f64,
    /// Mean response time (submission queue to completion). Unit: microseconds; null without
    /// requests.
    pub response_mean_us: Option<f64>,
    /// Median response time, within 2 %. Unit: microseconds; null without requests.
    pub response_p50_us: Option<f64>,
    /// 99th percentile of the response time, within 2 %. Unit: microseconds; null without requests.
    pub response_p99_us: Option<f64>,
    /// Mean end-to-end time (arrival to completion). Unit: microseconds; null without requests.
    pub end_to_end_mean_us: Option<f64>,
    /// Mean of the times that the trace of the flow measured, of requests that completed in this
    /// window there. Unit: microseconds. Left out where the trace has no completions, or none in
    /// the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_mean_us: Option<f64>,
    /// Slowdown of the counted requests: mean end-to-end time, divided by that of the same window
    /// of the run alone. Requests belong to the window of their arrival, in a closed loop to that
    /// of their completion. Null without `--alone` and where one of the runs has no request.
    pub slowdown: Option<f64>,
    /// Mean number of requests that wait: in the host, and in the submission queue.
    pub waiting_requests: f64,
    /// Mean number of requests in the device, from fetch to completion.
    pub device_requests: f64,
    /// Chips that the flow may write to at the end of the window, where sets of chips move;
    /// otherwise null.
    pub set_chips: Option<u32>,
}

/// The device in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DevicePoint {
    /// Free blocks of the plane that has the fewest, at the end.
    pub free_blocks_min: u64,
    /// Free blocks of all planes, at the end.
    pub free_blocks: u64,
    /// Pages programmed for hosts.
    pub user_programs: u64,
    /// Pages programmed by collection.
    pub gc_programs: u64,
    /// Translation pages programmed.
    pub mapping_programs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// All pages programmed, divided by those for hosts; null without pages for hosts.
    pub write_amplification: Option<f64>,
    /// Share of the window in which a channel is in use, mean of all channels.
    pub channels_busy: f64,
    /// Share of the window in which a chip has a die at work, mean of all chips.
    pub chips_busy: f64,
}
