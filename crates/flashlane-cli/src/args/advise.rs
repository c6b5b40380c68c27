//! Arguments of `advise`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use flashlane::config::load::Overrides;
use flashlane::config::units::Span;
use flashlane::{RunOptions, Warmup};

use super::{TextOrJson, parse_warmup};

/// Arguments of `advise`.
#[derive(Debug, Args)]
pub(crate) struct AdviseArgs {
    /// Preset name, TOML file, or MQSim ssdconfig.xml.
    #[arg(long, value_name = "PRESET|FILE")]
    pub(crate) device: String,
    /// TOML file, MQSim workload XML of one scenario, or fio job file.
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: PathBuf,
    /// The goal: `fairness` (the largest slowdown), `slo` (all goals of the
    /// workload are met), `speedup` (the weighted speedup), or a time of a tenant such as
    /// `p99:NAME`. Default: `slo` if a tenant has a goal, else `fairness`.
    #[arg(long, value_name = "GOAL")]
    pub(crate) goal: Option<String>,
    /// What a tenant keeps, for example `backup:iops=20000`, `backup:iops=90%` (of what it has now)
    /// or `backup:p99=150%`; repeatable. A tenant without one keeps half of its rate.
    #[arg(long = "keep", value_name = "NAME:FIGURE=BOUND")]
    pub(crate) keeps: Vec<String>,
    /// File with the candidates, in place of everything that the drive can do: `[[candidate]]` with
    /// `label` and `set = ["KEY = VALUE"]`. They are tried alone and in pairs.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) candidates: Option<PathBuf>,
    /// Seeds of a candidate for the choice. Two are run, the others where these do not decide, and
    /// up to four times as many where chance decides. The answer then runs with this number of
    /// fresh ones, and at least six.
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u64).range(2..=1000))]
    pub(crate) seeds: u64,
    /// First seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// No round of runs starts after this time, for example `2min`. The advice then depends on the
    /// speed of the machine, and says so. Default: no end.
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub(crate) budget: Option<Duration>,
    /// Folder for advice.json, advice.csv, advice.html and the results of the runs; made if it does
    /// not exist. Runs that have a result in this folder are not run again.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
    /// Goals of a tenant, for example `reader:p99=1ms,slowdown=2` (as `slo` in a workload file);
    /// repeatable.
    #[arg(long = "slo", value_name = "FLOW:GOAL=VALUE")]
    slos: Vec<String>,
    /// Scheduling policy of the drive as it is, instead of the device's.
    #[arg(long, value_name = "NAME")]
    scheduler: Option<String>,
    /// Isolation policy of the drive as it is, instead of the device's.
    #[arg(long, value_name = "NAME")]
    isolation: Option<String>,
    /// Set a key of the device or of the workload in all runs; repeatable.
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE")]
    sets: Vec<String>,
    /// Load that is not counted: a time (`10ms`) or a number of requests (`1000`).
    #[arg(long, value_name = "TIME|COUNT", value_parser = parse_warmup)]
    warmup: Option<Warmup>,
    /// Runs at a time; 0 for one on each core. The number never changes a result.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub(crate) jobs: u16,
    /// Memory that all runs together may take, for example `8GiB`. Default: four fifths of the free
    /// memory.
    #[arg(long, value_name = "SIZE", value_parser = super::sweep::parse_size)]
    pub(crate) memory: Option<u64>,
    /// Format of standard output: the answer in words, or all of it as JSON.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: TextOrJson,
    /// Folder in which states of preconditioned drives are kept, or `off`, as in `run`.
    #[arg(long, value_name = "DIR|off")]
    pub(crate) states: Option<PathBuf>,
    /// Show no progress bar; with `--format json` also no words.
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl AdviseArgs {
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
        RunOptions { warmup: self.warmup.unwrap_or_default(), ..RunOptions::default() }
    }
}

fn parse_budget(text: &str) -> Result<Duration, String> {
    let minutes = text.strip_suffix("min").map(|number| number.trim().parse::<f64>());
    let seconds = match minutes {
        Some(Ok(minutes)) if minutes.is_finite() && minutes >= 0.0 => 60.0 * minutes,
        _ => {
            text.parse::<Span>().map_err(|why| format!("{why}, or minutes such as 2min"))?.0 as f64
                / 1e12
        }
    };
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
