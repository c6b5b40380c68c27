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
    /// Result of `run --alone --out`: slowdowns of all runs are against its tenants alone, instead
    /// of those of the first run.
    #[arg(long, value_name = "RESULT")]
    pub(crate) baseline: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
    /// Format of standard output: the table as text, Markdown or LaTeX, or data as CSV, JSON or
    /// Parquet, with a row for each metric, run and tenant.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: CompareFormat,
}

/// What `compare` writes to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// The table for people.
    Text,
    /// Data: one JSON object per line.
    Json,
    /// Data as comma-separated values.
    Csv,
    /// Data as a Parquet file.
    Parquet,
    /// The table in Markdown.
    Markdown,
    /// The table as a LaTeX `tabular`.
    Latex,
}
