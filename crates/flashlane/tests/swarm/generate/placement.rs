//! Placement by the host where the rest of a drive allows it.

use flashlane::config::units::Span;
use flashlane::config::validate::validate;
use flashlane::config::{
    DeviceConfig, HandleIsolation, PlacementConfig, PlacementMode, Superblock, WorkloadConfig,
};
use flashlane_engine::Rng;

use super::{Draw, MS};

/// Placement handles on some drives of superblocks, which start empty. Drawn apart, so that the
/// rest is what it was before.
pub(super) fn placement(seed: u64, device: &mut DeviceConfig, workload: &mut WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.placement", 0));
    if device.ftl.superblock == Superblock::Block || !draw.chance(0.5) {
        return;
    }
    let mut with = device.clone();
    let modes = [PlacementMode::Fdp, PlacementMode::Fdp, PlacementMode::Streams];
    let isolations = [HandleIsolation::Initially, HandleIsolation::Persistently];
    with.placement = PlacementConfig {
        mode: draw.pick(&modes),
        handles: draw.between(1, 5) as u32,
        isolation: draw.pick(&isolations),
        ..PlacementConfig::default()
    };
    with.ftl.precondition.enabled = draw.chance(0.2);
    // The workload has no requests yet, which is a problem of its own.
    let refused = |device: &DeviceConfig, key: &str| {
        validate(device, workload).iter().any(|problem| problem.place.starts_with(key))
    };
    for _ in 0..20 {
        if refused(&with, "ftl.over_provisioning") {
            let ratio = &mut with.ftl.over_provisioning.0;
            *ratio = (*ratio * 1.3 + 0.05).min(10.0);
        }
    }
    if refused(&with, "ftl") || refused(&with, "placement") {
        return;
    }
    *device = with;
    groups(seed, device, workload);
    for flow in &mut workload.flows {
        let last = u64::from(device.placement.identifiers()) - 1;
        flow.placement = draw.chance(0.8).then(|| draw.between(0, last) as u16);
    }
}

/// Reclaim groups and times of reclaim units, where the rest allows them. Drawn apart for the same
/// reason.
fn groups(seed: u64, device: &mut DeviceConfig, workload: &WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.groups", 0));
    if device.placement.mode != PlacementMode::Fdp {
        return;
    }
    let refused = |device: &DeviceConfig| {
        let kinds = ["ftl", "placement"];
        let of_them = |key: &str| kinds.iter().any(|kind| key.starts_with(kind));
        validate(device, workload).iter().any(|problem| of_them(&problem.place))
    };
    for _ in 0..4 {
        let mut with = device.clone();
        with.placement.groups = draw.between(2, 4) as u32;
        if !refused(&with) {
            *device = with;
        }
    }
    let mut with = device.clone();
    with.placement.always_open = draw.chance(0.5);
    with.placement.unit_time = draw.chance(0.4).then(|| Span(draw.scale(MS, 1000 * MS)));
    if !refused(&with) {
        *device = with;
    }
}
