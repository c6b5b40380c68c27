//! The names that most programs need, for `use flashlane::prelude::*`.
//!
//! A program loads a device and a workload, runs them, and reads the summary:
//!
//! ```
//! use flashlane::prelude::*;
//!
//! let device = load::device("tiny", &Overrides::default())?.config;
//! let tenants = r#"
//!     [[flow]]
//!     name = "reader"
//!     synthetic = { queue_depth = 4, requests = 2000 }
//!     [[flow]]
//!     name = "writer"
//!     synthetic = { queue_depth = 4, requests = 2000, read_ratio = 0.0 }
//! "#;
//! let workload = load::workload_from_toml(tenants, "tenants", &Overrides::default())?.config;
//!
//! let options = RunOptions { alone: true, ..RunOptions::default() };
//! let summary = simulate(&device, &workload, &options, &|_| {})?;
//! for flow in &summary.flows {
//!     let slowdown = flow.slowdown.expect("the runs alone were asked for");
//!     assert!(slowdown > 0.5, "{} is {slowdown} times slower than alone", flow.name);
//! }
//! # Ok::<(), Error>(())
//! ```
//!
//! Or it steps a [`Drive`] itself, command by command; see the example there. A program with a
//! policy of its own implements a trait of [`policy`](crate::policy) and registers it.

pub use crate::config::load::{self, Overrides};
pub use crate::config::validate::validate;
pub use crate::config::{DeviceConfig, FlowConfig, WorkloadConfig};
pub use crate::drive::{Command, Completion, Drive, Operation, Refused};
pub use crate::metrics::Summary;
pub use crate::observe::{Blame, Observe, RequestRecord, TimeSeries};
pub use crate::{
    Details, Error, Problem, RunOptions, Simulation, Time, Warmup, simulate, simulate_all,
    simulate_in_detail,
};
