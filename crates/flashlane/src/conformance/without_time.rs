//! A drive with the policy, once with time and once without: random writes on a full drive, at the
//! rate of one writer and at the limit of the drive.

use serde::Serialize;

use crate::options::RunOptions;
use crate::run::simulate;
use flashlane_config::load::{Overrides, device_from_toml, workload_from_toml};
use flashlane_config::validate::validate;
use flashlane_config::{DeviceConfig, WorkloadConfig};
use flashlane_device::rule::ensure;
use flashlane_measure::metrics::{FlashSummary, Summary};
use flashlane_reading::Error;

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

const WRITER: &str = r#"
[[flow]]
name = "writer"
cache = "off"
[flow.synthetic]
queue_depth = 16
size = "4KiB"
align = "4KiB"
requests = 20000
"#;

/// A small full drive, to which a flow writes pages at random. It measures the write amplification
/// of policies with time and without ([`RunOptions::waf_only`]).
#[derive(Clone, Debug)]
pub struct RandomWrites {
    device: DeviceConfig,
    workload: WorkloadConfig,
}

impl RandomWrites {
    /// The drive and its writer, with keys changed as in `key=value`.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if a key or its value is wrong.
    pub fn new(sets: &[String]) -> Result<Self, Error> {
        let overrides = Overrides { sets: sets.to_vec(), ..Overrides::default() };
        let device = device_from_toml(DEVICE, "the drive", &overrides)?.config;
        let workload = workload_from_toml(WRITER, "its writer", &overrides)?.config;
        let problems = validate(&device, &workload);
        if problems.is_empty() {
            Ok(Self { device, workload })
        } else {
            Err(Error::Config(problems))
        }
    }

    /// Pages programmed for each page of the host, from the start to the end of its last write.
    ///
    /// It includes the work that collection still owes at the end: for each block below the
    /// threshold, as many pages as a block has cost so far. Both kinds of run count a page when it
    /// is programmed. The backlog of collection at one moment tells nothing about the policies, but
    /// after so short a run it would be most of the difference.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if the policies are refused without time, and other errors of runs.
    pub fn amplification(&self, waf_only: bool) -> Result<f64, Error> {
        let options = RunOptions { waf_only, ..RunOptions::default() };
        let summary: Summary = simulate(&self.device, &self.workload, &options, &|_| {})?;
        let spans = [&summary.before_window.flash, &summary.flash];
        let sum = |of: fn(&FlashSummary) -> u64| spans.iter().map(|flash| of(flash)).sum::<u64>();
        let host = sum(|flash| flash.user_programs);
        let (gc, mapping) = (sum(|flash| flash.gc_programs), sum(|flash| flash.mapping_programs));
        let of_block = gc as f64 / sum(|flash| flash.erases).max(1) as f64;
        let owed = of_block * summary.flash.blocks_owed_at_end as f64;
        Ok(((host + gc + mapping) as f64 + owed) / host.max(1) as f64)
    }
}

/// Runs the drive. `key`: place of the policy in the configuration.
pub(super) fn check(key: &str, policy: &impl Serialize) -> Result<(), String> {
    let value = toml::Value::try_from(policy).map_err(|error| error.to_string())?;
    let words = |error: Error| error.to_string();
    for depth in [1, 16] {
        let sets = [format!("{key}={value}"), format!("flow[0].synthetic.queue_depth={depth}")];
        let drive = RandomWrites::new(&sets).map_err(words)?;
        let timed = drive.amplification(false).map_err(words)?;
        let untimed = match drive.amplification(true) {
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
