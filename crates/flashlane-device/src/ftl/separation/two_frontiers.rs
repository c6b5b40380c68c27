//! Two frontiers: one for the host's writes, one for copies. The stage itself does this.

use flashlane_units::PolicyDoc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TwoFrontiersConfig {}

impl PolicyDoc for TwoFrontiersConfig {
    const SUMMARY: &'static str = "two frontiers: one for writes of the host, one for pages that \
        collection copies";
    const SOURCE: &'static str = "MQSim (FAST'18); Van Houdt 2014, DWF";
}
