//! `--baseline`: the tenants alone of an earlier run, against which slowdowns are taken.

use std::path::Path;

use flashlane::config::WorkloadConfig;
use flashlane::config::load::Loaded;
use flashlane::metrics::Baseline;
use flashlane::{Error, visible};
use flashlane_report::RunData;

use crate::commands::compare;
use crate::execute::Outcome;

/// The baseline that the user named.
pub(crate) struct Against {
    /// The place of the run, as the user gave it.
    pub(crate) label: String,
    baseline: Baseline,
}

impl Against {
    /// Takes the slowdowns of a run against it.
    pub(crate) fn apply(&self, outcome: &mut Outcome) {
        self.baseline.apply(&mut outcome.summary, outcome.seeds.as_mut());
    }

    /// Says what slowdowns are against.
    pub(crate) fn sentence(&self) -> String {
        flashlane_report::against(&self.label)
    }
}

/// Reads the baseline for the tenants of some workloads.
///
/// # Errors
/// [`Error::Config`] if the place holds no run whose tenants ran alone, or lacks a tenant.
pub(crate) fn read(path: &Path, workloads: &[Loaded<WorkloadConfig>]) -> Result<Against, Error> {
    let (run, baseline) = one_run(path)?;
    for flow in workloads.iter().flat_map(|workload| &workload.config.flows) {
        if !baseline.has(&flow.name) {
            let there: Vec<&str> = run.summary.flows.iter().map(|flow| &*flow.name).collect();
            let message = format!(
                "has no tenant `{}`, allowed: a run with all tenants of the workload; found: {}",
                visible(&flow.name),
                visible(&there.join(", "))
            );
            return Err(compare::refuse(path, message));
        }
    }
    Ok(Against { label: run.label, baseline })
}

/// The run at a place, whose tenants ran alone, and the baseline that it gives.
///
/// # Errors
/// [`Error::Config`] if the place holds no such run, or several.
pub(crate) fn one_run(path: &Path) -> Result<(RunData, Baseline), Error> {
    let mut runs: Vec<RunData> = compare::read(path)?.into_iter().map(|(run, ..)| run).collect();
    let count = runs.len();
    let Some(mut run) = runs.pop().filter(|_| count == 1) else {
        return Err(compare::refuse(
            path,
            format!("holds {count} runs, allowed: the result of one"),
        ));
    };
    let Some(baseline) = Baseline::of(&run.summary, run.seeds.as_ref()) else {
        let message = "has no tenants alone, allowed: a result of `flashlane run --alone`";
        return Err(compare::refuse(path, message));
    };
    run.label = visible(&path.display().to_string()).into_owned();
    Ok((run, baseline))
}
