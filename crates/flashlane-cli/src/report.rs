//! `report.html`: a page about a scenario.

use std::path::PathBuf;

use flashlane::Error;
use flashlane::config::{DeviceConfig, WorkloadConfig};
use flashlane_report::{RunData, render};

use crate::execute::Outcome;
use crate::output::Content;

/// The data of a scenario that a page shows.
pub(crate) fn data(
    outcome: &Outcome,
    device: &DeviceConfig,
    workload: &WorkloadConfig,
) -> Result<RunData, Error> {
    let failed = |error: toml::ser::Error| {
        Error::Output(format!("resolved configuration cannot be written as TOML: {error}"))
    };
    let device = toml::to_string(device).map_err(failed)?;
    let load = toml::to_string(workload).map_err(failed)?;
    let resolved = format!("# device\n{}\n# workload\n{}", device.trim_end(), load.trim_end());
    let names: Vec<&str> = workload.flows.iter().map(|flow| flow.name.as_str()).collect();
    let label = if workload.name.is_empty() { names.join(", ") } else { workload.name.clone() };
    Ok(RunData::new(&label, &command(), &resolved, &outcome.summary, &outcome.details))
}

/// The page of one or several runs.
pub(crate) fn page(runs: &[RunData]) -> Result<Content, Error> {
    Ok(render(runs, module().as_deref())?.into())
}

/// The simulator for browsers. It is in the file `what-if.b64` beside the program, or in the file
/// that `FLASHLANE_WHAT_IF` names. Without the file, pages do not run scenarios again.
pub(crate) fn module() -> Option<String> {
    let beside = || Some(std::env::current_exe().ok()?.with_file_name("what-if.b64"));
    let path = std::env::var_os("FLASHLANE_WHAT_IF").map(PathBuf::from).or_else(beside)?;
    std::fs::read_to_string(path).ok()
}

/// The command line, quoted for a shell if needed.
fn command() -> String {
    let quoted = |word: String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            return word;
        }
        format!("'{}'", word.replace('\'', r"'\''"))
    };
    let words = std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    ["flashlane".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}
