//! What Python writes: files, and names on screens.

use std::path::PathBuf;

use flashlane::Error;
use pyo3::prelude::*;

use crate::error::OrRaise;

/// Writes a file whole or not at all, and removes what dead processes left in its folder. Python
/// sees no signal meanwhile, so an interrupt comes when the file is there.
#[pyfunction]
pub(crate) fn write_whole(py: Python<'_>, path: PathBuf, content: Vec<u8>) -> PyResult<()> {
    let written = py.detach(|| flashlane_files::write_whole(&path, &content));
    written
        .map_err(|error| Error::Output(format!("{}: cannot be written: {error}", path.display())))
        .or_raise()
}

/// A text of one line with its control characters written out.
#[pyfunction]
pub(crate) fn visible_line(text: &str) -> String {
    flashlane::visible_line(text).into_owned()
}
