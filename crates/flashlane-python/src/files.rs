//! Writes files for Python, and prepares names for screens.

use std::path::PathBuf;

use flashlane::Error;
use flashlane_files::{Lock, Refusal, Rules};
use pyo3::prelude::*;

use crate::error::OrRaise;

fn raised<T>(result: Result<T, Refusal>) -> PyResult<T> {
    result.map_err(|refusal| Error::Output(refusal.to_string())).or_raise()
}

/// Writes a file whole or not at all, and removes temporary files of ended processes from its
/// folder. A file that the package did not write is replaced only with `overwrite`. Python sees no
/// signal during the call, so an interrupt takes effect when the file is complete.
#[pyfunction]
#[pyo3(signature = (path, content, overwrite = false))]
pub(crate) fn write_whole(
    py: Python<'_>,
    path: PathBuf,
    content: Vec<u8>,
    overwrite: bool,
) -> PyResult<()> {
    raised(py.detach(|| flashlane_files::write_file(&path, &content, &rules(overwrite))))
}

/// Refuses a folder in which files of others have one of these names.
#[pyfunction]
pub(crate) fn refuse_others(folder: PathBuf, names: Vec<PathBuf>, overwrite: bool) -> PyResult<()> {
    raised(flashlane_files::refuse_others(&folder, &names, &rules(overwrite)))
}

fn rules(overwrite: bool) -> Rules<'static> {
    Rules { overwrite, set: None, hint: Some("overwrite=True") }
}

/// Locks a folder for the results of this process. Another process is refused until then. Files of
/// others in the folder must not have certain names, unless they may be replaced.
#[pyclass(module = "flashlane._flashlane", name = "HeldFolder")]
pub(crate) struct HeldFolder(Option<Lock>);

#[pymethods]
impl HeldFolder {
    #[new]
    fn new(folder: PathBuf, names: Vec<PathBuf>, overwrite: bool) -> PyResult<Self> {
        let lock = raised(flashlane_files::hold_folder(&folder))?;
        raised(flashlane_files::refuse_others(&folder, &names, &rules(overwrite)))?;
        Ok(Self(lock))
    }

    fn __enter__(held: PyRef<'_, Self>) -> PyRef<'_, Self> {
        held
    }

    fn __exit__(
        &mut self,
        _kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) {
        self.0 = None;
    }
}

/// A text as one line, with its control characters written out.
#[pyfunction]
pub(crate) fn visible_line(text: &str) -> String {
    flashlane::visible_line(text).into_owned()
}
