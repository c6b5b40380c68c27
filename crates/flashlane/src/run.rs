//! Runs a scenario from configuration to summary.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::cache::Cache;
use crate::config::{DeviceConfig, InterfaceKind, Priority, Technology, WorkloadConfig};
use crate::device::Device;
use crate::drive::recording::Recorder as Recording;
use crate::error::Error;
use crate::ftl::{FrozenState, Ftl, FtlState};
use crate::layout::{Geometry, Layout};
use crate::metrics::empty;
use crate::metrics::recorder::Recorder;
use crate::metrics::report;
use crate::metrics::steady::Watch;
use crate::metrics::summary::FlowSummary;
use crate::metrics::window::Window;
use crate::metrics::windows::{self, Windows};
use crate::metrics::{Interval, Summary};
use crate::observe::{self, Blame, Completions, Observed, Observer, TimeSeries, Timeline};
pub use crate::options::{Progress, RunOptions, Warmup};
use crate::parallel::{self, Begun, Jobs};
use crate::precondition;
use crate::tenants::{Run, Tenants};
use crate::waf_only;
use crate::workload::footprint::Footprint;
use crate::workload::{self, RequestSource};

/// Every flow also runs by itself: a single one already did.
fn runs_alone(workload: &WorkloadConfig, options: &RunOptions) -> bool {
    options.alone && workload.flows.len() > 1
}

/// A scenario that is ready to run: input checked, drive preconditioned.
pub(crate) struct Prepared<'a> {
    device: &'a DeviceConfig,
    workload: &'a WorkloadConfig,
    options: &'a RunOptions,
    layout: Layout,
    state: FtlState,
    cache: Cache,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(
        device: &'a DeviceConfig,
        workload: &'a WorkloadConfig,
        options: &'a RunOptions,
    ) -> Result<Self, Error> {
        let layout = Layout::new(device, workload);
        let mut state = if runs_alone(workload, options) {
            FtlState::to_be_frozen(device.ftl_settings(), &layout)
        } else {
            FtlState::new(device.ftl_settings(), &layout, workload.requests_at_least())
        };
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
            precondition::precondition(device, workload, layout, &footprints, &mut state, seed);
            precondition::warm(device, workload, layout, &mut state, &mut cache, seed)?;
        } else if device.compat.translation_pages_from_start {
            precondition::place_empty_translation_pages(device, &layout, &mut state);
        }
        Ok(Self { device, workload, options, layout, state, cache })
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
                recorder.keep_windows(flow, Windows::new(length, by_arrival));
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
    /// Intervals of [`RunOptions::series_interval`] from the start of the run; empty without it.
    pub series: Vec<Vec<Interval>>,
    /// Who made whom wait, with [`Observe::blame`].
    pub blame: Option<Blame>,
    /// The run in windows, with [`Observe::series`].
    pub time_series: Option<TimeSeries>,
    /// What the flash did, with [`Observe::timeline`].
    pub timeline: Option<Timeline>,
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

/// Simulations as jobs: all flows together first, then each one alone.
struct Runs<'a> {
    simulations: &'a [Simulation<'a>],
    progress: &'a (dyn Fn(usize, f64) + Sync),
}

/// What the run of all flows leaves to the runs alone.
struct Together<'a> {
    prepared: Prepared<'a>,
    /// The state in which all runs start; `None`: a new empty drive.
    start: Option<FrozenState>,
    window: Window,
    over_time: Vec<Windows>,
    summary: Summary,
    details: Details,
    /// What slowdowns over time are made of.
    observed: Observed,
    /// Runs done, this one included.
    done: AtomicUsize,
}

/// What a flow by itself came to.
struct Alone {
    summary: FlowSummary,
    /// Its end-to-end times by windows, if they are asked for, and by those of the time series.
    windows: Option<Windows>,
    observed: Option<Windows>,
}

impl Together<'_> {
    fn runs(&self) -> usize {
        self.summary.flows.len() + 1
    }
}

impl<'a> Runs<'a> {
    fn together(&self, job: usize) -> Result<Begun<Together<'a>, Outcome>, Error> {
        let Simulation { device, workload, options } = self.simulations[job];
        empty::foreseen(workload, options)?;
        if options.waf_only {
            return self.untimed(job).map(Begun::Over);
        }
        let begun = Instant::now();
        let mut prepared = Prepared::new(device, workload, options)?;
        let precondition_wall_s = begun.elapsed().as_secs_f64();

        let alone = runs_alone(workload, options);
        let runs = if alone { workload.flows.len() + 1 } else { 1 };
        let state = prepared.take_state();
        let (state, start) = match (alone, prepared.is_new()) {
            (false, _) => (state, None),
            // A copy of a new empty drive would only cost memory.
            (true, true) => (
                FtlState::new(
                    device.ftl_settings(),
                    &prepared.layout,
                    workload.requests_at_least(),
                ),
                None,
            ),
            (true, false) => {
                let start = state.freeze();
                (start.copy(), Some(start))
            }
        };
        let begun = Instant::now();
        let window = match options.until_steady {
            Some(_) => Window::until_steady(options.warmup),
            None => Window::new(workload.window, options.warmup),
        };
        let mut run = prepared.build(state, window, |_| true)?;
        let open_loops = run.tenants.unprompted();
        let submissions = options.observe.submissions.clone();
        run.recorder = submissions.map(|sink| Box::new(Recording::new(sink)));
        let shared = &mut run.drive;
        if let Some(rule) = options.until_steady {
            shared.recorder.watch_for(Watch::new(rule));
        }
        let pages = shared.layout.logical_pages;
        shared.observer = Observer::new(&options.observe, device, workload, pages, &open_loops);
        let geometry = Geometry::new(&device.flash);
        shared.completions = Completions::new(&options.observe, &geometry, &open_loops);
        run.run_to_end(&|share| (self.progress)(job, share / runs as f64))?;
        let Run { drive: mut shared, tenants, .. } = run;
        let window = &shared.recorder.window;
        if window.is_empty() {
            let generated = shared.host.flows().map(|flow| flow.submitted()).sum();
            return Err(empty::found(options, generated, window.load_ended()));
        }
        let mut observed = shared.observed(workload)?;
        shared.recorder.settle();
        let wall_s = begun.elapsed().as_secs_f64();

        let mut summary = report::summarise(
            &shared.ended(device),
            |flow| tenants.report(flow),
            device,
            workload,
            options,
        );
        summary.wall_s = wall_s;
        summary.precondition_wall_s = precondition_wall_s;
        summary.requests_per_wall_s = summary.requests_completed as f64 / wall_s.max(1e-9);
        let flows = &mut shared.recorder.flows;
        let details = Details {
            distributions: flows.iter().map(|f| f.response().distribution()).collect(),
            read_distributions: flows.iter().map(|f| f.read_response().distribution()).collect(),
            write_distributions: flows.iter().map(|f| f.write_response().distribution()).collect(),
            series: flows.iter().filter_map(|f| Some(f.series.as_ref()?.intervals())).collect(),
            blame: observed.blame.take(),
            time_series: observed.time_series.take(),
            timeline: observed.timeline.take(),
        };
        let over_time = flows.iter_mut().filter_map(|flow| flow.windows.take()).collect();
        let window = shared.recorder.window.clone();
        let done = AtomicUsize::new(1);
        let together =
            Together { prepared, start, window, over_time, summary, details, observed, done };
        if alone {
            return Ok(Begun::Parts(together, workload.flows.len()));
        }
        let Together { over_time, mut summary, mut details, observed, .. } = together;
        if options.alone {
            report::alone_is_shared(&mut summary);
            finish_alone(&mut summary, options, &over_time, &over_time);
            if let Some(series) = &mut details.time_series {
                observe::fill_ones(series, &observed.slowed);
            }
        }
        self.over(job, &mut summary);
        Ok(Begun::Over(Ok((summary, details))))
    }

    /// Runs a scenario without time.
    fn untimed(&self, job: usize) -> Result<Outcome, Error> {
        let Simulation { device, workload, options } = self.simulations[job];
        let problems = waf_only::refuse(device, options);
        if !problems.is_empty() {
            return Err(Error::Config(problems));
        }
        let begun = Instant::now();
        let Prepared { layout, state, cache, .. } = Prepared::new(device, workload, options)?;
        let precondition_wall_s = begun.elapsed().as_secs_f64();
        let progress = |share| (self.progress)(job, share);
        let mut summary =
            waf_only::run(device, workload, options, &layout, state, cache, &progress)?;
        summary.precondition_wall_s = precondition_wall_s;
        self.over(job, &mut summary);
        Ok(Ok((summary, Details::default())))
    }

    /// One flow by itself over the same window.
    fn alone(&self, job: usize, together: &Together<'_>, flow: usize) -> Result<Alone, Error> {
        let prepared = &together.prepared;
        let state = match &together.start {
            Some(start) => start.copy(),
            None => {
                let requests = prepared.workload.requests_at_least();
                FtlState::new(prepared.device.ftl_settings(), &prepared.layout, requests)
            }
        };
        let window = Window::fixed(&together.window);
        let mut run = prepared.build(state, window, |f| f == flow)?;
        if together.details.time_series.is_some() {
            let open_loop = run.tenants.unprompted()[flow];
            let window = together.observed.series_window;
            run.drive.completions = Some(Completions::alone(window, open_loop));
        }
        run.run_to_end(&|_| {})?;
        let Run { drive: mut ssd, tenants, .. } = run;
        let done = together.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(job, done as f64 / together.runs() as f64);
        let windows = ssd.recorder.flows[flow].windows.take();
        let observed = ssd.completions.take().and_then(|completions| completions.into_alone());
        Ok(Alone {
            summary: report::flow_alone(
                &ssd.ended(prepared.device),
                tenants.report(flow),
                prepared.workload,
                flow,
            ),
            windows,
            observed,
        })
    }

    fn over(&self, job: usize, summary: &mut Summary) {
        summary.peak_rss_bytes = report::peak_rss_bytes();
        (self.progress)(job, 1.0);
    }
}

impl<'a> Jobs for Runs<'a> {
    type Shared = Together<'a>;
    type Part = Result<Alone, Error>;
    type Result = Outcome;

    fn begin(&self, job: usize) -> Begun<Self::Shared, Self::Result> {
        self.together(job).unwrap_or_else(|error| Begun::Over(Err(error)))
    }

    fn part(&self, job: usize, shared: &Self::Shared, flow: usize) -> Self::Part {
        self.alone(job, shared, flow)
    }

    fn end(&self, job: usize, shared: Self::Shared, flows: Vec<Self::Part>) -> Self::Result {
        let Together { prepared, over_time, mut summary, mut details, observed, .. } = shared;
        let (mut alone_over_time, mut alone_series) = (Vec::new(), Vec::new());
        for (flow, alone) in summary.flows.iter_mut().zip(flows) {
            let alone = alone?;
            report::slowdowns(flow, &alone.summary);
            alone_over_time.extend(alone.windows);
            alone_series.extend(alone.observed);
        }
        if let Some(series) = &mut details.time_series {
            observe::fill_slowdowns(series, &observed.slowed, &alone_series);
        }
        finish_alone(&mut summary, prepared.options, &over_time, &alone_over_time);
        self.over(job, &mut summary);
        Ok((summary, details))
    }
}

/// What follows from the slowdowns of all flows.
fn finish_alone(
    summary: &mut Summary,
    options: &RunOptions,
    over_time: &[Windows],
    alone_over_time: &[Windows],
) {
    report::fairness(summary);
    if options.windows.is_some() {
        summary.slowdown_over_time = Some(windows::slowdowns(over_time, alone_over_time));
    }
}

#[cfg(test)]
#[path = "reference_ftl.rs"]
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
