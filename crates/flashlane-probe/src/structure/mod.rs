//! Facts about the inside of a drive that follow from the measurements without simulation: unit of
//! addresses, geometry, buffer. Later probes use it to choose their addresses.

mod buffer;
mod geometry;
mod inside;
mod levels;
mod observed;
mod page_size;
pub mod planes;
pub mod programs;
mod spare;

pub use buffer::{Buffer, buffer, buffer_edge};
pub use geometry::{Conflict, Geometry, Pattern, candidates, pattern};
pub use inside::Inside;
pub use levels::levels;
pub use observed::{Reach, mapping_reach, observed};
pub use page_size::page_size;
pub use programs::{Programs, Wait};
pub use spare::{PARTS, spare_curve};

/// The median of some numbers; 0 without numbers.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
