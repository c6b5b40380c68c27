//! How a trace named on the command line is to be read.

use flashlane::Error;
use flashlane::config::{DecreasingTimes, TraceConfig};
use flashlane::workload::trace::{open_reader, with_usual_units};
use flashlane_trace::{Spelling, TraceReader};

use crate::args::ReadingArgs;

/// Opens a trace. Five bare columns are read where one of their units is named: the other is then
/// the usual one.
pub(crate) fn open(path: &str, reading: &ReadingArgs) -> Result<TraceReader, Error> {
    open_reader(&config(path, reading)?)
}

/// What the arguments say as the keys of a trace.
pub(crate) fn config(path: &str, reading: &ReadingArgs) -> Result<TraceConfig, Error> {
    let config = TraceConfig {
        format: reading.from.clone(),
        columns: reading.columns.clone(),
        time_unit: reading.time_unit.clone(),
        size_unit: reading.size_unit.clone(),
        action: reading.action.clone(),
        devices: reading.devices.clone(),
        decreasing_times: DecreasingTimes::delayed(reading.delay),
        limit: reading.limit,
        spelling: Spelling::Flags,
        ..TraceConfig::of(path.into())
    };
    with_usual_units(config)
}
