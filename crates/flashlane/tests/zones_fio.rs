//! Jobs of fio with `zonemode=zbd` on a drive with zones: the drive refuses none of their commands,
//! and its counts are those of the jobs.

use std::path::Path;

use flashlane::config::load::{Overrides, device_from_toml};
use flashlane::config::validate::{validate, warnings};
use flashlane::config::{DeviceConfig, WorkloadConfig, fio_job};
use flashlane::metrics::Summary;
use flashlane_units::Ratio;

use crate::common::Scenario;

/// A drive of 4 KiB pages with zones of 1 MiB.
const PAGES: &str = r#"
base = "tiny"
[placement]
mode = "zones"
zones = { max_open = 3, max_active = 5 }
[ftl]
superblock = "drive"
mapping = { ideal = true }
"#;

fn device(toml: &str) -> DeviceConfig {
    device_from_toml(toml, "device", &Overrides::default()).expect("a device").config
}

/// The same drive with zones that are larger than their capacity.
fn with_holes() -> DeviceConfig {
    device(&PAGES.replace("max_active = 5", "max_active = 5, size = \"2MiB\""))
}

fn workload(text: &str, occupancy: f64) -> WorkloadConfig {
    let mut all = fio_job::parse(Path::new("job.fio"), text).expect("a valid job");
    let mut workload = all.remove(0).0;
    for flow in &mut workload.flows {
        flow.occupancy = Some(Ratio(occupancy));
    }
    workload
}

/// Runs a job; the run ends with an error if the drive refuses a command.
fn run(device: &DeviceConfig, text: &str, occupancy: f64) -> Summary {
    let workload = workload(text, occupancy);
    assert_eq!(validate(device, &workload), [], "{text}");
    let outcome = Scenario::new(device, &workload).seed(3).run();
    outcome.unwrap_or_else(|error| panic!("{text}: {error}")).summary
}

/// The messages about a job on a drive.
fn refused(device: &DeviceConfig, keys: &str) -> Vec<String> {
    let text = format!("[a]\n{}", keys.replace(' ', "\n"));
    let problems = validate(device, &workload(&text, 0.0));
    problems.into_iter().map(|one| format!("{}: {}", one.place, one.message)).collect()
}
