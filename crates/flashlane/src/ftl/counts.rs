//! What the translation layer tells of itself.

use super::Ftl;
use super::moving::IsolationSummary;

/// What the layer has done up to an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FtlCounts {
    pub(crate) zero_fill_reads: u64,
    pub(crate) gc_invocations: u64,
    pub(crate) wear_leveling_moves: u64,
    /// Of hybrid mapping: full, partial, switch.
    pub(crate) merges: [u64; 3],
    /// Translation pages written back.
    pub(crate) writebacks: u64,
    /// Blocks that planes have fewer free than `ftl.gc.threshold` asks for.
    pub(crate) blocks_owed: u64,
}

impl Ftl {
    /// What has been done so far.
    pub(crate) fn counts(&self) -> FtlCounts {
        let merges = self.hybrid.as_ref();
        FtlCounts {
            zero_fill_reads: self.zero_fill_reads,
            gc_invocations: self.gc_invocations,
            wear_leveling_moves: self.wear_leveling_moves,
            merges: merges.map_or([0; 3], |h| [h.full_merges, h.partial_merges, h.switch_merges]),
            writebacks: self.mapping.as_ref().map_or(0, |table| table.writebacks),
            blocks_owed: self.blocks_owed(),
        }
    }

    /// Erases of each block.
    pub(crate) fn erases_of_blocks(&self) -> Vec<u32> {
        (0..self.blocks.count() as u32).map(|block| self.blocks.block(block).erases).collect()
    }

    /// Free blocks of each plane.
    pub(crate) fn free_blocks(&self) -> impl Iterator<Item = u64> + Clone {
        self.blocks.planes.iter().map(|plane| u64::from(plane.free))
    }

    /// Chips that a flow may write to, where sets of chips move.
    pub(crate) fn chips_of(&self, flow: u16) -> Option<u32> {
        self.sets.as_ref().map(|sets| sets.chips_of(flow))
    }

    /// What the sets of chips did, where they move.
    pub(crate) fn sets_summary(&self) -> Option<IsolationSummary> {
        self.sets.as_ref().map(|sets| sets.summary(&self.blocks))
    }
}
