//! `flashlane trace`: what traces hold, other formats of them, and statistical clones.

mod clone;
mod formats;

use flashlane::Error;
use flashlane::config::units::ByteSize;
use flashlane::config::{DecreasingTimes, OutOfRange, TraceConfig};

use crate::args::{ReadingArgs, TraceAction, TraceArgs};

/// Requests between two steps of a progress bar.
const STRIDE: u64 = 65_536;

/// Runs one of the actions on traces.
pub(crate) fn trace(arguments: &TraceArgs) -> Result<(), Error> {
    match &arguments.action {
        TraceAction::Clone(arguments) => clone::clone(arguments),
        TraceAction::Formats => formats::formats(),
    }
}

/// The arguments as the keys of `[flow.trace]`.
fn config(path: &str, reading: &ReadingArgs) -> TraceConfig {
    TraceConfig {
        path: path.into(),
        format: reading.format.clone(),
        columns: reading.columns.clone(),
        time_unit: reading.time_unit.clone(),
        size_unit: reading.size_unit.clone(),
        action: reading.action.clone(),
        time_scale: 1.0,
        queue_depth: None,
        out_of_range: OutOfRange::default(),
        offset: ByteSize(0),
        devices: reading.devices.clone(),
        device_stride: None,
        decreasing_times: match reading.delay {
            true => DecreasingTimes::Delay,
            false => DecreasingTimes::Refuse,
        },
        repeat: 1,
        limit: reading.limit,
    }
}

/// An error of the trace crate as one of the command.
fn trace_error(error: flashlane_trace::TraceError) -> Error {
    Error::Trace(error.to_string())
}
