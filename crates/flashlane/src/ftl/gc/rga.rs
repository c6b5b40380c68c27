//! Randomised greedy (d-choices): the best of a few blocks drawn at random.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::policy::PolicyDoc;

/// Parameters of randomised greedy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RgaConfig {
    /// Blocks drawn; 0 for floor(log2(blocks per plane)), as MQSim.
    pub choices: u32,
}

impl PolicyDoc for RgaConfig {
    const SUMMARY: &'static str = "the block with the fewest valid pages among `choices` random ones";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.4; Li, Lee and Lui 2013 (d-choices)";
}
