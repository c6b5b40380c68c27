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
    match place.open() {
        Ok(folder) => Ok(folder.map(|it| Arc::new(KeptStates::new(Arc::new(it), program)))),
        Err(problem) if matches!(place, StatePlace::Named(_)) => {
            Err(Error::config("--states", problem))
        }
        Err(problem) => {
            if !arguments.common.quiet {
                note(&format!("warning: --states: {problem}"));
            }
            Ok(None)
        }
    }
}
