//! A sweep on a cluster of Dask: what runs there is the Python package, which has the same engine.

use std::process::Command;

use flashlane::Error;

use crate::args::{SweepArgs, SweepFormat};

/// Starts the Python package with the same arguments, and ends as it ends.
pub(super) fn run(arguments: &SweepArgs) -> Result<(), Error> {
    let failed = |what: String| Error::config("--engine dask", what);
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(&python);
    command.args(["-m", "flashlane.cluster"]).arg(&arguments.grid);
    command.arg("--out").arg(&arguments.out).arg("--cluster").arg(&arguments.cluster);
    command.arg("--workers").arg(arguments.workers.to_string());
    if let Some(memory) = arguments.memory {
        command.arg("--memory").arg(memory.to_string());
    }
    if let Some(states) = &arguments.states {
        command.arg("--states").arg(states);
    }
    match arguments.format {
        SweepFormat::Text => {}
        SweepFormat::Json => drop(command.args(["--format", "json"])),
        SweepFormat::Csv => drop(command.args(["--format", "csv"])),
    }
    if arguments.quiet {
        command.arg("--quiet");
    }
    let shown = python.to_string_lossy();
    let status = command.status().map_err(|error| {
        failed(format!("{shown}: {error}; allowed: a Python with the package flashlane[dask]"))
    })?;
    match status.code() {
        Some(0) => Ok(()),
        _ => Err(failed(format!("{shown} -m flashlane.cluster ended with {status}"))),
    }
}
