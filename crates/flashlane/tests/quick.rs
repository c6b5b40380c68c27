//! Tests of the model that take seconds at most, as one program. `slow.rs` has the others.

mod admission;
mod alignment;
mod alone_basis;
mod cache_program;
mod capacity;
mod command_bus;
mod common;
mod conformance;
mod dead_ends;
mod docs;
mod drive;
mod end_of_time;
mod energy;
mod errors;
mod fio_options;
mod flin;
mod golden;
mod hybrid;
mod isolation_change;
mod isolation_relocation;
mod large_units;
mod late_start;
mod leave_one_out;
mod limits;
mod mechanisms;
mod mechanisms_cache;
mod mechanisms_collection;
mod mechanisms_composition;
mod mechanisms_host;
mod mechanisms_isolation;
mod mechanisms_media;
mod mechanisms_scheduler;
mod mqsim_fuzz;
mod mqsim_inputs;
mod mqsim_results;
mod mqsim_source;
mod mqsim_xml;
mod observe;
mod pacing;
mod page_types;
mod pauses;
mod plane_reads;
mod rates;
mod read_buffer;
mod separation;
mod slc_cache;
mod starved;
mod steady;
mod stride;
mod superblocks;
mod suspension;
mod theory;
mod two_pass;
mod unit_superblocks;
mod units;
mod warps;
mod windows;
mod word_lines;
mod workload_clone_day;
mod workload_synthetic;
mod workload_trace;

// The random runs.
#[allow(dead_code, reason = "the swarm uses all of it")]
#[path = "swarm/generate/mod.rs"]
mod generate;
