//! What a run reports.
pub mod summary;
pub use summary::*;
