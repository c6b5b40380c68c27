//! A whole drive with the policy: three tenants, little room, and every audit.

use serde::Serialize;

use crate::options::RunOptions;
use crate::run::simulate;
use flashlane_config::load::{Overrides, device_from_toml, workload_from_toml};
use flashlane_config::validate::validate;
use flashlane_device::rule::ensure;
use flashlane_measure::metrics::Summary;
use flashlane_reading::Error;

pub(super) const RULE: &str =
    "a small drive runs to its end with every audit, and twice the same, for three seeds";

const DEVICE: &str = r#"
base = "tiny"
[flash]
channels = 2
chips_per_channel = 3
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 32
[ftl]
over_provisioning = 0.9
[ftl.gc]
threshold = "5 blocks"
"#;

const WORKLOAD: &str = r#"
[[flow]]
name = "reader"
[flow.synthetic]
queue_depth = 8
read_ratio = 1.0
size = "4KiB"
requests = 1500
[[flow]]
name = "writer"
cache = "off"
[flow.synthetic]
queue_depth = 16
read_ratio = 0.0
size = { discrete = [["4KiB", 0.8], ["16KiB", 0.2]] }
requests = 4000
[[flow]]
name = "both"
priority = "low"
[flow.synthetic]
iops = 500
read_ratio = 0.5
size = "8KiB"
requests = 1500
"#;

/// Runs the drive. `key`: place of the policy in the configuration.
pub(super) fn check(key: &str, policy: &impl Serialize) -> Result<(), String> {
    let value = toml::Value::try_from(policy).map_err(|error| error.to_string())?;
    let sets = vec![format!("{key}={value}")];
    let overrides = Overrides { sets, ..Overrides::default() };
    let words = |error: Error| error.to_string();
    let device = device_from_toml(DEVICE, "the small drive", &overrides).map_err(words)?.config;
    let workload = workload_from_toml(WORKLOAD, "its tenants", &Overrides::default());
    let workload = workload.map_err(words)?.config;
    if let Some(problem) = validate(&device, &workload).first() {
        return Err(format!("the small drive is refused with it: {problem}"));
    }
    for seed in 1..=3 {
        let options = RunOptions { seed, check: true, ..RunOptions::default() };
        let run = || simulate(&device, &workload, &options, &|_| {}).map_err(words);
        let summary: Summary = run()?;
        let again = run()?;
        let same = (&summary.flows, &summary.flash) == (&again.flows, &again.flash);
        ensure!(same, "seed {seed}: a second run gave another summary");
        for (flow, requests) in summary.flows.iter().zip([1500, 4000, 1500]) {
            let done = flow.requests.read + flow.requests.write;
            ensure!(
                done >= requests,
                "seed {seed}: {done} of {requests} requests of {} were done",
                flow.name
            );
        }
        // More than half of an empty drive could take without collection.
        let programs = summary.flash.user_programs;
        ensure!(programs > 3000, "seed {seed}: only {programs} pages were written");
    }
    Ok(())
}
