//! A drive with the policy, with time and without: random writes on a full drive, at the rate of
//! one writer and at the limit of the drive.

use serde::Serialize;

use crate::config::DeviceConfig;
use crate::config::load::{Overrides, device_from_toml, workload_from_toml};
use crate::config::validate::validate;
use crate::error::Error;
use crate::metrics::Summary;
use crate::options::RunOptions;
use crate::rule::ensure;
use crate::run::simulate;

pub(super) const RULE: &str = "writes are amplified as much without time (--waf-only) as with it, \
                               within 3 %, or the policy is refused without";

/// Largest difference of the amplification.
const ALLOWED: f64 = 0.03;

const DEVICE: &str = r#"
name = "amplification"
[ftl]
over_provisioning = "28%"
[flash]
technology = "slc"
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 256
pages_per_block = 32
page_size = "4KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

/// Runs the drive. `key`: where the policy stands in the configuration.
pub(super) fn check(key: &str, policy: &impl Serialize) -> Result<(), String> {
    let value = toml::Value::try_from(policy).map_err(|error| error.to_string())?;
    let overrides = Overrides { sets: vec![format!("{key}={value}")], ..Overrides::default() };
    let words = |error: Error| error.to_string();
    let device = device_from_toml(DEVICE, "the drive", &overrides).map_err(words)?.config;
    for depth in [1, 16] {
        let timed = amplification(&device, depth, false).map_err(words)?;
        let untimed = match amplification(&device, depth, true) {
            Err(Error::Config(_)) => return Ok(()),
            other => other.map_err(words)?,
        };
        ensure!(
            (untimed / timed - 1.0).abs() <= ALLOWED,
            "queue depth {depth}: found {untimed:.3} without time and {timed:.3} with it"
        );
    }
    Ok(())
}

/// Pages written for each page of the host.
fn amplification(device: &DeviceConfig, depth: u32, waf_only: bool) -> Result<f64, Error> {
    let workload = format!(
        "[[flow]]\nname = \"writer\"\ncache = \"off\"\n[flow.synthetic]\nqueue_depth = {depth}\n\
         size = \"4KiB\"\nalign = \"4KiB\"\nrequests = 20000"
    );
    let workload = workload_from_toml(&workload, "its writer", &Overrides::default())?.config;
    let problems = validate(device, &workload);
    if !problems.is_empty() {
        return Err(Error::Config(problems));
    }
    let options = RunOptions { waf_only, ..RunOptions::default() };
    let summary: Summary = simulate(device, &workload, &options, &|_| {})?;
    let spans = [&summary.before_window.flash, &summary.flash, &summary.after_window.flash];
    let [host, moved] = spans.iter().fold([0, 0], |[host, moved], flash| {
        [host + flash.user_programs, moved + flash.gc_programs + flash.mapping_programs]
    });
    Ok((host + moved) as f64 / host.max(1) as f64)
}
