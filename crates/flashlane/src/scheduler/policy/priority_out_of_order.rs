//! Priority out of order: MQSim's scheduler with the four NVMe classes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::policy::PolicyDoc;

/// Weights of the classes below `urgent`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PriorityOutOfOrderConfig {
    /// Weight of `high`. Range: 1..=256.
    pub high: u32,
    /// Weight of `medium`. Range: 1..=256.
    pub medium: u32,
    /// Weight of `low`. Range: 1..=256.
    pub low: u32,
}

impl Default for PriorityOutOfOrderConfig {
    fn default() -> Self {
        Self { high: 4, medium: 2, low: 1 }
    }
}

impl PolicyDoc for PriorityOutOfOrderConfig {
    const SUMMARY: &'static str =
        "out-of-order with NVMe classes: urgent first, the others by work-conserving weights";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3";
}
