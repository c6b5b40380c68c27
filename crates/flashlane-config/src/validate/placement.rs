//! Rules of placement by the host (`[placement]`).

use super::{HANDLES, MAX_SPAN_PS};
use crate::{DeviceConfig, Programming, WorkloadConfig};
use flashlane_device::config::{PlacementConfig, PlacementMode};
use flashlane_device::ftl::gc::Victim;
use flashlane_device::ftl::separation::Frontiers;
use flashlane_device::ftl::superblocks::{self, Superblock};
use flashlane_device::layout::FlowSpace;
use flashlane_reading::Rules;

/// Checks the keys of placement. The rest of the device must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    let placement = &device.placement;
    rules.range("placement.handles", placement.handles, &HANDLES);
    rules.range("placement.groups", placement.groups, &HANDLES);
    check_fdp(rules, device);
    if placement.is_off() {
        return;
    }
    for (found, with) in [
        (
            device.ftl.superblock == Superblock::Block,
            "ftl.superblock = \"block\", since a reclaim unit is a superblock (\"drive\", or a set \
             as \"4 dies\")",
        ),
        (
            device.ftl.separation.frontiers() != Frontiers::Two,
            "an ftl.separation other than two-frontiers, since the host says what belongs together",
        ),
        (
            device.flash.programming == Programming::TwoPass,
            "flash.programming = \"two-pass\", whose word lines fill by frontier",
        ),
        (matches!(device.ftl.gc.victim, Victim::None(_)), "victim none, whose copies take no time"),
    ] {
        rules.require(!found, "placement.mode", || {
            format!("found {}, allowed: none with {with}", name(placement.mode))
        });
    }
}

/// Checks the keys of flexible data placement alone.
fn check_fdp(rules: &mut Rules, device: &DeviceConfig) {
    let PlacementConfig { mode, handles, groups, always_open, unit_time, .. } = device.placement;
    let (several, fdp) = (groups > 1, mode == PlacementMode::Fdp);
    rules.require(!several || fdp, "placement.groups", || {
        format!("found {groups}, allowed: 1 with placement.mode = \"{}\"", name(mode))
    });
    let identifiers = u64::from(handles) * u64::from(groups);
    let most = *HANDLES.end();
    rules.require(!fdp || identifiers <= u64::from(most), "placement.groups", || {
        format!("found {groups}, allowed: at most {} with {handles} handles", most / handles.max(1))
    });
    rules.require(!always_open || fdp, "placement.always_open", || {
        format!("found true, allowed: false with placement.mode = \"{}\"", name(mode))
    });
    if let Some(time) = unit_time {
        rules.require(fdp, "placement.unit_time", || {
            format!("found {time}, allowed: none with placement.mode = \"{}\"", name(mode))
        });
        rules.span("placement.unit_time", time, &(1..=MAX_SPAN_PS));
    }
}

/// Checks that the sets of dies form reclaim groups of equal size, which all tenants may use. The
/// sets must be valid.
pub(super) fn check_groups(rules: &mut Rules, device: &DeviceConfig, workload: &WorkloadConfig) {
    let groups = device.placement.groups;
    if groups == 1 {
        return;
    }
    let layout = workload.layout(device);
    let folded = superblocks::folded(device.ftl_settings(), &layout);
    let sets = folded.geometry.planes() as u32;
    let all = |flow: &FlowSpace| flow.planes(folded.geometry).count() as u32 == sets;
    rules.require(folded.flows.iter().all(all), "placement.groups", || {
        format!("found {groups}, allowed: 1 where a tenant has a part of the dies")
    });
    rules.require(sets.is_multiple_of(groups), "placement.groups", || {
        format!(
            "found {groups}, allowed: a divisor of the {sets} sets of dies that ftl.superblock = \
             \"{}\" makes",
            device.ftl.superblock
        )
    });
}

/// Checks the placement identifiers of flows.
pub(super) fn check_flows(rules: &mut Rules, device: &DeviceConfig, workload: &WorkloadConfig) {
    // A drive that places nothing takes any identifier that another one might have.
    let identifiers = match device.placement.identifiers() {
        0 => *HANDLES.end() + 1,
        identifiers => identifiers,
    };
    for (index, flow) in workload.flows.iter().enumerate() {
        if let Some(found) = flow.placement {
            let key = format!("flow[{index}].placement");
            rules.range(key, u32::from(found), &(0..=identifiers - 1));
        }
        let engine = flow.synthetic.as_ref().and_then(|flow| flow.cache_engine.as_ref());
        for (name, found) in engine.iter().flat_map(|engine| {
            [("small", engine.small_placement), ("large", engine.large_placement)]
        }) {
            let key = format!("flow[{index}].synthetic.cache_engine.{name}_placement");
            rules.range(key, found.map_or(0, u32::from), &(0..=identifiers - 1));
        }
        for (nth, part) in flow.synthetic.iter().flat_map(|flow| &flow.parts).enumerate() {
            let key = format!("flow[{index}].synthetic.parts[{nth}].placement");
            let found = part.placement.map_or(0, u32::from);
            rules.range(key, found, &(0..=identifiers - 1));
        }
        let job = flow.synthetic.as_ref().and_then(|flow| flow.fio.as_ref());
        let ids = job.and_then(|job| job.placement.as_ref()).map(|placement| &placement.ids);
        // One message for a list, however many of it are too large.
        if let Some(largest) = ids.and_then(|ids| ids.iter().max()) {
            let key = format!("flow[{index}].synthetic.fio.placement.ids");
            rules.range(key, u32::from(*largest), &(0..=identifiers - 1));
        }
    }
}

fn name(mode: PlacementMode) -> &'static str {
    match mode {
        PlacementMode::None => "none",
        PlacementMode::Fdp => "fdp",
        PlacementMode::Streams => "streams",
        PlacementMode::Zones => "zones",
    }
}
