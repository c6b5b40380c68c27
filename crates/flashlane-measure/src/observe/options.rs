//! Choice of the data to record.

use std::sync::{Arc, Mutex};

use super::requests::RequestSink;
use super::timeline::TimelineOptions;
use crate::recording::Submissions;

/// Data to record during a run, beside the summary. In a simulation with runs alone, only the run
/// of all flows together is watched.
#[derive(Clone, Debug, Default)]
pub struct Observe {
    /// Takes a record of every request, many at a time, in the order of completion.
    pub requests: Option<Arc<Mutex<dyn RequestSink>>>,
    /// Keeps [`TimeSeries`](super::TimeSeries).
    pub series: Option<SeriesOptions>,
    /// Keeps [`Blame`](super::Blame).
    pub blame: bool,
    /// Keeps a [`Timeline`](super::Timeline).
    pub timeline: Option<TimelineOptions>,
    /// Keeps [`QueueStatistics`](super::QueueStatistics).
    pub queues: bool,
    /// Counts energy and wear by flow, for the summary.
    pub energy: bool,
    /// Takes the submissions of the flows, when the run is over, for
    /// [`crate::drive::Drive::replay`].
    pub submissions: Option<Submissions>,
}

/// Windows of a time series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesOptions {
    /// Length of a window. Unit: picoseconds. By default windows start at 1 ms and double in length
    /// whenever there are more than 2,048.
    pub window: Option<u64>,
}

impl Observe {
    /// True if nothing is recorded.
    #[must_use]
    pub fn nothing(&self) -> bool {
        self.requests.is_none()
            && self.series.is_none()
            && !self.blame
            && !self.queues
            && !self.energy
            && self.timeline.is_none()
    }
}
