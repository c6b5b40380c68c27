//! Lists of policies, and schemas of file formats.

use flashlane::Error;
use flashlane::config::PolicyInfo;
use flashlane::schema as schemas;
use pyo3::prelude::*;

use crate::error::OrRaise;

/// The JSON schema of a file format: `device`, `workload`, `summary` or `blame`.
#[pyfunction]
pub(crate) fn schema(of: &str) -> PyResult<String> {
    let schema = match of {
        "device" => schemas::device(),
        "workload" => schemas::workload(),
        "summary" => schemas::summary(),
        "blame" => schemas::blame(),
        _ => {
            let message = format!("found `{of}`, allowed: device, workload, summary, blame");
            return Err(Error::config("schema", message)).or_raise();
        }
    };
    Ok(schema.to_string())
}

/// Family, name, summary and source of every policy, and whether it is reconstructed.
#[pyfunction]
pub(crate) fn policies() -> Vec<(&'static str, String, String, String, bool)> {
    let one = |it: PolicyInfo| {
        let (name, summary) = (it.name.into_owned(), it.summary.into_owned());
        (it.family, name, summary, it.source.into_owned(), it.reconstructed)
    };
    flashlane::policy::families().into_iter().flatten().map(one).collect()
}
