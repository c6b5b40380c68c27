//! A folder in which states of drives are kept.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flashlane::StateStore;

use crate::lock::{Holder, Lock, Try};
use crate::state_place::{News, StateNews};

/// Ending of the name of a file.
const ENDING: &str = "state";

/// Ending of the name of the lock of a state.
const LOCK: &str = "lock";

/// Kept states may take the disk space that would be free without them, divided by this number.
const PARTS_OF_FREE_SPACE: u64 = 10;

/// Time after which a process reports that it waits for another one.
const PATIENCE: Duration = Duration::from_secs(1);

/// Number of digits of a key: those of a SHA-256 digest.
const KEY_DIGITS: usize = 64;

/// A folder that keeps the states that were used last, as many as fit.
///
/// Only its owner may enter the folder (mode 0700). A file appears under its name when it is
/// complete, and may be removed at any time.
#[derive(Debug)]
pub struct StateFolder {
    folder: PathBuf,
    limit: u64,
    pub(crate) tells_first: bool,
    pub(crate) tell: Option<News>,
}

/// A kept state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateFile {
    /// Time at which the state was made or used last.
    pub used: SystemTime,
    /// Key of the state: 64 hexadecimal digits.
    pub key: String,
    /// Size of the file. Unit: bytes.
    pub bytes: u64,
}

impl StateFolder {
    /// Prepares a folder, which is made if it does not exist. `limit`: largest size of all files,
    /// in bytes.
    ///
    /// # Errors
    ///
    /// If it cannot be made, or users other than its owner may enter it.
    pub fn prepare(folder: &Path, limit: u64) -> io::Result<Self> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        refuse_others(&fs::symlink_metadata(folder)?)?;
        Ok(Self { folder: folder.to_owned(), limit, tells_first: false, tell: None })
    }

    /// The states, least recently used first. Files with other names are ignored.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn list(&self) -> io::Result<Vec<StateFile>> {
        let mut files = Vec::new();
        for path in self.files(ENDING)? {
            // Another program may have removed the file meanwhile.
            let Ok(data) = fs::symlink_metadata(&path) else { continue };
            if data.is_file() {
                let key = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                files.push(StateFile { used: data.modified()?, key, bytes: data.len() });
            }
        }
        files.sort();
        Ok(files)
    }

    /// Bytes that all states together may take now.
    ///
    /// # Errors
    ///
    /// If the system does not report the free space of the disk.
    pub fn limit(&self) -> io::Result<u64> {
        let kept = self.list()?.iter().map(|file| file.bytes).sum();
        self.limit_with(kept)
    }

    fn limit_with(&self, kept: u64) -> io::Result<u64> {
        Ok(self.limit.min(share_of_disk(free_space(&self.folder)?, kept)))
    }

    /// Removes states, least recently used first, until at most `bytes` bytes are left. Also
    /// removes the files of dead processes. Returns the removed states.
    ///
    /// # Errors
    ///
    /// If a file cannot be removed.
    pub fn prune(&self, bytes: u64) -> io::Result<Vec<StateFile>> {
        crate::stale::remove_from(&self.folder);
        for lock in self.files(LOCK)? {
            if let Ok(Try::Held(lock)) = Lock::take(&lock) {
                drop(lock);
            }
        }
        let mut files = self.list()?;
        let mut total: u64 = files.iter().map(|file| file.bytes).sum();
        let mut count = 0;
        while let Some(file) = files.get(count).filter(|_| total > bytes) {
            match fs::remove_file(self.path(&file.key)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => total -= file.bytes,
            }
            count += 1;
        }
        files.truncate(count);
        Ok(files)
    }

    /// Files whose names are keys.
    fn files(&self, ending: &str) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let key = path.file_stem().unwrap_or_default().as_encoded_bytes();
            let named = key.len() == KEY_DIGITS && key.iter().all(u8::is_ascii_hexdigit);
            if named && path.extension().is_some_and(|one| one == ending) {
                files.push(path);
            }
        }
        Ok(files)
    }

    fn tell(&self, news: &StateNews) {
        if let Some(News(tell)) = &self.tell {
            tell(news);
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(key).with_extension(ENDING)
    }

    /// Removes the least recently used files until there is room for `bytes` bytes. Returns whether
    /// there is room; if there cannot be, it removes no file.
    fn make_room(&self, bytes: u64) -> io::Result<bool> {
        let files = self.list()?;
        let mut total: u64 = files.iter().map(|file| file.bytes).sum();
        let limit = self.limit_with(total)?;
        if bytes > limit {
            return Ok(false);
        }
        for file in files {
            if total.saturating_add(bytes) <= limit {
                break;
            }
            let _ = fs::remove_file(self.path(&file.key));
            total -= file.bytes;
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
        let first = self.tells_first && self.list()?.is_empty();
        file.into_inner()?.persist(self.path(key))?;
        if first {
            self.tell(&StateNews::First { folder: self.folder.clone(), limit: self.limit()? });
        }
        Ok(())
    }
}

/// Bytes that kept states may take of a disk with `free` bytes free, if they take `kept` bytes
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

/// The largest file that this process may write. A write beyond that would end the process with a
/// signal. Unit: bytes.
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

impl StateStore for StateFolder {
    fn find(&self, key: &str) -> Option<File> {
        let path = self.path(key);
        if !fs::symlink_metadata(&path).ok()?.is_file() {
            return None;
        }
        let file = OpenOptions::new().read(true).open(path).ok()?;
        // The times of last use decide which files stay.
        let _ = file.set_modified(SystemTime::now());
        Some(file)
    }

    fn keep(&self, key: &str, bytes: u64, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        // For example the disk may be full; the next run then makes the state again.
        let _ = self.write(key, bytes, write);
    }

    fn discard(&self, key: &str) {
        let _ = fs::remove_file(self.path(key));
    }

    fn claim(&self, key: &str) -> Option<Box<dyn std::any::Any + Send>> {
        let path = self.folder.join(key).with_extension(LOCK);
        let mut told: Option<Holder> = None;
        let lock = Lock::wait(&path, |holder, waited| {
            // Reports once, and again if the other process has been stopped since.
            if waited >= PATIENCE && told.as_ref().is_none_or(|told| told != holder) {
                told = Some(holder.clone());
                self.tell(&StateNews::Waits { holder: holder.clone(), lock: path.clone() });
            }
            Ok(())
        });
        Some(Box::new(lock.ok()?))
    }
}

#[cfg(test)]
#[path = "states_tests.rs"]
mod tests;
