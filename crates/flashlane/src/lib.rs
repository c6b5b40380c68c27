//! A simulator of multi-queue SSDs shared by tenants: who slows whom down, and why.
//!
//! The modules are listed in the order in which a request meets them; see `ARCHITECTURE.md`.

// What users write, and what can be wrong with it.
mod compat;
pub mod config;
pub mod content;
mod error;
pub mod layout;

// The pipeline.
mod cache; // 4
mod flash; // 7
pub mod ftl; // 5
mod host; // 2
pub mod interface; // 3
pub mod isolation;
mod link;
pub mod metrics;
pub mod scheduler; // 6
pub mod workload; // 1 // 8

// What they share, and the loop over it all.
mod audit;
mod cause;
pub mod drive;
mod event;
pub mod observe;
mod options;
mod parallel;
pub mod precondition;
mod reading;
mod request;
pub mod run;
mod ssd;
mod tenants;
mod transaction;
mod visible;
mod waf_only;

pub use drive::Drive;
pub use error::{Error, Problem};
pub use flashlane_engine::Time;
pub use flashlane_units::policies;
pub use run::{
    Details, RunOptions, Simulation, Warmup, simulate, simulate_all, simulate_in_detail,
};
pub use visible::{visible, visible_json, visible_line};
