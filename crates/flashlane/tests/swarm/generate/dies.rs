//! Cache program, independent reads of planes, and cache read.

use flashlane::config::DeviceConfig;
use flashlane::config::validate::validate_device;
use flashlane_engine::Rng;

use super::Draw;

/// Cache program where the rest allows it, on some drives. Drawn apart, so that the rest is what it
/// was before.
pub(super) fn cache_program(seed: u64, device: &mut DeviceConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.cache_program", 0));
    if !draw.chance(0.4) {
        return;
    }
    let mut with = device.clone();
    with.flash.cache_program = true;
    // Otherwise few drives would have it.
    if draw.chance(0.6) {
        with.flash.suspend.program = false;
    }
    if !validate_device(&with).iter().any(|p| p.place == "flash.cache_program") {
        *device = with;
    }
}

/// Independent reads of planes where the rest allows them, on some drives. Drawn apart, so that the
/// rest is what it was before.
pub(super) fn plane_reads(seed: u64, device: &mut DeviceConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.plane_reads", 0));
    if !draw.chance(0.4) {
        return;
    }
    let mut with = device.clone();
    with.flash.independent_plane_reads = true;
    with.flash.cache_read = draw.chance(0.5);
    if !validate_device(&with).iter().any(|p| p.place == "flash.independent_plane_reads") {
        *device = with;
    }
}
