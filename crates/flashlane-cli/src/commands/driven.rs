//! The results of a drive that others than `run` have driven: clients, programs, a recording.

use std::path::PathBuf;

use flashlane::Error;
use flashlane::metrics::Summary;
use flashlane::observe::Blame;

use crate::execute::{pretty, to_json};
use crate::output::{Content, show};
use crate::{blame_table, summary_table};

/// What a drive leaves behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Driven<'a> {
    pub(crate) summary: &'a Summary,
    pub(crate) blame: Option<&'a Blame>,
}

impl Driven<'_> {
    /// `summary.json`, and `blame.json` if it was asked for.
    pub(crate) fn files(&self) -> Result<Vec<(PathBuf, Content)>, Error> {
        let mut files: Vec<(PathBuf, Content)> =
            vec![("summary.json".into(), pretty(&to_json(self.summary)?).into())];
        if let Some(blame) = self.blame {
            files.push(("blame.json".into(), pretty(&to_json(blame)?).into()));
        }
        Ok(files)
    }

    /// Prints the tables. `data_on_stdout`: standard output is for data.
    pub(crate) fn show(&self, data_on_stdout: bool) -> Result<(), Error> {
        show(summary_table::report(self.summary, None).trim_end(), data_on_stdout)?;
        match self.blame {
            Some(blame) => show(blame_table::blame(blame).trim_end(), data_on_stdout),
            None => Ok(()),
        }
    }
}
