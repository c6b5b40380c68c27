//! Runs a scenario from configuration to summary.

use std::borrow::Cow;

mod jobs;
mod measured;
mod subsets;
mod whole_drive;

pub use crate::options::{Progress, RunOptions, StateProgress, StateStep};
use crate::parallel;
use crate::precondition::{self, KeptStates};
use crate::tenants::{Run, Tenants, mqsim_order};
use crate::waf_only::{self, Scenario};
use flashlane_config::validate::shortage;
use flashlane_config::{
    DeviceConfig, FlowConfig, InterfaceKind, Priority, Technology, WorkloadConfig,
};
use flashlane_device::cache::Cache;
use flashlane_device::config::Sharing;
use flashlane_device::device::Device;
use flashlane_device::ftl::{FrozenState, Ftl, FtlState};
use flashlane_device::interface::limits::RateLimit;
use flashlane_device::layout::Layout;
use flashlane_measure::metrics::metered::Metered;
use flashlane_measure::metrics::recorder::Recorder;
use flashlane_measure::metrics::window::Window;
use flashlane_measure::metrics::windows::Windows;
use flashlane_measure::metrics::{Interval, Summary};
use flashlane_measure::observe::{Blame, QueueStatistics, TimeSeries, Timeline};
pub use flashlane_measure::rules::Warmup;
use flashlane_reading::Error;
use flashlane_units::FlowId;
use flashlane_workload::footprint::Footprint;
use flashlane_workload::{self, RequestSource};
use jobs::Runs;

/// The data cache of a drive. In the one stream of a SATA drive, it cannot tell flows apart: they
/// have the mode of the first one.
fn data_cache(device: &DeviceConfig, workload: &WorkloadConfig, layout: &Layout) -> Cache {
    let mut modes = workload.cache_modes();
    let mut config = Cow::Borrowed(&device.cache);
    if layout.is_one_stream() {
        let first = modes[0];
        modes.fill(first);
        config.to_mut().sharing = Sharing::Shared;
    }
    Cache::new(&config, &device.compat, &modes, layout.geometry)
        .surviving(device.power_loss_protection)
}

/// True if slowdowns are needed, because the caller or a promise to a tenant asks for them.
fn wants_slowdowns(workload: &WorkloadConfig, options: &RunOptions) -> bool {
    let promised = |flow: &FlowConfig| flow.slo.as_ref().is_some_and(|slo| slo.slowdown.is_some());
    options.alone || workload.flows.iter().any(promised)
}

/// Number of runs of some of the flows beside that of all: each flow alone, and all without each.
/// There are none where they would be the run of all flows.
#[must_use]
pub fn partial_runs(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    options: &RunOptions,
) -> usize {
    subsets::of(device, workload, options).len()
}

/// A scenario that is ready to run: its input is checked, and its drive is preconditioned.
pub(crate) struct Prepared<'a> {
    device: Cow<'a, DeviceConfig>,
    workload: &'a WorkloadConfig,
    options: &'a RunOptions,
    layout: Layout,
    state: FtlState,
    /// The kept state of which `state` is a copy, if it was kept by an earlier run. Its caches are
    /// cold.
    kept: Option<FrozenState>,
    cache: Cache,
    /// Limits of the flows' rates.
    limits: Vec<RateLimit>,
}

/// The pages that each flow touches.
fn footprints(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    layout: &Layout,
    seed: u64,
) -> Result<Vec<Footprint>, Error> {
    let page_size = device.unit();
    let flows = (0..).zip(&workload.flows).zip(&layout.flows);
    flows
        .map(|((index, flow), space)| {
            flashlane_workload::footprint_of(flow, index, space, page_size, seed)
        })
        .collect()
}

/// The state of a drive that its flows have used, where hosts place their data.
fn used(
    (device, workload, layout): (&DeviceConfig, &WorkloadConfig, &Layout),
    options: &RunOptions,
    empty: FtlState,
) -> Result<FtlState, Error> {
    let progress = options.state_progress.as_ref();
    let making =
        |share: f64| progress.into_iter().for_each(|one| one.tell(StateStep::Making, share));
    waf_only::used(Scenario { device, workload, layout, seed: options.seed }, empty, &making)
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(
        device: &'a DeviceConfig,
        workload: &'a WorkloadConfig,
        options: &'a RunOptions,
    ) -> Result<Self, Error> {
        let several = partial_runs(device, workload, options) > 0;
        Self::of((Cow::Borrowed(device), workload.layout(device)), workload, options, several)
    }

    /// A scenario whose flows run alone on the whole drive.
    fn whole(
        device: &DeviceConfig,
        workload: &'a WorkloadConfig,
        options: &'a RunOptions,
    ) -> Result<Self, Error> {
        let (device, layout) = whole_drive::of(device, workload);
        if let Some(short) = shortage(&device, &layout) {
            let message = format!(
                "found whole-drive: with the data of all flows on all planes, {}: {}, or \
                 --alone-basis same-isolation",
                short.place, short.message
            );
            return Err(Error::config("--alone-basis", message));
        }
        let made = Self::of((Cow::Owned(device), layout), workload, options, true)?;
        Ok(Self { limits: Vec::new(), ..made })
    }

    /// `several`: more than one run starts from the state.
    fn of(
        (given, layout): (Cow<'a, DeviceConfig>, Layout),
        workload: &'a WorkloadConfig,
        options: &'a RunOptions,
        several: bool,
    ) -> Result<Self, Error> {
        let device = &*given;
        let empty = || match several {
            true => FtlState::to_be_frozen(device.ftl_settings(), &layout),
            false => FtlState::new(device.ftl_settings(), &layout, workload.requests_at_least()),
        };
        let (mut state, mut kept) = (None, None);
        let mut cache = data_cache(device, workload, &layout);
        if device.ftl.precondition.enabled && !device.placement.is_off() {
            state = Some(used((device, workload, &layout), options, empty())?);
        // Memory that is written in place keeps no trace of earlier writes.
        } else if device.ftl.precondition.enabled && device.flash.technology != Technology::InPlace
        {
            let footprints = footprints(device, workload, &layout, options.seed)?;
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
                // If another process made the state while this one waited, it is there now.
                claim = states.claim(key);
                kept = claim.as_ref().and_then(|_| find());
            }
            let state = state.insert(kept.as_ref().map_or_else(empty, FrozenState::copy));
            if kept.is_none() {
                let device = &precondition::decisive(device);
                let told = |step: StateStep| {
                    let progress = options.state_progress.as_ref();
                    move |share: f64| progress.into_iter().for_each(|one| one.tell(step, share))
                };
                let making = told(StateStep::Making);
                let inputs = (device, workload, layout);
                precondition::precondition(inputs, &footprints, state, seed, &making);
                if let Some((states, key)) = place {
                    states.keep(&key, state, &told(StateStep::Keeping));
                }
            }
            drop(claim);
            precondition::warm(device, workload, layout, state, &mut cache, seed)?;
        } else if device.compat.translation_pages_from_start {
            let state = state.insert(empty());
            precondition::place_empty_translation_pages(device, &layout, state);
        }
        let state = state.unwrap_or_else(empty);
        let limits = workload.limits();
        Ok(Self { device: given, workload, options, layout, state, kept, cache, limits })
    }

    /// True if nothing was ever written.
    fn is_new(&self) -> bool {
        !self.device.ftl.precondition.enabled && !self.device.compat.translation_pages_from_start
    }

    /// The state of a new empty drive.
    fn new_state(&self) -> FtlState {
        let requests = self.workload.requests_at_least();
        FtlState::new(self.device.ftl_settings(), &self.layout, requests)
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
                active(index)
                    .then(|| {
                        flashlane_workload::build(
                            flow,
                            index as u64,
                            space,
                            self.device.unit(),
                            self.device.interface.max_transfer,
                            &self.device.compat,
                            self.options.seed,
                        )
                    })
                    .transpose()
            })
            .collect::<Result<_, _>>()?;
        // A SATA drive cannot tell flows apart; MQSim serves them with the high class.
        let sata = self.device.interface.kind != InterfaceKind::Nvme;
        let class = |flow: &FlowConfig| if sata { Priority::High } else { flow.priority };
        let classes = flows.iter().map(|flow| class(flow) as u8).collect();
        let sets = self.device.isolation.moving_sets(&self.device.flash, &self.layout);
        let settings = self.device.ftl_settings();
        let ftl = Ftl::new(settings, &self.layout, state, sets, classes, self.options.seed);
        let starts = mqsim_order::of_flows(&self.device, self.workload);
        let tenants = Tenants::new(self.workload, starts, sources);
        let mut recorder = Recorder::new(tenants.open_loops(), window);
        if let Some(interval) = self.options.series_interval {
            recorder.keep_series(interval);
        }
        if let Some(length) = self.options.windows.filter(|_| self.options.alone) {
            for (flow, by_arrival) in tenants.open_loops().into_iter().enumerate() {
                recorder.keep_windows(FlowId::at(flow), Windows::new(length, by_arrival));
            }
        }
        let mut ssd = Device::new(
            &self.device,
            &self.workload.classes(),
            &self.workload.queue_pairs(),
            self.layout.clone(),
            ftl,
            self.cache.clone(),
            self.options.check,
        );
        ssd.limit_rates(&self.limits);
        ssd.weigh_queues(&self.workload.queue_weights());
        ssd.limit_outstanding(usize::MAX); // The tenants limit them themselves.
        let drive = Metered::new(ssd.with_stop(self.options.stop.clone()), recorder);
        Ok(Run { drive, tenants, recorder: None })
    }
}

/// A distribution of times: bounds in microseconds, and the share of requests up to each.
pub type Distribution = Vec<(f64, f64)>;

/// Details of a run that are not in the summary, by flow in the order of the workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Distribution of the response times of each flow: latencies (unit: microseconds) each with
    /// the share of requests at or below it, in rising order.
    pub distributions: Vec<Distribution>,
    /// Distribution of the response times of reads.
    pub read_distributions: Vec<Distribution>,
    /// Distribution of the response times of writes.
    pub write_distributions: Vec<Distribution>,
    /// Distribution of the response times of trims.
    pub trim_distributions: Vec<Distribution>,
    /// Distribution of the response times of flushes.
    pub flush_distributions: Vec<Distribution>,
    /// Intervals of [`RunOptions::series_interval`] from the start of the run; empty without it.
    pub series: Vec<Vec<Interval>>,
    /// Which flow delays which, with
    /// [`Observe::blame`](flashlane_measure::observe::Observe::blame).
    pub blame: Option<Blame>,
    /// The run in windows, with [`Observe::series`](flashlane_measure::observe::Observe::series).
    pub time_series: Option<TimeSeries>,
    /// Work of the flash, with
    /// [`Observe::timeline`](flashlane_measure::observe::Observe::timeline).
    pub timeline: Option<Timeline>,
    /// Queues of the flash by chip and kind, with
    /// [`Observe::queues`](flashlane_measure::observe::Observe::queues).
    pub queues: Vec<QueueStatistics>,
}

impl Details {
    /// Distributions of each operation by flow, with its name (`read`); `all` comes first.
    #[must_use]
    pub fn by_operation(&self) -> [(&'static str, &[Distribution]); 5] {
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
///
/// [`Error::Config`] and [`Error::Trace`] for input that is refused, [`Error::Stuck`] if
/// the device cannot finish the work.
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
///
/// Those of [`simulate`].
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

/// Result of a simulation.
pub type Outcome = Result<(Summary, Details), Error>;

/// A scenario, and how to run it.
#[derive(Clone, Copy, Debug)]
pub struct Simulation<'a> {
    /// The drive.
    pub device: &'a DeviceConfig,
    /// The flows that load the drive.
    pub workload: &'a WorkloadConfig,
    /// How to run.
    pub options: &'a RunOptions,
}

/// Runs scenarios, and their flows alone, on `threads` threads, the caller's included; 0 for all
/// cores. There are never more drives in memory than threads. Results are in the order of the
/// simulations, each with the errors of [`simulate`]. `progress` gets the number of the simulation
/// that it is about.
pub fn simulate_all(
    simulations: &[Simulation<'_>],
    threads: usize,
    progress: &(dyn Fn(usize, f64) + Sync),
) -> Vec<Outcome> {
    let parts = |one: &Simulation<'_>| partial_runs(one.device, one.workload, one.options).max(1);
    let parts = simulations.iter().map(parts).max().unwrap_or(1);
    parallel::run(&Runs { simulations, progress }, simulations.len(), parts, threads)
}

#[cfg(test)]
#[path = "../reference_ftl.rs"]
mod reference_ftl;

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_config::load::{Overrides, device_from_toml, workload_from_toml};

    const FLOOD: &str = "[[flow]]\nname = \"flood\"\n[flow.synthetic]\niops = 1e6\n\
                         requests = 20000\nread_ratio = 1.0\nsize = \"4KiB\"";

    fn run(workload: &str, set: &str, options: &RunOptions) -> Result<Summary, Error> {
        let overrides = Overrides { sets: vec![set.to_owned()], ..Overrides::default() };
        let device = device_from_toml("base = \"tiny\"", "device", &overrides)?;
        let workload = workload_from_toml(workload, "workload", &overrides)?;
        flashlane_config::validate::check_pair(&device, &workload)?;
        simulate(&device.config, &workload.config, options, &|_| {})
            .map(|summary| summary.without_clocks())
    }

    #[test]
    fn a_load_that_would_fill_the_memory_ends_with_a_finding() {
        let options = RunOptions::default();
        let cut = run(FLOOD, "outstanding_max=5000", &options).expect("the run ends");
        let found = &cut.overload[0];
        assert_eq!((found.flow.as_str(), found.alone, found.outstanding), ("flood", false, 5000));
        assert!(cut.requests_generated >= 5000 && cut.requests_generated < 20_000);
        assert_eq!(cut.requests_completed, cut.requests_generated, "no request is lost");
        assert!((cut.window_end_s - found.at_s).abs() < 1e-12, "the window ends with the load");
        let counted = cut.flows[0].requests.all();
        assert!(cut.requests_generated - counted <= 1, "what arrived counts, however late it ends");
        assert!(cut.verdict[0].starts_with("Overloaded: at "), "{:?}", cut.verdict);
        assert!(cut.verdict[0].contains("5,000 requests"), "{:?}", cut.verdict);
    }

    #[test]
    fn a_load_below_the_bound_is_not_touched_by_it() {
        let options = RunOptions { alone: true, ..RunOptions::default() };
        let flows = format!("{FLOOD}\n{}", FLOOD.replace("flood", "other"));
        let [small, large] = ["outstanding_max=1000000", "outstanding_max=16777216"]
            .map(|set| run(&flows, set, &options).expect("the run ends"));
        assert_eq!(small, large);
        assert!(small.overload.is_empty());
    }

    #[test]
    fn a_flow_that_overloads_the_drive_alone_is_named() {
        let options = RunOptions { alone: true, ..RunOptions::default() };
        // Closed loops do not count, whatever their depth.
        let flows = format!(
            "{FLOOD}\n[[flow]]\nname = \"loop\"\n[flow.synthetic]\nqueue_depth = 8000\n\
             requests = 20000\nread_ratio = 1.0"
        );
        let cut = run(&flows, "outstanding_max=5000", &options).expect("the run ends");
        let found: Vec<_> = cut.overload.iter().map(|one| (&*one.flow, one.alone)).collect();
        assert_eq!(found, [("flood", false), ("flood", true)]);
        assert!(cut.verdict.iter().any(|one| one.starts_with("Overloaded alone: flow flood")));
    }

    #[test]
    fn a_bound_that_is_reached_before_the_window_opens_is_an_error() {
        let options = RunOptions { warmup: Warmup::Requests(15_000), ..RunOptions::default() };
        let Err(Error::Stuck(why)) = run(FLOOD, "outstanding_max=5000", &options) else {
            panic!("no request counts")
        };
        assert!(why.contains("the drive cannot keep up with the load"), "{why}");
        assert!(why.contains("a larger outstanding_max"), "{why}");
    }

    #[test]
    fn a_run_until_steady_ends_at_the_bound_too() {
        use flashlane_measure::rules::{Round, SteadyRule, Tracked};
        let rule = SteadyRule { tracked: Tracked::Iops, round: Round::Requests(4000) };
        let options = RunOptions { until_steady: Some(rule), ..RunOptions::default() };
        let cut = run(FLOOD, "outstanding_max=5000", &options).expect("the run ends");
        assert_eq!(cut.overload[0].outstanding, 5000);
        assert_eq!(cut.requests_completed, cut.requests_generated);
    }

    #[test]
    fn a_bound_out_of_range_is_refused() {
        for set in ["outstanding_max=0", "outstanding_max=16777217", "outstanding_max=-1"] {
            let refused = run(FLOOD, set, &RunOptions::default()).expect_err("out of range");
            assert!(refused.to_string().contains("outstanding_max"), "{refused}");
        }
    }
}
