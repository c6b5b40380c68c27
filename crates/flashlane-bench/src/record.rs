//! The files in `benches/`: results, their history, instruction counts.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::instructions::{Counts, Tool};
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

/// Instructions per request of a case over the recorded runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Past {
    /// In the first run that has the case.
    pub(crate) first: f64,
    /// In the run with the fewest.
    pub(crate) fewest: f64,
}

/// What the recorded runs counted with a tool, by case. A case may have changed in the meantime.
pub(crate) fn history(tool: Tool) -> Result<BTreeMap<String, Past>, String> {
    /// The part of a line of the history that every version of it has.
    #[derive(Deserialize)]
    struct Line {
        instructions: Option<Counts>,
    }
    let text = std::fs::read_to_string(HISTORY).map_err(|error| format!("{HISTORY}: {error}"))?;
    let mut cases: BTreeMap<String, Past> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line: Line = serde_json::from_str(line)
            .map_err(|error| format!("{HISTORY}: line {number}: {error}"))?;
        let Some(counts) = line.instructions.filter(|counts| counts.tool == tool) else { continue };
        for (name, counted) in counts.instructions_per_request {
            let past = cases.entry(name).or_insert(Past { first: counted, fewest: counted });
            past.fewest = past.fewest.min(counted);
        }
    }
    Ok(cases)
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

    /// The table of docs/performance.md.
    fn table() -> String {
        let counts = committed().unwrap();
        let history = history(counts.tool).unwrap();
        let mut table = "| case | first | fewest ever | now | since the first |\n\
            | --- | --: | --: | --: | --: |\n"
            .to_owned();
        for case in CASES.iter().filter(|case| case.count.is_some()) {
            let now = counts.instructions_per_request[case.name];
            let Past { first, fewest } =
                history.get(case.name).copied().unwrap_or(Past { first: now, fewest: now });
            let (fewest, change) = (fewest.min(now), (now / first - 1.0) * 100.0);
            table +=
                &format!("| `{}` | {first} | {fewest} | {now} | {change:+.0} % |\n", case.name);
        }
        table
    }

    /// The table of instructions is written anew with `UPDATE_DOCS=1`.
    #[test]
    fn the_page_on_performance_has_the_committed_counts() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance.md");
        let text = std::fs::read_to_string(page).unwrap();
        let (begin, end) = ("<!-- instructions -->\n", "<!-- end of instructions -->");
        let (before, rest) = text.split_once(begin).expect("a table begins");
        let (found, after) = rest.split_once(end).expect("it ends");
        let wanted = table();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(page, format!("{before}{begin}{wanted}{end}{after}")).unwrap();
        } else {
            assert_eq!(found, wanted, "make docs writes it");
        }
    }

    #[test]
    fn the_history_knows_the_first_and_the_fewest() {
        let history = history(Tool::Callgrind).unwrap();
        let first = history["backend-2-2"];
        assert!(first.fewest < first.first, "{first:?}");
        assert!(history.values().all(|past| past.fewest <= past.first));
    }
}
