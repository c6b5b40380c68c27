//! Arguments of `exec`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{OverwriteArgs, TextOrJson};

/// Arguments of `exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    /// TOML file with the device, cores, hosts and programs.
    #[arg(value_name = "CONFIG.toml", required_unless_present = "programs")]
    pub(crate) config: Option<PathBuf>,
    /// Preset name or TOML file of a device, used without a configuration file.
    #[arg(long, value_name = "PRESET|FILE", requires = "programs", conflicts_with = "config")]
    pub(crate) device: Option<String>,
    /// A program, used without a configuration file: its name, its executable, its arguments;
    /// repeatable.
    #[arg(long = "program", value_name = "NAME=ELF[,ARG...]", requires = "device")]
    #[arg(conflicts_with = "config")]
    pub(crate) programs: Vec<String>,
    /// Set a key of the device; repeatable.
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Seed of all random draws, in place of the seed in the configuration.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Also run every program alone, and report slowdowns and fairness.
    #[arg(long)]
    pub(crate) alone: bool,
    /// Show which tenant delays which: a table, and blame.json with --out.
    #[arg(long)]
    pub(crate) blame: bool,
    /// Audit the state of the drive during the run (slow).
    #[arg(long)]
    pub(crate) check: bool,
    /// Write the requests of the programs as a trace that `flashlane run` replays.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) capture: Option<PathBuf>,
    /// Folder for exec.json, summary.json and the files that programs keep; made if it does not
    /// exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: OverwriteArgs,
    /// Format of standard output: a table, or exec.json on one line.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: TextOrJson,
    /// Do not print the output of the programs.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Threads for independent runs; 0 for all cores. The number never changes a result.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub(crate) threads: u16,
}
