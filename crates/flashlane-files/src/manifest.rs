//! The manifest of a folder: the files that Flashlane wrote into it, and their contents at that
//! time.
//!
//! A later write may replace or remove a file that the manifest names and that is unchanged. Any
//! other file belongs to somebody else.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Name of the file in its folder.
pub const MANIFEST: &str = ".flashlane-manifest.json";

/// Schema name written into every file.
const SCHEMA: &str = "flashlane.manifest/1";

/// Bytes of one read.
const CHUNK: usize = 1 << 18;

/// The contents of a folder's manifest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifest {
    /// By path below the folder. A path has several contents while a write is under way.
    files: BTreeMap<String, Vec<Content>>,
}

/// The contents of a file, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    bytes: u64,
    sha256: String,
    /// The set of results that the file belongs to, which are replaced together; `None` for a
    /// single file.
    set: Option<String>,
}

/// The owner of the file at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileOwner {
    /// There is no file.
    Free,
    /// The file is as Flashlane wrote it.
    Ours,
    /// Flashlane wrote the file, but it has changed since.
    Changed,
    /// The file belongs to somebody else.
    Foreign,
}

/// The file as it is written.
#[derive(Deserialize, Serialize)]
struct Written {
    schema: String,
    files: Vec<Entry>,
}

#[derive(Deserialize, Serialize)]
struct Entry {
    path: String,
    bytes: u64,
    sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    set: Option<String>,
}

impl Content {
    /// The present contents of a file.
    pub(crate) fn of(path: &Path, set: Option<&str>) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let (mut hash, mut chunk, mut bytes) = (Sha256::new(), vec![0; CHUNK], 0);
        loop {
            match file.read(&mut chunk)? {
                0 => break,
                count => {
                    hash.update(&chunk[..count]);
                    bytes += count as u64;
                }
            }
        }
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { bytes, sha256, set: set.map(str::to_owned) })
    }

    fn same_bytes(&self, other: &Self) -> bool {
        self.bytes == other.bytes && self.sha256 == other.sha256
    }
}

impl Manifest {
    /// The manifest of a folder. A manifest that is missing or damaged names no file.
    pub(crate) fn read(folder: &Path) -> Self {
        let text = fs::read(folder.join(MANIFEST)).unwrap_or_default();
        let written: Option<Written> = serde_json::from_slice(&text).ok();
        let mut manifest = Self::default();
        for entry in written.filter(|one| one.schema == SCHEMA).into_iter().flat_map(|w| w.files) {
            let Entry { path, bytes, sha256, set } = entry;
            manifest.files.entry(path).or_default().push(Content { bytes, sha256, set });
        }
        manifest
    }

    /// The bytes of the manifest; equal files give equal bytes.
    pub(crate) fn text(&self) -> Vec<u8> {
        let files = self.files.iter().flat_map(|(path, contents)| {
            contents.iter().map(|content| Entry {
                path: path.clone(),
                bytes: content.bytes,
                sha256: content.sha256.clone(),
                set: content.set.clone(),
            })
        });
        let written = Written { schema: SCHEMA.to_owned(), files: files.collect() };
        let mut text = serde_json::to_vec_pretty(&written).expect("texts and numbers");
        text.push(b'\n');
        text
    }

    /// Adds possible contents of a path below the folder.
    pub(crate) fn add(&mut self, path: &Path, content: Content) {
        self.files.entry(key(path)).or_default().push(content);
    }

    /// Sets the contents of a path below the folder.
    pub(crate) fn set(&mut self, path: &Path, content: Content) {
        self.files.insert(key(path), vec![content]);
    }

    /// Removes a path below the folder.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.files.remove(&key(path));
    }

    /// Paths below the folder that belong to a set.
    pub(crate) fn of_set(&self, set: &str) -> Vec<PathBuf> {
        let is_in = |contents: &Vec<Content>| {
            contents.iter().any(|content| content.set.as_deref() == Some(set))
        };
        let paths = self.files.iter().filter(|(_, contents)| is_in(contents));
        // A manifest from elsewhere may name paths outside of its folder.
        paths.map(|(path, _)| PathBuf::from(path)).filter(|path| is_below(path)).collect()
    }

    /// The owner of the file at a path below the folder.
    pub(crate) fn owner(&self, folder: &Path, path: &Path) -> FileOwner {
        let place = folder.join(path);
        let Ok(data) = fs::symlink_metadata(&place) else { return FileOwner::Free };
        let Some(contents) = self.files.get(&key(path)) else { return FileOwner::Foreign };
        let same_length = data.is_file() && contents.iter().any(|one| one.bytes == data.len());
        let now = same_length.then(|| Content::of(&place, None).ok()).flatten();
        match now.is_some_and(|now| contents.iter().any(|one| one.same_bytes(&now))) {
            true => FileOwner::Ours,
            false => FileOwner::Changed,
        }
    }
}

/// The name of a path in the manifest. A path that is no text gets a name that no other file has.
fn key(path: &Path) -> String {
    path.to_str().map_or_else(|| format!("{path:?}"), str::to_owned)
}

fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_ours_while_it_holds_what_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let mut manifest = Manifest::default();
        let path = Path::new("a");
        assert_eq!(manifest.owner(folder, path), FileOwner::Free);
        fs::write(folder.join(path), "one").expect("room");
        assert_eq!(manifest.owner(folder, path), FileOwner::Foreign);
        manifest.set(path, Content::of(&folder.join(path), Some("run")).expect("readable"));
        assert_eq!(manifest.owner(folder, path), FileOwner::Ours);
        fs::write(folder.join(path), "two").expect("room");
        assert_eq!(manifest.owner(folder, path), FileOwner::Changed, "the same length");
        manifest.add(path, Content::of(&folder.join(path), None).expect("readable"));
        assert_eq!(manifest.owner(folder, path), FileOwner::Ours, "either content");
        fs::remove_file(folder.join(path)).expect("it was there");
        assert_eq!(manifest.owner(folder, path), FileOwner::Free);
        fs::write(folder.join(MANIFEST), manifest.text()).expect("room");
        assert_eq!(Manifest::read(folder).text(), manifest.text());
        fs::write(folder.join(MANIFEST), "{").expect("room");
        assert!(Manifest::read(folder).files.is_empty(), "a damaged one names no file");
    }

    #[test]
    fn no_path_outside_of_the_folder_is_removed() {
        let mut manifest = Manifest::default();
        for path in ["../x", "/etc/x", "a/../../x", "a/b"] {
            let content = Content { bytes: 0, sha256: String::new(), set: Some("run".to_owned()) };
            manifest.set(Path::new(path), content);
        }
        assert_eq!(manifest.of_set("run"), [PathBuf::from("a/b")]);
        assert!(manifest.of_set("fit").is_empty());
    }
}
