//! Out of order: MQSim's default scheduler.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::policy::PolicyDoc;

/// Parameters (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OutOfOrderConfig {}

impl PolicyDoc for OutOfOrderConfig {
    const SUMMARY: &'static str = "mapping reads, reads, writes, erases; multi-plane sets led by the oldest";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3";
}
