//! The state of a drive that a program can come back to.

use std::sync::Mutex;

use flashlane::{Time, drive};
use pyo3::prelude::*;

/// The state of a drive at an instant.
#[pyclass(frozen, module = "flashlane._flashlane", name = "Snapshot")]
pub(crate) struct Snapshot {
    pub(super) snapshot: Mutex<drive::Snapshot>,
    pub(super) reports: u64,
    pub(super) now_ps: u64,
    pub(super) drive: u64,
}

#[pymethods]
impl Snapshot {
    /// The time of the snapshot. Unit: picoseconds.
    #[getter]
    fn now_ps(&self) -> u64 {
        self.now_ps
    }

    fn __repr__(&self) -> String {
        format!("Snapshot(at {})", Time(self.now_ps))
    }
}
