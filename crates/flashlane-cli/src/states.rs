//! Where the command keeps states of drives.

use std::path::Path;
use std::sync::Arc;

use flashlane::{Error, KeptStates};
use flashlane_files::StatePlace;

use crate::output::note;

/// What `--states` asks for.
pub(crate) fn states(wish: Option<&Path>, quiet: bool) -> Result<Option<Arc<KeptStates>>, Error> {
    let Ok(program) = std::env::current_exe() else { return Ok(None) };
    let place = StatePlace::choose(wish.map(Path::to_owned));
    place.open(program).or_else(|problem| {
        if place.is_named() {
            return Err(Error::config("--states", problem));
        }
        if !quiet {
            note(&format!("warning: --states: {problem}"));
        }
        Ok(None)
    })
}
