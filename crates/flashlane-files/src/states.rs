//! A folder in which states of drives are kept.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use flashlane::{KeptStates, StateStore};

/// How the name of a file ends.
const ENDING: &str = "state";

/// In the place of a folder: nothing is kept.
const OFF: &str = "off";

/// The variable that names the folder where the user names none.
const VARIABLE: &str = "FLASHLANE_STATES";

/// Bytes of all files that are kept in a folder at most.
const LIMIT: u64 = 16 << 30;

/// Kept states take at most one part in so many of what a disk without them would have free.
const PARTS_OF_FREE_SPACE: u64 = 4;

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
    /// code of the simulator.
    ///
    /// # Errors
    /// States cannot be kept there; the text names the folder.
    pub fn open(&self, program: PathBuf) -> Result<Option<Arc<KeptStates>>, String> {
        let (Self::Named(folder) | Self::Usual(folder)) = self else { return Ok(None) };
        let problem = |error| format!("{}: states cannot be kept there: {error}", folder.display());
        let folder = StateFolder::prepare(folder, LIMIT).map_err(problem)?;
        Ok(Some(Arc::new(KeptStates::new(Arc::new(folder), program))))
    }
}

/// A folder for what can be made anew, as the XDG base directory specification has it.
fn usual_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    Some(cache?.join("flashlane").join("states"))
}

/// Keeps the states that were used last, as many as there is room for.
///
/// The folder is for its owner alone (mode 0700). A file appears under its name when it is whole;
/// it may be removed at any time.
#[derive(Debug)]
pub struct StateFolder {
    folder: PathBuf,
    limit: u64,
}

impl StateFolder {
    /// A folder, which is made if it does not exist, for files of so many bytes together.
    ///
    /// # Errors
    /// It cannot be made, or others than its owner may enter it.
    pub fn prepare(folder: &Path, limit: u64) -> io::Result<Self> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        refuse_others(&fs::symlink_metadata(folder)?)?;
        Ok(Self { folder: folder.to_owned(), limit })
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(key).with_extension(ENDING)
    }

    /// Removes the files that were used least lately until there is room for so many bytes.
    /// Returns whether there is: where there cannot be, it removes none.
    fn make_room(&self, bytes: u64) -> io::Result<bool> {
        let mut files: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == ENDING) {
                // Another program may have removed it meanwhile.
                let Ok(data) = fs::symlink_metadata(&path) else { continue };
                files.push((data.modified()?, path, data.len()));
            }
        }
        files.sort();
        let mut total: u64 = files.iter().map(|&(_, _, len)| len).sum();
        let limit = self.limit.min(share_of_disk(free_space(&self.folder)?, total));
        if bytes > limit {
            return Ok(false);
        }
        for (_, path, len) in files {
            if total.saturating_add(bytes) <= limit {
                break;
            }
            let _ = fs::remove_file(path);
            total -= len;
        }
        Ok(true)
    }

    fn write(
        &self,
        key: &str,
        bytes: u64,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if bytes > largest_file() || !self.make_room(bytes)? {
            return Ok(());
        }
        let mut file = BufWriter::new(crate::stage(&self.folder)?);
        write(&mut file)?;
        file.into_inner()?.persist(self.path(key))?;
        Ok(())
    }
}

/// Bytes that kept states may take of a disk with so many bytes free, where they take `kept`
/// already.
fn share_of_disk(free: u64, kept: u64) -> u64 {
    free.saturating_add(kept) / PARTS_OF_FREE_SPACE
}

/// Bytes that this user may still write to the disk of a folder.
#[cfg(unix)]
fn free_space(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_space(_folder: &Path) -> io::Result<u64> {
    Ok(u64::MAX)
}

/// The largest file that this process may write: a write beyond that would end it by a signal.
/// Unit: bytes.
#[cfg(unix)]
fn largest_file() -> u64 {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX)
}

#[cfg(not(unix))]
fn largest_file() -> u64 {
    u64::MAX
}

#[cfg(unix)]
fn refuse_others(folder: &fs::Metadata) -> io::Result<()> {
    let mode = std::os::unix::fs::MetadataExt::mode(folder) & 0o777;
    if folder.is_dir() && mode & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::other(format!("found mode {mode:03o}, allowed: a folder of mode 700")))
}

#[cfg(not(unix))]
fn refuse_others(_folder: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// A state that this process makes. Dropped, its lock is free.
struct Claim {
    path: PathBuf,
    _file: File,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // While it is locked: who waits for it looks whether it is still there.
        let _ = fs::remove_file(&self.path);
    }
}

impl StateStore for StateFolder {
    fn find(&self, key: &str) -> Option<File> {
        let path = self.path(key);
        if !fs::symlink_metadata(&path).ok()?.is_file() {
            return None;
        }
        let file = OpenOptions::new().read(true).open(path).ok()?;
        // Which files were used last decides which ones stay.
        let _ = file.set_modified(SystemTime::now());
        Some(file)
    }

    fn keep(&self, key: &str, bytes: u64, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        // A full disk, for example: the next run makes the state anew.
        let _ = self.write(key, bytes, write);
    }

    fn discard(&self, key: &str) {
        let _ = fs::remove_file(self.path(key));
    }

    #[cfg(unix)]
    fn claim(&self, key: &str) -> Option<Box<dyn std::any::Any + Send>> {
        use rustix::fs::{FlockOperation, flock};
        let path = self.folder.join(key).with_extension("lock");
        loop {
            let file = OpenOptions::new().create(true).append(true).open(&path).ok()?;
            // The lock of a process that ends, however it does, is free.
            flock(&file, FlockOperation::LockExclusive).ok()?;
            // Whoever had it before took the file away: others may have made another one.
            let number = |data: fs::Metadata| std::os::unix::fs::MetadataExt::ino(&data);
            let here = file.metadata().map(number).ok()?;
            if fs::symlink_metadata(&path).map(number).ok() == Some(here) {
                return Some(Box::new(Claim { path, _file: file }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn keep(store: &StateFolder, key: &str, bytes: usize) {
        store.keep(key, bytes as u64, &mut |to| to.write_all(&vec![7; bytes]));
    }

    fn kept(store: &StateFolder) -> Vec<String> {
        let entries = fs::read_dir(&store.folder).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("a file").file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_used_last_stays() {
        let root = tempfile::tempdir().expect("a folder");
        let store = StateFolder::prepare(&root.path().join("a/b"), 250).expect("made");
        let mut text = Vec::new();
        for key in ["x", "y"] {
            keep(&store, key, 100);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        store.find("x").expect("kept").read_to_end(&mut text).expect("readable");
        assert_eq!(text, [7; 100]);
        keep(&store, "z", 100);
        assert_eq!(kept(&store), ["x.state", "z.state"], "y was used least lately");
        keep(&store, "large", 251);
        assert_eq!(kept(&store), ["x.state", "z.state"], "more than there can be room for");
        store.discard("x");
        assert!(store.find("x").is_none() && store.find("z").is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_claim_keeps_others_waiting() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let root = tempfile::tempdir().expect("a folder");
        let open = || StateFolder::prepare(&root.path().join("states"), 1000).expect("made");
        let (inside, made) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let store = open();
                    let claim = store.claim("x").expect("a lock");
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
                    if store.find("x").is_none() {
                        std::thread::sleep(std::time::Duration::from_millis(50));
                        made.fetch_add(1, Ordering::SeqCst);
                        keep(&store, "x", 10);
                    }
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(claim);
                });
            }
        });
        assert_eq!(made.into_inner(), 1, "made once");
        assert_eq!(kept(&open()), ["x.state"], "no lock is left");
        let other = open().claim("y").expect("a lock");
        drop((open().claim("x").expect("another key is free"), other));
    }

    #[test]
    fn states_leave_most_of_a_disk_free() {
        assert_eq!(share_of_disk(400, 0), 100);
        assert_eq!(share_of_disk(300, 100), 100, "what they take themselves counts as free");
        assert_eq!(share_of_disk(0, 100), 25, "a disk that others filled gets room back");
        let root = tempfile::tempdir().expect("a folder");
        let free = free_space(root.path()).expect("known");
        let store = StateFolder::prepare(&root.path().join("states"), u64::MAX).expect("made");
        keep(&store, "x", 10);
        assert!(!store.make_room(free).expect("looked"), "more than the share");
        assert_eq!(kept(&store), ["x.state"], "for what cannot be kept nothing is removed");
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let root = tempfile::tempdir().expect("a folder");
        let store = StateFolder::prepare(&root.path().join("states"), 1000).expect("made");
        store.keep("x", 10, &mut |to| {
            to.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(kept(&store).is_empty() && store.find("x").is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_is_for_its_owner_alone() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let root = tempfile::tempdir().expect("a folder");
        let own = root.path().join("own");
        StateFolder::prepare(&own, 1).expect("made");
        assert_eq!(fs::metadata(&own).expect("it is there").mode() & 0o777, 0o700);
        StateFolder::prepare(&own, 1).expect("as it was");
        fs::set_permissions(&own, fs::Permissions::from_mode(0o750)).expect("changed");
        let error = StateFolder::prepare(&own, 1).expect_err("others may enter it");
        assert_eq!(error.to_string(), "found mode 750, allowed: a folder of mode 700");
    }
}
