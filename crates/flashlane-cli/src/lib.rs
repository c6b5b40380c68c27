//! The flashlane command, as a library: a program that brings policies of its own registers them
//! and calls [`main`], and is then the whole command with these policies in it.
//!
//! ```no_run
//! # mod mine {
//! #     use flashlane::policy::*;
//! #     #[derive(Default, serde::Serialize, serde::Deserialize)]
//! #     pub struct Fewest {}
//! #     impl PolicyDoc for Fewest {
//! #         const SUMMARY: &'static str = "the block with the fewest valid pages";
//! #         const SOURCE: &'static str = "an example";
//! #     }
//! #     impl VictimConfig for Fewest {
//! #         fn build(&self) -> Box<dyn VictimPolicy> { Box::new(Policy) }
//! #     }
//! #     #[derive(Clone)]
//! #     struct Policy;
//! #     impl VictimPolicy for Policy {
//! #         fn select(&mut self, plane: &PlaneView<'_>, _: &mut Rng) -> Option<u32> {
//! #             plane.emptiest()
//! #         }
//! #     }
//! # }
//! fn main() -> std::process::ExitCode {
//!     flashlane::policy::Victim::register::<mine::Fewest>("fewest").expect("a free name");
//!     flashlane_cli::main()
//! }
//! ```

mod args;
mod blame_table;
mod check;
mod compare;
mod conformance;
mod demo;
mod driven;
mod dry_run;
mod energy_table;
#[cfg(feature = "exec")]
mod exec;
mod execute;
mod fault;
mod fit;
mod flow_rows;
mod input_notes;
mod list;
mod measured_table;
mod operation_table;
mod output;
mod pages;
mod plan;
mod probe;
mod python;
mod replay;
mod report;
mod reproduce;
mod run;
mod search;
mod serve;
mod side_by_side;
mod signals;
mod slo_table;
mod states;
mod summary_table;
mod sweep;
mod table;
mod trace;
mod untimed_table;
mod validate;
mod watch;

use std::process::ExitCode;

use args::Command;
use flashlane::Error;

/// Runs the command with the arguments of the process. Returns the exit status.
///
/// A program whose `#[global_allocator]` is a
/// [`WatchedAllocator`](flashlane_engine::memory::WatchedAllocator) reports a lack of memory, and
/// ends with exit status 2; with another allocator it is aborted.
#[must_use]
pub fn main() -> ExitCode {
    fault::install_hook();
    fault::watch_memory();
    signals::clean_up_when_interrupted();
    flashlane_trace::keep_pipes();
    let command = match args::parse() {
        Ok(command) => command,
        Err(status) => return ExitCode::from(status),
    };
    match dispatch(&command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::report(&error);
            ExitCode::from(error.exit_status())
        }
    }
}

fn dispatch(command: &Command) -> Result<(), Error> {
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
