//! First come, first served: one queue per die.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::policy::PolicyDoc;

/// Parameters (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FcfsConfig {}

impl PolicyDoc for FcfsConfig {
    const SUMMARY: &'static str = "one queue per die, strictly in order of arrival";
    const SOURCE: &'static str = "baseline";
}
