//! Rules of mapping units smaller than a page (`ftl.mapping.unit`).

use std::ops::RangeInclusive;

use super::MAX_PAGES;
use crate::{CompatConfig, DeviceConfig, MappingKind, Technology};
use flashlane_device::ftl::gc::Victim;
use flashlane_reading::Rules;

/// Sizes of a unit. Unit: bytes.
const UNIT_BYTES: RangeInclusive<u64> = 512..=64 << 10;
/// Times for which a unit waits until its page is full. Unit: picoseconds.
const FILL_TIME: RangeInclusive<u64> = 1_000_000..=10_000_000_000_000;
/// Most units of a block.
const UNITS_PER_BLOCK_MAX: u32 = 65_535;

/// Checks the mapping unit. The rest of the device must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    let page = device.flash.page_size;
    let (unit, fill_time) = (device.unit(), device.ftl.mapping.fill_time);
    if let Some(time) = fill_time {
        rules.span("ftl.mapping.fill_time", time, &FILL_TIME);
        let packs = unit.0 < page.0 || device.flash.pages_per_program() > 1;
        rules.require(packs, "ftl.mapping.fill_time", || {
            format!(
                "found {time}, allowed: only with ftl.mapping.unit smaller than the page of \
                 {page}, or flash.programming = \"one-shot\" or \"two-pass\" and several bits per \
                 cell"
            )
        });
    }
    if unit == page {
        return;
    }
    let before = rules.problems.len();
    rules.sectors("ftl.mapping.unit", unit, UNIT_BYTES);
    if rules.problems.len() > before {
        return;
    }
    rules.require(page.0.is_multiple_of(unit.0), "ftl.mapping.unit", || {
        format!(
            "found {unit}, allowed: divisors of flash.page_size ({page}); units larger than a page \
             are not modelled"
        )
    });
    if rules.problems.len() > before {
        return;
    }
    check_sizes(rules, device);
    for with in misfits(device) {
        rules.refuse(
            "ftl.mapping.unit",
            format!("found {unit}, allowed: the page ({page}) with {with}"),
        );
    }
}

/// What the device has that packs no units, neither into pages nor into word lines.
pub(super) fn misfits(device: &DeviceConfig) -> impl Iterator<Item = &'static str> + use<> {
    let (ftl, compat) = (&device.ftl, &device.compat);
    [
        (device.flash.technology == Technology::InPlace, "memory that is written in place"),
        (ftl.mapping.kind == MappingKind::Hybrid, "hybrid mapping"),
        (ftl.mapping.is_cached(), "ftl.mapping.ideal = false, whose translation pages are whole"),
        (ftl.gc.copyback, "ftl.gc.copyback, which moves pages without packing them"),
        (matches!(ftl.gc.victim, Victim::None(_)), "victim none, which takes no time"),
        (device.isolation.moves(), "isolation policies that move sets of chips"),
        (*compat != CompatConfig::default(), "switches of compat"),
    ]
    .into_iter()
    .filter_map(|(found, with)| found.then_some(with))
}

/// Checks that blocks and drive have few enough units.
fn check_sizes(rules: &mut Rules, device: &DeviceConfig) {
    let (unit, page) = (device.unit(), device.flash.page_size);
    let units = device.flash.pages_per_block * (page.0 / unit.0) as u32;
    rules.require(units <= UNITS_PER_BLOCK_MAX, "ftl.mapping.unit", || {
        format!(
            "found {unit}, which makes {units} units a block, allowed: at most \
             {UNITS_PER_BLOCK_MAX}; take larger units or smaller blocks"
        )
    });
    let all = device.geometry().pages();
    rules.require(all <= MAX_PAGES, "ftl.mapping.unit", || {
        format!("found {unit}, which makes {all} units in all, allowed: at most {MAX_PAGES}")
    });
}
