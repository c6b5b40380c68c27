//! The content key of a result: a digest of everything that decides it.
//!
//! Two simulations with equal keys give equal summaries, so a result can be kept under its key and
//! found again. The key covers the program, the resolved device and workload, the options, and the
//! bytes of every file that the workload reads. It does not cover where these files lie.

use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

pub use crate::digest::InputFiles;
use crate::digest::{fingerprints, hex};
use crate::options::RunOptions;
use flashlane_config::{DeviceConfig, MqsimFlowConfig, WorkloadConfig};
use flashlane_measure::metrics::AloneBasis;
use flashlane_reading::Error;
use flashlane_workload::clone;

/// Name of the rule by which keys are made; another rule has another name.
const KEY_SCHEMA: &str = "flashlane.content-key/1";

/// Everything that decides a result, in an order that never changes.
#[derive(Serialize)]
struct Identity<'a> {
    schema: &'a str,
    version: &'a str,
    program: String,
    device: &'a DeviceConfig,
    /// Fingerprints of the code of policies from outside of the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    policies: Vec<String>,
    /// The workload, in which files have only their names.
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
    alone_basis: AloneBasis,
    leave_one_out: bool,
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
        // A new option must be named here, so that its author decides whether it belongs to the
        // key.
        let RunOptions {
            seed,
            alone,
            alone_basis,
            leave_one_out,
            check,
            warmup,
            until_steady,
            compat,
            threads: _,
            series_interval,
            windows,
            waf_only,
            observe: _,
            states: _,
            state_progress: _,
            stop: _,
        } = options;
        Self {
            seed: *seed,
            alone: *alone,
            alone_basis: *alone_basis,
            leave_one_out: *leave_one_out,
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
///
/// Those of [`InputFiles::digest`], for the program and for every file of the workload.
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

/// SHA-256 of some bytes, in hexadecimal digits.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The name of a file without its folder. Readers depend on the name (compression, traces in
/// several files), but not on the folder.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
