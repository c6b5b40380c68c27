//! Results as one HTML page that needs nothing else: no network, no other file.
//!
//! The page carries its numbers as JSON, from which its charts are drawn and from which
//! [`RunData::from_page`] gets them back: several pages make one that compares them.

mod chip_heat;
mod choices;
mod data;
mod diagram;
mod goals;
mod matrices;
mod measured;
mod names;
mod operations;
mod page;
mod side_by_side;
mod spark;
mod spending;
mod tradeoff;
mod view;

pub use chip_heat::ChipHeat;
pub use data::{Curve, RunData, SeriesColumn, SeriesData};
pub use names::name_columns;
pub use page::render;
pub use tradeoff::tradeoffs;
