//! Promises to a tenant: its service level objectives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_units::{Bandwidth, Span};

/// The goals of a tenant. Times are from arrival to completion (`end_to_end_us`), as the tenant
/// sees them. A goal of time also counts as missed if the drive does not keep up with the tenant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SloConfig {
    /// Largest mean time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Span>,
    /// Largest median time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<Span>,
    /// Largest 90th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<Span>,
    /// Largest 95th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95: Option<Span>,
    /// Largest 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<Span>,
    /// Largest 99.9th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_9: Option<Span>,
    /// Largest 99.99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_99: Option<Span>,
    /// Largest time of any request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Span>,
    /// Largest slowdown. The flows then also run alone, as with `--alone`. Range: 1 and above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<f64>,
    /// Fewest completions per second. Range: above 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_iops: Option<f64>,
    /// Fewest bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_bandwidth: Option<Bandwidth>,
}

impl SloConfig {
    /// The goals of time in order of strictness: key, and largest allowed time.
    pub fn times(&self) -> [(&'static str, Option<Span>); 8] {
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

    /// True if nothing is promised.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
