//! A simulator of multi-queue SSDs shared by tenants. It tells which tenant slows which one down,
//! and why.
//!
//! The modules are listed in the order in which a request meets them; see `ARCHITECTURE.md`.

// The keys that users write, and the checks of them.
pub mod config;
pub mod conformance;
pub mod content;
mod digest;
mod error;
mod reading;

// Words that every stage may import.
mod cause;
mod collection_order;
mod compat;
mod context;
mod event;
pub mod layout;
mod request;
mod rule;
mod transaction;

// The pipeline.
mod cache; // 4
mod flash; // 7
pub mod ftl; // 5
mod host; // 2
pub mod interface; // 3
pub mod isolation;
mod link; // Between host and interface.
pub mod scheduler; // 6
pub mod workload; // 1

// Modules above the stages: the loop over all of them, and the modules that drive, observe and
// measure it.
mod audit;
mod device;
pub mod drive;
pub mod metrics; // 8
pub mod need;
pub mod observe;
mod options;
mod parallel;
pub mod policy;
pub mod precondition;
pub mod run;

mod stopwatch;
mod tenants;
mod visible;
mod waf_only;

pub use drive::Drive;
pub use error::{Error, Problem};
pub use flashlane_engine::Time;
pub use precondition::{KeptStates, StateStore};
pub use run::{
    Details, RunOptions, Simulation, StateProgress, StateStep, Warmup, runs_alone, simulate,
    simulate_all, simulate_in_detail,
};
pub use visible::{shortened, visible, visible_json, visible_line};
