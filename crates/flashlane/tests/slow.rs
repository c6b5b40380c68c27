//! Tests of the model that take longer than those of `quick.rs`, as one program.

mod blame_truth;
mod clone_fit;
mod common;
mod determinism;
mod drives;
mod fio_sequence;
mod many_flows;
mod oracle;
mod overload;
mod permutation_passes;
mod placement_theory;
mod progress;
mod reference;
mod swarm;
mod theory_collection;
mod theory_units;
mod waf_only;
mod workload_clone;
mod zn540;

// The random runs.
#[path = "swarm/generate/mod.rs"]
mod generate;
