//! Rules of the data cache (`[cache]`).

use super::MAX_SPAN_PS;
use crate::{Admission, CompatConfig, DeviceConfig};
use flashlane_reading::Rules;

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
}

/// Checks the keys of `cache.admission = "rate"`.
fn check_admission(rules: &mut Rules, device: &DeviceConfig) {
    let cache = &device.cache;
    rules.range("cache.admission_mark", cache.admission_mark.0, &(0.0..=0.95));
    rules.range("cache.admission_window", cache.admission_window, &(16..=1 << 24));
    if cache.admission != Admission::Rate {
        return;
    }
    let misfits = [
        (cache.capacity.0 == 0, "cache.capacity = \"0B\", where there is no data cache"),
        (device.compat != CompatConfig::default(), "switches of compat, which have no such rule"),
    ];
    for (_, with) in misfits.iter().filter(|(found, _)| *found) {
        rules.refuse("cache.admission", format!("found \"rate\", allowed: not with {with}"));
    }
}
