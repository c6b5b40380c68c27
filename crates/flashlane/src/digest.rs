//! Digests of the inputs of a simulation, for the keys of kept results.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use flashlane_config::DeviceConfig;
use flashlane_reading::Error;

/// Bytes of one read.
const CHUNK: usize = 1 << 18;

/// Digests of files. Each file is read once, and again only if it changed.
#[derive(Debug, Default)]
pub struct InputFiles {
    known: Mutex<BTreeMap<PathBuf, Arc<Mutex<Option<Known>>>>>,
    stop: Arc<AtomicBool>,
    read: AtomicU64,
}

/// A file as it was when it was read.
#[derive(Clone, Debug)]
struct Known {
    stamp: Stamp,
    digest: String,
}

/// Facts about a file from the file system. They change when the file is written or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Device, inode and time of the last change of the inode.
    #[cfg(unix)]
    node: (u64, u64, i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            node: (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl InputFiles {
    /// No file has been read.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No file has been read. `stop` ends all reading.
    #[must_use]
    pub fn stopped_by(stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..Self::default() }
    }

    /// Ends all reading, now and later, with [`Error::Interrupted`].
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How many times a file was read from start to end.
    #[must_use]
    pub fn files_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// SHA-256 of the bytes of a file, in hexadecimal digits. Several threads may ask at the same
    /// time; only one of them reads the file.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a file that cannot be read, is no regular file (a pipe can be
    /// read only once), or changes meanwhile; [`Error::Interrupted`] after [`InputFiles::stop`].
    pub fn digest(&self, path: &Path) -> Result<String, Error> {
        let place = Arc::clone(locked(&self.known).entry(path.to_owned()).or_default());
        let mut known = locked(&place);
        let refuse = |message: String| Error::config(path.display().to_string(), message);
        let stamp = || match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => Ok(Stamp::of(&metadata)),
            Ok(_) => Err(refuse(
                "is no regular file; allowed: a file that can be read more than once".to_owned(),
            )),
            Err(error) => Err(refuse(format!("cannot be read: {error}"))),
        };
        let before = stamp()?;
        if let Some(known) = known.as_ref().filter(|known| known.stamp == before) {
            return Ok(known.digest.clone());
        }
        let digest = self.read(path)?;
        if stamp()? != before {
            return Err(refuse("changed while it was read".to_owned()));
        }
        *known = Some(Known { stamp: before, digest: digest.clone() });
        Ok(digest)
    }

    fn read(&self, path: &Path) -> Result<String, Error> {
        let refuse = |error: std::io::Error| {
            Error::config(path.display().to_string(), format!("cannot be read: {error}"))
        };
        let mut file = File::open(path).map_err(refuse)?;
        let (mut hash, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(bytes) => hash.update(&chunk[..bytes]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(refuse(error)),
            }
        }
        self.read.fetch_add(1, Ordering::Relaxed);
        Ok(hex(&hash.finalize()))
    }
}

/// Fingerprints of the code of policies from outside of the program.
pub(crate) fn fingerprints(device: &DeviceConfig) -> Vec<String> {
    let prints = [
        device.scheduler.fingerprint(),
        device.isolation.fingerprint(),
        device.ftl.allocation.fingerprint(),
        device.ftl.gc.victim.fingerprint(),
        device.interface.arbitration.fingerprint(),
    ];
    prints.into_iter().flatten().map(str::to_owned).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
