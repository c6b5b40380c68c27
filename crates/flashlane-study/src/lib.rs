//! Studies: questions that take many simulation runs.
//!
//! `plan` asks how many tenants fit on a drive before one of them misses a goal. `sweep` runs every
//! point of a grid.

mod base;
pub mod plan;
pub mod sweep;

pub use base::{Base, Scenario};
