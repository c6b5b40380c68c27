//! Slowdown of flows against their runs alone, and fairness among them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Comparison of the flows with their runs alone.
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
    /// The metrics of this table, computed from `slowdown_transaction`.
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

/// A window of [`WindowedSlowdown`].
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

/// A flow in a window: its requests that arrived in the window or, in a closed loop, completed in
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowWindow {
    /// Counted requests.
    pub requests: u64,
    /// Mean time of these requests from arrival to completion; null without requests. Unit:
    /// microseconds.
    pub end_to_end_us: Option<f64>,
    /// Counted requests of the flow's run alone. In an open loop they are the same requests.
    pub alone_requests: u64,
    /// Mean time of those requests from arrival to completion; null without requests. Unit:
    /// microseconds.
    pub alone_end_to_end_us: Option<f64>,
    /// `end_to_end_us / alone_end_to_end_us`; null if either is null.
    pub slowdown: Option<f64>,
}
