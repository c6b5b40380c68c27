//! Mapping units in summaries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Mapping units that are packed into pages. Unit: mapping units, unless named otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnitSummary {
    /// Mapping units in a page of the flash.
    pub per_page: u32,
    /// Empty units that were programmed, since their page was sent before it was full.
    pub padded: u64,
    /// Reads of units that were not programmed yet: the controller answered from its memory.
    pub buffered_reads: u64,
    /// Units that were read along with another unit of their page, without a sensing of their own.
    pub joined_reads: u64,
}
