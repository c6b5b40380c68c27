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

// Tables and files of the other commands.
#![cfg_attr(not(feature = "commands"), allow(dead_code, unused_imports))]

mod args;
mod blame_table;
#[cfg(feature = "commands")]
mod commands;
#[cfg(not(feature = "commands"))]
#[path = "demo_only.rs"]
mod commands;
mod demo;
mod energy_table;
mod execute;
mod fault;
mod flow_rows;
mod input_notes;
mod measured_table;
mod operation_table;
mod output;
mod placement_table;
mod report;
mod side_by_side;
mod signals;
mod slo_table;
mod states;
mod summary_table;
mod table;
mod untimed_table;
mod watch;

use std::process::ExitCode;

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
    match commands::dispatch(&command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::report(&error);
            ExitCode::from(error.exit_status())
        }
    }
}
