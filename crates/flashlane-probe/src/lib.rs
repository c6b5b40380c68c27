//! Measures a drive from outside: which requests to send, how to send them, and the raw data.
//!
//! In the order of a measurement: a probe of the [`battery`] makes [`series`] of requests; a series
//! runs on a [`target`], a simulated drive or a real one; what it measured is kept by [`data`].
//! What the data say about the inside of the drive is for `flashlane-fit` to find out.

pub mod battery;
pub mod data;
pub mod series;
pub mod structure;
pub mod target;

pub use battery::{Battery, Progress};
pub use data::{Collected, Measured};
pub use series::{Request, Rule, Series, Timing};
pub use target::{Counters, Facts, Failure, Operation, Simulated, Target};
