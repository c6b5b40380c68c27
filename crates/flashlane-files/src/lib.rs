//! Files that are written whole or not at all: by the command and by the Python package.
//!
//! A file is written under a temporary name beside its place and renamed at the end. The next write
//! into a folder removes the temporary files that dead processes left there. A manifest in the
//! folder lists the files that Flashlane wrote. It neither replaces nor removes files of others. A
//! pipe, or `/dev/stdout`, gets the bytes directly.

mod csv;
mod lock;
mod manifest;
mod output;
mod publish;
mod stale;
mod state_place;
mod states;

use std::io::{Result, Write};
use std::path::Path;

pub use csv::csv_line;
pub use lock::{Holder, Lock, Try};
pub use manifest::MANIFEST;
pub use output::{OutputFile, write_file};
pub use publish::{Refusal, Rules, Staged, hold_folder, publish, refuse_others};
pub use state_place::{StateNews, StatePlace};
pub use states::{StateFile, StateFolder};
use tempfile::NamedTempFile;

/// Makes a temporary file in a folder. When dropped, it is removed. Also removes temporary files of
/// dead processes in the folder. The file has the mode that other new files have.
///
/// # Errors
/// If no file can be made in the folder.
pub fn stage(folder: &Path) -> Result<NamedTempFile> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    stale::remove_from(folder);
    let mut builder = tempfile::Builder::new();
    let prefix = stale::prefix();
    builder.prefix(&prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Writes a file whole or not at all, and replaces any file of that name. This is for stores, which
/// own their file names.
///
/// # Errors
/// If it cannot be written; nothing is left of it.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = stage(path.parent().unwrap_or(Path::new("")))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_there_whole_or_nothing_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = || std::fs::read_dir(folder.path()).expect("a folder").count();
        let path = folder.path().join("x");
        write_whole(&path, b"old").expect("room");
        write_whole(&path, b"new").expect("room");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"new");
        std::fs::create_dir(folder.path().join("taken")).expect("made");
        assert!(write_whole(&folder.path().join("taken"), b"x").is_err());
        assert!(write_whole(&folder.path().join("no/such"), b"x").is_err());
        assert_eq!(names(), 2, "no temporary file is left");
    }
}
