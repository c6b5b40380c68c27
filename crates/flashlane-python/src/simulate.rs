//! Runs on threads of their own, so that Python stays responsive: Ctrl-C ends a run at once.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::RecordBatch;
use flashlane::config::CompatConfig;
use flashlane::config::units::Span;
use flashlane::config::validate;
use flashlane::drive::Submissions;
use flashlane::metrics::Summary;
use flashlane::observe::{Observe, RequestBatch, RequestRecord, RequestSink, SeriesOptions};
use flashlane::{Error, KeptStates, RunOptions, Warmup, simulate_in_detail};
use flashlane_files::StatePlace;
use flashlane_report::{RunData, name_columns};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::config::{Device, Workload};
use crate::error::{OrRaise, fault, raise};
use crate::table::{self, Table};

/// Time between two looks at Python's signals.
const LOOK: Duration = Duration::from_millis(20);

/// What a simulation tells its caller while it runs.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Share that is done, as the bits of an `f64`.
    share: AtomicU64,
    /// Asks it to end.
    pub(crate) stop: Arc<AtomicBool>,
}

impl Watch {
    /// Notes the share that is done. Range: 0 to 1.
    pub(crate) fn note(&self, share: f64) {
        self.share.store(share.to_bits(), Ordering::Relaxed);
    }

    fn share(&self) -> f64 {
        f64::from_bits(self.share.load(Ordering::Relaxed))
    }
}

/// Does work on a thread of its own without the interpreter's lock. An exception in `progress`, or
/// a signal, asks the work to end and is raised at once.
pub(crate) fn detached<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let watch = Arc::new(Watch::default());
    let (sender, receiver) = channel();
    let theirs = Arc::clone(&watch);
    let thread = std::thread::Builder::new()
        .name("flashlane".to_owned())
        .spawn(move || drop(sender.send(work(&theirs))))
        .map_err(|error| {
            PyRuntimeError::new_err(format!("no thread for the simulation: {error}"))
        })?;
    // A receiver may only be waited for by one thread: this one, with or without the lock.
    let receiver = Mutex::new(receiver);
    let wait = |receiver: &Mutex<Receiver<Result<T, Error>>>| {
        receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK)
    };
    let mut told = -1.0;
    loop {
        let outcome = py.detach(|| wait(&receiver));
        let share = if outcome.is_ok() { 1.0 } else { watch.share() };
        let heard = py.check_signals().and_then(|()| match progress {
            Some(progress) if share != told => progress.call1((share,)).map(drop),
            _ => Ok(()),
        });
        told = share;
        if let Err(exception) = heard {
            watch.stop.store(true, Ordering::Relaxed);
            return Err(exception);
        }
        match outcome {
            Ok(result) => return result.or_raise(),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let panic = thread.join().err();
                return Err(fault(panic, ""));
            }
        }
    }
}

/// Does work that cannot be watched on a thread of its own, without the interpreter's lock.
pub(crate) fn unwatched<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    detached(py, None, move |_| Ok(work()))
}

/// Rows of an Arrow batch; the last one of a run may have fewer.
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

    /// The rows so far are a batch.
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

/// A time such as `"10ms"`, or for a warm-up a number of requests.
fn span(text: &str, what: &str) -> PyResult<u64> {
    let span =
        text.parse::<Span>().map_err(|error| raise(&Error::config(what, error.to_string())))?;
    Ok(span.0)
}

fn warmup(value: Option<&Bound<'_, PyAny>>) -> PyResult<Warmup> {
    let Some(value) = value else { return Ok(Warmup::None) };
    if let Ok(count) = value.extract::<u64>() {
        return Ok(Warmup::Requests(count));
    }
    Ok(Warmup::Time(span(&value.extract::<String>()?, "warmup")?))
}

/// True, false, or the length of a window.
fn series(value: &Bound<'_, PyAny>) -> PyResult<Option<SeriesOptions>> {
    if let Ok(wanted) = value.extract::<bool>() {
        return Ok(wanted.then(SeriesOptions::default));
    }
    Ok(Some(SeriesOptions { window: Some(span(&value.extract::<String>()?, "timeseries")?) }))
}

/// The options that decide a summary.
pub(crate) fn options(
    device: &Device,
    seed: u64,
    alone: bool,
    check: bool,
    warmup: Option<&Bound<'_, PyAny>>,
    windows: Option<&str>,
    waf_only: bool,
) -> PyResult<RunOptions> {
    Ok(RunOptions {
        seed,
        alone,
        check,
        warmup: self::warmup(warmup)?,
        windows: windows.map(|text| span(text, "windows")).transpose()?,
        waf_only,
        compat: (device.loaded.config.compat == CompatConfig::mqsim()).then(|| "mqsim".to_owned()),
        ..RunOptions::default()
    })
}

/// Where states of drives are kept. `program`: the file of this library.
pub(crate) fn kept_states(
    wish: Option<PathBuf>,
    program: PathBuf,
) -> Result<Option<Arc<KeptStates>>, Error> {
    let place = StatePlace::choose(wish);
    match place.open(program) {
        Err(problem) if place.is_named() => Err(Error::config("states", problem)),
        // Nobody asked for it; the run is slower and otherwise the same.
        states => Ok(states.unwrap_or_default()),
    }
}

/// What a run leaves: texts and tables, for `flashlane.Result`.
#[pyfunction]
#[pyo3(signature = (device, workload, *, seed, alone, check, warmup, windows, requests, submissions,
    timeseries, blame, energy, waf_only, threads, states, program, label, named, progress))]
#[expect(clippy::too_many_arguments, reason = "keywords of flashlane.simulate")]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    device: &Device,
    workload: &Workload,
    seed: u64,
    alone: bool,
    check: bool,
    warmup: Option<&Bound<'py, PyAny>>,
    windows: Option<&str>,
    requests: bool,
    submissions: bool,
    timeseries: Option<&Bound<'py, PyAny>>,
    blame: bool,
    energy: bool,
    waf_only: bool,
    threads: usize,
    states: Option<PathBuf>,
    program: PathBuf,
    label: &str,
    named: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let flows: Vec<String> =
        workload.loaded.config.flows.iter().map(|flow| flow.name.clone()).collect();
    let collector = Arc::new(Mutex::new(Collector::new(flows.clone())));
    let sink: Arc<Mutex<dyn RequestSink>> = collector.clone();
    let submitted = Submissions::default();
    let series = timeseries.map(series).transpose()?.flatten();
    let observe = Observe {
        requests: requests.then_some(sink),
        series,
        blame,
        timeline: None,
        queues: false,
        energy,
        submissions: submissions.then(|| Arc::clone(&submitted)),
    };
    let options = options(device, seed, alone, check, warmup, windows, waf_only)?;
    let states = kept_states(states, program).or_raise()?;
    let options = RunOptions { threads, observe, states, ..options };
    let (one, other) = (device.loaded.clone(), workload.loaded.clone());
    let (summary, details) = detached(py, progress, move |watch| {
        validate::check_pair(&one, &other)?;
        let options = RunOptions { stop: Some(Arc::clone(&watch.stop)), ..options };
        simulate_in_detail(&one.config, &other.config, &options, &|share| watch.note(share))
    })?;
    let configuration = format!(
        "# device\n{}\n# workload\n{}",
        device.to_toml()?.trim_end(),
        workload.to_toml()?.trim_end()
    );
    let data = RunData { named, ..RunData::new(label, "", &configuration, &summary, &details) };
    let result = PyDict::new(py);
    result.set_item("summary", json(&summary)?)?;
    result.set_item("report", json(&data)?)?;
    result.set_item("histograms", Py::new(py, table::histograms(&flows, &details))?)?;
    let rows = requests.then(|| {
        let mut collector = collector.lock().unwrap_or_else(PoisonError::into_inner);
        collector.end_batch();
        let batches = std::mem::take(&mut collector.batches);
        Table::of_batches(table::request_schema(), batches)
    });
    result.set_item("requests", rows.map(|rows| Py::new(py, rows)).transpose()?)?;
    let recording = submissions.then(|| {
        let submitted =
            std::mem::take(&mut *submitted.lock().unwrap_or_else(PoisonError::into_inner));
        table::submissions(&submitted, &flows)
    });
    result.set_item("submissions", recording.map(|rows| Py::new(py, rows)).transpose()?)?;
    let series = details.time_series.as_ref().map(table::time_series);
    result.set_item("timeseries", series.map(|table| Py::new(py, table)).transpose()?)?;
    let blame = details.blame.as_ref().map(json).transpose()?;
    result.set_item("blame", blame)?;
    Ok(result)
}

/// A value as JSON text.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| Error::Output(format!("JSON: {error}"))).or_raise()
}

/// The page of columns, each the `report` texts of one run, or of one scenario under several seeds.
#[pyfunction]
pub(crate) fn report(columns: Vec<Vec<String>>) -> PyResult<String> {
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
    flashlane_report::render(&runs).or_raise()
}

/// The figures of a run that do not differ from machine to machine.
#[pyfunction]
pub(crate) fn without_wall_times(summary: &str) -> PyResult<String> {
    let summary: Summary = serde_json::from_str(summary)
        .map_err(|error| Error::Output(format!("summary: {error}")))
        .or_raise()?;
    json(&summary.without_clocks())
}
