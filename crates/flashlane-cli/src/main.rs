//! The flashlane command.

use std::process::ExitCode;

/// With this allocator the command reports a lack of memory: see `flashlane_cli::main`.
#[global_allocator]
static ALLOCATOR: flashlane_engine::memory::WatchedAllocator =
    flashlane_engine::memory::WatchedAllocator;

fn main() -> ExitCode {
    flashlane_cli::main()
}
