//! Greedy: the block with the fewest valid pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::policy::PolicyDoc;

/// Parameters of greedy (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GreedyConfig {}

impl PolicyDoc for GreedyConfig {
    const SUMMARY: &'static str = "the full block of the plane with the fewest valid pages";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.4; Bux and Iliadis 2010";
}
