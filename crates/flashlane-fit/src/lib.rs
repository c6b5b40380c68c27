//! Finds the device file that behaves like a measured drive.
//!
//! [`mod@calibrate`] is least squares by simulation: it varies keys of a device file until the
//! simulated drive meets measured numbers, and says how well the numbers determine each key.
//! [`curves`] fits published figures in this way. [`mod@write`] makes a device file and a page from
//! the result.

pub mod calibrate;
pub mod curves;
pub mod drive;
mod parallel;
pub mod presets;
mod unit;
pub mod write;

pub use calibrate::{Calibration, Failure, Options, Parameter, calibrate};
pub use unit::Unit;
