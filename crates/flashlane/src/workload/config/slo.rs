//! What a tenant was promised: its service level objectives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_units::{Bandwidth, Span};

/// The goals of a tenant. Times are from arrival to completion (`end_to_end_us`), as the tenant
/// sees them. A goal of time is missed, too, where the drive does not keep up with the tenant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SloConfig {
    /// Mean at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Span>,
    /// Median at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<Span>,
    /// 90th percentile at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<Span>,
    /// 95th percentile at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95: Option<Span>,
    /// 99th percentile at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<Span>,
    /// 99.9th percentile at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_9: Option<Span>,
    /// 99.99th percentile at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_99: Option<Span>,
    /// The longest time at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Span>,
    /// Slowdown at most. The flows then also run alone, as with `--alone`. Range: 1 and above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<f64>,
    /// Completions per second at least. Range: above 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_iops: Option<f64>,
    /// Bytes per second at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_bandwidth: Option<Bandwidth>,
}

impl SloConfig {
    /// The goals of time, in order of strictness: key, and the longest time that keeps it.
    pub(crate) fn times(&self) -> [(&'static str, Option<Span>); 8] {
        [
            ("mean", self.mean),
            ("p50", self.p50),
            ("p90", self.p90),
            ("p95", self.p95),
            ("p99", self.p99),
            ("p99_9", self.p99_9),
            ("p99_99", self.p99_99),
            ("max", self.max),
        ]
    }

    /// Nothing is promised.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
