//! Static striping: the logical address decides the plane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::policy::PolicyDoc;

/// Parameters of static striping (none; the order is the name).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StripedConfig {}

impl PolicyDoc for StripedConfig {
    const SUMMARY: &'static str = "static striping in the order of the name, first letter fastest";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.2";
}
