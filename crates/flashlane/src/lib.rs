//! A simulator of multi-queue SSDs shared by tenants: who slows whom down, and why.
//!
//! The modules are listed in the order in which a request meets them; see `ARCHITECTURE.md`.

// What users write, and what can be wrong with it.
pub mod config;
pub mod conformance;
pub mod content;
mod digest;
mod error;
mod reading;

// What every stage may import.
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

// What stands above the stages: the loop over them all, what drives it, what watches and measures
// it.
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
