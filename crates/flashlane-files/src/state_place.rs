//! The place where states of drives are kept, and news about it for users.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flashlane::KeptStates;
use flashlane::config::units::ByteSize;

use crate::lock::Holder;
use crate::states::StateFolder;

/// Takes the place of a folder: no states are kept.
const OFF: &str = "off";

/// Environment variable for the folder, if the user names none.
const VARIABLE: &str = "FLASHLANE_STATES";

/// Environment variable for the size of all files, for example `20GiB`.
const LIMIT_VARIABLE: &str = "FLASHLANE_STATES_LIMIT";

/// Default for the largest size of all files in a folder. Unit: bytes.
const LIMIT: u64 = 4 << 30;

/// News for people while states are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateNews {
    /// The first state is kept in a folder that the user did not name.
    First {
        /// The folder.
        folder: PathBuf,
        /// Largest size of all states in it. Unit: bytes.
        limit: u64,
    },
    /// The process has waited for a second for another one that makes the same state.
    Waits {
        /// The other process.
        holder: Holder,
        /// The lock that it holds.
        lock: PathBuf,
    },
}

impl std::fmt::Display for StateNews {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::First { folder, limit } => write!(
                f,
                "states of drives are kept in {} for later runs, {} at most; `flashlane states \
                 list` shows them",
                folder.display(),
                ByteSize(*limit)
            ),
            Self::Waits { holder, lock } => {
                let lock = lock.display();
                write!(f, "waits for the state of the drive, which {holder} makes ({lock})")
            }
        }
    }
}

/// Receives the news.
type Tell = dyn Fn(&StateNews) + Send + Sync;

/// The receiver of the news.
#[derive(Clone)]
pub(crate) struct News(pub(crate) Arc<Tell>);

impl std::fmt::Debug for News {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("News")
    }
}

/// The place where states are kept.
#[derive(Debug, PartialEq, Eq)]
pub enum StatePlace {
    /// Nowhere.
    Off,
    /// In a folder that the user named.
    Named(PathBuf),
    /// In the usual folder of the system.
    Usual(PathBuf),
}

impl StatePlace {
    /// The place that the user asks for. By default the variable `FLASHLANE_STATES` decides;
    /// without it, the place is `flashlane/states` in `XDG_CACHE_HOME` or `~/.cache`. The word
    /// `off` keeps no states.
    #[must_use]
    pub fn choose(wish: Option<PathBuf>) -> Self {
        match wish.or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from)) {
            Some(folder) if folder == Path::new(OFF) => Self::Off,
            Some(folder) => Self::Named(folder),
            None => usual_folder().map_or(Self::Off, Self::Usual),
        }
    }

    /// True if the user named it: then a problem is an error. Otherwise the run continues without
    /// states.
    #[must_use]
    pub fn is_named(&self) -> bool {
        matches!(self, Self::Named(_))
    }

    /// Opens the states at this place. Returns `None` if no states are kept. `program`: the file
    /// with the code of the simulator. `tell` is called with the news.
    ///
    /// # Errors
    /// A message with the folder if no states can be kept there.
    pub fn open(
        &self,
        program: PathBuf,
        tell: impl Fn(&StateNews) + Send + Sync + 'static,
    ) -> Result<Option<Arc<KeptStates>>, String> {
        let Some(folder) = self.folder() else { return Ok(None) };
        let mut store = StateFolder::prepare(folder, limit()?).map_err(|e| problem(folder, &e))?;
        store.tells_first = !self.is_named();
        store.tell = Some(News(Arc::new(tell)));
        Ok(Some(Arc::new(KeptStates::new(Arc::new(store), program))))
    }

    /// The folder; `None` if no states are kept.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Off => None,
            Self::Named(folder) | Self::Usual(folder) => Some(folder),
        }
    }

    /// The contents of the folder; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// If users other than its owner may enter the folder; the text names it.
    pub fn look(&self) -> Result<Option<StateFolder>, String> {
        match self.folder().filter(|folder| folder.exists()) {
            None => Ok(None),
            Some(folder) => {
                let store = StateFolder::prepare(folder, limit()?);
                store.map(Some).map_err(|error| problem(folder, &error))
            }
        }
    }
}

fn problem(folder: &Path, error: &io::Error) -> String {
    format!("{}: states cannot be kept there: {error}", folder.display())
}

/// Largest size of all states, from the user or by default. Unit: bytes.
fn limit() -> Result<u64, String> {
    let Some(text) = std::env::var_os(LIMIT_VARIABLE) else { return Ok(LIMIT) };
    let text = text.to_string_lossy();
    let size = text.parse::<ByteSize>();
    size.map(|size| size.0).map_err(|error| format!("{LIMIT_VARIABLE}: {error}"))
}

/// The system's folder for files that can be made again, by the XDG base directory specification.
fn usual_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    Some(cache?.join("flashlane").join("states"))
}
