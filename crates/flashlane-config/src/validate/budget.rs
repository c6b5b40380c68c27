//! The room that every plane needs, so that no accepted configuration can stop for lack of it.

use crate::{
    DeviceConfig, FlowConfig, MappingKind, OUTSTANDING_MAX, Superblock, WindowRule, WorkloadConfig,
};
use flashlane_device::ftl::budget::{self, PlaneBudget, plane_limits};
use flashlane_device::ftl::hybrid::SPARE_BLOCKS;
use flashlane_device::isolation::{Isolation, UpiConfig};
use flashlane_device::layout::Layout;
use flashlane_reading::{Problem, Rules};

/// The budget of every plane, by flat plane number.
///
/// A flow's pages are striped over its planes, so a plane holds at most `ceil(pages / planes)` of
/// them. With a mapping table on flash it also holds the translation pages that address them, plus
/// one. With dynamic allocation this is the average of the planes, and the translation layer keeps
/// each plane within its budget.
#[must_use]
pub fn plane_budget(device: &DeviceConfig, layout: &Layout) -> Vec<PlaneBudget> {
    budget::plane_budget(device.ftl_settings(), layout)
}

/// Refuses sets that could run out of room. In the worst case a flow gets chips until every other
/// flow has a single chip. The chips that are left to it must then have room for all data of the
/// drive.
fn check_moving_sets(rules: &mut Rules, device: &DeviceConfig, layout: &Layout, upi: &UpiConfig) {
    let geometry = layout.geometry;
    let per_chip = geometry.dies_per_chip * geometry.planes_per_die;
    let reserve = budget::gc_reserve(&device.ftl, geometry.blocks_per_plane);
    let limits = plane_limits(device.ftl_settings(), layout, reserve);
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

/// Refuses the device unless every plane fits. The rest of both configurations must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig, workload: &WorkloadConfig) {
    let layout = workload.layout(device);
    if let Some(Problem { place, message }) = shortage(device, &layout) {
        if !may_fill(device) {
            rules.refuse(place, message);
        }
    } else if let (Isolation::Upi(upi), MappingKind::Page) =
        (&device.isolation, device.ftl.mapping.kind)
    {
        check_moving_sets(rules, device, &layout, upi);
    }
}

/// True if a run may start although some planes have too little room, with
/// `compat.planes_may_fill`. The drive must be empty, and the address alone must decide on the
/// plane of a page.
fn may_fill(device: &DeviceConfig) -> bool {
    let ftl = &device.ftl;
    let stays = ftl.mapping.kind == MappingKind::Page && !ftl.allocation.is_dynamic();
    let moves = device.isolation.moves();
    device.compat.planes_may_fill && stays && !moves && !ftl.precondition.enabled
}

/// The warning about planes that have too little room for the data of all their flows.
pub(super) fn may_fill_warning(device: &DeviceConfig, workload: &WorkloadConfig) -> Option<String> {
    let layout = workload.layout(device);
    let short = shortage(device, &layout).filter(|_| may_fill(device))?;
    Some(format!(
        "{}: {}. With compat.planes_may_fill the run starts, and ends with an error if it fills a plane",
        short.place, short.message
    ))
}

/// The problem of a plane that has too little room for its data, if there is one.
#[must_use]
pub fn shortage(device: &DeviceConfig, layout: &Layout) -> Option<Problem> {
    if device.ftl.mapping.kind == MappingKind::Hybrid {
        return shortage_of_hybrid(device, layout);
    }
    let budgets = plane_budget(device, layout);
    let shortage = |budget: &PlaneBudget| budget.logical_pages as i64 - budget.room_pages() as i64;
    let worst = budgets
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, budget)| !budget.fits())
        .max_by_key(|(_, budget)| shortage(budget));
    let (plane, worst) = worst?;
    let place = "ftl.over_provisioning".to_owned();
    Some(Problem { place, message: explain(device, plane, worst) })
}

/// With hybrid mapping, every plane needs its data blocks, its log blocks and some spare blocks.
fn shortage_of_hybrid(device: &DeviceConfig, layout: &Layout) -> Option<Problem> {
    let geometry = layout.geometry;
    let log_blocks = u64::from(device.ftl.mapping.log_blocks) + 1;
    let mut needed = vec![0; geometry.planes() as usize];
    for flow in &layout.flows {
        let pages = flow.pages.div_ceil(u64::from(flow.plane_count()).max(1));
        let blocks = pages.div_ceil(u64::from(geometry.pages_per_block)) + log_blocks;
        for plane in flow.planes(geometry) {
            needed[plane.index()] += blocks;
        }
    }
    let (plane, &most) = needed.iter().enumerate().rev().max_by_key(|(_, blocks)| **blocks)?;
    let most = most + SPARE_BLOCKS;
    let blocks = u64::from(geometry.blocks_per_plane);
    let message = format!(
        "found {}: plane {plane} has {blocks} blocks, but needs {most} for data, {log_blocks} log blocks \
         of each flow (one of them sequential) and {SPARE_BLOCKS} to merge into; allowed: fewer log \
         blocks, or more over-provisioning",
        device.ftl.mapping.log_blocks
    );
    (most > blocks).then(|| Problem { place: "ftl.mapping.log_blocks".to_owned(), message })
}

fn explain(device: &DeviceConfig, plane: usize, budget: &PlaneBudget) -> String {
    let over_provisioning = device.ftl.over_provisioning.0;
    let room = budget.room_pages();
    let in_sets = device.ftl.superblock != Superblock::Block;
    let unit = if in_sets { "set" } else { "plane" };
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
        "found {:.4}: {unit} {plane} must hold {} logical pages of {} flow(s), but has room for {room} \
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
    /// A flow that owns the whole device and has no source of requests, for the capacity of a
    /// device alone.
    #[must_use]
    pub fn whole_device() -> Self {
        let cache = crate::CacheMode::Off;
        let flow = FlowConfig { cache, ..FlowConfig::named("all") };
        Self {
            groups: Vec::new(),
            name: "all".to_owned(),
            flows: vec![flow],
            window: WindowRule::Steady,
            warmup: None,
            outstanding_max: OUTSTANDING_MAX,
        }
    }
}
