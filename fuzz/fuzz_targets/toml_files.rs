//! Devices and workloads in TOML: parsed, and checked.
#![no_main]

use flashlane::config::load::{self, Overrides};
use flashlane::config::validate;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let none = Overrides::default();
    if let Ok(device) = load::device_from_toml(text, "device.toml", &none) {
        let _ = validate::check_device(&device);
    }
    if let Ok(workload) = load::workload_from_toml(text, "workload.toml", &none) {
        let _ = validate::check_workload(&workload);
    }
});
