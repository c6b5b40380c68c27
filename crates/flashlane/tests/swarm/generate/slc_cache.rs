//! An SLC cache where the rest of a drive allows one.

use flashlane::config::units::{ByteSize, Ratio, Span};
use flashlane::config::validate::validate;
use flashlane::config::{DeviceConfig, SlcCacheConfig, Technology, WorkloadConfig};
use flashlane_engine::Rng;

use super::{Draw, MS, US};

/// An SLC cache on some drives. Drawn apart, so that the rest is what it was before.
pub(super) fn slc_cache(seed: u64, device: &mut DeviceConfig, workload: &WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.slc_cache", 0));
    if draw.chance(0.4) {
        force_slc_cache(&mut draw, device, workload);
    }
}

fn force_slc_cache(draw: &mut Draw, device: &mut DeviceConfig, workload: &WorkloadConfig) {
    let mut with = device.clone();
    let flash = &mut with.flash;
    // Otherwise few drives would have it.
    if flash.technology == Technology::Slc && flash.read_time.len() == 1 {
        flash.technology = draw.pick(&[Technology::Mlc, Technology::Tlc, Technology::Qlc]);
    }
    let geometry = with.geometry();
    let block = u64::from(with.slc_pages()) * geometry.page_bytes() * u64::from(geometry.planes());
    let blocks = draw.scale(1, u64::from(geometry.blocks_per_plane));
    let fold_after = draw.chance(0.5).then(|| Span(draw.scale(US, 10 * MS)));
    let fixed = draw.between(0, u64::from(geometry.blocks_per_plane / 8));
    let (dynamic, fixed) = draw.pick(&[(blocks, 0), (blocks, fixed), (0, fixed.max(1))]);
    with.slc_cache = Some(SlcCacheConfig {
        size: ByteSize(block * dynamic),
        static_size: ByteSize(block * fixed),
        free_share: Ratio(draw.scale(1, 100) as f64 / 100.0),
        read_time: Span(draw.scale(US, 100 * US)),
        program_time: Span(draw.scale(US, 1000 * US)),
        dynamic_program_time: None,
        fold_time: Span(0),
        fold_after: with.ftl.gc.idle_after.or(fold_after),
    });
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
    let keys = ["slc_cache", "flash", "ftl", "isolation", "scheduler"];
    if !keys.iter().any(|keys| refused(&with, keys)) {
        *device = with;
    }
}
