//! `report.html`: a page about a scenario.

use flashlane::Error;
use flashlane::config::{DeviceConfig, WorkloadConfig};
use flashlane_report::{RunData, render};
use serde::Serialize;

use crate::execute::Outcome;
use crate::output::Content;

/// Device and workload as a page shows them.
#[derive(Serialize)]
struct Resolved<'a> {
    device: &'a DeviceConfig,
    workload: &'a WorkloadConfig,
}

/// What a page shows of a scenario.
pub(crate) fn data(
    outcome: &Outcome,
    device: &DeviceConfig,
    workload: &WorkloadConfig,
) -> Result<RunData, Error> {
    let resolved = toml::to_string(&Resolved { device, workload }).map_err(|error| {
        Error::Output(format!("resolved configuration cannot be written as TOML: {error}"))
    })?;
    let names: Vec<&str> = workload.flows.iter().map(|flow| flow.name.as_str()).collect();
    let label = if workload.name.is_empty() { names.join(", ") } else { workload.name.clone() };
    Ok(RunData::new(&label, &command(), &resolved, &outcome.summary, &outcome.details))
}

/// The page of one run or several.
pub(crate) fn page(runs: &[RunData]) -> Result<Content, Error> {
    Ok(render(runs)?.into())
}

/// The command line, quoted for a shell where that is needed.
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
