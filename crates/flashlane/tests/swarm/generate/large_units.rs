//! Mapping units of several pages where the rest of a drive allows them.

use flashlane::config::units::ByteSize;
use flashlane::config::validate::validate;
use flashlane::config::{DeviceConfig, WorkloadConfig};
use flashlane_engine::Rng;

use super::Draw;

/// Largest unit. Unit: bytes.
const UNIT_MAX: u64 = 64 << 10;

/// Units of several pages on some drives that map pages. Drawn apart, so that the rest of other
/// drives is what it was before.
pub(super) fn large_units(seed: u64, device: &mut DeviceConfig, workload: &WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.large_units", 0));
    let drawn = draw.chance(0.25);
    let pages = draw.pick(&[2, 2, 3, 4, 4, 8, 16]);
    if !drawn || device.ftl.mapping.unit.is_some() {
        return;
    }
    let mut with = device.clone();
    let flash = &mut with.flash;
    let in_line = flash.pages_per_program();
    // A word line holds whole units.
    let pages = if in_line > 1 && !in_line.is_multiple_of(pages) { in_line } else { pages };
    if flash.page_size.0 * u64::from(pages) > UNIT_MAX {
        return;
    }
    let blocks = flash.pages_per_block.next_multiple_of(pages * in_line.div_ceil(pages));
    flash.pages_per_block = blocks.max(4 * pages);
    (flash.cache_program, flash.cache_read) = (false, false);
    with.ftl.mapping.unit = Some(ByteSize(flash.page_size.0 * u64::from(pages)));
    if pages == in_line {
        with.ftl.mapping.fill_time = None;
    }
    with.ftl.mapping.ideal = true;
    with.ftl.gc.copyback = false;
    with.errors = None;
    let refused = |device: &DeviceConfig, keys: &str| {
        validate(device, workload).iter().any(|problem| problem.place.starts_with(keys))
    };
    for _ in 0..20 {
        if refused(&with, "ftl.over_provisioning") {
            let ratio = &mut with.ftl.over_provisioning.0;
            *ratio = (*ratio * 1.3 + 0.05).min(10.0);
        }
    }
    // The workload has no requests yet, which is a problem of its own.
    let before: Vec<String> =
        validate(device, workload).into_iter().map(|problem| problem.place).collect();
    if validate(&with, workload).iter().all(|problem| before.contains(&problem.place)) {
        *device = with;
    }
}
