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
/// Longest additional time of a command that reads pages to be moved. Unit: picoseconds.
const FOLD_MAX: u64 = 1_000_000 * US;
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
    if let Some(time) = cache.dynamic_program_time {
        rules.span("slc_cache.dynamic_program_time", time, &(1..=*OPERATION_PS.end()));
        rules.require(cache.size.0 > 0, "slc_cache.dynamic_program_time", || {
            format!("found {time} without a dynamic part, allowed: with slc_cache.size above 0")
        });
    }
    rules.span("slc_cache.fold_time", cache.fold_time, &(0..=FOLD_MAX));
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

/// Checks that each part of the cache has no block or one of each plane, and not too many.
fn check_size(rules: &mut Rules, device: &DeviceConfig, cache: &SlcCacheConfig) {
    let (geometry, pages) = (device.geometry(), device.slc_pages());
    let all = u64::from(geometry.blocks_per_plane);
    for (key, size, most) in
        [("size", cache.size, all), ("static_size", cache.static_size, all / 2)]
    {
        let blocks = blocks_of_plane(size, geometry, pages);
        let allowed = size.0 == 0 || (1..=most).contains(&blocks);
        rules.require(allowed, format!("slc_cache.{key}"), || {
            let block = u64::from(pages * geometry.planes()) * geometry.page_bytes();
            format!(
                "found {size}, allowed: 0 or {block} to {} bytes, one to {most} blocks in SLC mode \
                 of each plane",
                block * most
            )
        });
    }
    rules.require(cache.size.0 + cache.static_size.0 > 0, "slc_cache.size", || {
        "found 0 and no static_size, allowed: one of both above 0".to_owned()
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
        (flash.programming == Programming::TwoPass, "flash.programming = \"two-pass\""),
        (units, "an ftl.mapping.unit other than the page"),
        (ftl.mapping.kind == MappingKind::Hybrid, "hybrid mapping, which has log blocks"),
        (ftl.superblock != Superblock::Block, "superblocks"),
        (matches!(ftl.gc.victim, Victim::None(_)), "victim none, which takes no time"),
        (device.isolation.moves(), "isolation policies that move sets of chips"),
        (device.errors.is_some(), "[errors], whose rates are those of ordinary pages"),
        (device.compat != CompatConfig::default(), "switches of compat"),
    ]
    .into_iter()
    .filter_map(|(found, with)| found.then_some(with))
}
