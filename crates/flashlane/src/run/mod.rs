//! Runs a scenario from configuration to summary.

mod jobs;

use crate::cache::Cache;
use crate::config::{
    DeviceConfig, FlowConfig, InterfaceKind, Priority, Technology, WorkloadConfig,
};
use crate::device::Device;
use crate::error::Error;
use crate::ftl::{FrozenState, Ftl, FtlState};
use crate::layout::Layout;
use crate::metrics::recorder::Recorder;
use crate::metrics::window::Window;
use crate::metrics::windows::Windows;
use crate::metrics::{Interval, Summary};
use crate::observe::{Blame, QueueStatistics, TimeSeries, Timeline};
pub use crate::options::{Progress, RunOptions, Warmup};
use crate::parallel;
use crate::precondition::{self, KeptStates};
use crate::tenants::{Run, Tenants};
use crate::workload::footprint::Footprint;
use crate::workload::{self, RequestSource};
use flashlane_units::FlowId;
use jobs::Runs;

/// Slowdowns are asked for, by the caller or by what a tenant was promised.
fn wants_slowdowns(workload: &WorkloadConfig, options: &RunOptions) -> bool {
    let promised = |flow: &FlowConfig| flow.slo.as_ref().is_some_and(|slo| slo.slowdown.is_some());
    options.alone || workload.flows.iter().any(promised)
}

/// Every flow also runs by itself: a single one already did.
#[must_use]
pub fn runs_alone(workload: &WorkloadConfig, options: &RunOptions) -> bool {
    wants_slowdowns(workload, options) && workload.flows.len() > 1
}

/// A scenario that is ready to run: input checked, drive preconditioned.
pub(crate) struct Prepared<'a> {
    device: &'a DeviceConfig,
    workload: &'a WorkloadConfig,
    options: &'a RunOptions,
    layout: Layout,
    state: FtlState,
    /// What `state` is a copy of, if that was kept from an earlier run. Its caches are cold.
    kept: Option<FrozenState>,
    cache: Cache,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(
        device: &'a DeviceConfig,
        workload: &'a WorkloadConfig,
        options: &'a RunOptions,
    ) -> Result<Self, Error> {
        let layout = Layout::new(device, workload);
        let empty = || match runs_alone(workload, options) {
            true => FtlState::to_be_frozen(device.ftl_settings(), &layout),
            false => FtlState::new(device.ftl_settings(), &layout, workload.requests_at_least()),
        };
        let (mut state, mut kept) = (None, None);
        let mut cache =
            Cache::new(&device.cache, &device.compat, &workload.cache_modes(), layout.geometry);
        // Memory that is written in place keeps no trace of what was written before.
        if device.ftl.precondition.enabled && device.flash.technology != Technology::InPlace {
            let footprints: Vec<Footprint> = (0..)
                .zip(&workload.flows)
                .zip(&layout.flows)
                .map(|((index, flow), space)| {
                    workload::footprint_of(flow, index, space, device.flash.page_size, options.seed)
                })
                .collect::<Result<_, _>>()?;
            let (seed, layout) = (options.seed, &layout);
            let key = |states: &KeptStates| states.key(device, workload, layout, &footprints, seed);
            let place = options.states.as_deref().and_then(|states| Some((states, key(states)?)));
            let find = || {
                let (states, key) = place.as_ref()?;
                states.find(key, FtlState::new(device.ftl_settings(), layout, 0))
            };
            kept = find();
            let mut claim = None;
            if let (None, Some((states, key))) = (&kept, &place) {
                // Whoever was waited for has made it.
                claim = states.claim(key);
                kept = claim.as_ref().and_then(|_| find());
            }
            let state = state.insert(kept.as_ref().map_or_else(empty, FrozenState::copy));
            if kept.is_none() {
                let device = &precondition::decisive(device);
                precondition::precondition(device, workload, layout, &footprints, state, seed);
                if let Some((states, key)) = place {
                    states.keep(&key, state);
                }
            }
            drop(claim);
            precondition::warm(device, workload, layout, state, &mut cache, seed)?;
        } else if device.compat.translation_pages_from_start {
            let state = state.insert(empty());
            precondition::place_empty_translation_pages(device, &layout, state);
        }
        let state = state.unwrap_or_else(empty);
        Ok(Self { device, workload, options, layout, state, kept, cache })
    }

    /// Nothing was ever written.
    fn is_new(&self) -> bool {
        !self.device.ftl.precondition.enabled && !self.device.compat.translation_pages_from_start
    }

    /// Takes the state of the drive out, for [`Prepared::build`].
    pub(crate) fn take_state(&mut self) -> FtlState {
        std::mem::replace(&mut self.state, FtlState::empty())
    }

    /// A system with the flows that `active` admits.
    pub(crate) fn build(
        &self,
        state: FtlState,
        window: Window,
        active: impl Fn(usize) -> bool,
    ) -> Result<Run, Error> {
        let flows = &self.workload.flows;
        let sources: Vec<Option<Box<dyn RequestSource>>> = flows
            .iter()
            .zip(&self.layout.flows)
            .enumerate()
            .map(|(index, (flow, space))| {
                let seed = self.options.seed;
                active(index)
                    .then(|| {
                        workload::build(
                            flow,
                            index as u64,
                            space,
                            self.device.flash.page_size,
                            &self.device.compat,
                            seed,
                        )
                    })
                    .transpose()
            })
            .collect::<Result<_, _>>()?;
        // A SATA drive cannot tell flows apart; MQSim serves them with the high class.
        let nvme = self.device.interface.kind == InterfaceKind::Nvme;
        let class = |priority: Priority| if nvme { priority } else { Priority::High };
        let classes = flows.iter().map(|flow| class(flow.priority) as u8).collect();
        let (settings, layout) = (self.device.ftl_settings(), &self.layout);
        let sets = self.device.isolation.moving_sets(&self.device.flash, layout);
        let ftl = Ftl::new(settings, layout, state, sets, classes, self.options.seed);
        let last_flow_first = self.device.compat.random_generators;
        let tenants = Tenants::new(self.workload, last_flow_first, sources);
        let mut recorder = Recorder::new(tenants.open_loops(), window);
        if let Some(interval) = self.options.series_interval {
            recorder.keep_series(interval);
        }
        if let Some(length) = self.options.windows.filter(|_| self.options.alone) {
            for (flow, by_arrival) in tenants.open_loops().into_iter().enumerate() {
                recorder.keep_windows(FlowId::at(flow), Windows::new(length, by_arrival));
            }
        }
        let ssd = Device::new(
            self.device,
            self.workload,
            self.layout.clone(),
            ftl,
            self.cache.clone(),
            recorder,
            self.options.check,
        );
        let drive = ssd.with_stop(self.options.stop.clone());
        Ok(Run { drive, tenants, recorder: None })
    }
}

/// What a summary has no room for, of the flows of a run in the order of the workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Distribution of the response times of each flow: latencies (unit: microseconds) and the
    /// share of requests at or below each, rising.
    pub distributions: Vec<Vec<(f64, f64)>>,
    /// The same of reads alone.
    pub read_distributions: Vec<Vec<(f64, f64)>>,
    /// The same of writes alone.
    pub write_distributions: Vec<Vec<(f64, f64)>>,
    /// The same of trims alone.
    pub trim_distributions: Vec<Vec<(f64, f64)>>,
    /// The same of flushes alone.
    pub flush_distributions: Vec<Vec<(f64, f64)>>,
    /// Intervals of [`RunOptions::series_interval`] from the start of the run; empty without it.
    pub series: Vec<Vec<Interval>>,
    /// Who made whom wait, with [`Observe::blame`](crate::observe::Observe::blame).
    pub blame: Option<Blame>,
    /// The run in windows, with [`Observe::series`](crate::observe::Observe::series).
    pub time_series: Option<TimeSeries>,
    /// What the flash did, with [`Observe::timeline`](crate::observe::Observe::timeline).
    pub timeline: Option<Timeline>,
    /// What waited for the flash by chip and kind, with
    /// [`Observe::queues`](crate::observe::Observe::queues).
    pub queues: Vec<QueueStatistics>,
}

impl Details {
    /// Distributions of each operation by flow, with its name (`read`); `all` comes first.
    #[must_use]
    pub fn by_operation(&self) -> [(&'static str, &[Vec<(f64, f64)>]); 5] {
        [
            ("all", &self.distributions),
            ("read", &self.read_distributions),
            ("write", &self.write_distributions),
            ("trim", &self.trim_distributions),
            ("flush", &self.flush_distributions),
        ]
    }
}

/// Runs one scenario.
///
/// # Errors
/// [`Error::Config`] and [`Error::Trace`] for input that is refused, [`Error::Stuck`] where the
/// device cannot finish the work.
pub fn simulate(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    options: &RunOptions,
    progress: Progress<'_>,
) -> Result<Summary, Error> {
    simulate_in_detail(device, workload, options, progress).map(|(summary, _)| summary)
}

/// Runs one scenario and gives distributions and time series beside the summary.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_in_detail(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    options: &RunOptions,
    progress: Progress<'_>,
) -> Result<(Summary, Details), Error> {
    let one = [Simulation { device, workload, options }];
    let mut results = simulate_all(&one, options.threads, &|_, share| progress(share));
    results.pop().expect("one result of one simulation")
}

/// What comes out of a simulation.
pub type Outcome = Result<(Summary, Details), Error>;

/// What to simulate, and how.
#[derive(Clone, Copy, Debug)]
pub struct Simulation<'a> {
    /// The drive.
    pub device: &'a DeviceConfig,
    /// Its flows.
    pub workload: &'a WorkloadConfig,
    /// How to run.
    pub options: &'a RunOptions,
}

/// Runs scenarios and their flows alone on so many threads, the caller's included; 0 for all cores.
/// At most as many drives are in memory as there are threads. Results are in the order of the
/// simulations, each with the errors of [`simulate`]; `progress` is told which one it is about.
pub fn simulate_all(
    simulations: &[Simulation<'_>],
    threads: usize,
    progress: &(dyn Fn(usize, f64) + Sync),
) -> Vec<Outcome> {
    let alone = |one: &Simulation<'_>| match runs_alone(one.workload, one.options) {
        true => one.workload.flows.len(),
        false => 1,
    };
    let parts = simulations.iter().map(alone).max().unwrap_or(1);
    parallel::run(&Runs { simulations, progress }, simulations.len(), parts, threads)
}

#[cfg(test)]
#[path = "../reference_ftl.rs"]
mod reference_ftl;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load::{Overrides, device_from_toml, workload_from_toml};

    #[test]
    fn a_load_that_would_fill_the_memory_ends_with_an_error() {
        let overrides = Overrides::default();
        let device = device_from_toml("base = \"tiny\"", "device", &overrides);
        let flow = "[[flow]]\nname = \"flood\"\n[flow.synthetic]\niops = 1e9\nrequests = 100000\n\
                    read_ratio = 1.0\nsize = \"4KiB\"";
        let workload = workload_from_toml(flow, "workload", &overrides);
        let (device, workload) =
            (device.expect("a device").config, workload.expect("a workload").config);
        let options = RunOptions::default();
        let mut prepared = Prepared::new(&device, &workload, &options).expect("it can be run");
        let state = prepared.take_state();
        let window = Window::new(workload.window, Warmup::None);
        let mut run = prepared.build(state, window, |_| true).expect("it can be run");
        run.drive.host.limit_outstanding(5000);
        let Err(Error::Stuck(why)) = run.run_to_end(&|_| {}) else { panic!("the run ends") };
        assert!(why.contains("the drive cannot keep up with the load, flow 0"), "{why}");
        assert!(why.contains("5000 of 50"), "{why}");
    }
}
