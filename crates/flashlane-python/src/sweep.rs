//! Sweeps: the engine of the command, for devices and workloads that are already loaded.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flashlane::content::InputFiles;
use flashlane::metrics::{Baseline, Summary};
use flashlane::{Error, RunOptions, visible};
use flashlane_study::sweep::{Grid, Outcome, Point, Source, Store, Sweep, Table, usual_limit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, Value};

use crate::config::{Device, Workload};
use crate::detached::detached;
use crate::error::OrRaise;
use crate::simulate::{json, kept_states};

/// The result of a point as JSON, and the damage of its file.
type Entry = (String, Option<String>);

fn points_of(text: &str) -> Result<Vec<Point>, Error> {
    let points: Result<Vec<Map<String, Value>>, _> = serde_json::from_str(text);
    let points = points.map_err(|error| Error::config("sweep", format!("points: {error}")))?;
    Ok(points.into_iter().map(|point| point.into_iter().collect()).collect())
}

/// The text of an exception of a policy in Python.
fn describe(payload: &(dyn Any + Send)) -> Option<String> {
    let exception = payload.downcast_ref::<PyErr>()?;
    Some(Python::attach(|_| exception.to_string()))
}

/// The options that all points share. `text`: keys of a run as JSON.
fn options_of(text: &str, states: Option<PathBuf>, program: PathBuf) -> Result<RunOptions, Error> {
    let run = points_of(&format!("[{text}]"))?.remove(0);
    let states = kept_states(states, program)?;
    flashlane_study::sweep::options(&RunOptions { states, ..RunOptions::default() }, &run)
}

/// The parameters of a sweep.
struct SweepCall {
    source: Source,
    options: RunOptions,
    folder: Option<PathBuf>,
    jobs: usize,
    memory: Option<u64>,
    program: PathBuf,
}

impl SweepCall {
    /// Runs points or finds their results. Returns for each point `{"summary": …}` or `{"error":
    /// …}` as JSON, and the damage of its file.
    fn run(
        self,
        py: Python<'_>,
        points: Vec<Point>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Entry>> {
        detached(py, progress, move |watch| {
            let sweep = Sweep {
                source: self.source,
                options: self.options,
                store: self.folder.as_deref().map(Store::open).transpose()?,
                program: self.program,
                files: InputFiles::stopped_by(Arc::clone(&watch.stop)),
                memory: self.memory.unwrap_or_else(usual_limit),
                stop: Arc::clone(&watch.stop),
                describe,
            };
            let (over, all) = (AtomicUsize::new(0), points.len().max(1));
            let found = sweep.run(&points, self.jobs, &|_, _| {
                let over = over.fetch_add(1, Ordering::Relaxed) + 1;
                watch.note(over as f64 / all as f64);
            })?;
            let shown = |text: String| visible(&text).into_owned();
            let entries = found.into_iter().map(|one| {
                let outcome = match one.outcome {
                    Outcome::Failed(trouble, why) => Outcome::Failed(trouble, shown(why)),
                    done @ Outcome::Done(_) => done,
                };
                (outcome.to_json().to_string(), one.damage.map(shown))
            });
            Ok(entries.collect())
        })
    }
}

/// Runs points of a device and a workload, or finds their results. The points are JSON.
#[pyfunction]
#[pyo3(signature = (device, workload, *, points, options, folder, jobs, memory, states, program,
    progress))]
#[expect(clippy::too_many_arguments, reason = "keywords of flashlane.sweep")]
pub(crate) fn sweep(
    py: Python<'_>,
    device: &Device,
    workload: &Workload,
    points: &str,
    options: &str,
    folder: Option<PathBuf>,
    jobs: usize,
    memory: Option<u64>,
    states: Option<PathBuf>,
    program: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Entry>> {
    let points = points_of(points).or_raise()?;
    let options = options_of(options, states, program.clone()).or_raise()?;
    let source = Source::Texts { device: device.to_toml()?, workload: workload.to_toml()? };
    SweepCall { source, options, folder, jobs, memory, program }.run(py, points, progress)
}

/// The keys and the points of a grid file, the points as JSON.
#[pyfunction]
pub(crate) fn grid_points(path: PathBuf) -> PyResult<(Vec<String>, String)> {
    let grid = Grid::read(&path).or_raise()?;
    let points: Vec<Map<String, Value>> =
        grid.points.into_iter().map(|point| point.into_iter().collect()).collect();
    Ok((grid.keys, json(&points)?))
}

/// Runs some points of a grid file, given by number, or finds their results.
#[pyfunction]
#[pyo3(signature = (path, *, numbers, folder, jobs, memory, states, program, progress))]
#[expect(clippy::too_many_arguments, reason = "keywords of flashlane.sweep")]
pub(crate) fn sweep_grid(
    py: Python<'_>,
    path: PathBuf,
    numbers: Vec<usize>,
    folder: Option<PathBuf>,
    jobs: usize,
    memory: Option<u64>,
    states: Option<PathBuf>,
    program: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Entry>> {
    let grid = Grid::read(&path).or_raise()?;
    let states = kept_states(states, program.clone()).or_raise()?;
    let options = grid.options(&RunOptions { states, ..RunOptions::default() }).or_raise()?;
    let point = |&number: &usize| {
        let message = || format!("found point {number}, allowed: 0 to {}", grid.points.len() - 1);
        grid.points.get(number).cloned().ok_or_else(|| Error::config("sweep_grid", message()))
    };
    let points: Result<Vec<Point>, Error> = numbers.iter().map(point).collect();
    let source = Source::Files(grid.base.clone());
    SweepCall { source, options, folder, jobs, memory, program }.run(
        py,
        points.or_raise()?,
        progress,
    )
}

/// The results of some points, as JSON, with slowdowns against one baseline: the tenants alone of
/// the first point, or of the summary in `baseline`.
#[pyfunction]
pub(crate) fn share_baseline(
    points: &str,
    results: Vec<String>,
    baseline: Option<&str>,
) -> PyResult<Vec<String>> {
    let wrong = |error: serde_json::Error| Error::config("sweep", error.to_string());
    let read = |text: &String| -> Result<Outcome, Error> {
        let value: Value = serde_json::from_str(text).map_err(wrong)?;
        Outcome::from_json(value)
            .ok_or_else(|| Error::config("sweep", "no result of a point".to_owned()))
    };
    let given = baseline.map(|text| -> Result<Baseline, Error> {
        let summary: Summary = serde_json::from_str(text)
            .map_err(|error| Error::config("baseline", format!("no summary: {error}")))?;
        Baseline::of(&summary, None).ok_or_else(|| {
            let message = "has no tenants alone, allowed: the summary of a run with `alone`";
            Error::config("baseline", message.to_owned())
        })
    });
    let given = given.transpose().or_raise()?;
    let points = points_of(points).or_raise()?;
    let outcomes: Result<Vec<Outcome>, Error> = results.iter().map(read).collect();
    let own = outcomes.or_raise()?;
    let mut shared = own.clone();
    flashlane_study::sweep::share_baseline(&points, &mut shared, given.as_ref());
    let text = |((own, shared), text): ((&Outcome, &Outcome), String)| match own == shared {
        true => text,
        false => shared.to_json().to_string(),
    };
    Ok(own.iter().zip(&shared).zip(results).map(text).collect())
}

/// The table of a sweep as CSV and as a Parquet file. `entries`: points with their results, as
/// JSON.
#[pyfunction]
pub(crate) fn sweep_table<'py>(
    py: Python<'py>,
    keys: Vec<String>,
    entries: &str,
) -> PyResult<(String, Bound<'py, PyBytes>)> {
    let made = || -> Result<(String, Vec<u8>), Error> {
        let entries = read_entries(entries)?;
        let table = Table::of(&keys, entries.iter().map(|(point, outcome)| (point, outcome)));
        let parquet = table.parquet().map_err(|error| Error::Output(error.to_string()))?;
        Ok((table.csv(), parquet))
    };
    let (csv, parquet) = made().or_raise()?;
    Ok((csv, PyBytes::new(py, &parquet)))
}

/// The entries of a sweep.
fn read_entries(entries: &str) -> Result<Vec<(Point, Outcome)>, Error> {
    let wrong = |what: String| Error::config("sweep", what);
    let entries: Vec<Map<String, Value>> =
        serde_json::from_str(entries).map_err(|error| wrong(error.to_string()))?;
    let read = |mut entry: Map<String, Value>| {
        let point = entry.remove("point").and_then(|point| point.as_object().cloned());
        let point: Point = point?.into_iter().collect();
        Some((point, Outcome::from_json(Value::Object(entry))?))
    };
    let entries: Option<Vec<(Point, Outcome)>> = entries.into_iter().map(read).collect();
    entries.ok_or_else(|| wrong("no entry of a sweep".to_owned()))
}

/// The page of a sweep. `entries`: as JSON, each with its `point`.
#[pyfunction]
pub(crate) fn sweep_page(title: &str, keys: Vec<String>, entries: &str) -> PyResult<String> {
    let entries = read_entries(entries).or_raise()?;
    let points: Vec<_> =
        entries.into_iter().map(|(point, outcome)| (point, outcome.to_json())).collect();
    flashlane_report::render_sweep(title, &keys, &points).or_raise()
}

/// The page of a search. `view`: what it shows, as JSON.
#[pyfunction]
pub(crate) fn search_page(view: &str) -> PyResult<String> {
    let view = serde_json::from_str(view)
        .map_err(|error| Error::config("search", error.to_string()))
        .or_raise()?;
    flashlane_report::render_search(&view).or_raise()
}
