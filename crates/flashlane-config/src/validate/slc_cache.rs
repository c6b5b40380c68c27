//! Rules of the SLC cache (`[slc_cache]`).

use std::ops::RangeInclusive;

use super::OPERATION_PS;
use crate::{
    CompatConfig, DeviceConfig, MappingKind, Programming, SlcCacheConfig, Superblock, Technology,
};
use flashlane_device::ftl::gc::Victim;
use flashlane_device::ftl::slc_cache::blocks_of_plane;
use flashlane_reading::Rules;

const US: u64 = 1_000_000;
/// Idle time before folding. Unit: picoseconds.
const IDLE: RangeInclusive<u64> = US..=1_000_000_000 * US;

/// Checks the section of the SLC cache. The rest of the device must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    let Some(cache) = &device.slc_cache else { return };
    for with in misfits(device) {
        rules.refuse("slc_cache", format!("found the section, allowed: not with {with}"));
    }
    rules.span("slc_cache.read_time", cache.read_time, &(1..=*OPERATION_PS.end()));
    rules.span("slc_cache.program_time", cache.program_time, &(1..=*OPERATION_PS.end()));
    rules.range("slc_cache.free_share", cache.free_share.0, &(0.01..=1.0));
    if let Some(after) = cache.fold_after {
        rules.span("slc_cache.fold_after", after, &IDLE);
        if let Some(other) = device.ftl.gc.idle_after {
            rules.require(after == other, "slc_cache.fold_after", || {
                format!("found {after}, allowed: that of ftl.gc.idle_after ({other}), or none")
            });
        }
    }
    if rules.problems.is_empty() {
        check_size(rules, device, cache);
    }
}

/// Checks that the cache has a block of each plane, and no more than all of them.
fn check_size(rules: &mut Rules, device: &DeviceConfig, cache: &SlcCacheConfig) {
    let (geometry, pages) = (device.geometry(), device.slc_pages());
    let planes = geometry.planes();
    let blocks = blocks_of_plane(cache, geometry.page_bytes(), pages, planes);
    let most = u64::from(geometry.blocks_per_plane);
    rules.require((1..=most).contains(&blocks), "slc_cache.size", || {
        let block = u64::from(pages) * geometry.page_bytes() * u64::from(planes);
        format!(
            "found {}, allowed: {block} to {} bytes, one to {most} blocks in SLC mode of each plane",
            cache.size,
            block * most
        )
    });
}

/// What the device has that knows no blocks in SLC mode.
fn misfits(device: &DeviceConfig) -> impl Iterator<Item = &'static str> + use<> {
    let (ftl, flash) = (&device.ftl, &device.flash);
    let types = flash.technology.page_types() as u32;
    let units = ftl.mapping.unit.is_some_and(|unit| unit != flash.page_size);
    [
        (flash.technology == Technology::InPlace, "memory that is written in place"),
        (flash.technology == Technology::Slc, "flash.technology = \"slc\", which is all SLC"),
        (flash.pages_per_block < types, "blocks of fewer pages than a word line"),
        (flash.programming == Programming::OneShot, "flash.programming = \"one-shot\""),
        (units, "an ftl.mapping.unit smaller than the page"),
        (ftl.mapping.kind == MappingKind::Hybrid, "hybrid mapping, which has log blocks"),
        (ftl.superblock != Superblock::Block, "superblocks"),
        (ftl.gc.copyback, "ftl.gc.copyback, which copies pages of one mode"),
        (matches!(ftl.gc.victim, Victim::None(_)), "victim none, which takes no time"),
        (device.isolation.moves(), "isolation policies that move sets of chips"),
        (device.errors.is_some(), "[errors], whose rates are those of ordinary pages"),
        (device.compat != CompatConfig::default(), "switches of compat"),
    ]
    .into_iter()
    .filter_map(|(found, with)| found.then_some(with))
}
