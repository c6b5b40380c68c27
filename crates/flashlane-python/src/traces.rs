//! Traces: reading, cloning.

use std::path::PathBuf;

use flashlane::Error;
use flashlane::config::{DecreasingTimes, TraceConfig, load};
use flashlane::workload::RequestOp;
use flashlane::workload::clone::{self, CloneFile, CloneSource};
use flashlane::workload::trace::{open_reader, with_usual_units};
use flashlane_trace::statistics::Meter;
use flashlane_trace::{Op, Record};
use pyo3::prelude::*;

use crate::detached::{Watch, detached};
use crate::error::OrRaise;
use crate::table::{Table, TraceColumns};

/// Number of requests between two checks of signals.
const STRIDE: u64 = 65_536;

/// Options for reading a trace: the keys of `[flow.trace]` that do not need a drive.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    path: PathBuf,
    format: Option<String>,
    columns: Option<String>,
    time_unit: Option<String>,
    size_unit: Option<String>,
    action: Option<String>,
    devices: Option<Vec<u32>>,
    limit: Option<u64>,
    delay: bool,
}

impl Reading {
    fn config(self) -> Result<TraceConfig, Error> {
        with_usual_units(TraceConfig {
            format: self.format,
            columns: self.columns,
            time_unit: self.time_unit,
            size_unit: self.size_unit,
            action: self.action,
            devices: self.devices,
            limit: self.limit,
            decreasing_times: DecreasingTimes::delayed(self.delay),
            ..TraceConfig::of(self.path)
        })
    }
}

/// Calls `take` for every record of a trace.
fn each(config: &TraceConfig, watch: &Watch, mut take: impl FnMut(&Record)) -> Result<u64, Error> {
    let mut reader = open_reader(config)?;
    let mut count = 0_u64;
    while let Some(record) = reader.next().map_err(|error| Error::Trace(error.to_string()))? {
        take(&record);
        count += 1;
        if count.is_multiple_of(STRIDE) && watch.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
    }
    Ok(reader.rejected().count())
}

/// The requests of a trace, and the number of rejected lines.
#[pyfunction]
pub(crate) fn read_trace(py: Python<'_>, reading: Reading) -> PyResult<(Table, u64)> {
    let config = reading.config().or_raise()?;
    detached(py, None, move |watch| {
        let mut columns = TraceColumns::default();
        let rejected = each(&config, watch, |record| columns.push(record))?;
        Ok((columns.finish(), rejected))
    })
}

/// Parameters of a clone as TOML. The clone is built in, is read from a file of parameters, or is
/// fitted to a trace.
#[pyfunction]
#[pyo3(signature = (reading, name, progress))]
pub(crate) fn clone_parameters(
    py: Python<'_>,
    reading: Reading,
    name: Option<String>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let source = reading.path.to_string_lossy().into_owned();
    let file = if source.to_ascii_lowercase().ends_with(".toml") {
        load::clone_file(&reading.path).or_raise()?
    } else if !reading.path.exists() && !source.contains(['.', '/']) {
        CloneFile::from(clone::find(&source).or_raise()?)
    } else {
        let name = name.unwrap_or_else(|| {
            let file = reading.path.file_name().unwrap_or_default().to_string_lossy();
            file.split('.').next().unwrap_or_default().to_ascii_lowercase()
        });
        let config = reading.config().or_raise()?;
        detached(py, progress, move |watch| {
            let mut meter = Meter::default();
            each(&config, watch, |record| meter.add(record))?;
            clone::fit(&meter.finish(), &name, &|share| watch.note(share))
        })?
    };
    toml::to_string(&file).map_err(|error| Error::Output(format!("parameters: {error}"))).or_raise()
}

/// Names of the built-in clones.
#[pyfunction]
pub(crate) fn clone_names() -> Vec<String> {
    clone::list().iter().map(|params| params.name.to_owned()).collect()
}

/// A synthetic trace drawn from the parameters of a clone.
#[pyfunction]
pub(crate) fn generate(
    py: Python<'_>,
    parameters: &str,
    requests: u64,
    time_scale: f64,
    seed: Option<u64>,
) -> PyResult<Table> {
    let file: CloneFile = toml::from_str(parameters)
        .map_err(|error| Error::config("clone", error.to_string()))
        .or_raise()?;
    if !(1e-9..=1e9).contains(&time_scale) {
        let message = format!("found {time_scale}, allowed: above 0 (1e-9 to 1e9)");
        return Err(Error::config("time_scale", message)).or_raise();
    }
    detached(py, None, move |_| {
        let seed = seed.unwrap_or(file.seed);
        let mut source = CloneSource::alone(&file.params(), requests, time_scale, seed);
        let mut columns = TraceColumns::default();
        while let Some(request) = source.generate()? {
            columns.push(&Record {
                time_ps: request.arrival.0,
                op: if request.op == RequestOp::Read { Op::Read } else { Op::Write },
                offset_bytes: request.sector * 512,
                length_bytes: u64::from(request.sectors) * 512,
                device: 0,
                placement: None,
            });
        }
        Ok(columns.finish())
    })
}
