//! The commands of the whole program, one file or folder each, and what only they need.
//! `demo_only.rs` takes the place of this module in a program with the demonstration alone.

mod advise;
mod against;
mod check;
mod compare;
mod compared;
mod conformance;
mod driven;
mod dry_run;
#[cfg(feature = "exec")]
mod exec;
mod fit;
mod list;
mod pages;
mod plan;
mod probe;
mod python;
mod removal_table;
mod replay;
mod reproduce;
mod rows;
mod run;
mod search;
mod serve;
mod sweep;
mod trace;
mod validate;

use clap::Subcommand;
use flashlane::Error;

use crate::args::{
    AdviseArgs, CheckArgs, CompareArgs, ConformanceArgs, DemoArgs, FitArgs, PlanArgs, PresetArgs,
    ProbeArgs, ReproduceArgs, RunArgs, SchemaArgs, SearchArgs, StatesArgs, SweepArgs, TraceArgs,
    ValidateArgs,
};
use crate::{demo, states};
pub(crate) use flashlane_study::sweep::fault::note as note_fault;
use pages::{CompletionsArgs, ManArgs};
pub(crate) use rows::csv;

/// The command to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulate a device under a workload.
    Run(RunArgs),
    /// Two tenants on one drive, under three policies; needs no input files.
    Demo(DemoArgs),
    /// Run programs in virtual time on a simulated drive.
    #[cfg(feature = "exec")]
    Exec(exec::args::ExecArgs),
    /// Serve a simulated drive to real clients, over NVMe/TCP and NBD.
    Serve(Box<serve::args::ServeArgs>),
    /// Run the experiments of a paper and print its numbers beside ours.
    Reproduce(ReproduceArgs),
    /// Measure a drive from outside, as a black box.
    Probe(ProbeArgs),
    /// Find the device that behaves like a probed drive or like published figures, with intervals.
    Fit(FitArgs),
    /// Compare the presets of measured drives with the measurements, figure by figure.
    Validate(ValidateArgs),
    /// Run every point of a grid, with one table of all results; can be resumed.
    Sweep(SweepArgs),
    /// Search for the configurations that are best in one or several objectives, within constraints
    /// (needs the Python package with `flashlane[search]`).
    Search(SearchArgs),
    /// Find how many tenants, or how much load, fit on a drive while all goals (`slo`) are met.
    Plan(PlanArgs),
    /// Find what helps the tenants of a drive, by trying what the drive can do; can be resumed.
    Advise(Box<AdviseArgs>),
    /// Show results of several runs side by side.
    Compare(CompareArgs),
    /// List or remove the states of drives that are kept for later runs.
    States(StatesArgs),
    /// Print completions for a shell on standard output.
    Completions(CompletionsArgs),
    /// Write manual pages, one for each command, into a folder.
    Man(ManArgs),
    /// Check device and workload files without running them.
    Check(CheckArgs),
    /// Show the devices that ship with the program.
    Preset(PresetArgs),
    /// List every policy and the key that selects it.
    Policies,
    /// Check that policies keep the rules of their family.
    Conformance(ConformanceArgs),
    /// Inspect, convert, split and clone traces.
    Trace(TraceArgs),
    /// Print the JSON schema of a file format.
    Schema(SchemaArgs),
}

/// Runs a command.
pub(crate) fn dispatch(command: &Command) -> Result<(), Error> {
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Demo(arguments) => demo::demo(arguments),
        #[cfg(feature = "exec")]
        Command::Exec(arguments) => exec::exec(arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(arguments),
        Command::Serve(arguments) => serve::serve(arguments),
        Command::Probe(arguments) => probe::probe(arguments),
        Command::Fit(arguments) => fit::fit(arguments),
        Command::Validate(arguments) => validate::validate(arguments),
        Command::Sweep(arguments) => sweep::sweep(arguments),
        Command::Search(arguments) => search::search(arguments),
        Command::Plan(arguments) => plan::plan(arguments),
        Command::Advise(arguments) => advise::advise(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::States(arguments) => states::manage(arguments),
        Command::Completions(arguments) => pages::completions(arguments),
        Command::Man(arguments) => pages::man(arguments),
        Command::Check(arguments) => check::check(&arguments.files),
        Command::Preset(arguments) => list::preset(arguments),
        Command::Policies => list::policies(),
        Command::Conformance(arguments) => conformance::conformance(arguments),
        Command::Trace(arguments) => trace::trace(arguments),
        Command::Schema(arguments) => list::schema(arguments.of),
    }
}
