//! Reads fio job files as workloads: a subset, in which every key that is not understood is
//! refused.
//!
//! Every job section becomes a flow, `numjobs` of them as many flows; `[global]` sections hold for
//! the jobs below them. What the keys mean here, and what differs from fio, is in `docs/traces.md`.
//! Source: fio's HOWTO, and fio 3.33 for what the HOWTO leaves open (suffixes of sizes, sizes drawn
//! from a range).

mod job;
mod reader;
mod requests;
mod sections;
mod values;

use std::path::Path;

use super::{FlowConfig, WindowRule, WorkloadConfig};
use crate::error::{Error, Problem};
use crate::reading::Places;
use job::Jobs;

/// Most flows of a workload.
const FLOWS_MAX: usize = 64;

/// A workload, where its keys were written, and what to warn of.
pub type Parsed = (WorkloadConfig, Places, Vec<String>);

/// Reads the text of a job file. Paths of traces are kept as they stand in the file.
///
/// # Errors
/// [`Error::Config`] with every problem of the file: line, key, what was found, what is allowed.
pub fn parse(path: &Path, text: &str) -> Result<Parsed, Error> {
    let file = path.display().to_string();
    let mut notes = Notes { file: file.clone(), ..Notes::default() };
    let sections = sections::sections(text, &mut notes);
    let mut jobs = Jobs { places: Places::new(&file), flows: Vec::new() };
    for section in &sections {
        jobs.add(section, &mut notes);
    }
    if jobs.flows.is_empty() && notes.problems.is_empty() {
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
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let flows: Vec<FlowConfig> = jobs.flows;
    Ok((WorkloadConfig { name, flows, window: WindowRule::default() }, jobs.places, notes.warnings))
}

/// Everything that is wrong with a file, and what is assumed.
#[derive(Debug, Default)]
struct Notes {
    file: String,
    problems: Vec<Problem>,
    warnings: Vec<String>,
}

impl Notes {
    fn refuse(&mut self, line: usize, key: &str, message: impl Into<String>) {
        let place = match key {
            "" => format!("{}:{line}", self.file),
            key => format!("{}:{line}: {key}", self.file),
        };
        self.problems.push(Problem { place, message: message.into() });
    }

    fn warn(&mut self, line: usize, key: &str, message: &str) {
        self.warnings.push(format!("{}:{line}: {key}: {message}", self.file));
    }
}

#[cfg(test)]
mod tests;
