//! Where states of drives are kept, and what people hear of it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flashlane::KeptStates;
use flashlane::config::units::ByteSize;

use crate::lock::Holder;
use crate::states::StateFolder;

/// In the place of a folder: nothing is kept.
const OFF: &str = "off";

/// The variable that names the folder where the user names none.
const VARIABLE: &str = "FLASHLANE_STATES";

/// The variable with the bytes that all files may take, for example `20GiB`.
const LIMIT_VARIABLE: &str = "FLASHLANE_STATES_LIMIT";

/// Bytes of all files that are kept in a folder at most, where nobody says otherwise.
const LIMIT: u64 = 4 << 30;

/// What people may want to know while states are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateNews {
    /// The first state is kept in a folder that the user did not name.
    First {
        /// The folder.
        folder: PathBuf,
        /// Bytes that all states may take there.
        limit: u64,
    },
    /// The process waits since a second for another one that makes the same state.
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

/// Hears the news.
type Tell = dyn Fn(&StateNews) + Send + Sync;

/// What hears the news.
#[derive(Clone)]
pub(crate) struct News(pub(crate) Arc<Tell>);

impl std::fmt::Debug for News {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("News")
    }
}

/// Where states are to be kept.
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
    /// The place that the user asks for; without a wish the variable `FLASHLANE_STATES` decides,
    /// and without that it is `flashlane/states` in `XDG_CACHE_HOME` or `~/.cache`. The word `off`
    /// stands for nowhere.
    #[must_use]
    pub fn choose(wish: Option<PathBuf>) -> Self {
        match wish.or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from)) {
            Some(folder) if folder == Path::new(OFF) => Self::Off,
            Some(folder) => Self::Named(folder),
            None => usual_folder().map_or(Self::Off, Self::Usual),
        }
    }

    /// The user named it: a problem there is an error, elsewhere the run goes on without states.
    #[must_use]
    pub fn is_named(&self) -> bool {
        matches!(self, Self::Named(_))
    }

    /// The states there, ready for use; `None` if nothing is kept. `program`: the file with the
    /// code of the simulator. `tell` hears the news.
    ///
    /// # Errors
    /// States cannot be kept there; the text names the folder.
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

    /// The folder; `None` where nothing is kept.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Off => None,
            Self::Named(folder) | Self::Usual(folder) => Some(folder),
        }
    }

    /// What is in the folder now; `None` where there is no such folder.
    ///
    /// # Errors
    /// Others than its owner may enter the folder; the text names it.
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

/// Bytes that all states may take, as the user says or by default.
fn limit() -> Result<u64, String> {
    let Some(text) = std::env::var_os(LIMIT_VARIABLE) else { return Ok(LIMIT) };
    let text = text.to_string_lossy();
    let size = text.parse::<ByteSize>();
    size.map(|size| size.0).map_err(|error| format!("{LIMIT_VARIABLE}: {error}"))
}

/// A folder for what can be made anew, as the XDG base directory specification has it.
fn usual_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    Some(cache?.join("flashlane").join("states"))
}
