//! `flashlane.simulate`: one scenario, under one or several seeds.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use flashlane::config::{DeviceConfig, WorkloadConfig, validate};
use flashlane::drive::Submissions;
use flashlane::metrics::{SeedStatistics, Summary};
use flashlane::observe::{Observe, RequestBatch, RequestRecord, RequestSink};
use flashlane::{Details, Error, KeptStates, RunOptions, Simulation, simulate_all};
use flashlane_files::{StateNews, StatePlace};
use flashlane_report::{RunData, name_columns};
use flashlane_results::perfetto;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::config::{Device, Workload};
use crate::detached::{Watch, detached};
use crate::error::OrRaise;
use crate::simulate_call::SimulateCall;
use crate::table::{self, Table};
use crate::words;

/// Number of rows of an Arrow batch; the last batch of a run may have fewer.
const BATCH_ROWS: usize = 1 << 16;

/// Keeps records of requests as Arrow batches.
#[derive(Debug)]
struct Collector {
    flows: Vec<String>,
    batches: Vec<RecordBatch>,
    rows: RequestBatch,
}

impl Collector {
    fn new(flows: Vec<String>) -> Self {
        Self { flows, batches: Vec::new(), rows: RequestBatch::default() }
    }

    /// Makes a batch of the collected rows.
    fn end_batch(&mut self) {
        if !self.rows.is_empty() {
            self.batches.push(table::requests(std::mem::take(&mut self.rows), &self.flows));
        }
    }
}

impl RequestSink for Collector {
    fn take(&mut self, records: &mut Vec<RequestRecord>) -> Result<(), Error> {
        self.rows.extend(records);
        if self.rows.len() >= BATCH_ROWS {
            self.end_batch();
        }
        Ok(())
    }
}

/// The folder in which states of drives are kept. `program`: the file of this library.
pub(crate) fn kept_states(
    wish: Option<PathBuf>,
    program: PathBuf,
) -> Result<Option<Arc<KeptStates>>, Error> {
    let place = StatePlace::choose(wish);
    // Uses the logger of the package in Python's `logging`.
    let tell = |news: &StateNews| {
        let told = Python::attach(|py| {
            let logger = py.import("logging")?.call_method1("getLogger", ("flashlane",))?;
            logger.call_method1("warning", ("%s", news.to_string())).map(drop)
        });
        // A failure to log is ignored.
        drop(told);
    };
    match place.open(program, tell) {
        Err(problem) if place.is_named() => Err(Error::config("states", problem)),
        // The user did not ask for states. Without them the run is only slower.
        states => Ok(states.unwrap_or_default()),
    }
}

/// Runs a simulation. Returns texts and tables for `flashlane.Result`.
#[pyfunction]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    device: &Device,
    workload: &Workload,
    call: SimulateCall<'py>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let flows: Vec<String> =
        workload.loaded.config.flows.iter().map(|flow| flow.name.clone()).collect();
    let collector = Arc::new(Mutex::new(Collector::new(flows.clone())));
    let sink: Arc<Mutex<dyn RequestSink>> = collector.clone();
    let submitted = Submissions::default();
    let observe = Observe {
        requests: call.requests.then_some(sink),
        submissions: call.submissions.then(|| Arc::clone(&submitted)),
        ..call.observe()?
    };
    let states = kept_states(call.states.clone(), call.program.clone()).or_raise()?;
    let options = RunOptions { observe, states, ..call.options(device)? };
    let (one, other, seeds) = (device.loaded.clone(), workload.loaded.clone(), call.seeds);
    let (summaries, details) = detached(py, progress, move |watch| {
        validate::check_pair(&one, &other).map_err(|error| words::of_flows(error, &other))?;
        let options = RunOptions { stop: Some(Arc::clone(&watch.stop)), ..options };
        under_seeds(&one.config, &other.config, &options, seeds, watch)
    })?;
    let configuration = format!(
        "# device\n{}\n# workload\n{}",
        device.to_toml()?.trim_end(),
        workload.to_toml()?.trim_end()
    );
    let seeds = (summaries.len() > 1).then(|| SeedStatistics::of(&summaries));
    let data = RunData::new(&call.label, "", &configuration, &summaries[0], &details);
    let data = RunData { named: call.named, seeds, ..data };
    let shown = data.shown_summary().map_err(Error::Output).or_raise()?;
    let result = PyDict::new(py);
    result.set_item("summary", json(&shown)?)?;
    result.set_item("seeds", data.seeds.as_ref().map(json).transpose()?)?;
    result.set_item("report", json(&data)?)?;
    result.set_item("histograms", Py::new(py, table::histograms(&flows, &details))?)?;
    let rows = call.requests.then(|| {
        let mut collector = collector.lock().unwrap_or_else(PoisonError::into_inner);
        collector.end_batch();
        let batches = std::mem::take(&mut collector.batches);
        Table::of_batches(table::request_schema(), batches)
    });
    result.set_item("requests", rows.map(|rows| Py::new(py, rows)).transpose()?)?;
    let recording = call.submissions.then(|| {
        let submitted =
            std::mem::take(&mut *submitted.lock().unwrap_or_else(PoisonError::into_inner));
        table::submissions(&submitted, &flows)
    });
    result.set_item("submissions", recording.map(|rows| Py::new(py, rows)).transpose()?)?;
    let series = details.time_series.as_ref().map(table::time_series);
    result.set_item("timeseries", series.map(|table| Py::new(py, table)).transpose()?)?;
    let slices = details.timeline.as_ref().map(table::timeline);
    result.set_item("timeline", slices.map(|table| Py::new(py, table)).transpose()?)?;
    let trace = details.timeline.as_ref().map(|it| PyBytes::new(py, &perfetto::pftrace(it)));
    result.set_item("pftrace", trace)?;
    result.set_item("blame", details.blame.as_ref().map(json).transpose()?)?;
    Ok(result)
}

/// Runs a scenario under `seeds` consecutive seeds. Returns the summary of each, and the details of
/// the first.
fn under_seeds(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    options: &RunOptions,
    seeds: u64,
    watch: &Watch,
) -> Result<(Vec<Summary>, Details), Error> {
    let under =
        |index: u64| RunOptions { seed: options.seed.wrapping_add(index), ..options.clone() };
    let options: Vec<RunOptions> = (0..seeds).map(under).collect();
    let simulations: Vec<Simulation<'_>> =
        options.iter().map(|options| Simulation { device, workload, options }).collect();
    // The share of each simulation, and their sum.
    let shares = Mutex::new((vec![0.0; options.len()], 0.0));
    let results = simulate_all(&simulations, options[0].threads, &|index, share| {
        let mut guard = shares.lock().unwrap_or_else(PoisonError::into_inner);
        let (shares, sum) = &mut *guard;
        *sum += share - std::mem::replace(&mut shares[index], share);
        watch.note(*sum / shares.len() as f64);
    });
    let (mut summaries, mut first) = (Vec::new(), None);
    for result in results {
        let (summary, details) = result?;
        first.get_or_insert(details);
        summaries.push(summary);
    }
    Ok((summaries, first.expect("one seed at least")))
}

/// A value as JSON text.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| Error::Output(format!("JSON: {error}"))).or_raise()
}

/// The page with columns. Each column has the `report` texts of one run, or of one scenario under
/// several seeds.
#[pyfunction]
pub(crate) fn report(columns: Vec<Vec<String>>, module: Option<&str>) -> PyResult<String> {
    let column = |texts: Vec<String>| {
        let runs: Result<Vec<RunData>, _> =
            texts.iter().map(|text| serde_json::from_str(text)).collect();
        let runs = runs.map_err(|error| Error::Output(format!("report: {error}")))?;
        RunData::over_seeds(runs).map_err(|what| Error::config("compare", what))
    };
    let mut runs: Vec<RunData> =
        columns.into_iter().map(column).collect::<Result<_, _>>().or_raise()?;
    let nowhere = vec![Vec::new(); runs.len()];
    name_columns(&mut runs, &nowhere);
    flashlane_report::share_baseline(&mut runs, None);
    flashlane_report::render(&runs, module).or_raise()
}

/// The figures of a run that do not differ from machine to machine.
#[pyfunction]
pub(crate) fn without_wall_times(summary: &str) -> PyResult<String> {
    let summary: Summary = serde_json::from_str(summary)
        .map_err(|error| Error::Output(format!("summary: {error}")))
        .or_raise()?;
    json(&summary.without_clocks())
}
