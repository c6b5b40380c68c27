//! One or three frontiers for data where the rest of a drive allows them.

use flashlane::config::units::Ratio;
use flashlane::config::validate::validate;
use flashlane::config::{DeviceConfig, WorkloadConfig};
use flashlane::policy::Separation;
use flashlane::policy::parameters::{CountsConfig, NoSeparationConfig};
use flashlane_engine::Rng;

use super::Draw;

/// Another separation of hot and cold data on some drives. Drawn apart, so that the rest is what it
/// was before.
pub(super) fn separation(seed: u64, device: &mut DeviceConfig, workload: &WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.separation", 0));
    if !draw.chance(0.4) {
        return;
    }
    let mut with = device.clone();
    with.ftl.separation = match draw.chance(0.5) {
        true => Separation::None(NoSeparationConfig::default()),
        false => Separation::Counts(CountsConfig {
            hot: draw.scale(1, 15) as u32,
            halve_after: Ratio(draw.scale(1, 1000) as f64 / 100.0),
        }),
    };
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
    if !refused(&with, "ftl") {
        *device = with;
    }
}
