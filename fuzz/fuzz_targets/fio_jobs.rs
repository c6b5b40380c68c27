//! fio job files: parsed, and each of their stages checked as a workload.
#![no_main]

use std::path::Path;

use flashlane::config::load::Loaded;
use flashlane::config::{fio_job, validate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for (config, places, warnings) in fio_job::parse(Path::new("job.fio"), text).unwrap_or_default()
    {
        let _ = validate::check_workload(&Loaded { config, places, warnings });
    }
});
