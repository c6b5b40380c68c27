//! Runs scenarios with their seeds, in parallel, behind one progress bar.

use std::sync::atomic::{AtomicU64, Ordering};

use flashlane::config::{DeviceConfig, WorkloadConfig};
use flashlane::metrics::Summary;
use flashlane::{Error, RunOptions, simulate};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;
use serde_json::Value;

use crate::seeds::{self, Estimates};

/// Steps of the progress bar per simulation.
pub(crate) const STEPS: u64 = 1000;

/// One scenario to run.
#[derive(Debug)]
pub(crate) struct Scenario<'a> {
    /// Shown beside the progress bar.
    pub(crate) label: String,
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
    /// Over all seeds, with `--seeds`.
    pub(crate) estimates: Option<Estimates>,
}

impl Outcome {
    /// One line of JSON.
    pub(crate) fn json_line(&self) -> Result<String, Error> {
        let mut value = to_json(&self.summary)?;
        if let Some(estimates) = &self.estimates {
            value["seeds"] = to_json(estimates)?;
        }
        Ok(format!("{value}\n"))
    }

    /// `summary.json` and, with `--seeds`, `seeds.json`, with `--until-steady`, `steady.json`: names and
    /// texts.
    pub(crate) fn files(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let mut files = vec![("summary.json", pretty(&to_json(&self.summary)?))];
        if let Some(estimates) = &self.estimates {
            files.push(("seeds.json", pretty(&to_json(estimates)?)));
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

/// Runs one scenario.
pub(crate) fn execute(scenario: &Scenario<'_>, quiet: bool) -> Result<Outcome, Error> {
    let count = scenario.seeds.unwrap_or(1);
    let bar = progress_bar(count * STEPS, &scenario.label, quiet);
    let done: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
    let run_one = |index: u64, threads: usize| {
        let mut options = scenario.options.clone();
        options.seed = options.seed.wrapping_add(index);
        options.threads = threads;
        let progress = |share: f64| {
            let steps = (share.clamp(0.0, 1.0) * STEPS as f64) as u64;
            done[index as usize].store(steps, Ordering::Relaxed);
            bar.set_position(done.iter().map(|one| one.load(Ordering::Relaxed)).sum());
        };
        simulate(scenario.device, scenario.workload, &options, &progress)
    };
    let results: Vec<Result<Summary, Error>> = if count == 1 {
        vec![run_one(0, scenario.options.threads)]
    } else {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(scenario.options.threads)
            .build()
            .map_err(|error| Error::config("--threads", format!("cannot start: {error}")))?;
        pool.install(|| (0..count).into_par_iter().map(|index| run_one(index, 1)).collect())
    };
    bar.finish_and_clear();
    let summaries = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    let estimates = scenario.seeds.map(|_| seeds::estimate(&summaries));
    let summary = summaries.into_iter().next().expect("at least one seed");
    Ok(Outcome { summary, estimates })
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
