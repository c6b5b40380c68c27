//! Reads traces from pipes.
//!
//! A trace is read several times: to detect its format, to find the addresses that it touches, and
//! to replay it. A pipe can be read only once. In a process that called [`keep_pipes`], a pipe is
//! copied to a temporary file when it is first opened, and the copy is read from then on. All other
//! processes refuse pipes.

use std::fs::{File, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Opens the file at `path`, or the copy of the pipe at `path`.
///
/// # Errors
/// The errors of opening the file. A pipe is refused in a process that does not keep pipes.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let metadata = std::fs::metadata(path)?;
    if !is_pipe(metadata.file_type(), path) {
        return File::open(path);
    }
    match copies::of(path, &metadata)? {
        Some(copy) => File::open(copy),
        None => Err(io::Error::other(
            "is a pipe, and a trace is read several times; allowed: a file, so save the trace first",
        )),
    }
}

#[cfg(unix)]
fn is_pipe(kind: FileType, path: &Path) -> bool {
    use std::io::IsTerminal;
    use std::os::unix::fs::FileTypeExt;
    let is_terminal = || File::open(path).is_ok_and(|file| file.is_terminal());
    kind.is_fifo() || kind.is_socket() || kind.is_char_device() && is_terminal()
}

#[cfg(not(unix))]
fn is_pipe(_: FileType, _: &Path) -> bool {
    false
}

pub use copies::keep_pipes;

#[cfg(target_os = "linux")]
mod copies {
    use std::collections::BTreeMap;
    use std::collections::btree_map::Entry;
    use std::io::{Read, copy};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;
    use std::sync::{Mutex, OnceLock, PoisonError};

    use super::{File, Metadata, Path, PathBuf, io};

    /// Largest number of bytes that are copied from a pipe.
    const BYTES_MAX: u64 = 64 << 30;

    /// The copies, by device and number of their pipes. They have no name in the file system, so
    /// they disappear with the process, however it ends.
    static COPIES: OnceLock<Mutex<BTreeMap<(u64, u64), File>>> = OnceLock::new();

    /// From now on this process reads each pipe once, to its end, and keeps a copy while it runs.
    /// Meant for a command that handles one set of inputs and ends. Works only on Linux; on other
    /// systems pipes are refused.
    pub fn keep_pipes() {
        COPIES.get_or_init(Mutex::default);
    }

    /// A path at which the copy of a pipe can be opened. Returns `None` if pipes are not kept.
    pub(super) fn of(path: &Path, pipe: &Metadata) -> io::Result<Option<PathBuf>> {
        let Some(copies) = COPIES.get() else { return Ok(None) };
        let mut copies = copies.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (pipe.dev(), pipe.ino());
        if let Entry::Vacant(place) = copies.entry(key) {
            place.insert(made(path)?);
        }
        // Opening this path opens the file again, at its start.
        Ok(Some(PathBuf::from(format!("/proc/self/fd/{}", copies[&key].as_raw_fd()))))
    }

    fn made(path: &Path) -> io::Result<File> {
        let folder = std::env::temp_dir();
        let about = |error: io::Error| {
            let folder = folder.display();
            io::Error::other(format!("the pipe cannot be copied to a file in {folder}: {error}"))
        };
        let mut file = tempfile::tempfile_in(&folder).map_err(about)?;
        let copied = copy(&mut File::open(path)?.take(BYTES_MAX + 1), &mut file).map_err(about)?;
        if copied > BYTES_MAX {
            return Err(io::Error::other(
                "more than 64 GiB come through the pipe; allowed: less, or a file",
            ));
        }
        Ok(file)
    }
}

#[cfg(not(target_os = "linux"))]
mod copies {
    use super::{Metadata, Path, PathBuf, io};

    /// Pipes are kept on Linux only.
    pub fn keep_pipes() {}

    pub(super) fn of(_: &Path, _: &Metadata) -> io::Result<Option<PathBuf>> {
        Ok(None)
    }
}
