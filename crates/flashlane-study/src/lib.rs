//! Answers that take many runs.
//!
//! `plan` asks how many tenants fit on a drive before one of them misses what it was promised.

mod base;
pub mod plan;
pub mod sweep;

pub use base::{Base, Scenario};
