//! The flashlane command.
fn main() {}
