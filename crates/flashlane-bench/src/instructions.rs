//! Instructions per request, from the difference of two runs of unlike length, so that start-up
//! cancels.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::cases::{CASES, Case};

/// The longer run has this many times the requests of the shorter one.
const LONGER: u64 = 4;

/// A tool that counts instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tool {
    /// The processor's own counters, by `perf stat`.
    Perf,
    /// `valgrind --tool=callgrind`, which simulates the processor.
    Callgrind,
}

/// Instructions per request of every case that counts them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) tool: Tool,
    pub(crate) instructions_per_request: BTreeMap<String, f64>,
}

impl Tool {
    /// The best tool that works here.
    pub(crate) fn found() -> Option<Self> {
        [Self::Perf, Self::Callgrind].into_iter().find(|tool| tool.works())
    }

    /// True if the tool is installed and the machine lets it count.
    pub(crate) fn works(self) -> bool {
        let Ok(output) = self.command().arg("true").output() else { return false };
        output.status.success() && self.counted(&String::from_utf8_lossy(&output.stderr)).is_some()
    }

    fn command(self) -> Command {
        let (program, arguments): (_, &[&str]) = match self {
            Self::Perf => ("perf", &["stat", "-x", ",", "-e", "instructions:u"]),
            Self::Callgrind => {
                ("valgrind", &["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            }
        };
        let mut command = Command::new(program);
        command.args(arguments);
        command
    }

    /// The count in the output of the tool.
    fn counted(self, said: &str) -> Option<u64> {
        let text = match self {
            Self::Perf => {
                said.lines().find(|line| line.contains("instructions"))?.split(',').next()?
            }
            Self::Callgrind => said.lines().find_map(|line| line.split_once("Collected :"))?.1,
        };
        text.trim().parse().ok()
    }
}

/// Counts every case, or those whose names are given.
pub(crate) fn count(tool: Tool, names: &[String]) -> Result<Counts, String> {
    let wanted = |case: &&Case| names.is_empty() || names.iter().any(|name| name == case.name);
    let jobs: Vec<(&Case, u64)> = CASES
        .iter()
        .filter(wanted)
        .filter_map(|case| Some((case, case.count.as_ref()?.requests)))
        .flat_map(|(case, requests)| [(case, requests), (case, requests * LONGER)])
        .collect();
    let results: Mutex<BTreeMap<(&str, u64), _>> = Mutex::default();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(&(case, requests)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let arguments = ["small".into(), case.name.into(), requests.to_string()];
                    let result = count_run(tool, case.name, &arguments);
                    results.lock().expect("no panic").insert((case.name, requests), result);
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no panic");
    let mut instructions_per_request = BTreeMap::new();
    for pair in jobs.chunks_exact(2) {
        let name = pair[0].0.name;
        let mut take =
            |job: usize| results.remove(&(name, pair[job].1)).expect("every job was done");
        let ((few, short), (many, long)) = (take(0)?, take(1)?);
        instructions_per_request
            .insert(name.to_owned(), ((long - short) as f64 / (many - few) as f64).round());
    }
    Ok(Counts { tool, instructions_per_request })
}

/// Requests and instructions of a run of this program, which prints its requests first.
pub(crate) fn count_run(
    tool: Tool,
    name: &str,
    arguments: &[String],
) -> Result<(u64, u64), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = tool.command();
    let output =
        command.arg(program).args(arguments).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    let answer = String::from_utf8_lossy(&output.stdout);
    let done = answer.split_whitespace().next().and_then(|word| word.parse().ok());
    match (done, tool.counted(&said)) {
        (Some(done), Some(instructions)) if output.status.success() => Ok((done, instructions)),
        _ => Err(format!("{name}: {} {said}", output.status)),
    }
}

/// Comparison of a count with the committed one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Same,
    Fewer,
    More,
    NotCommitted,
}

/// Compares a count with the committed one: a difference of up to 2 % counts as equal.
pub(crate) fn verdict(counted: f64, committed: Option<f64>) -> Verdict {
    match committed {
        None => Verdict::NotCommitted,
        Some(committed) if counted > committed * 1.02 => Verdict::More,
        Some(committed) if counted < committed * 0.98 => Verdict::Fewer,
        Some(_) => Verdict::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_in_what_the_tools_say() {
        let perf = "1234,,instructions:u,500,100.00,,\n";
        assert_eq!(Tool::Perf.counted(perf), Some(1_234));
        assert_eq!(Tool::Perf.counted("<not supported>,,instructions:u,0,100.00,,\n"), None);
        let callgrind = "==1== Events    : Ir\n==1== Collected : 34253693\n";
        assert_eq!(Tool::Callgrind.counted(callgrind), Some(34_253_693));
        assert_eq!(Tool::Callgrind.counted("==1== error"), None);
    }

    #[test]
    fn two_percent_more_is_too_many() {
        assert_eq!(verdict(1_019.0, Some(1_000.0)), Verdict::Same);
        assert_eq!(verdict(1_021.0, Some(1_000.0)), Verdict::More);
        assert_eq!(verdict(979.0, Some(1_000.0)), Verdict::Fewer);
        assert_eq!(verdict(1.0, None), Verdict::NotCommitted);
    }
}
