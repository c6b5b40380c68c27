//! Where the data is: in memory, in a sparse file, or nowhere.

mod file;
mod pattern;

use std::path::PathBuf;
use std::str::FromStr;

use flashlane::Error;
use flashlane_nvme::{MemoryStore, Store};

pub use file::SparseFile;
pub use pattern::PatternStore;

/// Where the data is.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum StoreKind {
    /// In memory, which is taken as data is written.
    #[default]
    Memory,
    /// In a sparse file, which stays.
    Sparse(PathBuf),
    /// Nowhere: every read gets the same pattern.
    Pattern,
}

impl FromStr for StoreKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("sparse:")) {
            ("memory", _) => Ok(Self::Memory),
            ("pattern", _) => Ok(Self::Pattern),
            (_, Some(path)) if !path.is_empty() => Ok(Self::Sparse(path.into())),
            _ => Err(format!("found `{text}`, allowed: memory, sparse:FILE, pattern")),
        }
    }
}

impl StoreKind {
    /// Opens the store for `bytes` bytes, of which at most `most` may hold data.
    pub(crate) fn open(&self, bytes: u64, most: u64) -> Result<Box<dyn Store>, Error> {
        Ok(match self {
            Self::Memory => Box::new(MemoryStore::new(most)),
            Self::Sparse(path) => Box::new(SparseFile::open(path, bytes)?),
            Self::Pattern => Box::new(PatternStore),
        })
    }
}
