//! Arguments of `sweep`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use flashlane::config::units::ByteSize;

/// Arguments of `sweep`.
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// The grid file: `device`, `workload`, and `[axes]` with a list of values for each key,
    /// policy, `device`, `workload` or `seed`.
    #[arg(value_name = "GRID.toml")]
    pub(crate) grid: PathBuf,
    /// Folder for results.parquet, results.csv and the results of the points; made if it does not
    /// exist. Points that have a result in this folder are not run again.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
    /// Runs at a time; 0 for one on each core. The number never changes a result.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub(crate) jobs: u16,
    /// Memory that all runs together may take, for example `8GiB`. Default: four fifths of the free
    /// memory. A run waits until there is room for it. A run that needs more than all of this
    /// memory becomes a row with an error.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// Where the points run: on threads of this machine, as a job array of Slurm whose parts share
    /// the folder, or on a cluster of Dask (which needs the Python package).
    #[arg(long, value_name = "ENGINE", default_value = "threads")]
    pub(crate) engine: Engine,
    /// With --engine slurm: number of tasks of the job array.
    #[arg(long, value_name = "N", default_value_t = 16,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) parts: u32,
    /// With --engine slurm: further arguments for sbatch, for example `--cpus-per-task=8
    /// --time=60`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) sbatch: Option<String>,
    /// With --engine dask: the address of a scheduler, `slurm` for workers that are jobs of Slurm
    /// (as `dask-jobqueue` is configured), or `local`.
    #[arg(long, value_name = "ADDRESS|slurm|local", default_value = "local")]
    pub(crate) cluster: String,
    /// With --engine dask and `slurm` or `local`: number of workers; 0 for one on each core.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=10_000))]
    pub(crate) workers: u16,
    /// Run only one of N parts of the points, for example `3/8` on one of eight machines with a
    /// shared folder. The sweep that finds all points done writes the table, or a call with
    /// --merge.
    #[arg(long, value_name = "I/N", value_parser = parse_shard, conflicts_with = "merge")]
    pub(crate) shard: Option<(u32, u32)>,
    /// Run nothing. Write the table from the results in the folder, which must be complete.
    #[arg(long)]
    pub(crate) merge: bool,
    /// Result of `run --alone --out`: slowdowns of all points are against its tenants alone,
    /// instead of those of the first point.
    #[arg(long, value_name = "RESULT")]
    pub(crate) baseline: Option<PathBuf>,
    /// Print the number of points and the first of them, and run nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Format of standard output: nothing, one JSON object for each point, or the table as CSV.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: SweepFormat,
    /// Folder in which states of preconditioned drives are kept, or `off`, as in `run`.
    #[arg(long, value_name = "DIR|off")]
    pub(crate) states: Option<PathBuf>,
    /// Show no progress bar and no summary.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Where the points of a sweep run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// Threads of this process.
    Threads,
    /// A job array of Slurm.
    Slurm,
    /// A cluster of Dask.
    Dask,
}

/// Format of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SweepFormat {
    /// Nothing; a summary goes to standard error.
    Text,
    /// One object for each point.
    Json,
    /// The table.
    Csv,
}

pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    match text.parse::<ByteSize>() {
        Ok(size) if size.0 > 0 => Ok(size.0),
        Ok(_) => Err("allowed: above 0".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn parse_shard(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match parts {
        Some((part, parts)) if part >= 1 && part <= parts => Ok((part, parts)),
        _ => Err("allowed: I/N with I from 1 to N, for example 3/8".to_owned()),
    }
}
