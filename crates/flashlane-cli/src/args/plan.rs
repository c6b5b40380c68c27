//! Arguments of `plan`.

use std::path::PathBuf;

use clap::Args;
use flashlane::config::load::Overrides;
use flashlane::{RunOptions, Warmup};

use super::{TextOrJson, parse_warmup};

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Preset name, TOML file, or MQSim ssdconfig.xml.
    #[arg(long, value_name = "PRESET|FILE")]
    pub(crate) device: String,
    /// TOML file, MQSim workload XML of one scenario, or fio job file.
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: PathBuf,
    /// Goals of a tenant, for example `reader:p99=1ms,slowdown=2` (as `slo` in a workload file);
    /// repeatable.
    #[arg(long = "slo", value_name = "FLOW:GOAL=VALUE")]
    slos: Vec<String>,
    /// The flow whose copies are counted. Default: the only flow of the workload.
    #[arg(long, value_name = "FLOW")]
    pub(crate) count: Option<String>,
    /// The flow whose load is multiplied. The factor is found to 5 %.
    #[arg(long, value_name = "FLOW", conflicts_with_all = ["count", "max"])]
    pub(crate) load: Option<String>,
    /// Largest number of tenants to try.
    #[arg(long, value_name = "N", default_value_t = 1024,
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) max: u32,
    /// Answer the question for several values of a key, for example `scheduler=fcfs,flin` or
    /// `device=980-pro,fast18`. With several keys, every combination is tried, with a row for each.
    #[arg(long, value_name = "KEY=VALUE,VALUE…")]
    pub(crate) over: Vec<String>,
    /// Also answer for these numbers of drives, for example `1,2`. The first drive has the flows
    /// that do not grow.
    #[arg(long, value_name = "N,N…", value_delimiter = ',', default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) drives: Vec<u32>,
    /// Scheduling policy, instead of the device's.
    #[arg(long, value_name = "NAME")]
    scheduler: Option<String>,
    /// Isolation policy, instead of the device's.
    #[arg(long, value_name = "NAME")]
    isolation: Option<String>,
    /// Set a key of the device or of the workload; repeatable.
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE")]
    sets: Vec<String>,
    /// Load that is not counted: a time (`10ms`) or a number of requests (`1000`).
    #[arg(long, value_name = "TIME|COUNT", value_parser = parse_warmup)]
    warmup: Option<Warmup>,
    /// First seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Seeds of each level at most. Three are run, and the others where these do not decide.
    #[arg(long, value_name = "N", default_value_t = 8,
        value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Folder for plan.json; made if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
    /// Format of standard output: the table, or the answer as JSON.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: TextOrJson,
    /// Folder in which states of preconditioned drives are kept, or `off`, as in `run`.
    #[arg(long, value_name = "DIR|off")]
    pub(crate) states: Option<PathBuf>,
    /// Show no progress; with `--format json` also no table.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Number of threads; 0 for all cores. The number never changes a result.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    threads: u16,
}

impl PlanArgs {
    /// The settings of the command line, which override the files.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            scheduler: self.scheduler.clone(),
            isolation: self.isolation.clone(),
            sets: self.sets.clone(),
            slos: self.slos.clone(),
            ..Overrides::default()
        }
    }

    /// The options of each run.
    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            seed: self.seed,
            warmup: self.warmup.unwrap_or_default(),
            threads: usize::from(self.threads),
            ..RunOptions::default()
        }
    }
}
