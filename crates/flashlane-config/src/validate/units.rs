//! Rules of mapping units that are smaller or larger than a page (`ftl.mapping.unit`).

use std::ops::RangeInclusive;

use super::{MAX_PAGES, PAGES_PER_BLOCK};
use crate::{CompatConfig, DeviceConfig, MappingKind, Programming, Technology};
use flashlane_device::flash::unit_pages::PAGES_MAX;
use flashlane_device::ftl::gc::Victim;
use flashlane_reading::Rules;
use flashlane_units::ByteSize;

/// Sizes of a unit. Unit: bytes.
const UNIT_BYTES: RangeInclusive<u64> = 512..=64 << 10;
/// Units above this size count their sectors two by two ([`Grain`]). Unit: bytes.
///
/// [`Grain`]: flashlane_device::grain::Grain
const FINE_UNIT: u64 = 32 << 10;
/// Times for which a unit waits until its page is full. Unit: picoseconds.
const FILL_TIME: RangeInclusive<u64> = 1_000_000..=10_000_000_000_000;
/// Most units of a block.
const UNITS_PER_BLOCK_MAX: u64 = 65_535;

/// Checks the mapping unit. The rest of the device must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    let page = device.flash.page_size;
    let (unit, fill_time) = (device.unit(), device.ftl.mapping.fill_time);
    if let Some(time) = fill_time {
        rules.span("ftl.mapping.fill_time", time, &FILL_TIME);
        let pages = ByteSize(page.0 * u64::from(device.flash.pages_per_program()));
        // In two passes, a word line waits for the next one, too.
        let waits = device.flash.programming == Programming::TwoPass || unit.0 < pages.0;
        rules.require(waits, "ftl.mapping.fill_time", || {
            format!(
                "found {time}, allowed: only with ftl.mapping.unit smaller than what a plane \
                 programs at once, {pages}: the page, or the word line with \
                 flash.programming = \"one-shot\" or \"two-pass\" and several bits per cell"
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
    let whole = page.0.is_multiple_of(unit.0) || unit.0.is_multiple_of(page.0);
    rules.require(whole, "ftl.mapping.unit", || {
        format!("found {unit}, allowed: divisors and multiples of flash.page_size ({page})")
    });
    if rules.problems.len() == before && unit.0 > page.0 {
        check_large(rules, device);
    }
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

/// Checks a unit of several pages.
fn check_large(rules: &mut Rules, device: &DeviceConfig) {
    let (unit, flash) = (device.unit(), &device.flash);
    let (page, pages) = (flash.page_size, (unit.0 / flash.page_size.0) as u32);
    let mut refuse = |found: bool, allowed: String| {
        if found {
            rules.refuse("ftl.mapping.unit", format!("found {unit}, allowed: {allowed}"));
        }
    };
    refuse(pages > PAGES_MAX, format!("at most {PAGES_MAX} pages of {page}"));
    refuse(
        unit.0 > FINE_UNIT && !page.0.is_multiple_of(1024),
        format!(
            "up to {} with pages of {page}; larger units need pages of whole KiB",
            ByteSize(FINE_UNIT)
        ),
    );
    let least = *PAGES_PER_BLOCK.start();
    let in_block = flash.pages_per_block;
    refuse(
        !in_block.is_multiple_of(pages) || in_block / pages < least,
        format!(
            "sizes of which a block of {in_block} pages ({page} each) holds a whole number, and at \
             least {least}"
        ),
    );
    let in_line = flash.pages_per_program();
    refuse(
        flash.programming.by_word_line() && !in_line.is_multiple_of(pages),
        format!(
            "with flash.programming = \"{}\" sizes of which a word line of {in_line} pages ({page} \
             each) holds a whole number",
            flash.programming.name()
        ),
    );
    for (found, key) in
        [(flash.cache_program, "flash.cache_program"), (flash.cache_read, "flash.cache_read")]
    {
        refuse(found, format!("the page ({page}) with {key}, whose registers hold one page"));
    }
    let decodes = device.errors.is_some();
    refuse(decodes, format!("at most the page ({page}) with [errors], which decodes single pages"));
}

/// Checks that blocks and drive have few enough units.
fn check_sizes(rules: &mut Rules, device: &DeviceConfig) {
    let (unit, page) = (device.unit(), device.flash.page_size);
    let units = u64::from(device.flash.pages_per_block) * page.0 / unit.0;
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
