//! Command-line arguments.

mod advise;
mod compare;
mod examples;
mod fit;
mod format;
mod overwrite;
mod plan;
mod probe;
mod search;
mod states;
mod sweep;
mod times;
mod trace;
mod validate;

use std::borrow::Cow;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use flashlane::config::load::Overrides;
use flashlane::config::units::Span;
use flashlane::metrics::AloneBasis;
use flashlane::metrics::steady::{Round, SteadyRule, Tracked};
use flashlane::{Error, Warmup, visible};

use crate::commands::Command;
use crate::output;
use crate::watch::WatchArgs;
pub(crate) use advise::AdviseArgs;
pub(crate) use compare::{CompareArgs, CompareFormat};
pub(crate) use fit::FitArgs;
pub(crate) use format::{Format, TextOrJson};
pub(crate) use overwrite::OverwriteArgs;
pub(crate) use plan::PlanArgs;
pub(crate) use probe::ProbeArgs;
pub(crate) use search::SearchArgs;
pub(crate) use states::{StatesAction, StatesArgs, StatesPlace};
pub(crate) use sweep::{Engine, SweepArgs, SweepFormat};
pub(crate) use times::parse_window;
use times::{parse_round, parse_warmup};
pub(crate) use trace::{
    Beyond, CloneArgs, ConvertArgs, InspectArgs, ReadingArgs, SplitArgs, SplitRunArgs, TraceAction,
    TraceArgs,
};
pub(crate) use validate::ValidateArgs;

/// Simulates SSDs that several tenants share.
#[derive(Debug, Parser)]
#[command(name = "flashlane", version = env!("FLASHLANE_VERSION"), max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The command with all its arguments, from which completions and manual pages are made.
pub(crate) fn whole() -> clap::Command {
    examples::added(Cli::command())
}

/// Arguments of `conformance`.
#[derive(Debug, Args)]
pub(crate) struct ConformanceArgs {
    /// Names of policies; all policies if none is named.
    #[arg(value_name = "POLICY")]
    pub(crate) policies: Vec<String>,
    /// Only the policies of this configuration key, for example `scheduler`.
    #[arg(long, value_name = "KEY")]
    pub(crate) family: Option<String>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Preset name, TOML file, or MQSim ssdconfig.xml.
    #[arg(long, value_name = "PRESET|FILE")]
    pub(crate) device: String,
    /// TOML file, MQSim workload XML or fio job; with --split a trace.
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: PathBuf,
    #[command(flatten)]
    pub(crate) split: SplitRunArgs,
    /// Replay a recording of `flashlane serve --record`: the tenants send the commands of this
    /// file at its times, in place of the requests of the workload. On the drive and with the seed
    /// of the recording every command completes at the same picosecond.
    #[arg(long, value_name = "FILE.parquet", conflicts_with_all = ["split", "slos", "states",
        "alone", "leave_one_out", "warmup", "until_steady", "seeds", "dry_run", "waf_only", "windows",
        "energy", "timeline", "series_window", "report"])]
    pub(crate) arrivals: Option<PathBuf>,
    /// Scheduling policy, in place of the device's policy (see `flashlane policies`).
    #[arg(long, value_name = "NAME")]
    scheduler: Option<String>,
    /// Isolation policy, in place of the device's policy.
    #[arg(long, value_name = "NAME")]
    isolation: Option<String>,
    /// Set a key of the device or of the workload, for example `ftl.gc.threshold="16 blocks"` or
    /// `flow.tpcc.clone.time_scale=0.1`; repeatable.
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE")]
    sets: Vec<String>,
    /// Goals of a tenant, for example `reader:p99=1ms,slowdown=2` (as `slo` in a workload file);
    /// repeatable. The exit status is 4 if a goal is missed.
    #[arg(long = "slo", value_name = "FLOW:GOAL=VALUE")]
    slos: Vec<String>,
    /// Switch to the arithmetic of the released MQSim.
    #[arg(long, value_name = "MODE")]
    pub(crate) compat: Option<Compat>,
    /// Warm-up, whose requests are not counted: a time (`10ms`) or a number of requests (`1000`).
    #[arg(long, value_name = "TIME|COUNT", value_parser = parse_warmup)]
    pub(crate) warmup: Option<Warmup>,
    /// Run in rounds until the last five are steady by SNIA's rule, at most 25 rounds. Flows start
    /// over until then, and only the last five rounds count.
    #[arg(long, conflicts_with_all = ["alone", "leave_one_out", "seeds"])]
    pub(crate) until_steady: bool,
    /// Length of a round of --until-steady: a time (`100ms`) or a number of completed requests.
    #[arg(long, value_name = "TIME|COUNT", default_value = "1s", value_parser = parse_round)]
    pub(crate) round: Round,
    /// The quantity that has to be steady with --until-steady.
    #[arg(long, value_name = "VALUE", default_value = "iops")]
    pub(crate) track: Track,
    /// Repeat with this many seeds and report mean and 95 % interval of every metric.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) seeds: Option<u64>,
    /// Print the resolved configuration, capacity and peak bounds, without a simulation.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also run every flow alone, and report slowdowns and fairness.
    #[arg(long)]
    pub(crate) alone: bool,
    /// Also try what helps the tenants, as `flashlane advise` does with its defaults. The answer is
    /// in the report and in advice.json, advice.csv and advice.html.
    #[arg(long, requires = "out", conflicts_with_all = ["waf_only", "until_steady", "compat",
        "dry_run", "arrivals"])]
    pub(crate) advise: bool,
    /// The part of the drive that a flow has in its run alone.
    #[arg(long, value_name = "BASIS", default_value = "whole-drive", requires = "alone")]
    pub(crate) alone_basis: Basis,
    /// Result of an earlier `run --alone --out`: slowdowns are against the tenants alone there.
    /// Tenants have to have the same names. Saves the runs alone unless --alone is given, too.
    #[arg(long, value_name = "RESULT", conflicts_with = "waf_only")]
    pub(crate) baseline: Option<PathBuf>,
    /// Also run the others without each flow in turn, and report what flows really cost each other,
    /// beside what `--blame` says. One more run for each flow.
    #[arg(long)]
    pub(crate) leave_one_out: bool,
    /// Simulate placement, collection and wear without time, for write amplification only; some
    /// hundred times as fast. Flows take turns by arrival time or queue depth. How far collection
    /// falls behind is estimated from the load. Times and rates in the summary are 0. Options that
    /// need time are refused.
    #[arg(long, conflicts_with_all = ["alone", "leave_one_out", "windows", "until_steady",
        "energy"])]
    pub(crate) waf_only: bool,
    /// With --alone: also compute slowdowns and fairness in windows of this length, for example
    /// `100ms`.
    #[arg(long, value_name = "TIME", requires = "alone", conflicts_with = "seeds")]
    #[arg(value_parser = parse_window)]
    pub(crate) windows: Option<Span>,
    /// Folder in which states of preconditioned drives are kept for later runs, or `off`. Default:
    /// FLASHLANE_STATES if it is set, else `flashlane/states` in the user's cache folder. Never
    /// changes a result.
    #[arg(long, value_name = "DIR|off")]
    pub(crate) states: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Arguments that `run` and `demo` share.
#[derive(Debug, Args)]
pub(crate) struct CommonArgs {
    /// Seed of all random draws.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Audit the state of the model during the run (slow).
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) watch: WatchArgs,
    /// Folder for summary.json and other result files; made if it does not exist. Results of an
    /// earlier run in this folder are replaced.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: OverwriteArgs,
    /// Format of standard output.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// Show no progress bar and no warnings; with `--format json` also no table.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Threads for independent simulations; 0 for all cores. The number never changes a result.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub(crate) threads: u16,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Repeat with this many seeds and show means and 95 % intervals; writes no page.
    #[arg(long, value_name = "N", conflicts_with = "out",
        value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) seeds: Option<u64>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Arguments of `reproduce`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// The paper: fast18, flin or upi. `list` prints the papers and their experiments.
    #[arg(value_name = "PAPER")]
    pub(crate) paper: String,
    /// Some experiments of the paper; all if none is named. `list` prints them.
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiments: Vec<String>,
    /// Run at full size and length, and not at a size that takes minutes.
    #[arg(long)]
    pub(crate) full: bool,
    /// Compare a third of the workloads where an experiment compares many (FLIN's forty).
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// Simulations at a time; 0 for one on each core. The number never changes a result.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub(crate) jobs: u16,
    /// The first seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder with your own traces, named as in FLIN's Table 2 (`tpcc.trace.zst`, `prn_0.csv.gz`).
    /// A trace replaces the clone of this name.
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// Folder for results.json and the data of each figure; made if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: OverwriteArgs,
    /// Shortest runs that use every part, for tests; the results mean nothing.
    #[arg(long, hide = true, conflicts_with = "full")]
    pub(crate) smoke: bool,
    /// Show no progress bar.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Device and workload files. If there is one device, the workloads are checked against it.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,
}

/// Arguments of `preset`.
#[derive(Debug, Args)]
pub(crate) struct PresetArgs {
    #[command(subcommand)]
    pub(crate) action: PresetAction,
}

/// What to do with presets.
#[derive(Debug, Subcommand)]
pub(crate) enum PresetAction {
    /// Print the names, each with one line of description.
    List,
    /// Print the file of one preset.
    Show {
        /// Name of the preset.
        name: String,
    },
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The document whose schema is printed.
    pub(crate) of: SchemaOf,
}

/// Formats that have a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    /// Device files.
    Device,
    /// Workload files.
    Workload,
    /// summary.json.
    Summary,
    /// blame.json.
    Blame,
    /// Files of clone parameters.
    Clone,
}

/// A quantity that has to be steady.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Track {
    /// Requests per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean response time.
    Latency,
}

/// What a flow has when it runs alone.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Basis {
    /// The whole drive, so that slowdowns of different isolations compare.
    WholeDrive,
    /// What isolation and the flow's lists give to it beside the others.
    SameIsolation,
}

/// Compatibility modes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Compat {
    /// The released MQSim.
    Mqsim,
}

impl RunArgs {
    /// What flows have when they run alone.
    pub(crate) fn basis(&self) -> AloneBasis {
        match self.alone_basis {
            Basis::WholeDrive => AloneBasis::WholeDrive,
            Basis::SameIsolation => AloneBasis::SameIsolation,
        }
    }

    /// The rule of `--until-steady`.
    pub(crate) fn steady(&self) -> Option<SteadyRule> {
        let tracked = match self.track {
            Track::Iops => Tracked::Iops,
            Track::Bandwidth => Tracked::Bandwidth,
            Track::Latency => Tracked::Latency,
        };
        self.until_steady.then_some(SteadyRule { round: self.round, tracked })
    }

    /// The settings of the command line, which override the files.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            scheduler: self.scheduler.clone(),
            isolation: self.isolation.clone(),
            compat_mqsim: self.compat.is_some(),
            sets: self.sets.clone(),
            slos: self.slos.clone(),
            ..Overrides::default()
        }
    }
}

/// Parses the command line. After an error or `--help`, prints and returns the exit status.
pub(crate) fn parse() -> Result<Command, u8> {
    let parsed = whole().try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    let error = match parsed {
        Ok(cli) => return Ok(cli.command),
        Err(error) => error,
    };
    if error.use_stderr() {
        // Words of users may hold control characters. Only a text with control characters loses its
        // colours.
        match visible(&error.render().to_string()) {
            Cow::Borrowed(_) => drop(error.print()),
            Cow::Owned(text) => output::note(text.trim_end()),
        }
    } else if let Err(error) = print_help(&error.render()) {
        output::report(&error);
        return Err(error.exit_status());
    }
    Err(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Prints help or a version, in colours on a terminal.
fn print_help(text: &StyledStr) -> Result<(), Error> {
    let colours = std::io::stdout().is_terminal();
    output::print_as_is(&if colours { text.ansi().to_string() } else { text.to_string() })
}
