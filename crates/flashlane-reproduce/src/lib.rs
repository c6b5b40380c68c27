//! The experiments of the papers that Flashlane implements.
//!
//! An [`Experiment`] is a figure. It says which devices and workloads to run, and turns the results
//! into [`Row`]s and [`Table`]s. A row is a number or a statement of the paper beside ours, with a
//! [`Verdict`]. A table is the data behind the figure. Experiments use the simulator and
//! configurations like everything else, and contain no results.

pub mod fast18;
pub mod flin;
mod lab;
mod row;
mod table;
mod trace_folder;
pub mod upi;
pub mod warp;

pub use lab::{Job, Lab, Run};
pub use row::{Bound, Reference, Row, Verdict};
pub use table::{Cell, Table};
pub use trace_folder::{Origin, TraceFolder};

use flashlane::Error;
use flashlane::config::load::allowed;

/// One figure of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Name on the command line.
    pub name: &'static str,
    /// Where it stands in the paper.
    pub figure: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(&Lab<'_>) -> Result<Findings, Error>,
}

impl Experiment {
    /// What the experiment needs and does not find on this machine, for people.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        fast18::missing(self)
    }
}

/// A paper and its experiments.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Name on the command line.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// In the order of the paper.
    pub experiments: &'static [Experiment],
}

/// Every paper that can be reproduced.
pub const PAPERS: &[Paper] = &[fast18::PAPER, flin::PAPER, upi::PAPER, warp::PAPER];

/// A paper by its name, and those of its experiments that are named; all without a name.
///
/// # Errors
/// A name that there is not, with those that there are.
pub fn chosen(
    paper: &str,
    experiments: &[String],
) -> Result<(&'static Paper, Vec<&'static Experiment>), Error> {
    let found = |name: &str, names: &[&str]| format!("found `{name}`; {}", allowed(name, names));
    let names: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
    let paper = PAPERS
        .iter()
        .find(|one| one.name == paper)
        .ok_or_else(|| Error::config("reproduce", found(paper, &names)))?;
    if experiments.is_empty() {
        return Ok((paper, paper.experiments.iter().collect()));
    }
    let names: Vec<&str> = paper.experiments.iter().map(|e| e.name).collect();
    let find = |name: &String| {
        let one = paper.experiments.iter().find(|e| e.name == *name);
        one.ok_or_else(|| Error::config(format!("reproduce {}", paper.name), found(name, &names)))
    };
    Ok((paper, experiments.iter().map(find).collect::<Result<_, _>>()?))
}

/// What came out of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The paper beside ours, and checks of our own.
    pub rows: Vec<Row>,
    /// The data behind the figure.
    pub tables: Vec<Table>,
}
