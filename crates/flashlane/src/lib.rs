//! The simulated device, its policies and its measurements.

// Pipeline order, not alphabetical: the tree is the device.
pub mod config;
pub mod error;
pub mod layout;
pub mod workload;
pub mod interface;
pub mod ftl;
pub mod isolation;
pub mod scheduler;
pub mod metrics;
pub mod run;

pub use run::{RunOptions, Warmup, simulate};
pub use error::{Error, Problem};
