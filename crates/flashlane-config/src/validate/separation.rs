//! Rules of the separation of hot and cold data (`ftl.separation`).

use crate::{CompatConfig, DeviceConfig, MappingKind, Programming, Technology};
use flashlane_device::ftl::gc::Victim;
use flashlane_device::ftl::separation::{Frontiers, HALVE_AFTER, HOT, Separation};
use flashlane_reading::Rules;

/// Checks the policy of separation. The rest of the device must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    let separation = &device.ftl.separation;
    if let Separation::Counts(counts) = separation {
        rules.range("ftl.separation.counts.hot", counts.hot, &HOT);
        rules.range("ftl.separation.counts.halve_after", counts.halve_after.0, &HALVE_AFTER);
    }
    if separation.frontiers() == Frontiers::Two {
        return;
    }
    for with in misfits(device) {
        rules.refuse(
            "ftl.separation",
            format!("found {}, allowed: two-frontiers with {with}", separation.name()),
        );
    }
}

/// What the device has that knows no other frontiers than the usual two.
fn misfits(device: &DeviceConfig) -> impl Iterator<Item = &'static str> + use<> {
    let (ftl, flash) = (&device.ftl, &device.flash);
    let shared = ftl.separation.frontiers() == Frontiers::One;
    let units = ftl.mapping.unit.is_some_and(|unit| unit < flash.page_size);
    [
        (flash.technology == Technology::InPlace, "memory that is written in place"),
        (
            ftl.mapping.kind == MappingKind::Hybrid,
            "hybrid mapping, whose log blocks take all writes",
        ),
        (
            flash.programming == Programming::OneShot,
            "flash.programming = \"one-shot\", whose word lines fill by frontier",
        ),
        (
            flash.programming == Programming::TwoPass,
            "flash.programming = \"two-pass\", whose word lines fill by frontier",
        ),
        (units, "an ftl.mapping.unit smaller than the page, since units fill pages by frontier"),
        (device.slc_cache.is_some(), "[slc_cache], which separates by itself"),
        (
            device.isolation.moves(),
            "isolation policies that move sets of chips, which close frontiers",
        ),
        (
            shared && matches!(ftl.gc.victim, Victim::None(_)),
            "victim none, whose copies take no time and so do not wait for the host's programs",
        ),
        (device.compat != CompatConfig::default(), "switches of compat"),
    ]
    .into_iter()
    .filter_map(|(found, with)| found.then_some(with))
}
