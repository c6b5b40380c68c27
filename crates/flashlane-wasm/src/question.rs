//! What a page asks.

use flashlane::config::load::{self, Caller, Overrides};
use flashlane::config::validate;
use flashlane::metrics::Baseline;
use flashlane::observe::{Observe, TimelineOptions};
use flashlane::{Error, RunOptions, simulate_in_detail};
use serde::Deserialize;

use crate::answer::Answer;

/// A scenario to simulate.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Question {
    /// The drive, as TOML; `base = "tiny"` begins with a preset.
    pub device: String,
    /// The tenants, as TOML.
    pub workload: String,
    /// Keys to set, as `--set` takes them.
    pub set: Vec<String>,
    /// Scheduling policy, instead of the device's.
    pub scheduler: Option<String>,
    /// Isolation policy, instead of the device's.
    pub isolation: Option<String>,
    /// Root seed of the random streams.
    pub seed: Option<u64>,
    /// Also run every flow alone.
    pub alone: bool,
    /// Mean end-to-end times of the tenants alone in another run, in their order, against which
    /// slowdowns are then taken. Unit: microseconds.
    pub alone_us: Vec<f64>,
    /// Charge all waiting to causes and culprits.
    pub blame: bool,
    /// Count energy and wear.
    pub energy: bool,
    /// A factor for the load of each flow, in the order of the workload; those that are left out
    /// stay as they are.
    pub loads: Vec<f64>,
    /// Most requests of each flow; 0 for no limit.
    pub requests_max: u64,
    /// Slices of the timeline from the start on; 0 for none.
    pub slices: usize,
}

impl Question {
    /// Runs it.
    #[must_use]
    pub fn answer(&self) -> Answer {
        self.run().unwrap_or_else(|error| Answer::failed(&error.to_string()))
    }

    fn run(&self) -> Result<Answer, Error> {
        let overrides = Overrides {
            sets: self.set.clone(),
            scheduler: self.scheduler.clone(),
            isolation: self.isolation.clone(),
            // Pages know keys and no options.
            caller: Caller::Program,
            ..Overrides::default()
        };
        let device = load::device_from_toml(&self.device, "device", &overrides)?;
        let mut workload = load::workload_from_toml(&self.workload, "workload", &overrides)?;
        for (flow, &factor) in workload.config.flows.iter_mut().zip(&self.loads) {
            flow.scale_load(factor);
        }
        if self.requests_max > 0 {
            workload.config.flows.iter_mut().for_each(|flow| flow.end_after(self.requests_max));
        }
        validate::check_pair(&device, &workload)?;
        let timeline = (self.slices > 0)
            .then(|| TimelineOptions { slices_max: self.slices, ..TimelineOptions::default() });
        let observe =
            Observe { blame: self.blame, energy: self.energy, timeline, ..Observe::default() };
        let seed = self.seed.unwrap_or(RunOptions::default().seed);
        let options =
            RunOptions { seed, alone: self.alone, threads: 1, observe, ..RunOptions::default() };
        let (mut summary, details) =
            simulate_in_detail(&device.config, &workload.config, &options, &|_| {})?;
        if !self.alone_us.is_empty() {
            let names = summary.flows.iter().map(|flow| flow.name.clone());
            let times = names.zip(self.alone_us.iter().copied());
            Baseline::of_times(times.collect::<Vec<_>>()).apply(&mut summary, None);
        }
        Ok(Answer::of(&summary, details))
    }
}
