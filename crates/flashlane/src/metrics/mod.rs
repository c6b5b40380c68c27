//! Stage 8 of 8: what a run reports. Sees every request at its completion with the times of all stage
//! boundaries; knows no other stage.

pub(crate) mod latency;
mod mqsim_xml;
pub(crate) mod recorder;
pub(crate) mod report;
pub(crate) mod series;
pub mod steady;
pub mod summary;
pub(crate) mod window;
pub(crate) mod windows;

pub use mqsim_xml::mqsim_results;
pub use series::Interval;
pub use summary::*;
