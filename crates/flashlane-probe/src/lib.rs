//! Measures a drive from outside: the requests to send, how to send them, and the raw data.
//!
//! The order of a measurement: a probe of the [`battery`] makes [`series`] of requests. A series
//! runs on a [`target`], which is a simulated drive or a real one. The results are kept by
//! [`data`]. `flashlane-fit` finds out what they tell about the inside of the drive.

pub mod battery;
pub mod data;
pub mod series;
pub mod structure;
pub mod target;

pub use battery::{Battery, Progress};
pub use data::{Collected, Measured};
pub use series::{Request, Rule, Series, Timing};
pub use target::{Counters, Facts, Failure, Operation, Simulated, Target};
