//! `flashlane search`: the Python package has the sampler, and the engine of `sweep` runs the
//! candidates.

use flashlane::Error;

use crate::args::SearchArgs;
use crate::commands::python::Module;

/// Starts the Python package with the same arguments, and returns its exit status.
pub(crate) fn search(arguments: &SearchArgs) -> Result<(), Error> {
    let mut module = Module::new("search", "flashlane.search", "search");
    module.command.arg(&arguments.study).arg("--out").arg(&arguments.out);
    module.command.arg("--jobs").arg(arguments.jobs.to_string());
    if let Some(trials) = arguments.trials {
        module.command.arg("--trials").arg(trials.to_string());
    }
    module.with_memory(arguments.memory).with_states(arguments.states.as_deref());
    if arguments.overwrite.overwrite {
        module.command.arg("--overwrite");
    }
    if arguments.quiet {
        module.command.arg("--quiet");
    }
    module.run()
}
