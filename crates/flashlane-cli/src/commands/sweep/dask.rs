//! Runs a sweep on a cluster of Dask. The cluster runs the Python package, which uses the engine of
//! this command.

use flashlane::Error;

use crate::args::{SweepArgs, SweepFormat};
use crate::commands::python::Module;

/// Starts the Python package with the same arguments, and returns its exit status.
pub(super) fn run(arguments: &SweepArgs) -> Result<(), Error> {
    let mut module = Module::new("--engine dask", "flashlane.cluster", "dask");
    module.command.arg(&arguments.grid).arg("--out").arg(&arguments.out);
    module.command.arg("--cluster").arg(&arguments.cluster);
    module.command.arg("--workers").arg(arguments.workers.to_string());
    module.with_memory(arguments.memory).with_states(arguments.states.as_deref());
    match arguments.format {
        SweepFormat::Text => {}
        SweepFormat::Json => drop(module.command.args(["--format", "json"])),
        SweepFormat::Csv => drop(module.command.args(["--format", "csv"])),
    }
    if arguments.overwrite.overwrite {
        module.command.arg("--overwrite");
    }
    if arguments.quiet {
        module.command.arg("--quiet");
    }
    module.run()
}
