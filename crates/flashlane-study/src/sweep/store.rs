//! Keeps results, one file for each point, under a digest of everything that decides the result.
//!
//! A file gets its final name only when it is complete. The digest of its content tells a damaged
//! file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use flashlane::Error;
use flashlane::content::digest;
use flashlane_files::write_whole;
use serde_json::{Value, json};

use super::axes::Point;
use super::outcome::Outcome;

/// Schema name written into every file.
const SCHEMA: &str = "flashlane.sweep-point/3";

/// A folder with results.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// What the folder holds for a point.
#[derive(Clone, Debug)]
pub(super) enum Kept {
    /// There is no file: the point was not run.
    Nothing,
    /// The kept result.
    Result(Outcome),
    /// The file is damaged. The text describes how.
    Damaged(String),
}

impl Store {
    /// Opens the folder for results, and makes it if it does not exist.
    ///
    /// # Errors
    /// [`Error::Output`] if the folder cannot be made.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        std::fs::create_dir_all(folder).map_err(|error| {
            Error::Output(format!("{}: cannot be made: {error}", folder.display()))
        })?;
        Ok(Self { folder: folder.to_owned() })
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("point-{}.json", &key[..24]))
    }

    /// The file to which a fault of the simulator at a point is written.
    pub(super) fn fault_path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("point-{}.fault", &key[..24]))
    }

    /// What the folder holds under a key.
    pub(super) fn find(&self, key: &str) -> Kept {
        let path = self.path(key);
        let damaged = |what: &str| Kept::Damaged(format!("{}: {what}", path.display()));
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Kept::Nothing,
            Err(error) => return damaged(&format!("cannot be read ({error})")),
        };
        let Ok(mut kept) = serde_json::from_slice::<Value>(&text) else {
            return damaged("is no JSON");
        };
        if kept["schema"] != SCHEMA || kept["key"] != key {
            return damaged("is no result of this point");
        }
        let result = kept["result"].take();
        if kept["digest"] != digest(result.to_string().as_bytes()) {
            return damaged("its result does not match its digest");
        }
        Outcome::from_json(result)
            .map_or_else(|| damaged("is no result of this point"), Kept::Result)
    }

    /// Keeps a result.
    ///
    /// # Errors
    /// [`Error::Output`] if the file cannot be written. No part of the file is left then.
    pub(super) fn keep(&self, key: &str, point: &Point, outcome: &Outcome) -> Result<(), Error> {
        let result = outcome.to_json();
        let point: Value = point.iter().cloned().collect::<serde_json::Map<_, _>>().into();
        let digest = digest(result.to_string().as_bytes());
        let whole = json!({
            "schema": SCHEMA,
            "key": key,
            "point": point,
            "result": result,
            "digest": digest,
        });
        let path = self.path(key);
        write_whole(&path, whole.to_string().as_bytes()).map_err(|error| {
            Error::Output(format!("{}: cannot be written: {error}", path.display()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::outcome::Trouble;
    use flashlane::metrics::Summary;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn results_come_back_and_damage_is_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("a/b")).expect("made");
        assert!(matches!(store.find(KEY), Kept::Nothing));
        let summary = Summary { simulated_s: 0.1 + 0.2, ..Summary::default() };
        let point = vec![("seed".to_owned(), Value::from(1))];
        for outcome in
            [Outcome::done(&summary), Outcome::failed(Trouble::Stuck, "request 7 waits".to_owned())]
        {
            store.keep(KEY, &point, &outcome).expect("room");
            assert!(matches!(store.find(KEY), Kept::Result(found) if found == outcome));
        }
        let path = store.path(KEY);
        let whole = std::fs::read_to_string(&path).expect("kept");
        for (damage, what) in [
            (whole[..40].to_owned(), "is no JSON"),
            (whole.replace("request 7", "request 8"), "does not match its digest"),
            (whole.replace("point/3", "point/2"), "is no result of this point"),
            ("[".repeat(100_000), "is no JSON"),
            ("[1]".to_owned(), "is no result of this point"),
        ] {
            std::fs::write(&path, damage).expect("written");
            assert!(matches!(store.find(KEY), Kept::Damaged(why) if why.contains(what)), "{what}");
        }
    }
}
