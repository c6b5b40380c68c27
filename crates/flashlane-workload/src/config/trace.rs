//! Configuration of a flow that replays a trace.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::one;
use flashlane_trace::Spelling;
use flashlane_units::ByteSize;

/// A replayed trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// The file, relative to the workload file. Plain, gz, zst, xz or bz2.
    pub path: PathBuf,
    /// Format by name (`flashlane trace formats`; `docs/traces.md`). May be absent where the file
    /// describes itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Column map, with `format = "columns"`, for example `"t=1[us],op=3,off=4,len=5;sep=comma"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
    /// Unit of the time column, instead of the format's: `s`, `ms`, `us`, `ns`, `ps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<String>,
    /// Unit of offsets and lengths, instead of the format's, where files come in several: `B`,
    /// `KiB`, `sector`, `4KiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_unit: Option<String>,
    /// Event of a request that counts in traces of Linux' block layer: `Q` (arrival, the default),
    /// `D` (sent to the drive), `C` (completed).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Arrival times are multiplied by this: 0.5 replays twice as fast. Range: above 0.
    #[serde(default = "one")]
    pub time_scale: f64,
    /// Closed loop: ignore the times and keep this many requests outstanding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// What to do with addresses beyond the flow's logical space.
    #[serde(default)]
    pub out_of_range: OutOfRange,
    /// Added to every address of the trace before anything else.
    #[serde(default)]
    pub offset: ByteSize,
    /// Only requests of these devices of the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<Vec<u32>>,
    /// Distance between the devices of the trace, which are then laid out one after the other.
    /// Default: all devices share one address space, as in MQSim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_stride: Option<ByteSize>,
    /// Treatment of a request whose time is before that of the request above it.
    #[serde(default)]
    pub decreasing_times: DecreasingTimes,
    /// Passes over the file that make up the first pass of the flow. Range: 1 and above.
    #[serde(default = "one_pass")]
    pub repeat: u64,
    /// Number of requests of the file that are used, from its start. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Spelling of these keys in messages.
    #[serde(skip, default = "keys")]
    pub spelling: Spelling,
}

impl TraceConfig {
    /// A file with the default of every other key.
    #[must_use]
    pub fn of(path: PathBuf) -> Self {
        Self {
            path,
            format: None,
            columns: None,
            time_unit: None,
            size_unit: None,
            action: None,
            time_scale: one(),
            queue_depth: None,
            out_of_range: OutOfRange::default(),
            offset: ByteSize(0),
            devices: None,
            device_stride: None,
            decreasing_times: DecreasingTimes::default(),
            repeat: one_pass(),
            limit: None,
            spelling: keys(),
        }
    }
}

fn keys() -> Spelling {
    Spelling::Keys
}

fn one_pass() -> u64 {
    1
}

/// Times of a trace that step back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecreasingTimes {
    /// Refuses the trace, with the line.
    #[default]
    Refuse,
    /// The request arrives together with the request above it, and is counted.
    Delay,
}

impl DecreasingTimes {
    /// From a switch that tells whether times may step back.
    #[must_use]
    pub fn delayed(allowed: bool) -> Self {
        if allowed { Self::Delay } else { Self::Refuse }
    }
}

/// Addresses of a trace beyond the flow's logical space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutOfRange {
    /// Taken modulo the size of the space, and counted.
    #[default]
    Wrap,
    /// Dropped, and counted.
    Clip,
    /// Refused: the run does not start.
    Refuse,
}
