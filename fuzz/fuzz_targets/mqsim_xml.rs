//! MQSim's XML files: parsed as devices and as workloads, and checked.
#![no_main]

use std::path::Path;

use flashlane::config::load::{Loaded, Places};
use flashlane::config::{mqsim_xml, validate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = Path::new("file.xml");
    let places = || Places::new("file.xml");
    if let Ok((config, warnings)) = mqsim_xml::parse_device(path, data) {
        let _ = validate::check_device(&Loaded { config, places: places(), warnings });
    }
    if let Ok((scenarios, _)) = mqsim_xml::parse_scenarios(path, data) {
        for config in scenarios {
            let warnings = Vec::new();
            let _ = validate::check_workload(&Loaded { config, places: places(), warnings });
        }
    }
});
