//! Stage 8 of 8: the figures of a run. Receives every request at its completion, with the times of
//! all stage boundaries; knows no other stage.

pub mod baseline;
pub mod empty;
pub mod energy;
mod input_changes;
pub mod latency;
pub(crate) mod load;
mod measured;
pub mod metered;
mod mqsim_xml;
mod partial_writes;
pub mod queues;
pub(crate) mod reading;
pub mod recorder;
pub mod report;
pub mod seeds;
pub(crate) mod series;
pub mod slo;
pub mod span;
pub mod steady;
pub mod summary;
mod verdict;
pub mod window;
pub mod windows;

pub use baseline::Baseline;
pub use energy::{EnergySummary, WearSummary};
pub use mqsim_xml::mqsim_results;
pub use seeds::{Estimate, SeedStatistics};
pub use series::Interval;
pub use slo::{GoalSummary, SloSummary};
pub use summary::*;
