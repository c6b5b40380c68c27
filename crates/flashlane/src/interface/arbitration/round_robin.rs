//! Round robin over all submission queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::policy::PolicyDoc;

/// Parameters of round robin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoundRobinConfig {
    /// Commands fetched from one queue before the next queue's turn. Range: 1..=64.
    pub burst: u32,
}

impl Default for RoundRobinConfig {
    fn default() -> Self {
        Self { burst: 1 }
    }
}

impl PolicyDoc for RoundRobinConfig {
    const SUMMARY: &'static str = "every queue in turn, `burst` commands each";
    const SOURCE: &'static str = "NVMe base specification, round robin arbitration";
}
