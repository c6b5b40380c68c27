//! Observation of a run beside the summary: a record of every request, windows over time, blame
//! (which flow delays which), and a timeline of the flash. Observation does not change results, and
//! costs nothing where it is not asked for.

pub mod blame;
pub mod queues;
mod registers;
pub mod requests;
pub mod series;
pub mod timeline;

mod completion_hook;
mod completions;
mod credit;
mod credit_hooks;
pub(crate) mod energy;
mod hooks;
pub mod options;
mod waiting_hooks;
mod watcher;

use flashlane_engine::Time;

use crate::metrics::energy::FlowEnergy;
use blame::account::Account;
pub use completions::Completions;
use credit::Credits;
use energy::EnergyMeter;
use flashlane_config::{CommandBus, DeviceConfig, WorkloadConfig};
use queues::QueueRecorder;
pub use series::recorder::{fill_ones, fill_slowdowns};
use timeline::recorder::{Page, TimelineRecorder};

pub use crate::metrics::queues::QueueStatistics;
pub use blame::{Blame, BlameCause, BlameCell, BlameVictim};
pub use options::{Observe, SeriesOptions};
pub use requests::{RequestBatch, RequestRecord, RequestSink};
pub use series::{DevicePoint, FlowPoint, SeriesWindow, TimeSeries};
pub use timeline::{Slice, Timeline, TimelineOptions, Track};

/// Follows requests and commands while they are under way, for blame, timeline and energy.
#[derive(Clone, Debug)]
pub struct Observer {
    account: Option<Account>,
    timeline: Option<TimelineRecorder>,
    queues: Option<QueueRecorder>,
    energy: Option<EnergyMeter>,
    /// The flows that work is charged to, for blame and energy.
    credits: Option<Credits>,
    /// The pages of the command that is being handled.
    pages: Vec<Page>,
}

impl Observer {
    /// `None` if the options ask for no blame, timeline, queues or energy.
    pub fn new(
        observe: &Observe,
        device: &DeviceConfig,
        workload: &WorkloadConfig,
        logical_pages: u64,
        open_loops: &[bool],
    ) -> Option<Box<Self>> {
        let asked = observe.blame || observe.queues || observe.energy;
        if !asked && observe.timeline.is_none() {
            return None;
        }
        let geometry = device.geometry();
        let flows = workload.flows.len();
        let separate = device.flash.command_bus == CommandBus::Separate;
        Some(Box::new(Self {
            account: observe
                .blame
                .then(|| Account::of(device, workload, logical_pages, open_loops)),
            timeline: observe.timeline.map(|span| {
                TimelineRecorder::new(span, geometry, flows).with_command_buses(separate)
            }),
            queues: observe
                .queues
                .then(|| QueueRecorder::new(geometry.chips(), geometry.chips_per_channel)),
            energy: observe.energy.then(|| EnergyMeter::new(&device.energy, flows)),
            credits: (observe.blame || observe.energy).then(|| Credits::of(device, flows)),
            pages: Vec::new(),
        }))
    }

    /// Expenses of each flow; empty where they are not counted.
    pub(crate) fn spent(&self) -> Vec<FlowEnergy> {
        self.energy.as_ref().map_or_else(Vec::new, EnergyMeter::spent)
    }

    /// Ends the run, and adds the results to `observed`.
    pub(crate) fn finish(self, now: Time, names: &[String], observed: &mut Observed) {
        if let Some(mut account) = self.account {
            account.end_block();
            account.audit();
            observed.blame = Some(account.report(names));
        }
        observed.queues = self.queues.map_or_else(Vec::new, |queues| queues.finish(now));
        let timeline = self.timeline;
        observed.timeline = timeline.map(|timeline| timeline.finish(now.0, names.to_vec()));
    }
}

/// Results of observation.
#[derive(Debug, Default)]
pub struct Observed {
    /// Which flow delays which, if it was asked for.
    pub blame: Option<Blame>,
    /// Windows over time, if they were asked for.
    pub time_series: Option<TimeSeries>,
    /// What the flash did, if it was asked for.
    pub timeline: Option<Timeline>,
    /// Waiting transactions of each die, if they were asked for.
    pub queues: Vec<QueueStatistics>,
    /// Length of the windows of the series. Unit: picoseconds.
    pub series_window: u64,
    /// Mean end-to-end times by window and flow, from which slowdowns are computed. Unit:
    /// microseconds.
    pub slowed: Vec<Vec<Option<f64>>>,
}
