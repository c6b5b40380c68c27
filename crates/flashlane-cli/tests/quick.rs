//! Tests of the command that take seconds at most, as one program. `slow.rs` has the others.

mod advise;
mod bad_input;
mod commands;
mod common;
mod compare;
mod exec;
mod fio_cases;
mod fio_job;
mod fit;
mod inputs;
mod limits;
#[cfg(target_os = "linux")]
#[path = "../../flashlane-serve/tests/serve/nbd_client.rs"]
mod nbd_client;
mod observe;
mod own_files;
mod pipes_and_signals;
mod plan;
mod probe;
mod run;
mod serve;
mod slo;
mod states;
mod sweep;
mod sweep_engines;
mod trace;
mod trace_convert;
mod trace_inspect;
mod trace_split;
mod validate;
