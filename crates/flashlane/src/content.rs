//! The content key of a result: a digest of everything that decides it.
//!
//! Two simulations with the same key give the same summary, so a result can be kept under its key
//! and found again. The key covers the program, the resolved device and workload, the options, and
//! the bytes of every file that the workload reads. It does not cover where these files lie.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::config::{DeviceConfig, MqsimFlowConfig, WorkloadConfig};
use crate::error::Error;
use crate::options::RunOptions;
use crate::workload::clone;

/// Name of the rule by which keys are made; another rule has another name.
const KEY_SCHEMA: &str = "flashlane.content-key/1";
/// Bytes that are read at a time.
const CHUNK: usize = 1 << 18;

/// Digests of files. Each file is read once, and again only if it changed.
#[derive(Debug, Default)]
pub struct InputFiles {
    known: Mutex<BTreeMap<PathBuf, Arc<Mutex<Option<Known>>>>>,
    stop: AtomicBool,
    read: AtomicU64,
}

/// A file as it was when it was read.
#[derive(Clone, Debug)]
struct Known {
    stamp: Stamp,
    digest: String,
}

/// What the file system says of a file. It changes when the file is written or replaced.
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
    /// No file is known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
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

    /// SHA-256 of the bytes of a file, in hexadecimal digits. Several threads may ask at a time;
    /// the file is read by one of them.
    ///
    /// # Errors
    /// [`Error::Config`] for what cannot be read or is no regular file (a pipe can be read only
    /// once), and for a file that changes meanwhile; [`Error::Interrupted`] after
    /// [`InputFiles::stop`].
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

/// Everything that decides a result, in an order that never changes.
#[derive(Serialize)]
struct Identity<'a> {
    schema: &'a str,
    version: &'a str,
    program: String,
    device: &'a DeviceConfig,
    /// Which code the policies are that came from outside of the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    policies: Vec<String>,
    /// Files are there by their name alone.
    workload: WorkloadConfig,
    /// Names and digests of the files of each flow.
    files: Vec<Vec<(String, String)>>,
    options: Options,
}

/// The options that can change a summary.
#[derive(Serialize)]
struct Options {
    seed: u64,
    alone: bool,
    check: bool,
    warmup: String,
    until_steady: String,
    compat: Option<String>,
    series_interval: Option<u64>,
    windows: Option<u64>,
    waf_only: bool,
}

impl Options {
    fn of(options: &RunOptions) -> Self {
        // A new option does not compile here before somebody decides whether it belongs to the key.
        let RunOptions {
            seed,
            alone,
            check,
            warmup,
            until_steady,
            compat,
            threads: _,
            series_interval,
            windows,
            waf_only,
            observe: _,
            stop: _,
        } = options;
        Self {
            seed: *seed,
            alone: *alone,
            check: *check,
            warmup: format!("{warmup:?}"),
            until_steady: format!("{until_steady:?}"),
            compat: compat.clone(),
            series_interval: *series_interval,
            windows: *windows,
            waf_only: *waf_only,
        }
    }
}

/// The content key of a simulation: 64 hexadecimal digits. `program` is the file with the code of
/// the simulator (the running executable or the loaded library), so that another build never finds
/// the results of this one.
///
/// # Errors
/// As [`InputFiles::digest`], for the program and for every file of the workload.
pub fn content_key(
    program: &Path,
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    options: &RunOptions,
    files: &InputFiles,
) -> Result<String, Error> {
    let mut workload = workload.clone();
    let digests = workload.flows.iter_mut().map(|flow| {
        let mut of_flow = Vec::new();
        let mut note = |path: &mut PathBuf| -> Result<(), Error> {
            for file in flashlane_trace::files_of(path) {
                of_flow.push((name(&file), files.digest(&file)?));
            }
            *path = PathBuf::from(name(path));
            Ok(())
        };
        if let Some(trace) = &mut flow.trace {
            note(&mut trace.path)?;
        }
        if let Some(config) = flow.clone.as_mut().filter(|config| clone::is_file(&config.of)) {
            let mut path = PathBuf::from(&config.of);
            note(&mut path)?;
            config.of = path.to_string_lossy().into_owned();
        }
        if let Some(MqsimFlowConfig::Trace(trace)) = &mut flow.mqsim {
            note(&mut trace.path)?;
        }
        Ok(of_flow)
    });
    let digests = digests.collect::<Result<Vec<_>, Error>>()?;
    let identity = Identity {
        schema: KEY_SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        program: files.digest(program)?,
        device,
        policies: fingerprints(device),
        workload,
        files: digests,
        options: Options::of(options),
    };
    let text = serde_json::to_vec(&identity)
        .map_err(|error| Error::Output(format!("content key: {error}")))?;
    Ok(hex(&Sha256::digest(text)))
}

fn fingerprints(device: &DeviceConfig) -> Vec<String> {
    let prints = [
        device.scheduler.fingerprint(),
        device.isolation.fingerprint(),
        device.ftl.allocation.fingerprint(),
        device.ftl.gc.victim.fingerprint(),
        device.interface.arbitration.fingerprint(),
    ];
    prints.into_iter().flatten().map(str::to_owned).collect()
}

/// Readers look at the name of a file (compression, traces in several files), and not at its
/// folder.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
