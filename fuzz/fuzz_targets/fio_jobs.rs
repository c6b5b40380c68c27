//! fio job files: parsed, and checked as a workload.
#![no_main]

use std::path::Path;

use flashlane::config::load::Loaded;
use flashlane::config::{fio_job, validate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok((config, places, warnings)) = fio_job::parse(Path::new("job.fio"), text) {
        let _ = validate::check_workload(&Loaded { config, places, warnings });
    }
});
