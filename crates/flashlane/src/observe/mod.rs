//! What watches a run beside the summary: a record of every request, windows over time, who made whom
//! wait, and a timeline of the flash. Nothing of it changes a result, and nothing costs anything where it
//! is not asked for.

pub mod blame;
pub mod requests;
pub mod series;
pub mod timeline;

mod hooks;

use std::sync::{Arc, Mutex};

use crate::config::{DeviceConfig, WorkloadConfig};
use crate::error::Error;
use crate::ssd::Ssd;
use blame::account::{Account, RequestWaits};
pub(crate) use blame::cause::Cause;
pub(crate) use hooks::HostWork;
use requests::Records;

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

/// What is kept during a run that is watched.
#[derive(Debug)]
pub(crate) struct Observer {
    account: Option<Account>,
    records: Option<Records>,
}

impl Observer {
    /// `None` if nothing is watched.
    pub(crate) fn new(
        observe: &Observe,
        device: &DeviceConfig,
        workload: &WorkloadConfig,
    ) -> Option<Box<Self>> {
        if observe.nothing() {
            return None;
        }
        Some(Box::new(Self {
            account: observe.blame.then(|| Account::of(device, workload)),
            records: observe.requests.clone().map(Records::new),
        }))
    }
}

impl Ssd {
    /// The run is over: what was watched.
    ///
    /// # Errors
    /// Of the sink of request records.
    pub(crate) fn observed(&mut self, workload: &WorkloadConfig) -> Result<Observed, Error> {
        let mut observed = Observed::default();
        let Some(mut observer) = self.observer.take() else { return Ok(observed) };
        let names: Vec<String> = workload.flows.iter().map(|flow| flow.name.clone()).collect();
        if let Some(account) = &mut observer.account {
            account.end_block(self.now.0);
            account.audit();
            observed.blame = Some(account.report(&names));
        }
        if let Some(records) = &mut observer.records {
            records.end()?;
        }
        Ok(observed)
    }
}

/// What was watched.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) blame: Option<Blame>,
    pub(crate) time_series: Option<TimeSeries>,
    pub(crate) timeline: Option<Timeline>,
}
