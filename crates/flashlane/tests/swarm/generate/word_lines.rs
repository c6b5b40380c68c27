//! Word lines that are programmed at once, in one pass or in two, and memory that survives a loss
//! of power.

use flashlane::config::units::{ByteSize, Span};
use flashlane::config::validate::{validate, validate_device};
use flashlane::config::{DeviceConfig, PageOrder, Programming, Superblock, WorkloadConfig};
use flashlane_engine::Rng;

use super::device::force_superblocks;
use super::{Draw, MS, US};

/// One-shot programming where the rest allows it, on some drives. Drawn apart, so that the rest of
/// other drives is what it was before.
pub(super) fn word_lines(seed: u64, device: &mut DeviceConfig, workload: &WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.word_lines", 0));
    device.power_loss_protection = draw.chance(0.2);
    let mut with = device.clone();
    with.flash.programming = Programming::OneShot;
    let pages = with.flash.pages_per_program();
    if pages == 1 || !draw.chance(0.35) {
        return;
    }
    let flash = &mut with.flash;
    flash.page_order = PageOrder::Turns;
    flash.program_time.truncate(1);
    flash.pages_per_block = flash.pages_per_block.next_multiple_of(pages);
    let ftl = &mut with.ftl;
    ftl.mapping.ideal = true;
    ftl.mapping.fill_time = draw.chance(0.7).then(|| Span(draw.scale(US, 10 * MS)));
    ftl.gc.copyback = false;
    (ftl.superblock, ftl.parity) = (Superblock::Block, false);
    with.errors = None;
    replace_where_allowed(device, with, workload);
}

/// Takes a changed drive unless it is refused, with more over-provisioning where that is needed.
fn replace_where_allowed(
    device: &mut DeviceConfig,
    mut with: DeviceConfig,
    workload: &WorkloadConfig,
) {
    // The workload has no requests yet, which is a problem of its own.
    let refused = |device: &DeviceConfig, keys: &str| {
        validate(device, workload).iter().any(|problem| problem.place.starts_with(keys))
    };
    for _ in 0..20 {
        if refused(&with, "ftl.over_provisioning") {
            let ratio = &mut with.ftl.over_provisioning.0;
            *ratio = (*ratio * 1.3 + 0.05).min(10.0);
        }
    }
    let keys = ["flash", "ftl", "isolation", "scheduler", "slc_cache"];
    if !keys.iter().any(|keys| refused(&with, keys)) {
        *device = with;
    }
}

/// Two passes on some drives that program word lines. Drawn apart, so that the rest of other drives
/// is what it was before.
pub(super) fn two_pass(seed: u64, device: &mut DeviceConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.two_pass", 0));
    if device.flash.programming != Programming::OneShot || !draw.chance(0.5) {
        return;
    }
    let mut with = device.clone();
    let flash = &mut with.flash;
    flash.programming = Programming::TwoPass;
    let both = flash.program_time[0].0;
    // Which of the passes takes longer is up to the maker.
    let first = (both as f64 * draw.between(1, 9) as f64 / 10.0) as u64;
    flash.program_time = vec![Span(first.max(1)), Span((both - first).max(1))];
    if !validate_device(&with).iter().any(|problem| problem.place.starts_with("flash")) {
        *device = with;
    }
}

/// Units smaller than a page, word lines or both on most drives with superblocks, and superblocks
/// of them on some other drives. Drawn apart, so that the rest is what it was before.
pub(super) fn units_of_superblocks(
    seed: u64,
    device: &mut DeviceConfig,
    workload: &WorkloadConfig,
) {
    let mut draw = Draw(Rng::stream(seed, "swarm.units_of_superblocks", 0));
    let parts = draw.pick(&[1, 2, 3, 4, 4, 8, 32]);
    let one_shot = draw.chance(0.5);
    let mut with = device.clone();
    let drawn = if with.ftl.superblock == Superblock::Block {
        draw.chance(0.2) && force_superblocks(seed, &mut with, workload)
    } else {
        draw.chance(0.7)
    };
    if !drawn {
        return;
    }
    with.flash.programming = Programming::OneShot;
    let (page, pages) = (with.flash.page_size.0, with.flash.pages_per_program());
    if one_shot && pages > 1 {
        let flash = &mut with.flash;
        flash.page_order = PageOrder::Turns;
        flash.program_time.truncate(1);
        flash.pages_per_block = flash.pages_per_block.next_multiple_of(pages);
    } else {
        with.flash.programming = Programming::Page;
    }
    if page.is_multiple_of(512 * parts) && parts > 1 {
        with.ftl.mapping.unit = Some(ByteSize(page / parts));
    } else if with.flash.programming == Programming::Page {
        return;
    } else {
        with.ftl.mapping.unit = None;
    }
    with.ftl.mapping.ideal = true;
    with.ftl.mapping.fill_time = draw.chance(0.7).then(|| Span(draw.scale(US, 10 * MS)));
    with.errors = None;
    replace_where_allowed(device, with, workload);
}
