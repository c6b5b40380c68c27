//! The SLC cache in summaries.

use flashlane_device::ftl::slc_cache::SlcCounts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The SLC cache. Unit: pages of the flash, unless named otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlcCacheSummary {
    /// Pages that the host wrote into the cache.
    pub written: u64,
    /// Pages that the host wrote around the cache, into ordinary blocks.
    pub direct: u64,
    /// Reads of the host that the cache served.
    pub reads: u64,
    /// Blocks of the cache whose data began to move into ordinary blocks.
    pub folds: u64,
    /// The folds that began in idle time (`slc_cache.fold_after`).
    pub idle_folds: u64,
    /// Valid pages of those blocks when it began.
    pub folded: u64,
    /// Erases of blocks in SLC mode. They are part of all erases.
    pub erases: u64,
    /// Blocks in SLC mode at the end of the window.
    pub blocks: u32,
    /// Pages of a block in SLC mode.
    pub pages_per_block: u32,
}

impl SlcCacheSummary {
    /// The counts between two readings.
    pub(crate) fn between(from: &SlcCounts, to: &SlcCounts) -> Self {
        let &SlcCounts { written, direct, reads, folds, idle_folds, .. } = to;
        let &SlcCounts { folded, erases, blocks, pages_per_block, .. } = to;
        Self {
            written: written - from.written,
            direct: direct - from.direct,
            reads: reads - from.reads,
            folds: folds - from.folds,
            idle_folds: idle_folds - from.idle_folds,
            folded: folded - from.folded,
            erases: erases - from.erases,
            blocks,
            pages_per_block,
        }
    }
}
