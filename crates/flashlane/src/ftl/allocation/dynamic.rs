//! Dynamic allocation: the least busy plane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::policy::PolicyDoc;

/// Parameters of dynamic allocation (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DynamicConfig {}

impl PolicyDoc for DynamicConfig {
    const SUMMARY: &'static str = "the flow's plane with the fewest waiting and running programs, \
        among those with room";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.2, after Tavakkol et al. 2016";
}
