//! Reads the XML pair of the released MQSim, unmodified: `ssdconfig.xml` and `workload.xml`.
//!
//! Tags that are missing from a device file take MQSim's own defaults, and one warning lists them.
//! Tags that MQSim ignores or does not know are warned about. A request for something that is not
//! implemented is refused, with file, line, value and what is allowed.
//!
//! Source: tags, units and defaults of the released MQSim (commit 7ec40e3).

mod device;
mod flash;
mod scenario;
mod tags;
mod tree;

use std::path::Path;

use crate::{DeviceConfig, WorkloadConfig};
use flashlane_reading::Error;

/// Larger files are not configurations. Unit: bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Reads a device file (`Execution_Parameter_Set`). Returns the device and the warnings.
///
/// # Errors
///
/// [`Error::Config`] with every problem of the file.
pub fn load_device(path: &Path) -> Result<(DeviceConfig, Vec<String>), Error> {
    parse_device(path, &read(path)?)
}

/// Reads a workload file (`MQSim_IO_Scenarios`). Returns one workload per scenario, in order, and
/// the warnings. Trace paths stay as in the file.
///
/// # Errors
///
/// [`Error::Config`] with every problem of the file.
pub fn load_scenarios(path: &Path) -> Result<(Vec<WorkloadConfig>, Vec<String>), Error> {
    parse_scenarios(path, &read(path)?)
}

/// A file in which every tag has its default. The release assumes it for a file that holds only the
/// word `USE_INTERNAL_PARAMS`.
const INTERNAL: &[u8] = b"<Execution_Parameter_Set><Host_Parameter_Set/><Device_Parameter_Set>\
    <Flash_Parameter_Set/></Device_Parameter_Set></Execution_Parameter_Set>";

/// Does [`load_device`] with the contents of the file.
///
/// # Errors
///
/// [`Error::Config`] with every problem of the file.
pub fn parse_device(path: &Path, bytes: &[u8]) -> Result<(DeviceConfig, Vec<String>), Error> {
    let file = path.display().to_string();
    let bytes = if bytes.trim_ascii() == b"USE_INTERNAL_PARAMS" { INTERNAL } else { bytes };
    let root = root(&file, bytes, "Execution_Parameter_Set", "device")?;
    device::device(&file, &stem(path), &root)
}

/// Does [`load_scenarios`] with the contents of the file.
///
/// # Errors
///
/// [`Error::Config`] with every problem of the file.
pub fn parse_scenarios(
    path: &Path,
    bytes: &[u8],
) -> Result<(Vec<WorkloadConfig>, Vec<String>), Error> {
    let file = path.display().to_string();
    let root = root(&file, bytes, "MQSim_IO_Scenarios", "workload")?;
    scenario::scenarios(&file, &stem(path), &root)
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let refuse = |message: String| Error::config(path.display().to_string(), message);
    let size = std::fs::metadata(path).map_err(|e| refuse(format!("cannot be read: {e}")))?.len();
    if size > FILE_BYTES_MAX {
        return Err(refuse(format!("has {size} bytes; allowed: at most {FILE_BYTES_MAX}")));
    }
    std::fs::read(path).map_err(|e| refuse(format!("cannot be read: {e}")))
}

/// The tree of a file whose root element must be `expected`.
fn root(file: &str, bytes: &[u8], expected: &str, what: &str) -> Result<tree::Node, Error> {
    let root = tree::parse(file, bytes)?;
    if root.name == expected {
        return Ok(root);
    }
    let hint = match root.name.as_str() {
        "Execution_Parameter_Set" => "; this is a device file",
        "MQSim_IO_Scenarios" => "; this is a workload file",
        "MQSim_Results" => "; this is a result file of MQSim",
        _ => "",
    };
    Err(Error::config(
        format!("{file}:{}", root.line),
        format!("the root is <{}>; a {what} file of MQSim has <{expected}>{hint}", root.name),
    ))
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
