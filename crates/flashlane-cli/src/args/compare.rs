//! Arguments of `compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Result folders of `run --out`, or files in such folders: a report.html or a summary.json.
    #[arg(value_name = "RESULT", num_args = 2.., required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// Page to write with all runs side by side, whole or not at all. Distributions, time series
    /// and blame come from the report.html of each run, means and intervals from its seeds.json.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
    /// Format of standard output: the table, one JSON object per line, or the table as CSV,
    /// Markdown or LaTeX.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: CompareFormat,
}

/// What `compare` writes to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// The table for people.
    Text,
    /// One summary per line.
    Json,
    /// The table as comma-separated values.
    Csv,
    /// The table in Markdown.
    Markdown,
    /// The table as a LaTeX `tabular`.
    Latex,
}
