//! No separation: one frontier for the host's writes and for copies.

use flashlane_units::PolicyDoc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NoSeparationConfig {}

impl PolicyDoc for NoSeparationConfig {
    const SUMMARY: &'static str = "one frontier: writes of the host and pages that collection \
        copies fill the same blocks";
    const SOURCE: &'static str = "Van Houdt 2014, SWF; Desnoyers 2012";
}
