//! Gives files their names. Only files that Flashlane wrote are replaced or removed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::lock::{Holder, Lock};
use crate::manifest::{Content, FileOwner, MANIFEST, Manifest};

/// Time that a process which was killed may take to end.
const ENDING: Duration = Duration::from_secs(1);

/// Lock of the process that writes results into a folder.
const FOLDER_LOCK: &str = ".flashlane-lock";

/// Lock during the moments in which files get their names.
const MANIFEST_LOCK: &str = ".flashlane-manifest.lock";

/// Longest wait for another process that names files.
const PATIENCE: Duration = Duration::from_secs(10);

/// Most files that a refusal names.
const NAMED: usize = 10;

/// Rules for replacing files.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// True if files of anybody may be replaced; none is removed.
    pub overwrite: bool,
    /// The set of results that is replaced as a whole: files of an earlier write of the set are
    /// removed if this write does not replace them. `None`: no file is removed.
    pub set: Option<&'a str>,
    /// Advice for messages, by which the caller can replace files of others: `--overwrite`.
    pub hint: Option<&'a str>,
}

/// Reason why nothing was written.
#[derive(Debug)]
pub enum Refusal {
    /// Files that would be replaced are not Flashlane's. The text names them, one a line.
    Taken(String),
    /// A file cannot be written.
    Failed(PathBuf, io::Error),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Taken(text) => f.write_str(text),
            Self::Failed(path, error) => {
                write!(f, "{}: cannot be written: {error}", path.display())
            }
        }
    }
}

/// Holds a folder for the results of this process, so that other processes are refused. Waits for
/// up to a second, because a process that was killed keeps its locks until its memory is given
/// back.
///
/// # Errors
///
/// If another process writes there, with a text for people.
pub fn hold_folder(folder: &Path) -> Result<Option<Lock>, Refusal> {
    let folder = or_here(folder);
    match lock_within(&folder.join(FOLDER_LOCK), ENDING) {
        Ok(Ok(lock)) => Ok(lock),
        Ok(Err(holder)) => Err(Refusal::Taken(format!(
            "{}: {holder} writes results there; allowed: another folder, or the same one when that \
             process has ended",
            folder.display()
        ))),
        Err(error) => Err(Refusal::Failed(folder.to_owned(), error)),
    }
}

/// Waits for a lock, at most for `patience`, and returns it or its holder. The lock is `None` if
/// the file system has no locks.
fn lock_within(path: &Path, patience: Duration) -> io::Result<Result<Option<Lock>, Holder>> {
    let mut last = None;
    let lock = Lock::wait(path, |holder, waited| {
        if waited < patience {
            return Ok(());
        }
        last = Some(holder.clone());
        Err(io::ErrorKind::WouldBlock.into())
    });
    match (lock, last) {
        (Ok(lock), _) => Ok(Ok(Some(lock))),
        (Err(_), Some(holder)) => Ok(Err(holder)),
        (Err(error), None) if error.kind() == io::ErrorKind::Unsupported => Ok(Ok(None)),
        (Err(error), None) => Err(error),
    }
}

fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Refuses files of others at some paths below a folder.
///
/// # Errors
/// [`Refusal::Taken`], with the name of each.
pub fn refuse_others(folder: &Path, paths: &[PathBuf], rules: &Rules<'_>) -> Result<(), Refusal> {
    others(&Manifest::read(or_here(folder)), folder, paths, rules)
}

fn others(
    manifest: &Manifest,
    folder: &Path,
    paths: &[PathBuf],
    rules: &Rules<'_>,
) -> Result<(), Refusal> {
    let hint = rules.hint.map(|hint| format!(", or {hint}, which replaces it"));
    let allowed = format!("allowed: another place{}", hint.unwrap_or_default());
    let problem = |path: &PathBuf| {
        let place = folder.join(path);
        if fs::symlink_metadata(&place).is_ok_and(|data| data.is_dir()) {
            return Some(format!("{}: is a folder", place.display()));
        }
        if rules.overwrite {
            return None;
        }
        match manifest.owner(or_here(folder), path) {
            FileOwner::Free | FileOwner::Ours => None,
            FileOwner::Foreign => {
                Some(format!("{}: flashlane did not write it; {allowed}", place.display()))
            }
            FileOwner::Changed => {
                Some(format!("{}: changed since flashlane wrote it; {allowed}", place.display()))
            }
        }
    };
    let mut lines: Vec<String> = paths.iter().filter_map(problem).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let count = lines.len();
    if count > NAMED {
        lines.truncate(NAMED);
        lines.push(format!("{}: {} more such files", folder.display(), count - NAMED));
    }
    Err(Refusal::Taken(lines.join("\n")))
}

/// A file under a temporary name, with its path below the folder.
#[derive(Debug)]
pub struct Staged {
    /// The path.
    pub path: PathBuf,
    /// The file, which is complete.
    pub file: NamedTempFile,
}

/// Gives files their names below a folder, and notes them in its manifest. All of them must be
/// complete and on the disk, and their folders must exist.
///
/// # Errors
/// If a path has a file of somebody else; nothing is changed then. If a file cannot get its name.
pub fn publish(folder: &Path, files: Vec<Staged>, rules: &Rules<'_>) -> Result<(), Refusal> {
    let root = or_here(folder);
    let failed = |path: &Path| {
        let place = folder.join(path);
        move |error: io::Error| Refusal::Failed(place, error)
    };
    let _lock = manifest_lock(root).map_err(failed(Path::new(MANIFEST)))?;
    let before = Manifest::read(root);
    let paths: Vec<PathBuf> = files.iter().map(|staged| staged.path.clone()).collect();
    others(&before, folder, &paths, rules)?;
    // Until the end, both contents count as Flashlane's. If the process is killed in between, a
    // later one does not take its files for somebody else's.
    let (mut meanwhile, mut after) = (before.clone(), before);
    for Staged { path, file } in &files {
        let content = Content::of(file.path(), rules.set).map_err(failed(path))?;
        meanwhile.add(path, content.clone());
        after.set(path, content);
    }
    write_manifest(root, &meanwhile).map_err(failed(Path::new(MANIFEST)))?;
    for Staged { path, file } in files {
        file.persist(root.join(&path)).map_err(|error| failed(&path)(error.error))?;
    }
    for path in rules.set.map(|set| meanwhile.of_set(set)).unwrap_or_default() {
        if !paths.contains(&path) {
            if meanwhile.owner(root, &path) == FileOwner::Ours {
                fs::remove_file(root.join(&path)).map_err(failed(&path))?;
                remove_empty(root, &path);
            }
            after.forget(&path);
        }
    }
    write_manifest(root, &after).map_err(failed(Path::new(MANIFEST)))?;
    sync(root, &paths);
    Ok(())
}

fn manifest_lock(root: &Path) -> io::Result<Option<Lock>> {
    lock_within(&root.join(MANIFEST_LOCK), PATIENCE)?
        .map_err(|holder| io::Error::other(format!("{holder} holds it")))
}

fn write_manifest(root: &Path, manifest: &Manifest) -> io::Result<()> {
    crate::write_whole(&root.join(MANIFEST), &manifest.text())
}

/// Removes the folders of a removed file that are empty now, up to the root.
fn remove_empty(root: &Path, path: &Path) {
    let below = |folder: &&Path| !folder.as_os_str().is_empty();
    for folder in path.ancestors().skip(1).take_while(below) {
        if fs::remove_dir(root.join(folder)).is_err() {
            return;
        }
    }
}

/// Makes the new names durable, if the file system can do that.
fn sync(root: &Path, paths: &[PathBuf]) {
    let mut folders: Vec<PathBuf> =
        paths.iter().filter_map(|path| Some(root.join(path).parent()?.to_owned())).collect();
    folders.push(root.to_owned());
    folders.sort();
    folders.dedup();
    for folder in folders {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

#[cfg(test)]
#[path = "publish_tests.rs"]
mod tests;
