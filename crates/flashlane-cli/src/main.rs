//! The flashlane command.

use std::process::ExitCode;

fn main() -> ExitCode {
    flashlane_cli::main()
}
