//! Runs scenarios with their seeds, in parallel, behind one progress bar.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flashlane::config::{DeviceConfig, WorkloadConfig};
use flashlane::metrics::{SeedStatistics, Summary};
use flashlane::{Details, Error, RunOptions, Simulation, StateProgress, StateStep, simulate_all};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

/// Steps of the progress bar per simulation.
pub(crate) const STEPS: u64 = 1000;

/// One scenario to run.
#[derive(Debug)]
pub(crate) struct Scenario<'a> {
    pub(crate) device: &'a DeviceConfig,
    pub(crate) workload: &'a WorkloadConfig,
    pub(crate) options: RunOptions,
    /// The number of seeds of `--seeds`.
    pub(crate) seeds: Option<u64>,
}

/// The results of a scenario.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Summary of the first seed.
    pub(crate) summary: Summary,
    /// Details of the first seed that are not in the summary.
    pub(crate) details: Details,
    /// Statistics over all seeds, with `--seeds`.
    pub(crate) seeds: Option<SeedStatistics>,
}

impl Outcome {
    /// The summary that tables show. With several seeds it holds the means over the seeds.
    pub(crate) fn shown(&self) -> Result<Cow<'_, Summary>, Error> {
        match &self.seeds {
            Some(seeds) => seeds.mean_summary(&self.summary).map(Cow::Owned).map_err(Error::Output),
            None => Ok(Cow::Borrowed(&self.summary)),
        }
    }

    /// One line of JSON.
    pub(crate) fn json_line(&self) -> Result<String, Error> {
        let mut value = to_json(&self.summary)?;
        if let Some(seeds) = &self.seeds {
            value["seeds"] = to_json(seeds)?;
        }
        Ok(format!("{value}\n"))
    }

    /// Names and texts of the result files: `summary.json`, with `--seeds` `seeds.json`, with
    /// `--until-steady` `steady.json`.
    pub(crate) fn files(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let mut files = vec![("summary.json", pretty(&to_json(&self.summary)?))];
        if let Some(seeds) = &self.seeds {
            files.push(("seeds.json", pretty(&to_json(seeds)?)));
        }
        if let Some(steady) = &self.summary.steady_state {
            files.push(("steady.json", pretty(&to_json(steady)?)));
        }
        Ok(files)
    }
}

pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> Result<Value, Error> {
    serde_json::to_value(value).map_err(|error| Error::Output(format!("JSON: {error}")))
}

/// Indented JSON that ends in a newline.
pub(crate) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Runs scenarios, with all their seeds in parallel. Results are in the order of the scenarios.
pub(crate) fn execute(
    scenarios: &[Scenario<'_>],
    threads: usize,
    label: &str,
    quiet: bool,
) -> Result<Vec<Outcome>, Error> {
    let seeds = |scenario: &Scenario<'_>| scenario.seeds.unwrap_or(1);
    let count = scenarios.iter().map(seeds).sum::<u64>() as usize;
    let bar = Arc::new(Bar::new(progress_bar(count as u64 * STEPS, label, quiet), label, count));
    let of_state = Arc::clone(&bar);
    let of_state = StateProgress::new(move |step, share| of_state.sets_state(step, share));
    let options: Vec<RunOptions> = scenarios
        .iter()
        .flat_map(|scenario| {
            (0..seeds(scenario)).map(|index| {
                let mut options = scenario.options.clone();
                options.seed = options.seed.wrapping_add(index);
                options.state_progress = Some(of_state.clone());
                options
            })
        })
        .collect();
    let repeated = scenarios.iter().flat_map(|one| (0..seeds(one)).map(move |_| one));
    let simulations: Vec<Simulation<'_>> = repeated
        .zip(&options)
        .map(|(one, options)| Simulation { device: one.device, workload: one.workload, options })
        .collect();
    let progress = |index: usize, share: f64| bar.runs(index, share);
    let results = simulate_all(&simulations, threads, &progress);
    bar.bar.finish_and_clear();
    let mut results = results.into_iter();
    let outcome = |scenario: &Scenario<'_>| {
        let count = seeds(scenario) as usize;
        let mut first = None;
        let mut summaries = Vec::new();
        for result in results.by_ref().take(count) {
            let (summary, details) = result?;
            first.get_or_insert(details);
            summaries.push(summary);
        }
        let seeds = scenario.seeds.map(|_| SeedStatistics::of(&summaries));
        let summary = summaries.into_iter().next().expect("at least one seed");
        Ok(Outcome { summary, details: first.expect("at least one seed"), seeds })
    };
    scenarios.iter().map(outcome).collect()
}

/// The progress bar of several simulations. Before the first of them runs, the bar shows the
/// progress of the initial state of its drive.
struct Bar {
    bar: ProgressBar,
    label: String,
    /// Number of steps that are done, for each simulation.
    done: Vec<AtomicU64>,
    runs: AtomicBool,
}

impl Bar {
    fn new(bar: ProgressBar, label: &str, count: usize) -> Self {
        let done = (0..count).map(|_| AtomicU64::new(0)).collect();
        Self { bar, label: label.to_owned(), done, runs: AtomicBool::new(false) }
    }

    /// Shows that a share of the state of a drive is done.
    fn sets_state(&self, step: StateStep, share: f64) {
        if self.runs.load(Ordering::Relaxed) {
            return;
        }
        self.bar.set_message(match step {
            StateStep::Making => "setting the drive's state",
            StateStep::Keeping => "keeping the drive's state",
        });
        let length = self.done.len() as u64 * STEPS;
        self.bar.set_position((share.clamp(0.0, 1.0) * length as f64) as u64);
    }

    /// Shows that a share of a simulation is done.
    fn runs(&self, index: usize, share: f64) {
        if !self.runs.swap(true, Ordering::Relaxed) {
            self.bar.set_message(self.label.clone());
            self.bar.reset_eta();
        }
        let steps = (share.clamp(0.0, 1.0) * STEPS as f64) as u64;
        self.done[index].store(steps, Ordering::Relaxed);
        self.bar.set_position(self.done.iter().map(|one| one.load(Ordering::Relaxed)).sum());
    }
}

pub(crate) fn progress_bar(length: u64, label: &str, quiet: bool) -> ProgressBar {
    // indicatif hides the bar itself if standard error is not a terminal.
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    let style = ProgressStyle::with_template("{msg} [{wide_bar}] {percent:>3} % {eta:>5}")
        .expect("the template is constant");
    bar.set_style(style.progress_chars("=> "));
    bar.set_message(label.to_owned());
    bar
}

/// Shows the progress of a loop of unknown length: a count of requests.
pub(crate) fn spinner(label: &str, quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(None, target);
    let style = ProgressStyle::with_template("{spinner} {msg}: {human_pos} requests, {per_sec}")
        .expect("the template is constant");
    bar.set_style(style);
    bar.set_message(label.to_owned());
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_shows_the_state_of_the_drive_and_then_the_run() {
        let bar = Bar::new(progress_bar(2 * STEPS, "simulating", true), "simulating", 2);
        let shown = || (bar.bar.message(), bar.bar.position());
        bar.sets_state(StateStep::Making, 0.5);
        assert_eq!(shown(), ("setting the drive's state".to_owned(), STEPS));
        bar.sets_state(StateStep::Keeping, 0.25);
        assert_eq!(shown(), ("keeping the drive's state".to_owned(), STEPS / 2));
        bar.runs(1, 0.1);
        assert_eq!(shown(), ("simulating".to_owned(), STEPS / 10));
        // The other simulation may still wait for the state of its drive.
        bar.sets_state(StateStep::Making, 0.9);
        assert_eq!(shown(), ("simulating".to_owned(), STEPS / 10));
    }
}
