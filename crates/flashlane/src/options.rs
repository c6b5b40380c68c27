//! Options of a run, as opposed to its configuration.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use flashlane_measure::metrics::AloneBasis;
use flashlane_measure::rules::{SteadyRule, Variant, Warmup};

use crate::precondition::KeptStates;
use flashlane_measure::observe::options::Observe;

/// A step in making the state of a drive before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateStep {
    /// The state is being made.
    Making,
    /// The state is being written to the place where states are kept.
    Keeping,
}

/// Receives the step, and the share of it that is done, 0 to 1.
type OnState = dyn Fn(StateStep, f64) + Send + Sync;

/// Receives progress of the state of a drive, which takes a minute on large drives.
#[derive(Clone)]
pub struct StateProgress(Arc<OnState>);

impl StateProgress {
    /// Calls a function now and then, with the step and the share of it that is done, 0 to 1.
    #[must_use]
    pub fn new(tell: impl Fn(StateStep, f64) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn tell(&self, step: StateStep, share: f64) {
        (self.0)(step, share);
    }
}

impl std::fmt::Debug for StateProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateProgress")
    }
}

/// How to run a scenario: seed, window, records and limits.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Root seed.
    pub seed: u64,
    /// Also run every flow alone.
    pub alone: bool,
    /// The part of the drive that flows have when they run alone.
    pub alone_basis: AloneBasis,
    /// Also run the others without each flow in turn, for [`FlowSummary::without`].
    ///
    /// [`FlowSummary::without`]: flashlane_measure::metrics::summary::FlowSummary::without
    pub leave_one_out: bool,
    /// Audit the full state of the model during the run.
    pub check: bool,
    /// Requests that load the device but do not count.
    pub warmup: Warmup,
    /// Ends the run with steady state, instead of with the flows, which start over until then. Only
    /// the last rounds count.
    pub until_steady: Option<SteadyRule>,
    /// Name of the compatibility mode for the summary.
    pub compat: Option<String>,
    /// Threads for the runs alone, unless [`simulate_all`](crate::simulate_all) gets a number; 0
    /// for all cores. Never changes a result.
    pub threads: usize,
    /// Length of the intervals of [`Details::series`](crate::Details::series). Unit: picoseconds.
    /// `None`: no series.
    pub series_interval: Option<u64>,
    /// Length of the windows of
    /// [`Summary::slowdown_over_time`](flashlane_measure::metrics::Summary::slowdown_over_time),
    /// which also need `alone`. Unit: picoseconds. `None`: no windows.
    pub windows: Option<u64>,
    /// Placement, collection and wear without time.
    pub waf_only: bool,
    /// Data to record beside the summary. Never changes a result.
    pub observe: Observe,
    /// Keeps states of drives between runs; `None` keeps none. Never changes a result.
    pub states: Option<Arc<KeptStates>>,
    /// Receives progress of the state of the drive before the run. Never changes a result.
    pub state_progress: Option<StateProgress>,
    /// Ends the simulation soon after it becomes true, with
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub stop: Option<Arc<AtomicBool>>,
}

impl RunOptions {
    /// What tells this run from others of the same files.
    pub(crate) fn variant(&self) -> Variant<'_> {
        Variant { seed: self.seed, compat: self.compat.as_deref() }
    }
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            alone: false,
            alone_basis: AloneBasis::default(),
            leave_one_out: false,
            check: false,
            warmup: Warmup::None,
            compat: None,
            threads: 0,
            series_interval: None,
            windows: None,
            until_steady: None,
            waf_only: false,
            observe: Observe::default(),
            states: None,
            state_progress: None,
            stop: None,
        }
    }
}

/// Called now and then from the simulation with the share of the work that is done, 0 to 1.
pub type Progress<'a> = &'a (dyn Fn(f64) + Sync);
