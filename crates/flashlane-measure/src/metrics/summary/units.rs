//! Mapping units in summaries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Mapping units that are packed into pages and word lines. Unit: mapping units, unless named
/// otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnitSummary {
    /// Mapping units in a page of the flash.
    pub per_page: u32,
    /// Mapping units that a plane programs at once: those of a page, or of a word line with
    /// one-shot and two-pass programming.
    #[serde(default)]
    pub per_program: u32,
    /// Empty units that were programmed, since their page or word line was sent before it was full.
    pub padded: u64,
    /// Most units that waited at a time in the controller's memory for others of their page or word
    /// line, or for those of the next word line with two-pass programming. 0 in runs without time.
    #[serde(default)]
    pub waiting_max: u32,
    /// Reads of units that were not programmed yet: the controller answered from its memory.
    pub buffered_reads: u64,
    /// Units that were read along with another unit of their page, without a sensing of their own.
    pub joined_reads: u64,
    /// First passes of word lines that ended; only with two-pass programming, in runs with time.
    /// The programs that `flash` and `wear` count are word lines whose second pass ended. Unit:
    /// word lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_passes: Option<u64>,
    /// Second passes that did not wait for the first pass of the next word line, since no data came
    /// for it, as `first_passes`. Unit: word lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_second_passes: Option<u64>,
}
