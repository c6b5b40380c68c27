//! Where the command keeps states of drives.

use std::sync::Arc;

use flashlane::{Error, KeptStates};
use flashlane_files::StatePlace;

use crate::args::RunArgs;
use crate::output::note;

/// What `--states` asks for.
pub(crate) fn states(arguments: &RunArgs) -> Result<Option<Arc<KeptStates>>, Error> {
    let Ok(program) = std::env::current_exe() else { return Ok(None) };
    let place = StatePlace::choose(arguments.states.clone());
    place.open(program).or_else(|problem| {
        if place.is_named() {
            return Err(Error::config("--states", problem));
        }
        if !arguments.common.quiet {
            note(&format!("warning: --states: {problem}"));
        }
        Ok(None)
    })
}
