//! The state of the translation layer apart from any run: preconditioning makes it, and several
//! runs can start from it.

use flashlane_engine::{Frozen, Use};
use flashlane_units::{FlowId, Handle};

use super::Ftl;
use super::allocation::Allocator;
use super::blocks::Blocks;
use super::config::{FtlSettings, MappingKind};
use super::hybrid::Hybrid;
use super::mapping::MappingTable;
use super::pages::{FrozenPages, PageTables, TableSize};
use super::reserve_blocks;
use super::superblocks::{Owners, Stripes, fold};
use crate::layout::{Geometry, Layout};

/// Entries of a page table in a small page of memory.
const ENTRIES_PER_SMALL_PAGE: u64 = 1024;

/// Bits of the masks of pages: twice the sectors of a page where parts of requests reach over its
/// end.
fn mask_bits(layout: &Layout) -> u32 {
    let sectors = layout.geometry.sectors_per_page;
    match layout.flows.iter().any(|flow| flow.page_phase != 0) {
        true => (2 * sectors).min(u64::BITS),
        false => layout.geometry.grain().bits(sectors),
    }
}

/// Everything that preconditioning leaves behind and that outlives a run.
#[derive(Clone)]
pub struct FtlState {
    /// Where each logical page is, and what each physical page holds.
    pub pages: PageTables,
    /// The state of each block.
    pub blocks: Blocks,
    /// The table on flash and its cached part; `None` where all of it is in memory.
    pub mapping: Option<MappingTable>,
    /// The log blocks of a hybrid mapping, if there is one.
    pub hybrid: Option<Hybrid>,
    /// The placement handle of each logical page; empty before anything was written, and where
    /// hosts place nothing.
    pub handles: Vec<Handle>,
}

impl FtlState {
    /// An empty state, to leave behind where a state is moved out.
    pub fn empty() -> Self {
        let geometry = Geometry {
            channels: 0,
            chips_per_channel: 0,
            dies_per_chip: 0,
            planes_per_die: 0,
            blocks_per_plane: 0,
            pages_per_block: 1,
            sectors_per_page: 1,
            units_per_page: 1,
            pages_per_program: 1,
            pages_per_unit: 1,
        };
        let none = TableSize { pages: 0, purpose: Use::Sparse };
        Self {
            pages: PageTables::new(none, none, 1, 1),
            blocks: Blocks::new(geometry, 0, false, 0),
            mapping: None,
            hybrid: None,
            handles: Vec::new(),
        }
    }

    /// Everything but the [`tables`](PageTables::tables), as plain numbers. `None` with hybrid
    /// mapping, and where pages have handles.
    pub fn numbers(&self) -> Option<Vec<u32>> {
        if self.hybrid.is_some() || !self.handles.is_empty() {
            return None;
        }
        let mut out = Vec::new();
        self.blocks.put(&mut out);
        if let Some(mapping) = &self.mapping {
            mapping.put(&mut out);
        }
        self.pages.put(&mut out);
        Some(out)
    }

    /// Restores this empty state from what a drive with the same configuration gave. `None` for
    /// anything else.
    pub fn take(
        self,
        mut tables: impl Iterator<Item = Frozen>,
        mut numbers: impl Iterator<Item = u32>,
    ) -> Option<FrozenState> {
        let Self { pages, mut blocks, mut mapping, hybrid, handles } = self;
        blocks.take(&mut numbers)?;
        if let Some(mapping) = &mut mapping {
            mapping.take(&mut numbers)?;
        }
        let pages = pages.take(&mut tables, &mut numbers)?;
        let over = numbers.next().is_none() && tables.next().is_none() && hybrid.is_none();
        over.then_some(FrozenState { pages, blocks, mapping, hybrid, handles })
    }

    /// Ends all changes, so that the state can be copied.
    pub fn freeze(self) -> FrozenState {
        let Self { pages, blocks, mapping, hybrid, handles } = self;
        FrozenState { pages: pages.freeze(), blocks, mapping, hybrid, handles }
    }

    /// An empty drive, for one run of at least `requests` requests.
    pub fn new(settings: FtlSettings<'_>, layout: &Layout, requests: u64) -> Self {
        // From this number of requests on, most of the table of logical pages is touched, a small
        // page of memory at a time. The table of physical pages fills from the front of each plane,
        // with every write.
        let touched = requests >= layout.logical_pages / ENTRIES_PER_SMALL_PAGE;
        let written = requests >= layout.geometry.pages() / 2;
        let filled = |used: bool| {
            if settings.config.precondition.enabled || used { Use::Filled } else { Use::Sparse }
        };
        Self::with(settings, layout, filled(touched), filled(written))
    }

    /// An empty drive for many runs: each run copies the state after preconditioning.
    pub fn to_be_frozen(settings: FtlSettings<'_>, layout: &Layout) -> Self {
        Self::with(settings, layout, Use::Copied, Use::Copied)
    }

    /// An empty drive. `logical_use` and `physical_use`: how the tables of logical and of physical
    /// pages will be used.
    fn with(
        settings: FtlSettings<'_>,
        layout: &Layout,
        logical_use: Use,
        physical_use: Use,
    ) -> Self {
        let geometry = layout.geometry;
        let reserve = reserve_blocks(&settings.config.gc);
        let flows = layout.flows.len() as u32;
        // Memory that is written in place has nothing to look up.
        let (logical, physical) = match settings.in_place {
            true => (0, 0),
            false => (layout.logical_pages, geometry.pages()),
        };
        let wear_leveling = settings.config.wear_leveling.dynamic;
        let cached = settings.config.mapping.is_cached();
        let folded = fold(settings, layout).expect("validation refuses sets that do not fit");
        let of_blocks = folded.as_ref().map_or(geometry, |folded| folded.layout.geometry);
        let mut blocks = Blocks::new(of_blocks, flows, wear_leveling, reserve);
        if let Some(folded) = &folded {
            let stripes = Stripes::new(folded, settings.config.unwritten_order);
            blocks.fold(stripes, Owners::new(layout), geometry.pages_per_block);
        }
        blocks.set_host_stream(settings.config.separation.frontiers().host());
        if let identifiers @ 1.. = settings.placement.handles_of_drive() {
            blocks.keep_handles(identifiers as u8, settings.placement.is_persistent());
        }
        if let Some(slc) = settings.slc_cache {
            blocks.keep_static(slc.static_blocks);
        }
        let one_stream = layout.is_one_stream();
        if one_stream {
            blocks.share_frontiers(Owners::new(layout));
        }
        if settings.opens_frontiers_at_start() {
            let writers = if one_stream { 1 } else { layout.flows.len() };
            for (index, flow) in (0..).map(FlowId::new).zip(&layout.flows).take(writers) {
                flow.planes(geometry).for_each(|plane| blocks.open_frontiers(plane, index));
            }
        }
        Self {
            pages: PageTables::new(
                TableSize { pages: logical, purpose: logical_use },
                TableSize { pages: physical, purpose: physical_use },
                geometry.sectors_per_page,
                mask_bits(layout),
            ),
            blocks,
            mapping: cached.then(|| MappingTable::new(settings, layout)),
            hybrid: (settings.config.mapping.kind == MappingKind::Hybrid).then(|| {
                let allocator = Allocator::new(&settings.config.allocation, layout);
                Hybrid::new(settings.config.mapping.log_blocks, layout, |flow| {
                    allocator.order(flow)
                })
            }),
            handles: Vec::new(),
        }
    }
}

impl Ftl {
    /// Lets go of a file that another process wants to write. To be called now and then.
    pub(crate) fn let_go(&mut self) {
        self.pages.let_go();
    }
}

/// A state that changes no more, from which runs start.
pub struct FrozenState {
    pages: FrozenPages,
    blocks: Blocks,
    mapping: Option<MappingTable>,
    hybrid: Option<Hybrid>,
    handles: Vec<Handle>,
}

impl FrozenState {
    /// Replaces the cached mapping table, by one that was warmed.
    pub fn with_mapping(self, mapping: Option<MappingTable>) -> Self {
        Self { mapping, ..self }
    }

    /// The state for one run. It shares the memory of the page tables, except for the parts that
    /// the run changes.
    pub fn copy(&self) -> FtlState {
        FtlState {
            pages: self.pages.copy(),
            blocks: self.blocks.clone(),
            mapping: self.mapping.clone(),
            hybrid: self.hybrid.clone(),
            handles: self.handles.clone(),
        }
    }
}
