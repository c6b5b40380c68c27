//! Where the command keeps states of drives.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flashlane::{Error, KeptStates};
use flashlane_files::StateFolder;

use crate::args::RunArgs;
use crate::output::note;

/// In the place of a folder: nothing is kept.
const OFF: &str = "off";

/// The variable that names the folder where no argument does.
const VARIABLE: &str = "FLASHLANE_STATES";

/// Files that are kept at most. Unit: bytes.
const LIMIT: u64 = 16 << 30;

/// What `--states` asks for.
pub(crate) fn states(arguments: &RunArgs) -> Result<Option<Arc<KeptStates>>, Error> {
    let Ok(program) = std::env::current_exe() else { return Ok(None) };
    let asked = arguments.states.clone().or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
    if asked.as_deref() == Some(Path::new(OFF)) {
        return Ok(None);
    }
    let Some(folder) = asked.clone().or_else(usual_folder) else { return Ok(None) };
    match StateFolder::prepare(&folder, LIMIT) {
        Ok(folder) => Ok(Some(Arc::new(KeptStates::new(Arc::new(folder), program)))),
        Err(error) => {
            let place = format!("--states {}", folder.display());
            let problem = Error::config(place, format!("states cannot be kept there: {error}"));
            if asked.is_some() {
                return Err(problem);
            }
            if !arguments.common.quiet {
                note(&format!("warning: {problem}"));
            }
            Ok(None)
        }
    }
}

/// A folder for what can be made anew, as the XDG base directory specification has it.
fn usual_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    Some(cache?.join("flashlane").join("states"))
}
