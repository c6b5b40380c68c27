//! The files in `benches/`: results, their history, instruction counts.

use std::io::Write;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::instructions::Counts;
use crate::measure::Row;

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/results.json");
const HISTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/history.jsonl");
const INSTRUCTIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/instructions.json");

/// A recorded run of all cases.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The commit that was measured.
    pub(crate) commit: String,
    pub(crate) instructions: Option<Counts>,
    pub(crate) cases: Vec<Row>,
}

/// Writes the results of a commit, and a line of history.
pub(crate) fn keep(commit: String, cases: Vec<Row>) -> Result<(), String> {
    let record = Record { commit, instructions: committed().ok(), cases };
    let text = |error: serde_json::Error| error.to_string();
    write(RESULTS, &serde_json::to_string_pretty(&record).map_err(text)?)?;
    let line = serde_json::to_string(&record).map_err(text)?;
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(HISTORY)
        .and_then(|mut file| writeln!(file, "{line}"))
        .map_err(|error| format!("{HISTORY}: {error}"))
}

/// Writes the instruction counts for later comparisons.
pub(crate) fn commit_counts(counts: &Counts) -> Result<(), String> {
    write(INSTRUCTIONS, &serde_json::to_string_pretty(counts).map_err(|error| error.to_string())?)
}

/// The instruction counts for comparisons.
pub(crate) fn committed() -> Result<Counts, String> {
    let text = std::fs::read_to_string(INSTRUCTIONS)
        .map_err(|error| format!("{INSTRUCTIONS}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{INSTRUCTIONS}: {error}"))
}

fn write(path: &str, text: &str) -> Result<(), String> {
    std::fs::write(path, format!("{text}\n")).map_err(|error| format!("{path}: {error}"))
}

/// The commit of the working tree, with `+` if the tree was changed.
pub(crate) fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])
        .is_some_and(|changes| !changes.is_empty());
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    if changed { commit + "+" } else { commit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;

    #[test]
    fn every_counted_case_has_a_committed_count() {
        let counts = committed().unwrap().instructions_per_request;
        let mut names: Vec<&str> = counts.keys().map(String::as_str).collect();
        let mut counted: Vec<&str> =
            CASES.iter().filter(|case| case.count.is_some()).map(|case| case.name).collect();
        names.sort_unstable();
        counted.sort_unstable();
        assert_eq!(names, counted);
    }
}
