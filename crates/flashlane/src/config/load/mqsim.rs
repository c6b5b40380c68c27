//! MQSim XML pairs. A shim until the importer is in this build.

use std::path::Path;

use crate::config::{DeviceConfig, WorkloadConfig};
use crate::error::Error;

/// The device of an `ssdconfig.xml` and what was ignored in it.
pub(super) fn load_device(path: &Path) -> Result<(DeviceConfig, Vec<String>), Error> {
    Err(refuse(path))
}

/// The scenarios of a workload XML and what was ignored in it.
pub(super) fn load_scenarios(path: &Path) -> Result<(Vec<WorkloadConfig>, Vec<String>), Error> {
    Err(refuse(path))
}

fn refuse(path: &Path) -> Error {
    Error::config(path.display().to_string(), "MQSim XML is not available in this version")
}
