//! Cache program, independent reads of planes, cache read, and command buses.

use flashlane::config::units::Span;
use flashlane::config::validate::validate_device;
use flashlane::config::{CommandBus, DeviceConfig};
use flashlane_engine::Rng;

use super::{Draw, US};

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

/// A command bus beside the data bus, where the rest allows it, on some drives. On some of them a
/// command takes about as long as data. Drawn apart, so that the rest is what it was before.
pub(super) fn command_bus(seed: u64, device: &mut DeviceConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.command_bus", 0));
    if !draw.chance(0.25) {
        return;
    }
    let mut with = device.clone();
    with.flash.command_bus = CommandBus::Separate;
    if draw.chance(0.3) {
        with.flash.command_time = Some(Span(draw.scale(100_000, 20 * US)));
    }
    if !validate_device(&with).iter().any(|p| p.place.starts_with("flash.command_")) {
        *device = with;
    }
}
