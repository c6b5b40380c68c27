//! Data in a sparse file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use flashlane::Error;
use flashlane_nvme::Store;

/// The first bytes of a file of ours. The length of the data follows, in 8 bytes.
const MAGIC: &[u8; 24] = b"flashlane serve data 1\n\0";

/// The data starts here. Unit: bytes.
const HEADER: u64 = 4096;

/// Data in a sparse file, which only this process uses. The file takes no more of the disk than
/// what was written.
#[derive(Debug)]
pub struct SparseFile {
    file: File,
}

impl SparseFile {
    /// Opens the file, or makes it, for `bytes` bytes of data.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] for a file that another process uses, that `flashlane serve` did not make,
    /// or that is for a drive of another size.
    pub fn open(path: &Path, bytes: u64) -> Result<Self, Error> {
        let say = |text: String| Error::Output(format!("{}: {text}", path.display()));
        let failed = |error: io::Error| say(format!("cannot be opened: {error}"));
        let (mut file, new) = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => (file, false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = OpenOptions::new().read(true).write(true).create_new(true).open(path);
                (made.map_err(failed)?, true)
            }
            Err(error) => return Err(failed(error)),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(say("another process uses it, allowed: one at a time".to_owned()));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        if new {
            make(&mut file, bytes).map_err(failed)?;
            return Ok(Self { file });
        }
        let mut header = [0; 32];
        let read = file.read_exact(&mut header);
        if read.is_err() || header[..24] != MAGIC[..] {
            return Err(say(
                "`flashlane serve` did not make this file; name another one".to_owned()
            ));
        }
        let found = u64::from_le_bytes(header[24..].try_into().expect("8 bytes"));
        if found != bytes {
            return Err(say(format!(
                "found the data of a drive of {found} bytes, allowed: {bytes}, as this drive has"
            )));
        }
        Ok(Self { file })
    }
}

/// Writes the header of a new file.
fn make(file: &mut File, bytes: u64) -> io::Result<()> {
    file.write_all(MAGIC)?;
    file.write_all(&bytes.to_le_bytes())?;
    file.set_len(HEADER + bytes)?;
    file.sync_all()
}

impl Store for SparseFile {
    fn read(&mut self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(HEADER + offset))?;
        self.file.read_exact(data)
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(HEADER + offset))?;
        self.file.write_all(data)
    }

    fn zero(&mut self, offset: u64, length: u64) -> io::Result<()> {
        match punch(&self.file, HEADER + offset, length) {
            Ok(()) => Ok(()),
            Err(_) => self.write_zeroes(offset, length),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}

impl SparseFile {
    /// Zeroes for file systems without holes.
    fn write_zeroes(&mut self, offset: u64, length: u64) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(HEADER + offset))?;
        io::copy(&mut io::repeat(0).take(length), &mut self.file).map(|_| ())
    }
}

/// Frees a part of a file, which then reads as zeroes.
#[cfg(target_os = "linux")]
fn punch(file: &File, offset: u64, length: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(fallocate(file, flags, offset, length)?)
}

#[cfg(not(target_os = "linux"))]
fn punch(_: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_stays_in_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data");
        let mut store = SparseFile::open(&path, 1 << 20).expect("a new file");
        store.write(5000, b"hello").expect("it fits");
        store.sync().expect("it is durable");
        let used = SparseFile::open(&path, 1 << 20).expect_err("it is in use");
        assert!(used.to_string().contains("another process uses it"), "{used}");
        drop(store);
        let mut store = SparseFile::open(&path, 1 << 20).expect("the same file");
        let mut data = [7; 7];
        store.read(4999, &mut data).expect("it is there");
        assert_eq!(&data, b"\0hello\0");
        store.zero(5001, 2).expect("it is there");
        store.read(4999, &mut data).expect("it is there");
        assert_eq!(&data, b"\0h\0\0lo\0");
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("letter");
        std::fs::write(&path, "dear reader").expect("it fits");
        let error = SparseFile::open(&path, 1 << 20).expect_err("it is not ours");
        assert!(error.to_string().contains("did not make this file"), "{error}");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"dear reader");
        let path = folder.path().join("data");
        drop(SparseFile::open(&path, 1 << 20).expect("a new file"));
        let error = SparseFile::open(&path, 1 << 21).expect_err("another size");
        assert!(error.to_string().contains("found the data of a drive of 1048576"), "{error}");
    }
}
