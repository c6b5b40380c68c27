//! What a page carries of a run.

use flashlane::metrics::Summary;
use flashlane::observe::{Blame, TimeSeries};
use flashlane::{Details, Error};
use serde::{Deserialize, Serialize};

/// Points of a curve, at most: what a screen can show.
const CURVE_POINTS: usize = 400;
/// Shares of requests that are slower, below which a curve ends.
const TAIL_MIN: f64 = 1e-7;
/// Windows of a time series, at most.
const WINDOWS: usize = 600;
/// Before and after the numbers in a page.
const OPENING: &str = "<script type=\"application/json\" id=\"flashlane-data\">";
const CLOSING: &str = "</script>";

/// A run as a page shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunData {
    /// What the reader calls it.
    pub label: String,
    /// The command that repeats it; empty where there is none.
    pub command: String,
    /// Device and workload with every key, as TOML.
    pub configuration: String,
    /// Its summary.
    pub summary: Summary,
    /// Distributions of response times: all, reads, writes of each flow.
    pub curves: Vec<Curve>,
    /// Windows over time, where they were asked for.
    pub series: Option<SeriesData>,
    /// Who kept whom waiting, where it was asked for.
    pub blame: Option<Blame>,
}

/// Distribution of the response times of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Index of the flow.
    pub flow: usize,
    /// `all`, `read` or `write`.
    pub op: String,
    /// Latencies, rising. Unit: microseconds.
    pub us: Vec<f64>,
    /// Share of requests that take longer, falling. Range: above 0, to 1.
    pub slower: Vec<f64>,
}

/// Windows over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesData {
    /// End of each window, from the start of the run. Unit: seconds.
    pub end_s: Vec<f64>,
    /// What was measured in them.
    pub columns: Vec<SeriesColumn>,
}

/// One figure over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesColumn {
    /// Which one, for example `p99_us`.
    pub name: String,
    /// Index of the flow; none for the device.
    pub flow: Option<usize>,
    /// One value a window; null where there is none.
    pub values: Vec<Option<f64>>,
}
