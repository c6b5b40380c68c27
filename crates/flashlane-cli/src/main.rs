//! The flashlane command.

mod args;
mod blame_table;
mod check;
mod compare;
mod demo;
mod dry_run;
mod execute;
mod fault;
mod list;
mod output;
mod report;
mod reproduce;
mod run;
mod side_by_side;
mod signals;
mod summary_table;
mod table;
mod trace;
mod watch;

use std::process::ExitCode;

use args::Command;
use flashlane::Error;

fn main() -> ExitCode {
    fault::install_hook();
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
        Command::Reproduce(arguments) => reproduce::reproduce(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Check(arguments) => check::check(&arguments.files),
        Command::Preset(arguments) => list::preset(arguments),
        Command::Policies => list::policies(),
        Command::Trace(arguments) => trace::trace(arguments),
        Command::Schema(arguments) => list::schema(arguments.of),
    }
}
