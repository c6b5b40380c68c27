//! RISC-V programs that run in virtual time on a simulated drive.
//!
//! Every program has a core, a host and a tenant of the drive of its own. Instructions cost time;
//! system calls go through a small model of a host, whose requests the drive serves in simulated
//! time. docs/exec.md describes the model for users.
//!
//! The modules stand in the order in which a system call meets them: the machine stops
//! ([`machine`]), its thread may be parked ([`threads`]), the call is carried out ([`calls`]), the
//! host asks the drive ([`host`]), and the engine lets the time pass ([`engine`]).

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
pub use config::{CoreConfig, ExecConfig, HostConfig, Limits, ProgramConfig};
pub use engine::{ExecOptions, execute, in_parallel, run};
pub use results::{Fairness, Outstanding, PageCache, ProgramResult, RequestCounts, Results, Run};
