//! Measurements of a run: the summary, records of requests, windows over time, blame,
//! the timeline, energy. Nothing here changes what the drive does.

pub mod command;
pub mod metrics;
pub mod observe;
pub mod recording;
pub mod rules;
pub mod schema;
