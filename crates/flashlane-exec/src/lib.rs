//! RISC-V programs that run in virtual time on a simulated drive.
//!
//! Every program has its own core, its own host and its own tenant of the drive. Instructions cost
//! time; system calls go through a small model of a host, whose requests the drive serves in
//! simulated time. docs/exec.md describes the model for users.
//!
//! The modules are listed in the order in which a system call meets them. The machine stops
//! ([`machine`]), and its thread may be parked ([`threads`]). The call is carried out ([`calls`]),
//! and the host sends commands to the drive ([`host`]). The engine lets the time pass ([`engine`]).

mod clock;
mod config;
mod elf;
mod machine;
mod memory;
mod threads;

mod process;

mod calls;
mod guard;
mod host;

mod capture;
mod engine;
mod measure;
mod results;

pub mod programs;

pub use capture::{Captured, trace};
pub use config::{CoreConfig, ExecConfig, Hints, HostConfig, Limits, ProgramConfig};
pub use engine::{ExecOptions, execute, in_parallel, run};
pub use results::{Fairness, Outstanding, PageCache, ProgramResult, RequestCounts, Results, Run};
