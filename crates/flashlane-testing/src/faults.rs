//! The list of planted faults: small mistakes that an assertion or an audit of the simulator has to
//! catch.
//!
//! The list is `faults.toml` beside this crate's manifest, the runs that have to catch them are
//! `fault_runs.toml`. The program `planted-faults` plants one after the other; see
//! `docs/testing.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A fault: a text of a source file, and its replacement.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Short and unique.
    pub name: String,
    /// Effect of the fault, as a sentence.
    pub about: String,
    /// The file, relative to `crates`.
    pub file: PathBuf,
    /// A text that occurs exactly once in the file.
    pub find: String,
    /// The replacement.
    pub replace: String,
    /// Names of the runs that must each catch the fault.
    pub caught_by: Vec<String>,
    /// A part of the message that the simulator ends with.
    pub message: String,
}

/// A run of the command-line tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Short and unique.
    pub name: String,
    /// Description of the run, in a few words.
    pub about: String,
    /// The device file. Absent with `like`.
    #[serde(default)]
    pub device: String,
    /// The workload file. Absent with `like`.
    #[serde(default)]
    pub workload: String,
    /// Name of a run whose device and workload this run shares.
    pub like: Option<String>,
    /// Further arguments of `flashlane run`.
    pub arguments: Vec<String>,
}

/// All faults and all runs.
#[derive(Clone, Debug)]
pub struct Faults {
    /// In the order of the list.
    pub faults: Vec<Fault>,
    /// In the order of their file.
    pub runs: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultFile {
    fault: Vec<Fault>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunFile {
    run: Vec<Run>,
}

/// The root of the repository that this crate was compiled in.
#[must_use]
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate lies in REPOSITORY/crates").to_path_buf()
}

impl Faults {
    /// Reads the two files of the repository.
    ///
    /// # Errors
    /// If a file cannot be read, or is invalid.
    pub fn read() -> Result<Self, String> {
        let folder = repository().join("crates/flashlane-testing");
        let FaultFile { fault } = read(&folder.join("faults.toml"))?;
        let RunFile { mut run } = read(&folder.join("fault_runs.toml"))?;
        for at in 0..run.len() {
            let Some(like) = run[at].like.clone() else { continue };
            let other = run.iter().find(|run| run.name == like);
            let other = other.ok_or(format!("run {}: there is no run {like}", run[at].name))?;
            let (device, workload) = (other.device.clone(), other.workload.clone());
            (run[at].device, run[at].workload) = (device, workload);
        }
        Ok(Self { faults: fault, runs: run })
    }

    /// Problems of the list, one a line: names that occur twice, runs that do not exist, texts that
    /// do not occur exactly once.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut names = BTreeSet::new();
        for fault in &self.faults {
            if !names.insert(&fault.name) {
                problems.push(format!("{}: the name occurs twice", fault.name));
            }
            let known = |name: &String| self.runs.iter().any(|run| run.name == *name);
            if fault.caught_by.is_empty() || !fault.caught_by.iter().all(known) {
                problems.push(format!("{}: name runs that exist", fault.name));
            }
            if fault.message.is_empty() {
                problems.push(format!("{}: name the message", fault.name));
            }
            if let Err(problem) = fault.planted(&repository()) {
                problems.push(format!("{}: {problem}", fault.name));
            }
        }
        problems
    }
}

impl Fault {
    /// The source file under `root` with the fault in it.
    ///
    /// # Errors
    /// The file cannot be read, or its text does not occur exactly once.
    pub fn planted(&self, root: &Path) -> Result<String, String> {
        let path = self.path(root);
        let source = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        if self.find == self.replace {
            return Err("the fault changes nothing".to_owned());
        }
        match source.matches(&self.find).count() {
            1 => Ok(source.replacen(&self.find, &self.replace, 1)),
            count => Err(format!(
                "{} has {count} times the text {:?}, which should occur once",
                self.file.display(),
                self.find
            )),
        }
    }

    /// The source file under `root`.
    #[must_use]
    pub fn path(&self, root: &Path) -> PathBuf {
        root.join("crates").join(&self.file)
    }
}

fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_can_be_planted() {
        let list = Faults::read().expect("both files are valid");
        let none: [String; 0] = [];
        assert_eq!(list.problems(), none, "texts moved or changed: adapt faults.toml");
        assert!(list.faults.len() >= 40, "{} faults", list.faults.len());
    }

    #[test]
    fn a_text_that_does_not_occur_once_is_refused() {
        let mut list = Faults::read().expect("both files are valid");
        list.faults.truncate(1);
        list.faults.push(list.faults[0].clone());
        list.faults[0].find = "nobody writes this".to_owned();
        list.faults[1].find = "self".to_owned();
        list.faults[1].caught_by = vec!["no such run".to_owned()];
        let problems = list.problems();
        let starts = ["has 0 times", "occurs twice", "runs that exist", "times the text \"self\""];
        assert_eq!(problems.len(), starts.len(), "{problems:?}");
        for (problem, start) in problems.iter().zip(starts) {
            assert!(problem.contains(start), "{problem}");
        }
    }
}
