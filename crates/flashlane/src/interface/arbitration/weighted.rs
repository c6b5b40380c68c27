//! Weighted round robin with an urgent class.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::policy::PolicyDoc;

/// Parameters of weighted round robin with urgent priority class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WeightedConfig {
    /// Commands fetched from one queue before the next queue of its class. Range: 1..=64.
    pub burst: u32,
    /// Weight of the class `high`: commands per round. Range: 1..=256.
    pub high: u32,
    /// Weight of the class `medium`. Range: 1..=256.
    pub medium: u32,
    /// Weight of the class `low`. Range: 1..=256.
    pub low: u32,
}

impl Default for WeightedConfig {
    fn default() -> Self {
        Self { burst: 1, high: 4, medium: 2, low: 1 }
    }
}

impl PolicyDoc for WeightedConfig {
    const SUMMARY: &'static str =
        "`urgent` queues first, the other classes by weight, round robin inside a class";
    const SOURCE: &'static str =
        "NVMe base specification, weighted round robin with urgent priority class";
}
