//! Command-line arguments.

mod compare;
mod examples;
#[cfg(feature = "exec")]
mod exec;
mod fit;
mod format;
mod overwrite;
mod pages;
mod plan;
mod probe;
mod search;
mod states;
mod sweep;
mod times;
mod trace;

use std::borrow::Cow;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use flashlane::config::load::Overrides;
use flashlane::config::units::Span;
use flashlane::metrics::steady::{Round, SteadyRule, Tracked};
use flashlane::{Error, Warmup, visible};

use crate::output;
use crate::watch::WatchArgs;
pub(crate) use compare::{CompareArgs, CompareFormat};
#[cfg(feature = "exec")]
pub(crate) use exec::ExecArgs;
pub(crate) use fit::FitArgs;
pub(crate) use format::{Format, TextOrJson};
pub(crate) use overwrite::OverwriteArgs;
pub(crate) use pages::{CompletionsArgs, ManArgs};
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

/// Simulates SSDs that several tenants share.
#[derive(Debug, Parser)]
#[command(name = "flashlane", version = env!("FLASHLANE_VERSION"), max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The command with all its arguments, for what is made of it: completions and manual pages.
pub(crate) fn whole() -> clap::Command {
    examples::added(Cli::command())
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulate a device under a workload.
    Run(RunArgs),
    /// Two tenants on one drive, under three policies; no input files needed.
    Demo(DemoArgs),
    /// Run programs in virtual time on a simulated drive.
    #[cfg(feature = "exec")]
    Exec(ExecArgs),
    /// Run the experiments of a paper and print its numbers beside ours.
    Reproduce(ReproduceArgs),
    /// Measure a drive from outside, as a black box.
    Probe(ProbeArgs),
    /// Find the device that behaves as a probed drive or as published figures, with intervals.
    Fit(FitArgs),
    /// Run every point of a grid, resumable; a table of all.
    Sweep(SweepArgs),
    /// Search for the configurations that are best in one or several objectives, within
    /// constraints (takes the Python package with `flashlane[search]`)
    Search(SearchArgs),
    /// How many tenants, or how much load, fit on a drive within all promises (`slo`).
    Plan(PlanArgs),
    /// Results of several runs side by side.
    Compare(CompareArgs),
    /// States of drives that are kept for later runs: what is there, and away with it.
    States(StatesArgs),
    /// Completions for a shell, on standard output.
    Completions(CompletionsArgs),
    /// Manual pages, one for each command, into a folder.
    Man(ManArgs),
    /// Check device and workload files without running them.
    Check(CheckArgs),
    /// Devices that ship with the program.
    Preset(PresetArgs),
    /// Every policy and the key that takes it.
    Policies,
    /// Check that policies keep to the rules of their family.
    Conformance(ConformanceArgs),
    /// Traces: what they hold, other formats, statistical clones.
    Trace(TraceArgs),
    /// JSON schema of a file format.
    Schema(SchemaArgs),
}

/// Arguments of `conformance`.
#[derive(Debug, Args)]
pub(crate) struct ConformanceArgs {
    /// Policies by name; all that there are without.
    #[arg(value_name = "POLICY")]
    pub(crate) policies: Vec<String>,
    /// Policies of this configuration key only, for example `scheduler`.
    #[arg(long, value_name = "KEY")]
    pub(crate) family: Option<String>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Preset name, TOML file, or MQSim ssdconfig.xml.
    #[arg(long, value_name = "PRESET|FILE")]
    pub(crate) device: String,
    /// TOML file, MQSim workload XML or fio job; with --split: a trace.
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: PathBuf,
    #[command(flatten)]
    pub(crate) split: SplitRunArgs,
    /// Scheduling policy, instead of the device's (see `flashlane policies`).
    #[arg(long, value_name = "NAME")]
    scheduler: Option<String>,
    /// Isolation policy, instead of the device's.
    #[arg(long, value_name = "NAME")]
    isolation: Option<String>,
    /// Set a key of the device or of the workload, for example `ftl.gc.threshold="16 blocks"` or
    /// `flow.tpcc.clone.time_scale=0.1`; repeatable.
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE")]
    sets: Vec<String>,
    /// What a tenant is promised, for example `reader:p99=1ms,slowdown=2` (as `slo` in a workload
    /// file); repeatable. Exit status 4 where it is missed.
    #[arg(long = "slo", value_name = "FLOW:GOAL=VALUE")]
    slos: Vec<String>,
    /// Switch to the arithmetic of the released MQSim.
    #[arg(long, value_name = "MODE")]
    pub(crate) compat: Option<Compat>,
    /// Load that is not counted: a time (`10ms`) or a number of requests (`1000`).
    #[arg(long, value_name = "TIME|COUNT", value_parser = parse_warmup)]
    pub(crate) warmup: Option<Warmup>,
    /// Run in rounds until the last five are steady by SNIA's rule, 25 at most; flows start over
    /// until then, and the last five rounds are what counts.
    #[arg(long, conflicts_with_all = ["alone", "seeds"])]
    pub(crate) until_steady: bool,
    /// Length of a round of --until-steady: a time (`100ms`) or a number of completed requests.
    #[arg(long, value_name = "TIME|COUNT", default_value = "1s", value_parser = parse_round)]
    pub(crate) round: Round,
    /// Quantity that has to be steady with --until-steady.
    #[arg(long, value_name = "VALUE", default_value = "iops")]
    pub(crate) track: Track,
    /// Repeat with this many seeds and report mean and 95 % interval of every metric.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) seeds: Option<u64>,
    /// Print resolved configuration, capacity and peak bounds; do not simulate.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also run every flow alone, and report slowdowns and fairness.
    #[arg(long)]
    pub(crate) alone: bool,
    /// Placement, collection and wear without time: write amplification only, some hundred times as
    /// fast. Flows take turns by arrival time or queue depth; how far collection falls behind is
    /// estimated from the load; times and rates in the summary are 0. Refused with what needs time.
    #[arg(long, conflicts_with_all = ["alone", "windows", "until_steady", "energy"])]
    pub(crate) waf_only: bool,
    /// With --alone: slowdowns and fairness in windows of this length as well, for example `100ms`.
    #[arg(long, value_name = "TIME", requires = "alone", conflicts_with = "seeds")]
    #[arg(value_parser = parse_window)]
    pub(crate) windows: Option<Span>,
    /// Folder in which states of preconditioned drives are kept for later runs, or `off`. Without
    /// it: FLASHLANE_STATES if that is set, else `flashlane/states` among your caches. Never
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
    /// Folder for summary.json and other result files; made if it does not exist. What an earlier
    /// run wrote there is replaced.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: OverwriteArgs,
    /// What goes to standard output.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// No progress bar, no warnings; with `--format json` no table either.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Threads for independent simulations; 0 for all cores. Never changes a result.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub(crate) threads: u16,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Repeat with this many seeds and show means and 95 % intervals; without a page.
    #[arg(long, value_name = "N", conflicts_with = "out",
        value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) seeds: Option<u64>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Arguments of `reproduce`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// The paper: fast18, flin or upi; `list` names them and their experiments.
    #[arg(value_name = "PAPER")]
    pub(crate) paper: String,
    /// Some of its experiments; all without a name. `list` names them.
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiments: Vec<String>,
    /// At full size and length, instead of what fits into minutes.
    #[arg(long)]
    pub(crate) full: bool,
    /// Simulations at a time; 0 for one on each core. Never changes a result.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub(crate) jobs: u16,
    /// First seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder with traces of your own, named as in FLIN's Table 2 (`tpcc.trace.zst`,
    /// `prn_0.csv.gz`); they take the place of the clones of the same name.
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// Folder for results.json and the data behind each figure; made if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: OverwriteArgs,
    /// Shortest runs that exercise everything: for tests, results mean nothing.
    #[arg(long, hide = true, conflicts_with = "full")]
    pub(crate) smoke: bool,
    /// No progress bar.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Devices and workloads. With one device, the workloads are checked against it.
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
    /// Names and one line each.
    List,
    /// The file of one.
    Show {
        /// Name of the preset.
        name: String,
    },
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Document of the schema.
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

/// Quantity that has to be steady.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Track {
    /// Requests per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean response time.
    Latency,
}

/// Compatibility modes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Compat {
    /// The released MQSim.
    Mqsim,
}

impl RunArgs {
    /// What `--until-steady` asks for.
    pub(crate) fn steady(&self) -> Option<SteadyRule> {
        let tracked = match self.track {
            Track::Iops => Tracked::Iops,
            Track::Bandwidth => Tracked::Bandwidth,
            Track::Latency => Tracked::Latency,
        };
        self.until_steady.then_some(SteadyRule { round: self.round, tracked })
    }

    /// What the command line says on top of the files.
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

/// Parses the command line; on error or `--help` prints and gives the exit status.
pub(crate) fn parse() -> Result<Command, u8> {
    let parsed = whole().try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    let error = match parsed {
        Ok(cli) => return Ok(cli.command),
        Err(error) => error,
    };
    if error.use_stderr() {
        // Words of users may hold control characters. Only a text that has some loses its colours.
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
