//! Configuration of warps: groups of threads of a GPU that read from the drive themselves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_units::Span;

/// Most warps of a flow.
pub const WARPS_MAX: u32 = 1 << 20;
/// Most outstanding requests of the warps of a flow.
pub const WARP_READS_MAX: u32 = 1 << 24;

/// Warps of a GPU whose threads read from the drive themselves. Each warp makes a batch of `reads`
/// requests at once, waits for all of them, thinks, and makes the next batch. All warps begin when
/// the pass of the flow begins. Sizes and addresses are those of the flow, which only reads.
///
/// Source: BaM (ASPLOS'23), where the threads of a warp submit together and queue pairs are shared
/// by many warps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarpsConfig {
    /// Number of warps. Range: 1..=1048576; `count * reads` is at most 16777216.
    pub count: u32,
    /// Requests of a batch: one for each thread of a warp that needs data of its own. Range:
    /// 1..=1024. Default: 32, the threads of a warp.
    #[serde(default = "threads")]
    pub reads: u32,
    /// Mean time from the end of a warp's batch to its next batch. Range: up to 100 days. Default:
    /// none.
    #[serde(default)]
    pub think_time: Span,
    /// Distribution of the think times.
    #[serde(default)]
    pub think: ThinkTimes,
    /// Queue pairs of the flow. Warp `w` uses number `w` modulo this for all of its requests.
    /// Range: 1..=65535, and at most 65535 for all flows together. More than one only over NVMe.
    /// Default: one.
    #[serde(default = "one")]
    pub queue_pairs: u16,
}

fn threads() -> u32 {
    32
}

fn one() -> u16 {
    1
}

impl WarpsConfig {
    /// Most requests outstanding at a time.
    #[must_use]
    pub fn outstanding_max(&self) -> u64 {
        u64::from(self.count) * u64::from(self.reads)
    }
}

/// Distribution of the think times of warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThinkTimes {
    /// All are equal.
    #[default]
    Constant,
    /// Exponential.
    Exponential,
}
