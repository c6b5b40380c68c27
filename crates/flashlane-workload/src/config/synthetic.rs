//! Configuration of a flow whose requests are drawn at random.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cache_engine::CacheEngineConfig;
use super::fio::FioConfig;
use super::parts::PartConfig;
use super::warps::WarpsConfig;
use flashlane_device::layout::SECTOR_BYTES;
use flashlane_units::{Bandwidth, ByteSize, Ratio, Span};

/// Largest alignment of normal sizes, because few of them are multiples of it. Unit: bytes.
const NORMAL_ALIGN: u64 = 4096;

/// A synthetic flow. Exactly one of `queue_depth`, `bandwidth`, `iops` and `warps`.
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
    /// Closed loop of batches: warps of a GPU that read from the drive themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warps: Option<Box<WarpsConfig>>,
    /// Open loop: distribution of the gaps.
    pub arrivals: Arrivals,
    /// Share of reads among reads and writes. Range: 0..=1.
    pub read_ratio: Ratio,
    /// Share of trims among all requests. Range: 0..=1.
    pub trim_ratio: Ratio,
    /// Share of flushes among all requests. Range: 0..=1.
    pub flush_ratio: Ratio,
    /// Distribution of addresses.
    pub address: AddressConfig,
    /// The first requests write every address once, in order; `address` is for those after them.
    /// Only where all requests are writes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fill_first: bool,
    /// Request sizes.
    pub size: SizeConfig,
    /// Request addresses are multiples of this, from the start of the flow's part of its space.
    /// Default: the largest power of two that divides every request size. Blocks of 64KiB then
    /// start at multiples of 64KiB, and blocks of 12KiB at multiples of 4KiB. With normal sizes:
    /// the largest power of two that divides the mean, at most 4KiB.
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
    /// Seed of the flow's draws, instead of that of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Parts of the requests, each with addresses, sizes and placement of its own. Operations,
    /// addresses and sizes of the flow itself then have no effect, and are not allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartConfig>,
    /// The requests of a cache engine on flash: small objects at random, a log of large ones. In
    /// place of `parts`, with the same limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_engine: Option<Box<CacheEngineConfig>>,
    /// How the writes of the flow use zones, on a drive that has some (`placement.mode = "zones"`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneUseConfig>,
    /// A job of fio, which issues the requests that fio would issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fio: Option<Box<FioConfig>>,
    /// Number of requests after which the pass ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Simulated time after which the pass ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
}

impl SyntheticConfig {
    /// Alignment of request addresses: `align`, or the default for the sizes. Unit: bytes. Range:
    /// at least a sector of 512 bytes.
    ///
    /// Source: fio, which aligns to its smallest block; here only to the largest power of two that
    /// divides it, so that blocks of 12 KiB keep to pages of 4 KiB and follow each other without
    /// holes.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        let implied = || match &self.size {
            SizeConfig::Fixed(size) => power_of_two_in(size.0),
            SizeConfig::Discrete { discrete } => {
                power_of_two_in(discrete.iter().fold(0, |bits, (size, _)| bits | size.0))
            }
            SizeConfig::Normal { normal } => power_of_two_in(normal.mean.0).min(NORMAL_ALIGN),
        };
        self.align.map_or_else(implied, |align| align.0).max(SECTOR_BYTES)
    }
}

/// The largest power of two that divides a number; 0 for 0.
fn power_of_two_in(number: u64) -> u64 {
    number & number.wrapping_neg()
}

/// Gaps between the arrivals of an open loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Exponential.
    #[default]
    Poisson,
    /// Gaps of equal length.
    Constant,
}

/// Address distribution of a synthetic flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AddressConfig {
    /// Every aligned address is equally likely.
    #[default]
    Uniform,
    /// Addresses in sequence, from a random start, wrapping.
    Streaming,
    /// A share of the traffic goes to a share of the space.
    HotCold(HotColdConfig),
    /// Zipf popularity over extents, scattered over the space.
    Zipf(ZipfConfig),
    /// A share of the requests streams, and the rest is uniform.
    Mixed(MixedConfig),
    /// Every block once a round, in a random order that is the same in each round. Requests have
    /// one size.
    Permutation,
    /// Every block once a round, in a different random order each round. Requests have one size.
    Permutations,
    /// A stream of requests in each of a few zones. A full zone gives its turn to another one.
    Zones(ZonesConfig),
}

/// Hot and cold regions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotColdConfig {
    /// Share of the space that is hot. Range: 0..1.
    pub hot_region: Ratio,
    /// Share of the requests that go to the hot region. Range: 0..=1.
    pub hot_traffic: Ratio,
    /// Hot blocks of `align` bytes lie anywhere in the space, instead of at its start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scattered: bool,
}

/// The use of zones. The flow's writes become commands to zones, which take turns: every zone of
/// the space has one before the first one has its second. Reads keep the addresses of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ZoneUseConfig {
    /// The commands.
    pub kind: ZoneUse,
    /// Zones that are written at a time, in turn. Range: 1..=64, and no more than the drive allows
    /// (`placement.zones.max_active`) together with those of other flows.
    pub active: u32,
    /// A zone is finished when this much is written to it. Default: zones are filled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_after: Option<ByteSize>,
}

impl Default for ZoneUseConfig {
    fn default() -> Self {
        Self { kind: ZoneUse::Append, active: 1, finish_after: None }
    }
}

/// The commands of a flow to zones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ZoneUse {
    /// Appends; each zone is reset before the first one.
    #[default]
    Append,
    /// Writes at the write pointer; each zone is reset before the first one.
    Write,
    /// Resets, and nothing else.
    Reset,
}

/// Zones with streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZonesConfig {
    /// Zones that are written at a time. A request goes to one of them, chosen at random. Range:
    /// 1..=65536.
    pub active: u32,
    /// Size of a zone, rounded up to a multiple of `align`. A full zone gives its turn to any other
    /// one.
    pub size: ByteSize,
}

/// Zipf popularity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZipfConfig {
    /// Exponent: probability of rank k is proportional to k^-theta. Range: 0..=5.
    pub theta: f64,
    /// Unit of popularity, rounded up to a multiple of `align`. Default: 64KiB.
    #[serde(default = "default_extent")]
    pub extent: ByteSize,
    /// Popularity as over a space of this size, from which the flow's space is scaled down: an
    /// extent gets the draws of all those that it stands for. Default: the flow's space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<ByteSize>,
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
    /// Stream and uniform requests alternate in spans of this length: the stream runs for its share
    /// of each span. Default: every request draws its kind.
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
    /// All requests have this size.
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

impl SizeConfig {
    /// The largest size; the mean of normal ones. Unit: bytes.
    #[must_use]
    pub fn largest(&self) -> u64 {
        match self {
            Self::Fixed(size) => size.0,
            Self::Normal { normal } => normal.mean.0,
            Self::Discrete { discrete } => {
                discrete.iter().map(|(size, _)| size.0).max().unwrap_or(0)
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn alignment(text: &str) -> u64 {
        let config: SyntheticConfig = toml::from_str(text).expect("a flow");
        config.alignment()
    }

    #[test]
    fn addresses_keep_to_the_power_of_two_in_every_size() {
        for (text, kib) in [
            ("", 4.0),
            ("size = '64KiB'", 64.0),
            ("size = '12KiB'", 4.0),
            ("size = '24KiB'", 8.0),
            ("size = '512B'", 0.5),
            ("size = '1536B'", 0.5),
            ("size = '64KiB'\nalign = '1KiB'", 1.0),
            ("size = { discrete = [['64KiB', 1.0], ['16KiB', 1.0]] }", 16.0),
            ("size = { discrete = [['12KiB', 1.0], ['16KiB', 1.0]] }", 4.0),
            ("size = { normal = { mean = '64KiB', stddev = '8KiB' } }", 4.0),
            ("size = { normal = { mean = '5KiB', stddev = '2KiB' } }", 1.0),
            ("size = { normal = { mean = '5000B', stddev = '2KiB' } }", 0.5),
        ] {
            assert_eq!(alignment(text) as f64, kib * 1024.0, "{text}");
        }
    }
}
