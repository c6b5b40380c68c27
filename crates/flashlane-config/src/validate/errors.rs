//! Rules of bit errors.

use std::ops::RangeInclusive;

use super::OPERATION_PS;
use crate::{
    DeviceConfig, ErrorModel, ErrorsConfig, FlashConfig, MappingKind, Technology, UnwrittenRead,
};
use flashlane_device::ftl::gc::Victim;
use flashlane_reading::Rules;

/// Data of a codeword. Unit: bytes.
const CODEWORDS: [u64; 3] = [1024, 2048, 4096];
const CORRECTABLE: RangeInclusive<u32> = 1..=4000;
const SOFT_CORRECTABLE_MAX: u32 = 8000;
/// Reads of a page: retries, or reads for soft decoding.
const READS: RangeInclusive<u32> = 0..=60;
const FACTORS: RangeInclusive<f64> = 0.0..=1.0;
const POWERS: RangeInclusive<f64> = 0.0..=10.0;

/// Checks the section of bit errors. The rest of the device must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    let Some(errors) = &device.errors else { return };
    check_model(rules, errors, &device.flash);
    check_decoders(rules, errors, &device.flash);
    let age = &errors.age;
    rules.range("errors.age.cycles", age.cycles, &(0..=1_000_000));
    rules.range("errors.age.retention_days", age.retention_days, &(0.0..=3650.0));
    rules.range("errors.age.reads", age.reads, &(0..=4_000_000_000));
    if let Some(rate) = errors.refresh_at {
        rules.range("errors.refresh_at", rate, &(1e-6..=0.5));
    }
    let (ftl, compat) = (&device.ftl, &device.compat);
    let zeros = ftl.unwritten_read == UnwrittenRead::ZeroFill;
    for (found, with) in [
        (device.flash.technology == Technology::InPlace, "memory that is written in place"),
        (ftl.mapping.kind == MappingKind::Hybrid, "hybrid mapping"),
        (matches!(ftl.gc.victim, Victim::None(_)), "victim none, which takes no time"),
        (ftl.gc.copyback, "ftl.gc.copyback, which moves pages without decoding them"),
        (!zeros, "ftl.unwritten_read = \"flash\", since a page without data has no errors"),
        (compat.flash_unwritten_reads, "compat.flash_unwritten_reads"),
        (compat.data_before_commands, "compat.data_before_commands"),
        (compat.scan_at_once, "compat.scan_at_once"),
    ] {
        rules.require(!found, "errors", || format!("found the section, allowed: not with {with}"));
    }
}

fn check_model(rules: &mut Rules, errors: &ErrorsConfig, flash: &FlashConfig) {
    let custom = errors.model == ErrorModel::Custom;
    rules.require(custom == errors.coefficients.is_some(), "errors.coefficients", || {
        let found = if custom { "no figures" } else { "figures" };
        format!("found {found}, allowed: with errors.model = \"custom\", and only there")
    });
    if let Some(of) = &errors.coefficients {
        let key = |name: &str| format!("errors.coefficients.{name}");
        for (name, factor) in [
            ("base", of.base),
            ("wear", of.wear),
            ("retention", of.retention),
            ("disturb", of.disturb),
        ] {
            rules.range(key(name), factor, &FACTORS);
        }
        for (name, power) in [
            ("wear_power", of.wear_power),
            ("retention_cycles_power", of.retention_cycles_power),
            ("retention_power", of.retention_power),
            ("disturb_cycles_power", of.disturb_cycles_power),
            ("disturb_power", of.disturb_power),
        ] {
            rules.range(key(name), power, &POWERS);
        }
    }
    if let Some(factors) = &errors.page_types {
        let types = flash.technology.page_types();
        rules.require(factors.len() == types, "errors.page_types", || {
            let technology = format!("{:?}", flash.technology).to_lowercase();
            format!("found {} values, allowed: {types} (page types of {technology})", factors.len())
        });
        for (index, &factor) in factors.iter().enumerate() {
            rules.range(format!("errors.page_types[{index}]"), factor, &(0.001..=1000.0));
        }
    }
}

fn check_decoders(rules: &mut Rules, errors: &ErrorsConfig, flash: &FlashConfig) {
    let codeword = errors.codeword;
    rules.require(
        CODEWORDS.contains(&codeword.0) && flash.page_size.0.is_multiple_of(codeword.0.max(1)),
        "errors.codeword",
        || {
            format!(
                "found {codeword}, allowed: 1KiB, 2KiB, 4KiB; a part of the page ({})",
                flash.page_size
            )
        },
    );
    let hard = errors.hard_bits();
    if let Some(bits) = errors.correctable_bits {
        rules.range("errors.correctable_bits", bits, &CORRECTABLE);
    }
    if let Some(bits) = errors.soft_correctable_bits {
        rules.range("errors.soft_correctable_bits", bits, &(hard..=SOFT_CORRECTABLE_MAX));
    }
    rules.range("errors.retries", errors.retries, &READS);
    rules.range("errors.retry_factor", errors.retry_factor, &(0.01..=1.0));
    rules.range("errors.soft_senses", errors.soft_senses, &READS);
    for (name, time) in
        [("decode_time", errors.decode_time), ("soft_decode_time", errors.soft_decode_time)]
    {
        rules.span(format!("errors.{name}"), time, &(0..=*OPERATION_PS.end()));
    }
}
