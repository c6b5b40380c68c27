//! Configuration of a flow whose requests are drawn at random.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_units::{Bandwidth, ByteSize, Ratio, Span};

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
