//! The program of the first build of `make demo`: the demonstration, and none of the crates that
//! only other commands need.

use std::ffi::OsString;

use clap::Subcommand;
use flashlane::Error;

use crate::args::{DemoArgs, Format};
use crate::demo;
use crate::flow_rows::Named;

/// What brings the rest.
const WHOLE: &str = "not in this program yet; `make demo` adds it at its end, and so does `cargo \
                     build --release -p flashlane-cli`";

/// The command to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Two tenants on one drive, under three policies; needs no input files.
    Demo(DemoArgs),
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// Runs a command.
pub(crate) fn dispatch(command: &Command) -> Result<(), Error> {
    match command {
        Command::Demo(arguments) if arguments.common.format == Format::Csv => csv(&[]).map(drop),
        Command::Demo(arguments) => demo::demo(arguments),
        Command::Other(words) => {
            let name = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
            Err(Error::config(name, WHOLE))
        }
    }
}

/// The table of a sweep, of which this program knows nothing.
pub(crate) fn csv(_: &[Named<'_>]) -> Result<String, Error> {
    Err(Error::config("--format csv", WHOLE))
}

/// Has no sweep that a fault has to be noted for.
pub(crate) fn note_fault(_: &str) -> bool {
    false
}
