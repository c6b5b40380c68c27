//! `flashlane.reproduce`: runs the experiments of the papers.

use std::sync::Arc;

use flashlane_reproduce::{Experiment, Lab, PAPERS, Row, TraceFolder, chosen};
use pyo3::prelude::*;

use crate::detached::detached;
use crate::error::OrRaise;
use crate::simulate::json;

/// Name, figure and subject of an experiment.
type About = (&'static str, &'static str, &'static str);

/// Papers: names, titles and experiments.
#[pyfunction]
pub(crate) fn papers() -> Vec<(&'static str, &'static str, Vec<About>)> {
    let experiments = |of: &[Experiment]| of.iter().map(|e| (e.name, e.figure, e.about)).collect();
    PAPERS.iter().map(|paper| (paper.name, paper.title, experiments(paper.experiments))).collect()
}

/// Runs experiments. Returns the rows of `results.json` as JSON.
#[pyfunction]
#[pyo3(signature = (paper, experiments, *, full, quick, smoke, seed, threads, traces, progress))]
#[expect(clippy::too_many_arguments, reason = "keywords of flashlane.reproduce")]
pub(crate) fn reproduce(
    py: Python<'_>,
    paper: &str,
    experiments: Vec<String>,
    full: bool,
    quick: bool,
    smoke: bool,
    seed: u64,
    threads: usize,
    traces: Option<std::path::PathBuf>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (_, experiments) = chosen(paper, &experiments).or_raise()?;
    let folder = traces.as_deref().map(TraceFolder::open).transpose().or_raise()?;
    let rows = detached(py, progress, move |watch| {
        let mut rows: Vec<Row> = Vec::new();
        let count = experiments.len() as f64;
        for (index, experiment) in experiments.into_iter().enumerate() {
            let note = |share: f64| watch.note((index as f64 + share) / count);
            let mut lab = Lab::new(threads, &note);
            (lab.full, lab.quick, lab.smoke, lab.seed) = (full, quick, smoke, seed);
            if smoke {
                lab.seeds = 1;
            }
            lab.stop = Some(Arc::clone(&watch.stop));
            lab.trace_folder = folder.clone().unwrap_or_default();
            rows.extend((experiment.run)(&lab)?.rows);
        }
        Ok(rows)
    })?;
    json(&rows)
}
