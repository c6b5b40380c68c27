//! Reads fio job files as workloads. An option has fio's effect, or has no effect, or is warned of,
//! or is refused: see [`options`]. An unknown option is refused.
//!
//! Every job section becomes a flow; with `numjobs` it becomes that many flows, or one for all
//! copies. `[global]` sections apply to the jobs below them. Jobs behind a `stonewall` are a
//! scenario of their own. `docs/fio.md` explains the options and the differences from fio. Source:
//! fio's HOWTO, and fio 3.33 where the HOWTO leaves something open (suffixes of sizes, sizes drawn
//! from a range).

mod addresses;
mod command;
mod files;
mod job;
mod keys;
mod order;
mod pace;
mod placement;
mod reader;
mod sections;
mod sizes;
mod values;
mod zones;

use std::collections::BTreeSet;
use std::path::Path;

use super::{OUTSTANDING_MAX, WindowRule, WorkloadConfig};
use flashlane_reading::Places;
use flashlane_reading::{Error, Problem};
use job::Jobs;
pub use keys::{Effect, options};

/// Most flows of a workload.
const FLOWS_MAX: usize = 1024;

/// A workload, the places where its keys were written, and warnings.
pub type Parsed = (WorkloadConfig, Places, Vec<String>);

/// True for a job file or a command line of fio, which are neither TOML nor XML.
#[must_use]
pub fn is_job(text: &str) -> bool {
    sections::is_job(text)
}

/// Reads the text of a job file: a workload for each group of jobs that run together. Paths of
/// traces are kept as they stand in the file.
///
/// # Errors
/// [`Error::Config`] with every problem of the file: line, key, what was found, what is allowed.
pub fn parse(path: &Path, text: &str) -> Result<Vec<Parsed>, Error> {
    let file = path.display().to_string();
    let mut notes = Notes { file: file.clone(), ..Notes::default() };
    let sections = sections::sections(path, text, &mut notes);
    let groups = order::groups(&sections, &mut notes);
    let count = groups.iter().max().map_or(1, |last| last + 1);
    let mut all: Vec<Jobs> = (0..count).map(|_| Jobs::new(&file)).collect();
    for (section, group) in sections.iter().zip(groups) {
        all[group].add(section, &mut notes);
        all[group].warnings.append(&mut notes.warnings);
    }
    if sections.is_empty() && notes.problems.is_empty() {
        notes.problems.push(Problem {
            place: file,
            message:
                "found no job, allowed: a section like [reader], with rw= and size= or runtime="
                    .to_owned(),
        });
    }
    if !notes.problems.is_empty() {
        return Err(Error::Config(notes.problems));
    }
    if count > 1 {
        all[0].warnings.push(format!(
            "{}: {count} groups of jobs, between which fio waits, are as many scenarios: each begins with the \
             drive as the device describes it",
            notes.file
        ));
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let named = |(index, jobs): (usize, Jobs)| {
        let name = if count > 1 { format!("{stem} {}", index + 1) } else { stem.clone() };
        let (window, warmup) = (WindowRule::default(), jobs.warmup());
        let config = WorkloadConfig {
            name,
            flows: jobs.flows,
            groups: Vec::new(),
            window,
            warmup,
            outstanding_max: OUTSTANDING_MAX,
        };
        (config, jobs.places, jobs.warnings)
    };
    Ok(all.into_iter().enumerate().map(named).collect())
}

/// Everything that is wrong with a file, and everything that is assumed.
#[derive(Debug, Default)]
struct Notes {
    file: String,
    problems: Vec<Problem>,
    /// Warnings of the job that is being read.
    warnings: Vec<String>,
    /// Every warning so far.
    said: BTreeSet<String>,
    /// Jobs so far, counted as in fio.
    jobs: u32,
    /// The drive of the first job that names one.
    drive: Option<String>,
}

impl Notes {
    fn refuse(&mut self, line: usize, key: &str, message: impl Into<String>) {
        let place = match key {
            "" => format!("{}:{line}", self.file),
            key => format!("{}:{line}: {key}", self.file),
        };
        self.problems.push(Problem { place, message: message.into() });
    }

    /// Warns once of each problem, however many jobs a global key reaches.
    fn warn(&mut self, line: usize, key: &str, message: &str) {
        let warning = match key {
            "" => format!("{}:{line}: {message}", self.file),
            key => format!("{}:{line}: {key}: {message}", self.file),
        };
        if self.said.insert(warning.clone()) {
            self.warnings.push(warning);
        }
    }
}

#[cfg(test)]
mod tests;
