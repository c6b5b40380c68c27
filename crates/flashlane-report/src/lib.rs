//! Results as one HTML page that needs nothing else: no network, no other file.
//!
//! The page contains its numbers as JSON. Its charts are drawn from them, and
//! [`RunData::from_page`] reads them again: several pages can be combined into one that compares
//! them.

mod baseline;
mod breakdown;
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
mod placement;
mod search;
mod side_by_side;
mod spark;
mod spending;
mod sweep;
mod tradeoff;
mod view;

pub use baseline::{against, baseline_sentence, share_baseline};
pub use chip_heat::ChipHeat;
pub use data::{Curve, RunData, SeriesColumn, SeriesData};
pub use names::name_columns;
pub use page::render;
pub use search::{SearchChart, SearchPage, SearchPoint, SearchTable, render_search};
pub use sweep::{SweptPoint, render_sweep};
pub use tradeoff::tradeoffs;
