//! The room that every plane needs, so that collection always finds a block to empty.

use std::borrow::Cow;

use super::config::{FtlConfig, FtlSettings, OVER_PROVISIONING};
use super::mapping::EntrySizes;
use super::reserve_blocks;
use super::superblocks;
use crate::flash::config::BLOCKS_PER_PLANE;
use crate::layout::{FlowSpace, Layout};

/// What one plane has to hold and what it has room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaneBudget {
    /// Flows whose pages are striped over the plane.
    pub flows: u32,
    /// Logical pages that may be valid on the plane at once, translation pages included.
    pub logical_pages: u64,
    /// Blocks that are open for writing: for each flow one to three for data, as `ftl.separation`
    /// says, and two for translation pages unless mapping is ideal. Flows share those of
    /// superblocks.
    pub frontier_blocks: u32,
    /// Blocks that only collection may use.
    pub reserve_blocks: u32,
    /// Blocks of the plane.
    pub blocks: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Pages of a block that its collection may gain without an effect: a part of what the flash
    /// programs at once. 0 where every page is programmed by itself.
    pub padding: u32,
}

impl PlaneBudget {
    /// Pages of the blocks that are neither open nor reserved.
    #[must_use]
    pub fn room_pages(&self) -> u64 {
        assert!(self.padding < self.pages_per_block.max(1), "padding is a part of a page of flash");
        let blocks = self.blocks.saturating_sub(self.reserve_blocks + self.frontier_blocks);
        u64::from(blocks) * u64::from(self.pages_per_block - self.padding)
    }

    /// True where collection always finds a block with an invalid page: the full blocks have room
    /// for more than everything that can be valid.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.flows == 0 || self.room_pages() > self.logical_pages
    }

    /// Most pages that rounding up can add to the logical pages.
    fn rounding_pages(&self) -> u64 {
        2 * u64::from(self.flows)
    }

    /// A ratio of over-provisioning with which the plane fits. `ratio`: the present one.
    #[must_use]
    pub fn over_provisioning_needed(&self, ratio: f64) -> Option<f64> {
        let room = self.room_pages().checked_sub(self.rounding_pages())?;
        let needed = (1.0 + ratio) * self.logical_pages as f64 / room as f64 - 1.0;
        (needed <= *OVER_PROVISIONING.end()).then_some(needed)
    }

    /// A number of blocks with which the plane fits, if its logical pages grow in proportion to its
    /// blocks; `None` where over-provisioning is too small at any size.
    #[must_use]
    pub fn blocks_needed(&self, ftl: &FtlConfig) -> Option<u32> {
        let full = f64::from(self.blocks) * f64::from(self.pages_per_block);
        let spare = 1.0 - self.logical_pages as f64 / full;
        let mut blocks = self.blocks;
        while spare > 0.0 && BLOCKS_PER_PLANE.contains(&blocks) {
            // The reserve may be a share of the blocks and grow with them.
            let overhead = gc_reserve(ftl, blocks) + self.frontier_blocks;
            let rounding = self.rounding_pages() as f64 / f64::from(self.pages_per_block);
            let needed = ((f64::from(overhead) + rounding) / spare) as u32 + 1;
            if needed <= blocks {
                return Some(blocks);
            }
            blocks = needed;
        }
        None
    }
}

/// Blocks of a plane that only collection may use: the hard threshold, 2 at least (one to copy into
/// and one while an erase is under way), and one for every block in collection at a time.
#[must_use]
pub fn gc_reserve(ftl: &FtlConfig, blocks_per_plane: u32) -> u32 {
    let hard = ftl.gc.hard_threshold.blocks(blocks_per_plane);
    assert!(hard <= blocks_per_plane, "the low watermark is a part of the plane");
    hard.max(reserve_blocks(&ftl.gc))
}

/// The budget of every plane, by flat plane number; with superblocks, of every set of dies.
///
/// A flow's pages are striped over its planes, so a plane holds at most `ceil(pages / planes)` of
/// them, and with a mapping table on flash as many translation pages as address them, plus one.
/// With dynamic allocation that is the plane's average; [`data_limits`] keeps a plane from taking
/// more than its budget.
pub fn plane_budget(settings: FtlSettings<'_>, layout: &Layout) -> Vec<PlaneBudget> {
    let folded = superblocks::folded(settings, layout);
    let shared = matches!(folded, Cow::Owned(_));
    let drive = layout;
    let layout = &*folded;
    let geometry = layout.geometry;
    let ideal = !settings.config.mapping.is_cached();
    // The SLC cache may have an open block of its own for every flow.
    let slc = u32::from(settings.slc_cache.is_some());
    let data = match settings.placement.is_off() {
        true => settings.config.separation.frontiers().count(),
        false => settings.placement.frontiers(),
    };
    let static_blocks = settings.slc_cache.map_or(0, |cache| cache.static_blocks);
    let empty = PlaneBudget {
        reserve_blocks: gc_reserve(settings.config, geometry.blocks_per_plane),
        blocks: geometry.blocks_per_plane - static_blocks,
        pages_per_block: geometry.pages_per_block,
        padding: geometry.units_per_program() - 1,
        ..PlaneBudget::default()
    };
    let mut budgets = vec![empty; geometry.planes() as usize];
    let anywhere = settings.sets_move;
    if anywhere {
        // Every flow may leave open blocks on any plane, and has one more stream for pages that
        // move to another chip.
        let streams = if ideal { 3 + u32::from(settings.opens_frontiers_at_start()) } else { 5 };
        let flows = layout.flows.len() as u32;
        for budget in &mut budgets {
            (budget.flows, budget.frontier_blocks) = (flows, flows * streams);
        }
    }
    for flow in &layout.flows {
        let pages = pages_of_plane(flow, layout) + translation_pages(settings, drive, flow);
        for plane in flow.planes(geometry) {
            let budget = &mut budgets[plane.index()];
            budget.logical_pages += pages;
            if anywhere {
                continue;
            }
            budget.flows += 1;
            if shared && budget.flows > 1 {
                continue;
            }
            budget.frontier_blocks += match ideal {
                true => data + slc + u32::from(settings.opens_frontiers_at_start()),
                false => data + 2 + slc,
            };
        }
    }
    budgets
}

/// Data pages of a flow that a plane holds at most, if its pages are striped over its planes: as
/// many in a row as a page of the flash has.
fn pages_of_plane(flow: &FlowSpace, layout: &Layout) -> u64 {
    let units = u64::from(layout.zones.map_or(layout.geometry.units_per_page, |zone| zone.pages));
    flow.pages.div_ceil(units).div_ceil(u64::from(flow.plane_count()).max(1)) * units
}

/// Translation pages that a plane holds at most for a flow with data at the start.
fn translation_pages(settings: FtlSettings<'_>, layout: &Layout, flow: &FlowSpace) -> u64 {
    if !settings.config.mapping.is_cached() {
        return 0;
    }
    let geometry = layout.geometry;
    let entries = EntrySizes::new(geometry.pages(), geometry.sectors_per_page).per_page;
    flow.pages.div_ceil(entries).div_ceil(u64::from(flow.plane_count()).max(1)) + 1
}

/// Limit of the data pages of all flows together on each plane, for sets of chips that change, and
/// with superblocks on each set of dies, for reclaim groups. Collection of a plane within its limit
/// always finds a victim. `reserve`: blocks of a plane that only collection may use.
pub fn plane_limits(settings: FtlSettings<'_>, layout: &Layout, reserve: u32) -> Vec<u32> {
    let budgets = plane_budget(settings, layout)
        .into_iter()
        .map(|budget| PlaneBudget { reserve_blocks: reserve, ..budget });
    let drive = layout;
    let layout = &*superblocks::folded(settings, layout);
    let mut limits: Vec<u64> =
        budgets.map(|budget| budget.room_pages().saturating_sub(1)).collect();
    for flow in &layout.flows {
        let translation = translation_pages(settings, drive, flow);
        for plane in flow.planes(layout.geometry) {
            let limit = &mut limits[plane.index()];
            *limit = limit.saturating_sub(translation);
        }
    }
    limits.into_iter().map(|limit| limit as u32).collect()
}

/// Data pages that each flow may hold on each plane, by plane and flow: its even share and its part
/// of what the plane can spare. Collection of a plane within these limits always finds a victim,
/// and together the planes of a flow have room for all of its pages.
///
/// In the one stream of a SATA drive a flow writes into the pages of others, so there the limit is
/// for all flows together: one number for each plane.
pub(crate) fn data_limits(settings: FtlSettings<'_>, layout: &Layout) -> Vec<u32> {
    let budgets = plane_budget(settings, layout);
    let flows = if layout.is_one_stream() { 1 } else { layout.flows.len() };
    let mut limits = vec![0; budgets.len() * flows];
    for (index, flow) in layout.flows.iter().enumerate() {
        let even = pages_of_plane(flow, layout);
        for plane in flow.planes(layout.geometry) {
            let budget = &budgets[plane.index()];
            // A flow goes on with the row that it fills, even beyond its limit.
            let beyond = u64::from(budget.flows) * u64::from(budget.padding);
            let spare = budget.room_pages().saturating_sub(budget.logical_pages + 1 + beyond);
            let limit = even + spare / u64::from(budget.flows);
            limits[plane.index() * flows + index.min(flows - 1)] += limit as u32;
        }
    }
    limits
}
