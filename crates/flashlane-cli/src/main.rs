//! The flashlane command.

use std::process::ExitCode;

/// Where memory runs out, the command says so: see `flashlane_cli::main`.
#[global_allocator]
static ALLOCATOR: flashlane_engine::memory::WatchedAllocator =
    flashlane_engine::memory::WatchedAllocator;

fn main() -> ExitCode {
    flashlane_cli::main()
}
