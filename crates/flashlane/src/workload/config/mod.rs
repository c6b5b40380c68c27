//! Configuration of a flow: one tenant with its own queue pair and its own logical space.

mod size;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cache::config::CacheMode;
use crate::interface::config::Priority;
use flashlane_units::{Bandwidth, ByteSize, Ratio, Span};

/// Bytes of a request at most.
pub const MAX_REQUEST_BYTES: u64 = 16 << 20;

/// One tenant: a queue pair, a share of the device, a source of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// Name in reports; unique.
    pub name: String,
    /// NVMe class of the submission queue.
    #[serde(default)]
    pub priority: Priority,
    /// What the data cache does for this flow.
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
    /// Share of the flow's logical pages that hold data at the start, instead of the device's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<Ratio>,
    /// At the end of the first pass: start over while others still run, or stop. Default: start
    /// over when there are several flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_end: Option<OnEnd>,
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
    /// The flow says where its requests come from.
    #[must_use]
    pub fn has_source(&self) -> bool {
        self.synthetic.is_some()
            || self.trace.is_some()
            || self.clone.is_some()
            || self.mqsim.is_some()
    }
}

/// What a flow does at the end of its first pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnEnd {
    /// Start over until every flow has ended its first pass.
    Repeat,
    /// Stop; the measurement ends with it.
    Stop,
}

/// A synthetic flow. Exactly one of `queue_depth`, `bandwidth` and `iops`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticConfig {
    /// Closed loop: requests outstanding at any time. Range: 1..=65535.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Open loop: mean bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    /// Open loop: mean requests per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    /// Open loop: distribution of the gaps.
    pub arrivals: Arrivals,
    /// Share of reads among reads and writes. Range: 0..=1.
    pub read_ratio: Ratio,
    /// Share of trims among all requests. Range: 0..=1.
    pub trim_ratio: Ratio,
    /// Share of flushes among all requests. Range: 0..=1.
    pub flush_ratio: Ratio,
    /// Where requests go.
    pub address: AddressConfig,
    /// Request sizes.
    pub size: SizeConfig,
    /// Request addresses are multiples of this. Default: 4KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<ByteSize>,
    /// Share of the flow's logical space, from its start, that requests touch. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_set: Option<Ratio>,
    /// Size of the part of the flow's logical space that requests touch, instead of `working_set`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<ByteSize>,
    /// Where that part starts, from the start of the flow's logical space. Default: 0B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region_start: Option<ByteSize>,
    /// Closed loop: pause between the completion of a request and the next one in its place.
    /// Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<Span>,
    /// Seed of the flow's own draws, instead of the run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// End of the pass after so many requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// End of the pass after so much simulated time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
}

/// Gaps between the arrivals of an open loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Exponential.
    #[default]
    Poisson,
    /// All the same.
    Constant,
}

/// Address distribution of a synthetic flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AddressConfig {
    /// Every aligned address alike.
    #[default]
    Uniform,
    /// One after the other, from a random start, wrapping.
    Streaming,
    /// A share of the traffic goes to a share of the space.
    HotCold(HotColdConfig),
    /// Zipf popularity over extents, scattered over the space.
    Zipf(ZipfConfig),
    /// A share streams, the rest is uniform.
    Mixed(MixedConfig),
}

/// Hot and cold regions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotColdConfig {
    /// Share of the space that is hot. Range: 0..1.
    pub hot_region: Ratio,
    /// Share of the requests that go there. Range: 0..=1.
    pub hot_traffic: Ratio,
}

/// Zipf popularity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZipfConfig {
    /// Exponent: probability of rank k is proportional to k^-theta. Range: 0..=5.
    pub theta: f64,
    /// Unit of popularity. Default: 64KiB.
    #[serde(default = "default_extent")]
    pub extent: ByteSize,
}

fn default_extent() -> ByteSize {
    ByteSize(64 << 10)
}

/// Streaming and uniform, mixed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixedConfig {
    /// Share of requests that continue the stream. Range: 0..=1.
    pub streaming: Ratio,
    /// Share of the space, from its start, in which the stream wraps. Range: above 0, 1 at most.
    #[serde(default = "whole")]
    pub stream_space: Ratio,
    /// Stream and uniform requests take turns: in each span of this length the stream runs for its
    /// share of the time. Default: every request draws its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Span>,
}

fn whole() -> Ratio {
    Ratio(1.0)
}

/// Request sizes of a synthetic flow: `"4KiB"`, or a table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SizeConfig {
    /// All requests alike.
    Fixed(ByteSize),
    /// Normal, rounded up to sectors.
    Normal {
        /// Parameters.
        normal: NormalSizeConfig,
    },
    /// A few sizes with weights.
    Discrete {
        /// Pairs of size and weight.
        discrete: Vec<(ByteSize, f64)>,
    },
}

impl Default for SizeConfig {
    fn default() -> Self {
        Self::Fixed(ByteSize(4096))
    }
}

/// Normal request sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NormalSizeConfig {
    /// Mean.
    pub mean: ByteSize,
    /// Standard deviation.
    pub stddev: ByteSize,
}

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
    /// `KiB`, `sector`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_unit: Option<String>,
    /// Event of a request that counts in traces of Linux' block layer: `Q` (arrival, the default),
    /// `D` (sent to the drive), `C` (completed).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Arrival times are multiplied by this: 0.5 replays twice as fast. Range: above 0.
    #[serde(default = "one")]
    pub time_scale: f64,
    /// Closed loop: ignore the times and keep so many requests outstanding.
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
    /// Lay the devices of the trace out one after the other, so many bytes apart. Default: all
    /// share one address space, as MQSim reads them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_stride: Option<ByteSize>,
    /// What to do with a request whose time is before that of the one above it.
    #[serde(default)]
    pub decreasing_times: DecreasingTimes,
    /// Passes over the file that make up the first pass of the flow. Range: 1 and above.
    #[serde(default = "one_pass")]
    pub repeat: u64,
    /// Only the first so many requests of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

impl TraceConfig {
    /// A file, read as it is: every other key has its default.
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
        }
    }
}

impl DecreasingTimes {
    /// As a switch says whether times may step back.
    #[must_use]
    pub fn delayed(allowed: bool) -> Self {
        if allowed { Self::Delay } else { Self::Refuse }
    }
}

fn one() -> f64 {
    1.0
}

fn one_pass() -> u64 {
    1
}

/// Times of a trace that step back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecreasingTimes {
    /// The trace is refused, with the line.
    #[default]
    Refuse,
    /// The request arrives together with the one above it; counted.
    Delay,
}

/// Addresses of a trace beyond the flow's logical space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutOfRange {
    /// Taken modulo the size of the space; counted.
    #[default]
    Wrap,
    /// Dropped; counted.
    Clip,
    /// Refused: the run does not start.
    Refuse,
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
    /// End of the pass after so many requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// End of the pass after so much simulated time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
    /// Time of the day at which a pass starts, unscaled: `"61200s"` for hour 17. Only for clones
    /// whose rates follow the hour. Range: 0s to below 86400s. Default: 0s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Span>,
    /// How long the day lasts, unscaled. A shorter one passes through all hours with the rates of
    /// each, as a sample of the day. Only for clones whose rates follow the hour. Range:
    /// 24s..=86400s. Default: 86400s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<Span>,
}

/// A flow of an MQSim workload file, with the file's own parameters and units.
/// Source: the released MQSim's workload definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MqsimFlowConfig {
    /// `IO_Flow_Parameter_Set_Synthetic`.
    Synthetic(MqsimSyntheticConfig),
    /// `IO_Flow_Parameter_Set_Trace_Based`.
    Trace(MqsimTraceConfig),
}

/// `IO_Flow_Parameter_Set_Synthetic`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MqsimSyntheticConfig {
    /// Percent of the space, from its start.
    pub working_set_percent: u32,
    /// Closed loop by queue depth if true, open loop by bandwidth if false.
    pub closed_loop: bool,
    /// Percent of requests that read.
    pub read_percent: u32,
    /// Where requests go.
    pub address: MqsimAddress,
    /// Percent of the space that is hot.
    pub hot_region_percent: u32,
    /// Addresses are aligned.
    pub aligned: bool,
    /// Unit: sectors.
    pub alignment_sectors: u32,
    /// Normal sizes if true, fixed if false.
    pub normal_size: bool,
    /// Unit: sectors.
    pub size_mean_sectors: u32,
    /// Used as the standard deviation. Unit: sectors.
    pub size_stddev_sectors: u32,
    /// Seed of the first generator of the flow.
    pub seed: i32,
    /// Requests outstanding (closed loop).
    pub queue_depth: u32,
    /// Unit: bytes per second (open loop).
    pub bandwidth: u64,
    /// No generation after this time; 0 for no limit. Unit: nanoseconds.
    pub stop_time_ns: u64,
    /// Number of requests, where `stop_time_ns` is 0.
    pub requests: u64,
}

/// MQSim's address distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MqsimAddress {
    /// `STREAMING`.
    Streaming,
    /// `RANDOM_UNIFORM`.
    Uniform,
    /// `RANDOM_HOTCOLD`.
    HotCold,
}

/// `IO_Flow_Parameter_Set_Trace_Based`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MqsimTraceConfig {
    /// The file.
    pub path: PathBuf,
    /// Percent of the lines that are replayed when there is one round.
    pub percent: u32,
    /// Rounds.
    pub rounds: u32,
}
