//! `flashlane trace`: what traces hold, other formats of them, and statistical clones.

mod clone;
mod convert;
mod formats;
mod inspect;
mod plot;
pub(crate) mod reading;
pub(crate) mod split;

use flashlane::Error;

use crate::args::{TraceAction, TraceArgs};

/// Requests between two steps of a progress bar.
const STRIDE: u64 = 65_536;

/// Runs one of the actions on traces.
pub(crate) fn trace(arguments: &TraceArgs) -> Result<(), Error> {
    match &arguments.action {
        TraceAction::Inspect(arguments) => inspect::inspect(arguments),
        TraceAction::Convert(arguments) => convert::convert(arguments),
        TraceAction::Split(arguments) => split::split(arguments),
        TraceAction::Clone(arguments) => clone::clone(arguments),
        TraceAction::Formats => formats::formats(),
    }
}

/// An error of the trace crate as one of the command.
pub(crate) fn trace_error(error: flashlane_trace::TraceError) -> Error {
    Error::Trace(error.to_string())
}
