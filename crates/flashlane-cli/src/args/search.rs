//! Arguments of `search`.

use std::path::PathBuf;

use clap::Args;

use super::sweep::parse_size;

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The study file: `device`, `workload`, `[space]` with the allowed values of each key,
    /// `objectives`, and optionally `constraints`.
    #[arg(value_name = "STUDY.toml")]
    pub(crate) study: PathBuf,
    /// Folder for trials.csv, front.csv, refused.csv, search.html, the study and the results of the
    /// points; made if it does not exist. A study in this folder is continued.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
    /// Number of configurations that run in full, including those of earlier calls. Default: the
    /// number in the study file, or 100.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) trials: Option<u32>,
    /// Runs at a time; 0 for one on each core. The number never changes a result.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub(crate) jobs: u16,
    /// Memory that all runs together may take, as in `sweep`.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// Folder in which states of preconditioned drives are kept, or `off`, as in `run`.
    #[arg(long, value_name = "DIR|off")]
    pub(crate) states: Option<PathBuf>,
    /// Show no progress bar, and print no answer.
    #[arg(long)]
    pub(crate) quiet: bool,
}
