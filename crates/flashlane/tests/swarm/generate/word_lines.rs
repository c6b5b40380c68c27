//! Word lines that are programmed at once, and memory that survives a loss of power.

use flashlane::config::units::Span;
use flashlane::config::validate::validate;
use flashlane::config::{DeviceConfig, PageOrder, Programming, WorkloadConfig};
use flashlane_engine::Rng;

use super::{Draw, MS, US};

/// One-shot programming where the rest allows it, on some drives. Drawn apart, so that the rest is
/// what it was before.
pub(super) fn word_lines(seed: u64, device: &mut DeviceConfig, workload: &WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.word_lines", 0));
    device.power_loss_protection = draw.chance(0.2);
    if !draw.chance(0.4) {
        return;
    }
    let mut with = device.clone();
    let flash = &mut with.flash;
    flash.programming = Programming::OneShot;
    let pages = flash.pages_per_program();
    if pages == 1 {
        return;
    }
    flash.page_order = PageOrder::Turns;
    flash.program_time.truncate(1);
    flash.pages_per_block = flash.pages_per_block.next_multiple_of(pages);
    let mapping = &mut with.ftl.mapping;
    mapping.ideal = true;
    mapping.fill_time = draw.chance(0.7).then(|| Span(draw.scale(US, 10 * MS)));
    // The workload has no requests yet, which is a problem of its own.
    if validate(&with, workload).len() <= validate(device, workload).len() {
        *device = with;
    }
}
