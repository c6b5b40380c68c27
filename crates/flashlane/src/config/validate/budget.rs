//! The room that every plane needs, so that no accepted configuration can stop for want of it.

use super::rules::Rules;
use crate::config::{DeviceConfig, FlowConfig, FtlConfig, MappingKind, WindowRule, WorkloadConfig};
use crate::ftl::hybrid::SPARE_BLOCKS;
use crate::ftl::mapping::EntrySizes;
use crate::ftl::{opens_frontiers_at_start, reserve_blocks};
use crate::isolation::{Isolation, UpiConfig};
use crate::layout::{FlowSpace, Layout};

/// What one plane has to hold and what it has room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaneBudget {
    /// Flows whose pages are striped over the plane.
    pub flows: u32,
    /// Logical pages that may be valid on the plane at once, translation pages included.
    pub logical_pages: u64,
    /// Blocks that are open for writing: one for host data and one for collection per flow, and
    /// as many for translation pages unless mapping is ideal.
    pub frontier_blocks: u32,
    /// Blocks that only collection may use.
    pub reserve_blocks: u32,
    /// Blocks of the plane.
    pub blocks: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
}

impl PlaneBudget {
    /// Pages of the blocks that are neither open nor reserved.
    #[must_use]
    pub fn room_pages(&self) -> u64 {
        let blocks = self.blocks.saturating_sub(self.reserve_blocks + self.frontier_blocks);
        u64::from(blocks) * u64::from(self.pages_per_block)
    }

    /// True where collection always finds a block with an invalid page: the full blocks have room
    /// for more than everything that can be valid.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.flows == 0 || self.room_pages() > self.logical_pages
    }

    /// What rounding up can add to the logical pages, at most.
    fn rounding_pages(&self) -> u64 {
        2 * u64::from(self.flows)
    }

    /// A ratio of over-provisioning with which the plane fits, if it now has `ratio`.
    #[must_use]
    pub fn over_provisioning_needed(&self, ratio: f64) -> Option<f64> {
        let room = self.room_pages().checked_sub(self.rounding_pages())?;
        let needed = (1.0 + ratio) * self.logical_pages as f64 / room as f64 - 1.0;
        (needed <= *super::OVER_PROVISIONING.end()).then_some(needed)
    }

    /// A number of blocks with which the plane fits, if its logical pages grow in proportion to its
    /// blocks; `None` where over-provisioning is too small at any size.
    #[must_use]
    pub fn blocks_needed(&self, ftl: &FtlConfig) -> Option<u32> {
        let full = f64::from(self.blocks) * f64::from(self.pages_per_block);
        let spare = 1.0 - self.logical_pages as f64 / full;
        let mut blocks = self.blocks;
        while spare > 0.0 && super::BLOCKS_PER_PLANE.contains(&blocks) {
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
    hard.max(reserve_blocks(&ftl.gc))
}

/// The budget of every plane, by flat plane number.
///
/// A flow's pages are striped over its planes, so a plane holds at most `ceil(pages / planes)` of
/// them, and with a mapping table on flash as many translation pages as address them, plus one.
/// With dynamic allocation that is the plane's average; [`data_limits`] keeps a plane from taking
/// more than its budget.
#[must_use]
pub fn plane_budget(device: &DeviceConfig, layout: &Layout) -> Vec<PlaneBudget> {
    let geometry = layout.geometry;
    let ideal = !device.ftl.mapping.is_cached();
    let empty = PlaneBudget {
        reserve_blocks: gc_reserve(&device.ftl, geometry.blocks_per_plane),
        blocks: geometry.blocks_per_plane,
        pages_per_block: geometry.pages_per_block,
        ..PlaneBudget::default()
    };
    let mut budgets = vec![empty; geometry.planes() as usize];
    let anywhere = matches!(device.isolation, Isolation::Upi(_));
    if anywhere {
        // Every flow may leave open blocks anywhere, and has one more to move pages to.
        let streams = if ideal { 3 + u32::from(opens_frontiers_at_start(device)) } else { 5 };
        let flows = layout.flows.len() as u32;
        for budget in &mut budgets {
            (budget.flows, budget.frontier_blocks) = (flows, flows * streams);
        }
    }
    for flow in &layout.flows {
        let planes = u64::from(flow.plane_count()).max(1);
        let pages = flow.pages.div_ceil(planes) + translation_pages(device, layout, flow);
        for plane in flow.planes(geometry) {
            let budget = &mut budgets[plane as usize];
            budget.logical_pages += pages;
            if anywhere {
                continue;
            }
            budget.flows += 1;
            budget.frontier_blocks += match ideal {
                true => 2 + u32::from(opens_frontiers_at_start(device)),
                false => 4,
            };
        }
    }
    budgets
}

/// Translation pages of a flow that a plane holds at most, where the flow has data at the start.
fn translation_pages(device: &DeviceConfig, layout: &Layout, flow: &FlowSpace) -> u64 {
    if !device.ftl.mapping.is_cached() {
        return 0;
    }
    let geometry = layout.geometry;
    let entries = EntrySizes::new(geometry.pages(), geometry.sectors_per_page).per_page;
    flow.pages.div_ceil(entries).div_ceil(u64::from(flow.plane_count()).max(1)) + 1
}

/// Data pages that each plane may hold of all flows together, for sets of chips that change. Collection of a
/// plane within its limit always finds a victim.
pub(crate) fn plane_limits(device: &DeviceConfig, layout: &Layout) -> Vec<u32> {
    let budgets = plane_budget(device, layout);
    let mut limits: Vec<u64> =
        budgets.iter().map(|budget| budget.room_pages().saturating_sub(1)).collect();
    for flow in &layout.flows {
        let translation = translation_pages(device, layout, flow);
        for plane in flow.planes(layout.geometry) {
            let limit = &mut limits[plane as usize];
            *limit = limit.saturating_sub(translation);
        }
    }
    limits.into_iter().map(|limit| limit as u32).collect()
}

/// Refuses sets that could run out of room. However the sets come to be, a flow can be given chips until
/// every other flow has a single one; with all that the drive holds on the chips left, there must be room.
fn check_moving_sets(rules: &mut Rules, device: &DeviceConfig, layout: &Layout, upi: &UpiConfig) {
    let geometry = layout.geometry;
    let per_chip = geometry.dies_per_chip * geometry.planes_per_die;
    let limits = plane_limits(device, layout);
    let mut rooms: Vec<u64> = (0..geometry.chips())
        .filter(|chip| !upi.read_only_chips.contains(chip))
        .map(|chip| {
            (chip * per_chip..(chip + 1) * per_chip).map(|p| u64::from(limits[p as usize])).sum()
        })
        .collect();
    rooms.sort_unstable();
    let flows = layout.flows.len();
    let room: u64 = rooms.iter().take(rooms.len().saturating_sub(flows - 1)).sum();
    rules.require(room > layout.logical_pages, "ftl.over_provisioning", || {
        format!(
            "found {}: with isolation upi {} logical pages must fit on all chips that are written to \
             but {}, one for each other flow, which have room for {room}; allowed: more \
             over-provisioning, more blocks per plane, more chips, or fewer flows",
            device.ftl.over_provisioning,
            layout.logical_pages,
            flows - 1
        )
    });
}

/// Data pages that each flow may hold on each plane, by plane and flow: its even share and its part
/// of what the plane can spare. Collection of a plane within these limits always finds a victim,
/// and together the planes of a flow have room for all of its pages.
pub(crate) fn data_limits(device: &DeviceConfig, layout: &Layout) -> Vec<u32> {
    let budgets = plane_budget(device, layout);
    let flows = layout.flows.len();
    let mut limits = vec![0; budgets.len() * flows];
    for (index, flow) in layout.flows.iter().enumerate() {
        let even = flow.pages.div_ceil(u64::from(flow.plane_count()).max(1));
        for plane in flow.planes(layout.geometry) {
            let budget = &budgets[plane as usize];
            let spare = budget.room_pages().saturating_sub(budget.logical_pages + 1);
            let limit = even + spare / u64::from(budget.flows);
            limits[plane as usize * flows + index] = limit as u32;
        }
    }
    limits
}

/// Refuses the device unless every plane fits. The rest of both configurations must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig, workload: &WorkloadConfig) {
    let layout = Layout::new(device, workload);
    if device.ftl.mapping.kind == MappingKind::Hybrid {
        check_hybrid(rules, device, &layout);
        return;
    }
    let budgets = plane_budget(device, &layout);
    let shortage = |budget: &PlaneBudget| budget.logical_pages as i64 - budget.room_pages() as i64;
    let worst = budgets
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, budget)| !budget.fits())
        .max_by_key(|(_, budget)| shortage(budget));
    let Some((plane, worst)) = worst else {
        if let Isolation::Upi(upi) = &device.isolation {
            check_moving_sets(rules, device, &layout, upi);
        }
        return;
    };
    rules.refuse("ftl.over_provisioning", explain(device, plane, worst));
}

/// Refuses hybrid mapping unless every plane has its data blocks, its log blocks and some to spare.
fn check_hybrid(rules: &mut Rules, device: &DeviceConfig, layout: &Layout) {
    let geometry = layout.geometry;
    let log_blocks = u64::from(device.ftl.mapping.log_blocks) + 1;
    let mut needed = vec![0; geometry.planes() as usize];
    for flow in &layout.flows {
        let pages = flow.pages.div_ceil(u64::from(flow.plane_count()).max(1));
        let blocks = pages.div_ceil(u64::from(geometry.pages_per_block)) + log_blocks;
        for plane in flow.planes(geometry) {
            needed[plane as usize] += blocks;
        }
    }
    let Some((plane, &most)) = needed.iter().enumerate().rev().max_by_key(|(_, blocks)| **blocks)
    else {
        return;
    };
    let most = most + SPARE_BLOCKS;
    let blocks = u64::from(geometry.blocks_per_plane);
    rules.require(most <= blocks, "ftl.mapping.log_blocks", || {
        format!(
            "found {}: plane {plane} has {blocks} blocks, but needs {most} for data, {log_blocks} log blocks \
             of each flow (one of them sequential) and {SPARE_BLOCKS} to merge into; allowed: fewer log \
             blocks, or more over-provisioning",
            device.ftl.mapping.log_blocks
        )
    });
}

fn explain(device: &DeviceConfig, plane: usize, budget: &PlaneBudget) -> String {
    let over_provisioning = device.ftl.over_provisioning.0;
    let room = budget.room_pages();
    let mut ways = Vec::new();
    if let Some(needed) = budget.over_provisioning_needed(over_provisioning) {
        let percent = (needed * 1000.0).ceil() / 10.0;
        ways.push(format!("over-provisioning of at least {percent:.1}%"));
    }
    if let Some(blocks) = budget.blocks_needed(&device.ftl) {
        ways.push(format!("at least {blocks} blocks per plane (flash.blocks_per_plane)"));
    }
    if !matches!(device.isolation, Isolation::Unified(_)) {
        ways.push(format!("larger sets of chips than isolation {} gives", device.isolation.name()));
    }
    ways.push("fewer flows on a plane".to_owned());
    format!(
        "found {:.4}: plane {plane} must hold {} logical pages of {} flow(s), but has room for {room} \
        ({} blocks less {} in reserve and {} open, {} pages each); allowed: {}",
        over_provisioning,
        budget.logical_pages,
        budget.flows,
        budget.blocks,
        budget.reserve_blocks,
        budget.frontier_blocks,
        budget.pages_per_block,
        ways.join(", or ")
    )
}

impl WorkloadConfig {
    /// One flow that owns the whole device and asks for nothing: for capacities of a device alone.
    #[must_use]
    pub fn whole_device() -> Self {
        let flow = FlowConfig {
            name: "all".to_owned(),
            priority: crate::config::Priority::Medium,
            cache: crate::config::CacheMode::Off,
            channels: None,
            chips: None,
            dies: None,
            planes: None,
            occupancy: None,
            on_end: None,
            synthetic: None,
            trace: None,
            clone: None,
            mqsim: None,
        };
        Self { name: "all".to_owned(), flows: vec![flow], window: WindowRule::Steady }
    }
}
