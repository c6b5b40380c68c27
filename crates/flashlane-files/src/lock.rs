//! Locks that end with their process, however it ends.
//!
//! A lock is a file that is locked by the system. Its text names the process that holds it. The
//! holder removes the file at the end. If a process was killed, the next one takes its file over.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::stale;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// A lock that this process holds. Dropping it frees it.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
}

/// Result of an attempt.
#[derive(Debug)]
pub enum Try {
    /// This process holds the lock.
    Held(Lock),
    /// Another process holds the lock.
    Taken(Holder),
}

/// The holder of a lock, as its file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    text: String,
    /// True if the process is stopped: it holds the lock until it is continued.
    pub stopped: bool,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)?;
        if self.stopped { f.write_str(", which is stopped") } else { Ok(()) }
    }
}

impl Lock {
    /// Tries to take a lock.
    ///
    /// # Errors
    ///
    /// If the file cannot be made, or its file system has no locks.
    pub fn take(path: &Path) -> io::Result<Try> {
        loop {
            let mut options = OpenOptions::new();
            let mut file = options.create(true).read(true).append(true).open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Try::Taken(Holder::read(&mut file))),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // The last holder may have removed the file, and another process may have made a new
            // one.
            if same_file(&file, path) {
                file.set_len(0)?;
                let _ = file.write_all(stale::description().as_bytes());
                return Ok(Try::Held(Self { path: path.to_owned(), file }));
            }
        }
    }

    /// The file of the lock.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for a lock. Calls `taken` with the holder and the time for which this process waits;
    /// an error of `taken` ends the wait.
    ///
    /// # Errors
    ///
    /// Those of [`Lock::take`] and of `taken`.
    pub fn wait(
        path: &Path,
        mut taken: impl FnMut(&Holder, Duration) -> io::Result<()>,
    ) -> io::Result<Self> {
        let begun = Instant::now();
        loop {
            match Self::take(path)? {
                Try::Held(lock) => return Ok(lock),
                Try::Taken(holder) => taken(&holder, begun.elapsed())?,
            }
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is locked. A waiter checks that the file still exists.
        let _ = fs::remove_file(&self.path);
        // A copy of this process would keep the lock.
        let _ = self.file.unlock();
    }
}

impl Holder {
    fn read(file: &mut File) -> Self {
        let mut text = String::new();
        let _ = file.rewind().and_then(|()| file.take(4096).read_to_string(&mut text));
        let mut lines = text.lines();
        let text = lines.next().filter(|line| !line.is_empty()).unwrap_or("another process");
        let stopped = lines.next().is_some_and(stale::is_stopped);
        Self { text: text.to_owned(), stopped }
    }
}

#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |data: fs::Metadata| (data.dev(), data.ino());
    let here = file.metadata().map(number);
    matches!((here, fs::symlink_metadata(path).map(number)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(not(unix))]
fn same_file(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(path: &Path) -> Option<Holder> {
        match Lock::take(path).expect("a lock") {
            Try::Held(_) => None,
            Try::Taken(holder) => Some(holder),
        }
    }

    #[test]
    fn a_lock_has_one_holder_and_says_who() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let Try::Held(lock) = Lock::take(&path).expect("free") else { panic!("nobody has it") };
        let holder = taken(&path).expect("it is taken");
        assert!(!holder.stopped);
        if cfg!(target_os = "linux") {
            let wanted = format!("process {}", std::process::id());
            assert!(holder.to_string().starts_with(&wanted), "{holder}");
        }
        drop(lock);
        assert!(!path.exists(), "nothing is left");
        assert_eq!(taken(&path), None, "it is free");
        // The file of a killed process.
        fs::write(&path, "process 1\n").expect("room");
        assert_eq!(taken(&path), None, "it is free");
    }

    #[test]
    fn who_waits_hears_who_has_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let Try::Held(lock) = Lock::take(&path).expect("free") else { panic!("nobody has it") };
        let mut heard = 0;
        let refused = Lock::wait(&path, |_, _| {
            heard += 1;
            if heard < 3 { Ok(()) } else { Err(io::Error::other("enough")) }
        });
        assert_eq!(refused.expect_err("it ends the wait").to_string(), "enough");
        let mut lock = Some(lock);
        Lock::wait(&path, |_, _| {
            lock.take();
            Ok(())
        })
        .expect("it becomes free");
    }
}
