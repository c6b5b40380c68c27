//! Studies: questions that take many simulation runs.
//!
//! `advise` tries what helps the tenants of a drive. `plan` asks how many tenants fit on a drive
//! before one of them misses a goal. `sweep` runs every point of a grid. `validate` holds the
//! presets of drives against their measured figures.

pub mod advise;
mod base;
pub mod plan;
pub mod sweep;
pub mod validate;

pub use base::{Base, Scenario};
