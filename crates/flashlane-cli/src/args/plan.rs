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
    /// What a tenant is promised, for example `reader:p99=1ms,slowdown=2` (as `slo` in a workload
    /// file); repeatable.
    #[arg(long = "slo", value_name = "FLOW:GOAL=VALUE")]
    slos: Vec<String>,
    /// How many tenants of this flow fit? The only flow of the workload without it.
    #[arg(long, value_name = "FLOW")]
    pub(crate) count: Option<String>,
    /// How much load of this flow fits, as a factor? To 5 %.
    #[arg(long, value_name = "FLOW", conflicts_with_all = ["count", "max"])]
    pub(crate) load: Option<String>,
    /// Tenants at most.
    #[arg(long, value_name = "N", default_value_t = 1024,
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) max: u32,
    /// Ask the same with other values of a key, for example `scheduler=fcfs,flin` or
    /// `device=980-pro,fast18`; several give every combination. A row for each.
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
    /// What goes to standard output: the table, or the answer as
    /// JSON.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: TextOrJson,
    /// Folder in which states of preconditioned drives are kept, or `off`, as in `run`.
    #[arg(long, value_name = "DIR|off")]
    pub(crate) states: Option<PathBuf>,
    /// No progress; with `--format json` no table either.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Threads; 0 for all cores. Never changes a result.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    threads: u16,
}

impl PlanArgs {
    /// What lies on top of the files.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            scheduler: self.scheduler.clone(),
            isolation: self.isolation.clone(),
            sets: self.sets.clone(),
            slos: self.slos.clone(),
            ..Overrides::default()
        }
    }

    /// How each level is run.
    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            seed: self.seed,
            warmup: self.warmup.unwrap_or_default(),
            threads: usize::from(self.threads),
            ..RunOptions::default()
        }
    }
}
