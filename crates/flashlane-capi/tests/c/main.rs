//! The library as programs in C and C++ see it: the header, an installed prefix, the examples, and
//! what the drive does when a program in C submits the commands.

mod header;
mod prefix;
mod programs;
mod recordings;
mod systemc;

// The random runs.
#[allow(dead_code, reason = "the swarm uses all of it")]
#[path = "../../../flashlane/tests/swarm/generate/mod.rs"]
mod generate;
