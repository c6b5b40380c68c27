//! What watches a run beside the summary: a record of every request, windows over time, who made whom
//! wait, and a timeline of the flash. Nothing of it changes a result, and nothing costs anything where it
//! is not asked for.

pub mod blame;
pub mod requests;
pub mod series;
pub mod timeline;

use std::sync::{Arc, Mutex};

pub use blame::{Blame, BlameCause, BlameCell, BlameVictim};
pub use requests::{RequestBatch, RequestSink};
pub use series::{DevicePoint, FlowPoint, SeriesWindow, TimeSeries};
pub use timeline::{Timeline, TimelineOptions};

/// What to watch during a run, beside what the summary says. Of a simulation with runs alone, the run of
/// all flows together is watched.
#[derive(Clone, Debug, Default)]
pub struct Observe {
    /// Takes a record of every request, in batches, in the order of completion.
    pub requests: Option<Arc<Mutex<dyn RequestSink>>>,
    /// Keeps [`TimeSeries`].
    pub series: Option<SeriesOptions>,
    /// Keeps [`Blame`].
    pub blame: bool,
    /// Keeps a [`Timeline`].
    pub timeline: Option<TimelineOptions>,
}

/// Windows of a time series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesOptions {
    /// Length of a window. Unit: picoseconds. Without it windows start at 1 ms and double in length whenever
    /// there are more than 2,048.
    pub window: Option<u64>,
}

impl Observe {
    /// True if nothing is watched.
    #[must_use]
    pub fn nothing(&self) -> bool {
        self.requests.is_none() && self.series.is_none() && !self.blame && self.timeline.is_none()
    }
}
