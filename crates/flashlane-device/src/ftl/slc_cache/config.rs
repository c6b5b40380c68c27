//! The configuration of the SLC cache.

use flashlane_units::{ByteSize, Ratio, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An SLC cache: the host writes into blocks whose cells hold one bit each, which is fast, and the
/// drive moves the data into ordinary blocks later. Blocks of the static part are always in SLC
/// mode. The dynamic part takes its blocks from the free ones of each plane and gives them back.
/// Writes go around the cache where it is full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlcCacheConfig {
    /// Data that the blocks of the dynamic part may hold, all together. Range: 0, or one block in
    /// SLC mode of each plane to all blocks.
    #[serde(default)]
    pub size: ByteSize,
    /// Data that the blocks of the static part hold. These blocks never hold pages of an ordinary
    /// one, and are part of over-provisioning. Range: 0, or one block in SLC mode of each plane to
    /// half of all blocks.
    #[serde(default)]
    pub static_size: ByteSize,
    /// Part of the free blocks of a plane that the dynamic part may take: it shrinks as the drive
    /// fills. Free blocks are those of the dynamic part and those of the pool above
    /// `ftl.gc.threshold`. Range: 1 %..=100 %.
    #[serde(default = "all")]
    pub free_share: Ratio,
    /// tR of a page in SLC mode.
    pub read_time: Span,
    /// tPROG of a page in SLC mode.
    pub program_time: Span,
    /// tPROG of a page of the dynamic part, where it differs: some drives fill that part more
    /// slowly
    /// than the static one. Default: `program_time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_program_time: Option<Span>,
    /// Time for which folding occupies a die beside tR, for each command that reads pages to be
    /// moved: what a drive does to move them with care, which no maker publishes. Range: up to
    /// 1 s. Default: none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub fold_time: Span,
    /// Idle time of the drive after which it folds the cache: it moves the data of full blocks into
    /// ordinary ones, oldest first, until the host comes back or the cache is empty. Without the
    /// key, blocks are folded only where a plane is short of free blocks. Range: 1 us..=1000 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold_after: Option<Span>,
}

fn is_none(time: &Span) -> bool {
    time.0 == 0
}

fn all() -> Ratio {
    Ratio(1.0)
}
