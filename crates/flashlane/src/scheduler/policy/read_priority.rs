//! Read priority: reads before writes, each first come, first served.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::policy::PolicyDoc;

/// Parameters (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadPriorityConfig {}

impl PolicyDoc for ReadPriorityConfig {
    const SUMMARY: &'static str = "reads before writes, each in order of arrival";
    const SOURCE: &'static str = "FLIN (ISCA'18) section 6, after Wu and He, FAST'12";
}
