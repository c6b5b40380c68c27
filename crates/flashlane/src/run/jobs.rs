//! Scenarios as jobs for several threads: the flows together, then some of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use flashlane_units::FlowId;

use super::subsets::{self, Subset};
use super::{Details, Outcome, Prepared, Simulation, measured, wants_slowdowns, whole_drive};
use crate::need;
use crate::options::RunOptions;
use crate::parallel::{Begun, Jobs};
use crate::stopwatch::Stopwatch;
use crate::tenants::{Overload, Run};
use crate::waf_only;
use flashlane_config::WorkloadConfig;
use flashlane_device::device::watcher::Watcher;
use flashlane_device::ftl::{FrozenState, FtlState};
use flashlane_measure::metrics::recorder::OPERATIONS;
use flashlane_measure::metrics::steady::Watch;
use flashlane_measure::metrics::summary::{FlowSummary, OverloadSummary};
use flashlane_measure::metrics::window::Window;
use flashlane_measure::metrics::windows::{self, Windows};
use flashlane_measure::metrics::{AloneBasis, Summary, empty, report};
use flashlane_measure::observe::{Completions, Observed, Observer};
use flashlane_measure::recording::Recorder as Recording;
use flashlane_reading::Error;

/// Simulations as jobs: first all flows together, then the runs of some of them.
pub(super) struct Runs<'a> {
    pub(super) simulations: &'a [Simulation<'a>],
    pub(super) progress: &'a (dyn Fn(usize, f64) + Sync),
}

/// A drive on which several runs start.
struct Place<'a> {
    prepared: Prepared<'a>,
    /// The state in which all runs start; `None`: a new empty drive.
    start: Option<FrozenState>,
}

/// Results of the run of all flows that the runs of some of them need.
pub(super) struct Together<'a> {
    place: Place<'a>,
    /// Where flows run alone, if that is not where all run.
    whole: Option<Place<'a>>,
    window: Window,
    over_time: Vec<Windows>,
    summary: Summary,
    details: Details,
    /// Results from which slowdowns over time are computed.
    observed: Observed,
    /// The runs that follow.
    subsets: Vec<Subset>,
    /// Number of finished runs, this one included.
    done: AtomicUsize,
}

/// Results of a run of some flows.
pub(super) struct Partial {
    subset: Subset,
    /// Mean end-to-end times of all flows, in the order of the workload. Unit: microseconds.
    /// `None`: the flow does not run, or has no request that counts.
    means: Vec<Option<f64>>,
    alone: Option<Alone>,
    overload: Option<OverloadSummary>,
}

/// More results of the run of a single flow.
struct Alone {
    summary: FlowSummary,
    /// End-to-end times of the flow by windows, if they are asked for, and by the windows of the
    /// time series.
    windows: Option<Windows>,
    observed: Option<Windows>,
}

impl Together<'_> {
    fn runs(&self) -> usize {
        self.subsets.len() + 1
    }
}

impl<'a> Runs<'a> {
    fn together(&self, job: usize) -> Result<Begun<Together<'a>, Outcome>, Error> {
        let Simulation { device, workload, options } = self.simulations[job];
        empty::foreseen(workload, options.warmup, options.until_steady.is_some())?;
        promises_fit(workload, options)?;
        need::check(device, workload)?;
        if options.waf_only {
            return self.untimed(job).map(Begun::Over);
        }
        let begun = Stopwatch::start();
        let mut prepared = Prepared::new(device, workload, options)?;
        let precondition_wall_s = begun.seconds();

        let subsets = subsets::of(device, workload, options);
        let runs = subsets.len() + 1;
        let (state, start) =
            if subsets.is_empty() { (prepared.take_state(), None) } else { starts(&mut prepared) };
        let begun = Stopwatch::start();
        let window = match options.until_steady {
            Some(_) => Window::until_steady(options.warmup.or(workload.warmup)),
            None => Window::new(workload.window, options.warmup.or(workload.warmup)),
        };
        let window = window.after(workload.last_start());
        let mut run = prepared.build(state, window, |_| true)?;
        let open_loops = run.tenants.unprompted();
        let submissions = options.observe.submissions.clone();
        if submissions.is_some() {
            refuse_queue_pairs(workload)?;
        }
        run.recorder = submissions.map(|sink| Box::new(Recording::new(sink)));
        let shared = &mut run.drive;
        if let Some(rule) = options.until_steady {
            shared.meters.recorder.watch_for(Watch::new(rule));
        }
        let pages = shared.device.layout().logical_pages;
        let observer = Observer::new(&options.observe, device, workload, pages, &open_loops);
        shared.device.watch(observer.map(|observer| observer as Box<dyn Watcher>));
        let geometry = device.geometry();
        shared.meters.completions = Completions::new(&options.observe, &geometry, &open_loops);
        run.run_to_end(&|share| (self.progress)(job, share / runs as f64))?;
        let Run { drive: mut shared, tenants, .. } = run;
        let window = &shared.meters.recorder.window;
        if window.is_empty() {
            if let Some(overload) = tenants.overload {
                let overload = overload_summary(overload, workload, false);
                return Err(empty::overloaded(&overload));
            }
            let generated = shared.device.flows().map(|flow| flow.submitted()).sum();
            return Err(empty::found(workload, options.warmup, generated, window.load_ended()));
        }
        shared.settle();
        let wall_s = begun.seconds();

        let mut summary = report::summarise(
            &shared.ended(device),
            |flow| tenants.report(flow),
            device,
            workload,
            options.variant(),
        );
        let overload = tenants.overload.map(|one| overload_summary(one, workload, false));
        summary.overload.extend(overload);
        let mut observed = shared.observed(workload)?;
        let (counted, series) = (shared.meters.recorder.window.span(), &mut observed.time_series);
        measured::fill(&mut summary, series.as_mut(), workload, counted)?;
        summary.verdict = summary.verdict();
        summary.wall_s = wall_s;
        summary.precondition_wall_s = precondition_wall_s;
        summary.requests_per_wall_s = summary.requests_completed as f64 / wall_s.max(1e-9);
        let flows = &mut shared.meters.recorder.flows;
        let mut by_operation: [Vec<_>; OPERATIONS] = Default::default();
        for flow in flows.iter() {
            for (all, one) in by_operation.iter_mut().zip(flow.responses()) {
                all.push(one.distribution());
            }
        }
        let [
            read_distributions,
            write_distributions,
            trim_distributions,
            flush_distributions,
            _zones,
        ] = by_operation;
        let details = Details {
            distributions: flows.iter().map(|f| f.response().distribution()).collect(),
            read_distributions,
            write_distributions,
            trim_distributions,
            flush_distributions,
            series: flows.iter().filter_map(|f| Some(f.series.as_ref()?.intervals())).collect(),
            blame: observed.blame.take(),
            time_series: observed.time_series.take(),
            timeline: observed.timeline.take(),
            queues: std::mem::take(&mut observed.queues),
        };
        let over_time = flows.iter_mut().filter_map(|flow| flow.windows.take()).collect();
        let window = shared.meters.recorder.window.clone();
        let done = AtomicUsize::new(1);
        let parts = subsets.len();
        let place = Place { prepared, start };
        let whole = whole_place(&subsets, self.simulations[job])?;
        let together =
            Together { place, whole, window, over_time, summary, details, observed, subsets, done };
        if parts > 0 {
            return Ok(Begun::Parts(together, parts));
        }
        let Together { over_time, mut summary, mut details, observed, .. } = together;
        if wants_slowdowns(workload, options) {
            report::alone_is_shared(&mut summary, options.alone_basis);
            finish_alone(&mut summary, options, &over_time, &over_time);
            if let Some(series) = &mut details.time_series {
                flashlane_measure::observe::fill_ones(series, &observed.slowed);
            }
        }
        self.over(job, &mut summary);
        Ok(Begun::Over(Ok((summary, details))))
    }

    /// Runs a scenario without time.
    fn untimed(&self, job: usize) -> Result<Outcome, Error> {
        let Simulation { device, workload, options } = self.simulations[job];
        let problems = waf_only::refuse(device, workload, options);
        if !problems.is_empty() {
            return Err(Error::Config(problems));
        }
        let begun = Stopwatch::start();
        let Prepared { layout, state, cache, .. } = Prepared::new(device, workload, options)?;
        let precondition_wall_s = begun.seconds();
        let progress = |share| (self.progress)(job, share);
        let mut summary =
            waf_only::run(device, workload, options, &layout, state, cache, &progress)?;
        summary.precondition_wall_s = precondition_wall_s;
        self.over(job, &mut summary);
        Ok(Ok((summary, Details::default())))
    }

    /// Runs some flows over the window of the shared run.
    fn partial(&self, job: usize, together: &Together<'_>, part: usize) -> Result<Partial, Error> {
        let subset = together.subsets[part];
        let place = match (subset, &together.whole) {
            (Subset::Only(_), Some(whole)) => whole,
            _ => &together.place,
        };
        let prepared = &place.prepared;
        let state = place.start.as_ref().map_or_else(|| prepared.new_state(), FrozenState::copy);
        let window = Window::fixed(&together.window);
        let mut run = prepared.build(state, window, |flow| subset.has(flow))?;
        if let (Subset::Only(flow), Some(_)) = (subset, &together.details.time_series) {
            let open_loop = run.tenants.unprompted()[flow];
            let window = together.observed.series_window;
            run.drive.meters.completions = Some(Completions::alone(window, open_loop));
        }
        run.run_to_end(&|_| {})?;
        let Run { drive: mut ssd, tenants, .. } = run;
        let done = together.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(job, done as f64 / together.runs() as f64);
        ssd.settle();
        let windows = match subset {
            Subset::Only(flow) => ssd.meters.recorder.flows[FlowId::at(flow)].windows.take(),
            Subset::Without(_) => None,
        };
        let completions = ssd.meters.completions.take();
        let ended = ssd.ended(&prepared.device);
        let of =
            |flow: usize| report::flow_alone(&ended, tenants.report(flow), prepared.workload, flow);
        let mean = |flow: usize| {
            let times = subset.has(flow).then(|| of(flow).end_to_end_us)?;
            (times.count > 0).then_some(times.mean)
        };
        let mut means: Vec<_> = (0..prepared.workload.flows.len()).map(mean).collect();
        let alone = match subset {
            Subset::Only(flow) => {
                let observed = completions.and_then(|completions| completions.into_alone());
                Some(Alone { summary: of(flow), windows, observed })
            }
            Subset::Without(_) => None,
        };
        let overload = tenants.overload.map(|one| overload_summary(one, prepared.workload, true));
        // Times of a run that was cut say nothing.
        if overload.is_some() {
            means.fill(None);
        }
        Ok(Partial { subset, means, alone, overload })
    }

    fn over(&self, job: usize, summary: &mut Summary) {
        summary.judge(self.simulations[job].workload);
        summary.peak_rss_bytes = report::peak_rss_bytes();
        (self.progress)(job, 1.0);
    }
}

impl<'a> Jobs for Runs<'a> {
    type Shared = Together<'a>;
    type Part = Result<Partial, Error>;
    type Result = Outcome;

    fn begin(&self, job: usize) -> Begun<Self::Shared, Self::Result> {
        need::guarded(|| self.together(job)).unwrap_or_else(|error| Begun::Over(Err(error)))
    }

    fn part(&self, job: usize, shared: &Self::Shared, part: usize) -> Self::Part {
        need::guarded(|| self.partial(job, shared, part))
    }

    fn end(&self, job: usize, shared: Self::Shared, parts: Vec<Self::Part>) -> Self::Result {
        let Together { place, over_time, mut summary, mut details, observed, .. } = shared;
        let Prepared { workload, options, .. } = place.prepared;
        let (mut alone_over_time, mut alone_series) = (Vec::new(), Vec::new());
        let mut means = Vec::new();
        let slowdowns = wants_slowdowns(workload, options);
        for part in parts {
            let part = part?;
            if let (Subset::Only(flow), Some(alone), true) = (part.subset, part.alone, slowdowns) {
                report::slowdowns(&mut summary.flows[flow], &alone.summary, options.alone_basis);
                summary.overload.extend(part.overload);
                alone_over_time.extend(alone.windows);
                alone_series.extend(alone.observed);
            }
            means.push((part.subset, part.means));
        }
        summary.verdict = summary.verdict();
        if options.leave_one_out {
            subsets::fill_without(&mut summary, &means);
        }
        if let (Some(series), true) = (&mut details.time_series, slowdowns) {
            flashlane_measure::observe::fill_slowdowns(series, &observed.slowed, &alone_series);
        }
        if slowdowns {
            finish_alone(&mut summary, options, &over_time, &alone_over_time);
        }
        self.over(job, &mut summary);
        Ok((summary, details))
    }
}

/// The state of a drive for its first run, and the state in which all others start; `None` for a
/// new empty drive, since a copy of it would only cost memory.
fn starts(prepared: &mut Prepared<'_>) -> (FtlState, Option<FrozenState>) {
    let state = prepared.take_state();
    if prepared.is_new() {
        return (prepared.new_state(), None);
    }
    if let Some(kept) = prepared.kept.take() {
        let start = kept.with_mapping(state.mapping.clone());
        return (state, Some(start));
    }
    let start = state.freeze();
    (start.copy(), Some(start))
}

/// The whole drive for flows that run alone, if they have less of it beside the others.
fn whole_place<'a>(
    subsets: &[Subset],
    Simulation { device, workload, options }: Simulation<'a>,
) -> Result<Option<Place<'a>>, Error> {
    let alone = subsets.iter().any(|subset| matches!(subset, Subset::Only(_)));
    let whole = options.alone_basis == AloneBasis::WholeDrive;
    if !alone || !whole || !whole_drive::differs(device, workload) {
        return Ok(None);
    }
    let mut prepared = Prepared::whole(device, workload, options)?;
    let start = if prepared.is_new() { None } else { starts(&mut prepared).1 };
    Ok(Some(Place { prepared, start }))
}

/// The summary of a load that ended before its time.
fn overload_summary(one: Overload, workload: &WorkloadConfig, alone: bool) -> OverloadSummary {
    let flow = workload.flows[one.flow].name.clone();
    OverloadSummary { flow, alone, at_s: one.at.as_s(), outstanding: one.outstanding }
}

/// Refuses limits and promises that mean nothing with the options.
fn promises_fit(workload: &WorkloadConfig, options: &RunOptions) -> Result<(), Error> {
    if options.waf_only && workload.limits_rates() {
        let message = "found a limit of rates, allowed: none; a run without time has no rates";
        return Err(Error::config("limit", message));
    }
    let Some(flow) = workload.flows.iter().find(|flow| flow.slo.is_some()) else { return Ok(()) };
    let place = format!("flow.{}.slo", flow.name);
    if options.waf_only {
        let message = "found goals, allowed: none; a run without time cannot judge them";
        return Err(Error::config(place, message));
    }
    if options.until_steady.is_some() && wants_slowdowns(workload, options) {
        let message = "found a goal for the slowdown, allowed: the others; --until-steady does not run flows \
                       alone";
        return Err(Error::config(place, message));
    }
    Ok(())
}

/// Fills in the figures that depend on the slowdowns of all flows.
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

/// Refuses to record flows with several queue pairs: a command of a recording does not name its
/// queue pair.
fn refuse_queue_pairs(workload: &WorkloadConfig) -> Result<(), Error> {
    let several = |flow: &flashlane_config::FlowConfig| flow.queue_pairs() > 1;
    let Some(index) = workload.flows.iter().position(several) else { return Ok(()) };
    let message = "found several, allowed with a recording of submissions: 1; a recording does \
                   not name the queue pairs of its commands";
    Err(Error::config(format!("flow[{index}].synthetic.warps.queue_pairs"), message))
}
