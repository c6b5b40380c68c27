//! `run --report`: a page about each scenario.

use std::path::PathBuf;

use flashlane::Error;
use flashlane::config::{DeviceConfig, WorkloadConfig};
use flashlane_report::{RunData, render};
use serde::Serialize;

use crate::execute::Outcome;

/// Device and workload as a page shows them.
#[derive(Serialize)]
struct Resolved<'a> {
    device: &'a DeviceConfig,
    workload: &'a WorkloadConfig,
}

/// The page of a scenario: its name and its text.
pub(crate) fn file(
    outcome: &Outcome,
    device: &DeviceConfig,
    workload: &WorkloadConfig,
) -> Result<(PathBuf, String), Error> {
    let resolved = toml::to_string(&Resolved { device, workload }).map_err(|error| {
        Error::Output(format!("resolved configuration cannot be written as TOML: {error}"))
    })?;
    let names: Vec<&str> = workload.flows.iter().map(|flow| flow.name.as_str()).collect();
    let label = if workload.name.is_empty() { names.join(", ") } else { workload.name.clone() };
    let (summary, details) = (&outcome.summary, &outcome.details);
    let data = RunData::new(&label, &command(), &resolved, summary, details);
    Ok((PathBuf::from("report.html"), render(&[data])?))
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
