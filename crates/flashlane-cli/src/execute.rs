//! Runs scenarios with their seeds, in parallel, behind one progress bar.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use flashlane::config::{DeviceConfig, WorkloadConfig};
use flashlane::metrics::{SeedStatistics, Summary};
use flashlane::{Details, Error, RunOptions, Simulation, simulate_all};
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
    /// `--seeds`.
    pub(crate) seeds: Option<u64>,
}

/// What came out of it.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Of the first seed.
    pub(crate) summary: Summary,
    /// The same: what a summary has no room for.
    pub(crate) details: Details,
    /// Over all seeds, with `--seeds`.
    pub(crate) seeds: Option<SeedStatistics>,
}

impl Outcome {
    /// What tables show: the summary; with several seeds, the means over them.
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

    /// `summary.json` and, with `--seeds`, `seeds.json`, with `--until-steady`, `steady.json`:
    /// names and texts.
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

/// Runs scenarios, the seeds of all of them at once. Results are in the order of the scenarios.
pub(crate) fn execute(
    scenarios: &[Scenario<'_>],
    threads: usize,
    label: &str,
    quiet: bool,
) -> Result<Vec<Outcome>, Error> {
    let seeds = |scenario: &Scenario<'_>| scenario.seeds.unwrap_or(1);
    let options: Vec<RunOptions> = scenarios
        .iter()
        .flat_map(|scenario| {
            (0..seeds(scenario)).map(|index| {
                let mut options = scenario.options.clone();
                options.seed = options.seed.wrapping_add(index);
                options
            })
        })
        .collect();
    let repeated = scenarios.iter().flat_map(|one| (0..seeds(one)).map(move |_| one));
    let simulations: Vec<Simulation<'_>> = repeated
        .zip(&options)
        .map(|(one, options)| Simulation { device: one.device, workload: one.workload, options })
        .collect();
    let bar = progress_bar(simulations.len() as u64 * STEPS, label, quiet);
    let done: Vec<AtomicU64> = simulations.iter().map(|_| AtomicU64::new(0)).collect();
    let progress = |index: usize, share: f64| {
        let steps = (share.clamp(0.0, 1.0) * STEPS as f64) as u64;
        done[index].store(steps, Ordering::Relaxed);
        bar.set_position(done.iter().map(|one| one.load(Ordering::Relaxed)).sum());
    };
    let results = simulate_all(&simulations, threads, &progress);
    bar.finish_and_clear();
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

pub(crate) fn progress_bar(length: u64, label: &str, quiet: bool) -> ProgressBar {
    // Hidden by indicatif itself where standard error is not a terminal.
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    let style = ProgressStyle::with_template("{msg} [{wide_bar}] {percent:>3} % {eta:>5}")
        .expect("the template is constant");
    bar.set_style(style.progress_chars("=> "));
    bar.set_message(label.to_owned());
    bar
}

/// Progress through something of unknown length: a count of requests.
pub(crate) fn spinner(label: &str, quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(None, target);
    let style = ProgressStyle::with_template("{spinner} {msg}: {human_pos} requests, {per_sec}")
        .expect("the template is constant");
    bar.set_style(style);
    bar.set_message(label.to_owned());
    bar
}
