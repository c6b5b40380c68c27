//! Counters of the translation layer.

use super::Ftl;
use super::errors::ErrorCounts;
use super::hybrid::Hybrid;
use super::moving::IsolationSummary;
use super::placement::PlacementCounts;
use super::scrubbing::Scrubbing;
use super::separation::SeparationCounts;
use super::slc_cache::SlcCounts;
use super::units::UnitCounts;
use flashlane_units::FlowId;

/// Page counts of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowPages {
    /// Host pages programmed.
    pub(crate) host_programs: u64,
    /// Pages programmed by collection and for translation on behalf of the flow.
    pub(crate) other_programs: u64,
    /// Writes of a part of a page for which the rest of the page was read first.
    pub(crate) read_modify_writes: u64,
    /// Look-ups that the cached mapping table could answer, and look-ups that it could not.
    pub(crate) cmt_hits: u64,
    pub(crate) cmt_misses: u64,
}

/// Counters of the layer at an instant.
#[derive(Clone, Debug, Default)]
pub struct FtlCounts {
    pub zero_fill_reads: u64,
    pub gc_invocations: u64,
    pub wear_leveling_moves: u64,
    pub read_scrubbing_moves: u64,
    /// Bit errors; `None` where they are not modelled.
    pub errors: Option<ErrorCounts>,
    /// Units packed into pages; `None` where pages are mapped whole.
    pub units: Option<UnitCounts>,
    /// The SLC cache; `None` where there is none.
    pub slc_cache: Option<SlcCounts>,
    /// Pages of the host by frontier; `None` where no policy tells hot pages from cold ones.
    pub separation: Option<SeparationCounts>,
    /// Data by placement handle; `None` where hosts place nothing.
    pub placement: Option<Box<PlacementCounts>>,
    /// Merges with hybrid mapping: full, partial, switch.
    pub merges: [u64; 3],
    /// Translation pages written back.
    pub writebacks: u64,
    /// Free blocks that planes lack to reach `ftl.gc.threshold`, summed over planes.
    pub blocks_owed: u64,
}

impl Ftl {
    /// The counters now.
    pub fn counts(&self) -> FtlCounts {
        let merges = self.layer.hybrid().map_or([0; 3], Hybrid::merges_done);
        let errors = self.errors.as_ref().map(|errors| errors.counts());
        FtlCounts {
            zero_fill_reads: self.zero_fill_reads,
            gc_invocations: self.gc_invocations,
            wear_leveling_moves: self.wear_leveling_moves,
            read_scrubbing_moves: self.scrubbing.as_ref().map_or(0, Scrubbing::moves)
                + errors.map_or(0, |counts| counts.refreshes),
            errors,
            units: self.unit_counts(),
            slc_cache: self.slc_counts(),
            separation: self.separation_counts(),
            placement: self.placement_counts().map(Box::new),
            merges,
            writebacks: self.mapping.as_ref().map_or(0, |table| table.writebacks),
            blocks_owed: self.blocks_owed(),
        }
    }

    /// Pages of each flow so far.
    pub(crate) fn pages_of_flows(&self) -> impl Iterator<Item = FlowPages> + '_ {
        self.flows.iter().copied()
    }

    /// Memory of the tables with an entry per page, and of the side table of partial pages. Unit:
    /// bytes.
    pub fn table_bytes(&self) -> (u64, u64) {
        (self.pages.bytes(), self.pages.side_table_bytes())
    }

    /// Erases of each block of the flash.
    pub fn erases_of_blocks(&self) -> Vec<u32> {
        match self.blocks.stripes() {
            Some(stripes) => stripes.erases(),
            None => self.blocks.numbers().map(|block| self.blocks.block(block).erases).collect(),
        }
    }

    /// Free blocks of each plane.
    pub fn free_blocks(&self) -> impl Iterator<Item = u32> + Clone {
        self.blocks.planes.iter().map(|plane| plane.free)
    }

    /// Chips that a flow may write to; `None` unless sets of chips move.
    pub(crate) fn chips_of(&self, flow: FlowId) -> Option<u32> {
        self.sets.as_ref().map(|sets| sets.chips_of(flow))
    }

    /// Summary of the sets of chips; `None` unless they move.
    pub(crate) fn sets_summary(&self) -> Option<IsolationSummary> {
        self.sets.as_ref().map(|sets| sets.summary(&self.blocks))
    }
}
