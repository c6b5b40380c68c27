//! Content keys: what a sweep keeps its results under.

use std::path::PathBuf;

use flashlane::content::{InputFiles, content_key};
use pyo3::prelude::*;

use crate::config::{Device, Workload};
use crate::error::OrRaise;
use crate::simulate::options;

/// Makes the content keys of a sweep. Each file is read once, by whichever thread needs it first.
#[pyclass(frozen, module = "flashlane._flashlane", name = "_ContentKeys")]
#[derive(Debug)]
pub(crate) struct ContentKeys {
    /// The file with the native part of the package.
    program: PathBuf,
    files: InputFiles,
}

#[pymethods]
impl ContentKeys {
    #[new]
    fn new(program: PathBuf) -> Self {
        Self { program, files: InputFiles::new() }
    }

    /// The key of a simulation.
    #[pyo3(signature = (device, workload, *, seed = 1, alone = false, check = false, warmup = None,
        windows = None, waf_only = false))]
    #[expect(clippy::too_many_arguments, reason = "keywords of flashlane.simulate")]
    fn key(
        &self,
        py: Python<'_>,
        device: &Device,
        workload: &Workload,
        seed: u64,
        alone: bool,
        check: bool,
        warmup: Option<&Bound<'_, PyAny>>,
        windows: Option<&str>,
        waf_only: bool,
    ) -> PyResult<String> {
        let options = options(device, seed, alone, check, warmup, windows, waf_only)?;
        let (device, workload) = (&device.loaded.config, &workload.loaded.config);
        let key = py.detach(|| content_key(&self.program, device, workload, &options, &self.files));
        key.or_raise()
    }

    /// Ends all reading of files.
    fn stop(&self) {
        self.files.stop();
    }

    /// How many times a file was read.
    #[getter]
    fn files_read(&self) -> u64 {
        self.files.files_read()
    }
}
