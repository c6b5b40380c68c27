//! Rules of the data cache (`[cache]`).

use std::ops::RangeInclusive;

use super::MAX_SPAN_PS;
use crate::{Admission, CompatConfig, DeviceConfig, PauseConfig};
use flashlane_reading::Rules;

/// Intervals of pauses. Unit: picoseconds.
const INTERVAL_PS: RangeInclusive<u64> = 10_000_000..=100_000_000_000_000;
/// Rates at which data makes a pause longer. Unit: bytes per second.
const RATE: RangeInclusive<u64> = 1_000_000..=1_000_000_000_000;

/// Checks the section of the data cache.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    let cache = &device.cache;
    rules.bytes("cache.capacity", cache.capacity, 0..=1 << 40);
    let pages = cache.write_back_pages_per_plane;
    rules.range("cache.write_back_pages_per_plane", pages, &(1..=65_536));
    rules.span("cache.hot_epoch", cache.hot_epoch, &(1..=MAX_SPAN_PS));
    let dram = &cache.dram;
    rules.bytes("cache.dram.row", dram.row, 64..=1 << 20);
    rules.range("cache.dram.banks", dram.banks, &(1..=256));
    rules.require(
        (1_000_000..=1 << 40).contains(&dram.data_rate.0),
        "cache.dram.data_rate",
        || format!("found {}, allowed: 1MT/s to 1000GT/s", dram.data_rate),
    );
    rules.bytes("cache.dram.bus_width", dram.bus_width, 1..=64);
    for (name, time) in [("t_rcd", dram.t_rcd), ("t_cl", dram.t_cl), ("t_rp", dram.t_rp)] {
        rules.span(format!("cache.dram.{name}"), time, &(0..=1_000_000_000));
    }
    check_admission(rules, device);
    check_pause(rules, device);
}

/// Checks the keys of `cache.admission = "rate"`.
fn check_admission(rules: &mut Rules, device: &DeviceConfig) {
    let cache = &device.cache;
    rules.range("cache.admission_mark", cache.admission_mark.0, &(0.0..=0.95));
    rules.range("cache.admission_window", cache.admission_window, &(16..=1 << 24));
    if cache.admission == Admission::Rate {
        refuse_misfits(rules, device, "cache.admission", "rate");
    }
}

/// Checks the pauses of the write buffer.
fn check_pause(rules: &mut Rules, device: &DeviceConfig) {
    let pause = &device.cache.pause;
    rules.bytes("cache.pause.buffer", pause.buffer, 0..=1 << 40);
    let interval = pause.interval.0;
    rules.require(interval == 0 || INTERVAL_PS.contains(&interval), "cache.pause.interval", || {
        format!("found {}, allowed: 0s, or 10us to 100s", pause.interval)
    });
    rules.span("cache.pause.time", pause.time, &(0..=1_000_000_000_000));
    if let Some(rate) = pause.rate {
        rules.require(RATE.contains(&rate.0), "cache.pause.rate", || {
            format!("found {rate}, allowed: 1MB/s to 1TB/s")
        });
    }
    if pause.is_on() {
        refuse_misfits(rules, device, "cache.pause.interval", &pause.interval.to_string());
    }
    // Without an interval the other keys would do nothing.
    rules.require(
        pause.is_on() || *pause == PauseConfig::default(),
        "cache.pause.interval",
        || "found 0s beside other keys of [cache.pause], allowed: 10us to 100s".to_owned(),
    );
}

/// Refuses a key that delays writes in a drive whose writes are never delayed.
fn refuse_misfits(rules: &mut Rules, device: &DeviceConfig, key: &str, found: &str) {
    let misfits = [
        (device.cache.capacity.0 == 0, "cache.capacity = \"0B\", where there is no data cache"),
        (device.compat != CompatConfig::default(), "switches of compat, which have no such rule"),
    ];
    for (_, with) in misfits.iter().filter(|(misfit, _)| *misfit) {
        rules.refuse(key, format!("found \"{found}\", allowed: not with {with}"));
    }
}
