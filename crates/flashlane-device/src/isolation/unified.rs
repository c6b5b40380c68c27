//! No isolation: every flow may write to every plane of its resource lists.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_units::PolicyDoc;

/// Parameters of unified allocation (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UnifiedConfig {}

impl PolicyDoc for UnifiedConfig {
    const SUMMARY: &'static str = "every flow writes to all the planes of its resource lists";
    const SOURCE: &'static str = "UPI (HotStorage), the baseline Unified";
}
