//! Static wear levelling: data that stays put is moved out of the least erased blocks, so that
//! these are used again.
//!
//! Dynamic wear levelling only chooses among free blocks; a block under data that is never
//! rewritten would keep its few erases. Source: MQSim (FAST'18) section 4.2.3, in its released
//! design, with erase counts where the release compares block numbers. It does so here, too, with
//! `compat.leveling_by_number`.

use flashlane_units::{BlockId, PlaneId};

use super::Ftl;
use crate::context::Context;
use crate::ftl::blocks::{Block, BlockState};
use crate::ftl::gc::JobKind;

impl Ftl {
    /// The least erased block of a plane if the erases of its blocks have spread too far. Among
    /// several it is the block that was filled first: its data has been unchanged longest.
    pub(super) fn coldest_block(&mut self, plane: PlaneId) -> Option<BlockId> {
        let collector = self.layer.collector()?;
        if collector.levels_by_number {
            return self.coldest_by_number(plane);
        }
        let (threshold, max_jobs) = (collector.wear_threshold, collector.max_jobs);
        let state = &self.blocks.planes[plane];
        if threshold == 0
            || state.erases_max - state.erases_min < threshold
            || state.jobs >= max_jobs
            || state.urgent
        {
            return None;
        }
        let (most, filled) = (state.erases_max, state.filled);
        let blocks = self.blocks.of_plane(plane);
        let fewest = blocks.iter().map(|block| block.erases).min().expect("a plane has blocks");
        let coldest = (0_u32..)
            .zip(blocks)
            .filter(|(_, block)| block.state == BlockState::Full && block.quiet())
            .filter(|(_, block)| most - block.erases >= threshold)
            .min_by_key(|(_, b)| (b.erases, std::cmp::Reverse(filled.wrapping_sub(b.filled))));
        let coldest = coldest.map(|(index, _)| index);
        self.blocks.planes[plane].erases_min = fewest;
        let index = coldest?;
        assert!(most >= fewest, "no block was erased more often than the most");
        self.wear_leveling_moves += 1;
        Some(self.blocks.first_block(plane).plus(index))
    }
}

impl Ftl {
    /// The first block with the fewest erases of a plane, if its number and that of the first with
    /// the most are far from each other.
    fn coldest_by_number(&mut self, plane: PlaneId) -> Option<BlockId> {
        let collector = self.layer.collector()?;
        let threshold = collector.wear_threshold;
        let state = &self.blocks.planes[plane];
        if threshold == 0 || !collector.has_room(state) {
            return None;
        }
        let blocks = self.blocks.of_plane(plane);
        let fewest = blocks.iter().map(|block| block.erases).min().expect("a plane has blocks");
        let first = |erases| blocks.iter().position(|block| block.erases == erases);
        let hot = first(state.erases_max).expect("a block has the most erases");
        let cold = first(fewest).expect("a block has the fewest");
        let far = hot < cold || hot - cold >= threshold as usize;
        let block = self.blocks.first_block(plane).plus(cold as u32);
        let stays = self.first_block_stays && block == BlockId::new(0);
        let Block { state, stream, .. } = blocks[cold];
        let is_full = state == BlockState::Full && blocks[cold].quiet();
        // The release never moves blocks of translation pages.
        let moves = is_full && !stays && stream.is_data();
        self.blocks.planes[plane].erases_min = fewest;
        if !far || !moves {
            return None;
        }
        self.wear_leveling_moves += 1;
        // The release marks the first block of the drive in place of the one that moves.
        self.first_block_stays |= cold == 0;
        Some(block)
    }
}

impl Ftl {
    /// Moves the data of the least erased block of a plane if the erases of its blocks have spread
    /// too far.
    pub(crate) fn level_wear(&mut self, ctx: &mut Context, plane: PlaneId) {
        if let Some(block) = self.coldest_block(plane) {
            self.start_job(ctx, plane, block, JobKind::Wear);
        }
    }
}
