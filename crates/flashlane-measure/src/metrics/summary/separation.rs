//! The separation of hot and cold data in summaries.

use flashlane_device::ftl::separation::SeparationCounts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pages that the host wrote to flash, by the frontier that they went to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeparationSummary {
    /// Pages that went to frontiers for hot pages.
    pub hot: u64,
    /// Pages that went to frontiers for cold pages.
    pub cold: u64,
}

impl From<SeparationCounts> for SeparationSummary {
    fn from(SeparationCounts { hot, cold }: SeparationCounts) -> Self {
        Self { hot, cold }
    }
}
