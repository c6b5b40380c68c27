//! Measured figures of drives beside those of their presets.
//!
//! Figures of one run share it. Runs are independent of each other, so that any number of threads
//! gives the same values.

mod facts;
mod page;
mod summary;
mod waits;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use flashlane::Error;
use flashlane_fit::curves::{Fault, Figure, Metric, Outcome, Pattern, Role, copies_cost};
use serde::Serialize;

pub use facts::{Fact, Kind, Traits, drives, parse, shipped, traits};
pub use page::page;
pub use summary::{Errors, Signs, percent, signs, summary};
pub use waits::{Wait, waits};

/// How to run.
#[derive(Clone, Debug)]
pub struct Request {
    /// The device file that stands for a drive, in place of the preset of its name.
    pub devices: BTreeMap<String, String>,
    /// Keys to set on every device.
    pub sets: Vec<String>,
    /// Scales the number of requests of runs with time. Range: above 0, usually 1.
    pub effort: f64,
    /// Also run the figures with the arithmetic of the released MQSim.
    pub mqsim: bool,
    /// Threads; 0 for all cores.
    pub threads: usize,
}

impl Default for Request {
    fn default() -> Self {
        let (devices, sets) = (BTreeMap::new(), Vec::new());
        Self { devices, sets, effort: 1.0, mqsim: false, threads: 0 }
    }
}

/// A measured figure beside ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The drive.
    pub drive: String,
    /// What the figure is about.
    pub kind: Kind,
    /// The figure in words.
    pub point: String,
    /// The measured value.
    pub measured: f64,
    /// The value of the preset.
    pub ours: f64,
    /// `ours / measured - 1`.
    pub error: f64,
    /// The value by the arithmetic of the released MQSim, where its features suffice and it was
    /// asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mqsim: Option<f64>,
    /// Beside neighbours: for what a request of ours waited, in the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_us: Option<Fault>,
    /// Whether the preset was fitted to the figure.
    pub role: Role,
    /// Unit of the values.
    pub unit: &'static str,
    /// Where the measured value comes from.
    pub source: String,
    /// The figure, for curves and for signs.
    #[serde(skip)]
    pub figure: Figure,
}

/// A run, and the figures that it gives.
struct Run<'a> {
    drive: &'a str,
    figure: Figure,
}

/// Runs every figure. `progress` gets the number of runs that are done, and of all.
///
/// # Errors
/// A device that does not load, a run that the simulation refuses, and a rate of writes of a drive
/// of which neither the rate of sequential writes nor that of uniform writes is known.
pub fn validate(
    facts: &[Fact],
    request: &Request,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Point>, Error> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut of_fact = Vec::new();
    for fact in facts {
        let figure = simulated(fact);
        let same = |run: &Run<'_>| run.drive == fact.drive && run.figure.shares_run(&figure);
        let index = runs.iter().position(same).unwrap_or_else(|| {
            runs.push(Run { drive: &fact.drive, figure: figure.clone() });
            runs.len() - 1
        });
        of_fact.push((index, figure));
    }
    let outcomes = all(&runs, request, progress)?;
    let uniform = |drive: &str, of: &dyn Fn(&Both) -> Option<&Outcome>| {
        let mut all = facts.iter().zip(&of_fact);
        let (fact, (run, figure)) = all.find(|(fact, _)| {
            fact.kind == Kind::WriteRate && fact.drive == drive && is_uniform(&fact.figure)
        })?;
        Some((fact.figure.value, of(&outcomes[*run])?.value(figure)))
    };
    let points = facts.iter().zip(&of_fact).map(|(fact, (run, figure))| {
        let value_of = |of: &dyn Fn(&Both) -> Option<&Outcome>| {
            let simulated = of(&outcomes[*run])?.value(figure);
            Some(value(fact, simulated, &|drive| uniform(drive, of)))
        };
        let ours = value_of(&|both| Some(&both.ours)).expect("every run gives our values")?;
        let mut point = point(fact, ours);
        point.waited_us = outcomes[*run].ours.fault();
        point.mqsim = value_of(&|both| both.mqsim.as_ref()).transpose()?;
        Ok(point)
    });
    points.collect()
}

/// What a run gave.
#[derive(Debug)]
struct Both {
    ours: Outcome,
    mqsim: Option<Outcome>,
}

impl Both {
    fn of(run: &Run<'_>, request: &Request) -> Result<Self, Error> {
        let device = request.devices.get(run.drive).map_or(run.drive, String::as_str);
        let (figure, sets, effort) = (&run.figure, &request.sets, request.effort);
        let ours = Outcome::of(figure, device, sets, effort)?;
        let mqsim = request.mqsim.then(|| Outcome::of_mqsim(figure, device, sets, effort));
        Ok(Self { ours, mqsim: mqsim.flatten() })
    }
}

/// The figure that is simulated for a fact: rates of writes come from amplification.
fn simulated(fact: &Fact) -> Figure {
    let metric = match fact.kind {
        Kind::WriteRate => Metric::Waf,
        _ => fact.figure.metric,
    };
    Figure { metric, ..fact.figure.clone() }
}

/// True for uniform writes over the whole drive, to which others are compared.
fn is_uniform(figure: &Figure) -> bool {
    figure.pattern == Pattern::Random && figure.used == 1.0
}

/// Our value of a fact from that of its simulation.
///
/// Amplification takes the overhead of the drive's counter. A rate of writes is that of sequential
/// writes over the cost of the pattern. Where that is not known, it is the measured rate of uniform
/// writes times their cost over that of the pattern. `uniform` gives that rate, and the
/// amplification of its simulation.
fn value(
    fact: &Fact,
    simulated: f64,
    uniform: &dyn Fn(&str) -> Option<(f64, f64)>,
) -> Result<f64, Error> {
    match (fact.kind, traits(&fact.drive)) {
        (Kind::Waf, Some(known)) => Ok(simulated * known.overhead),
        (Kind::WriteRate, Some(known)) => Ok(known.sequential / copies_cost(simulated, known.copy)),
        (Kind::WriteRate, None) => {
            let (rate, amplification) = uniform(&fact.drive).ok_or_else(|| {
                let why = "found rates of writes, allowed: with the rate of random writes to the whole drive";
                Error::config(&fact.drive, why)
            })?;
            Ok(rate * amplification / simulated)
        }
        _ => Ok(simulated),
    }
}

fn point(fact: &Fact, ours: f64) -> Point {
    let figure = &fact.figure;
    Point {
        drive: fact.drive.clone(),
        kind: fact.kind,
        point: figure.name(),
        measured: figure.value,
        ours,
        error: ours / figure.value - 1.0,
        mqsim: None,
        waited_us: None,
        role: figure.role,
        unit: figure.metric.unit(),
        source: figure.source.clone(),
        figure: figure.clone(),
    }
}

/// The outcomes of all runs, in their order.
fn all(
    runs: &[Run<'_>],
    request: &Request,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Both>, Error> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if request.threads == 0 { cores() } else { request.threads };
    let (next, done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<Mutex<Option<Result<Both, Error>>>> =
        runs.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(run) = runs.get(index) else { break };
            let outcome = Both::of(run, request);
            failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
            *results[index].lock().expect("nothing panics with the lock") = Some(outcome);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, runs.len());
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(runs.len()) {
            scope.spawn(work);
        }
        work();
    });
    let results = results.into_iter().map(|one| one.into_inner().expect("nothing panicked"));
    // After a failure later runs are missing; the failure comes before them.
    let mut results: Vec<_> = results.flatten().collect();
    match results.iter().position(Result::is_err) {
        Some(index) => Err(results.swap_remove(index).expect_err("it is the failure")),
        None => results.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_fit::curves::State;

    fn errors(drive: &str, kind: Kind, request: &Request) -> Vec<Point> {
        let mut facts = shipped(drive).expect("it ships");
        facts.retain(|fact| fact.kind == kind);
        validate(&facts, request, &|_, _| {}).expect("all run")
    }

    /// Sizes of phases within 10 %, speeds within 15 %, and the whole fill, which is held back,
    /// within 10 %.
    #[test]
    fn fills_have_the_phases_of_the_drives() {
        for (drive, figures) in
            [("msi-m480-play", 6), ("adata-atom-50", 6), ("team-mp44s", 4), ("hp-fx700", 6)]
        {
            let points = errors(drive, Kind::Cliff, &Request::default());
            assert_eq!(points.len(), figures, "{drive}");
            for point in points {
                let speed = point.figure.metric == Metric::FillMbPerS;
                let most = if speed && point.figure.phase.is_some() { 0.15 } else { 0.1 };
                assert!(point.error.abs() < most, "{drive} {}: {}", point.point, point.ours);
            }
        }
    }

    /// Number of rates and means within 10 %, and 99th percentiles within 20 %.
    fn near(points: &[Point]) -> usize {
        let within = |point: &&Point| {
            let most = if point.figure.metric == Metric::P99Us { 0.2 } else { 0.1 };
            point.error.abs() < most
        };
        points.iter().filter(within).count()
    }

    /// All but three of 90 figures are near: two jobs of SPDK with 16 requests each are slower than
    /// one job with 32 would be.
    #[test]
    fn reads_by_depth_are_those_of_the_drive() {
        let points = errors("980-pro-filled", Kind::Depth, &Request::default());
        assert_eq!(points.len(), 90);
        let worst = points.iter().map(|point| point.error.abs()).fold(0.0, f64::max);
        assert!(near(&points) >= 87 && worst < 0.3, "{} {worst}", near(&points));
    }

    /// Reads of 8 and 32 KiB at depths of 1 to 256. Those of 32 KiB have the same rate from 32 on.
    #[test]
    fn large_reads_are_those_of_the_drive() {
        let mut points = errors("980-pro-filled", Kind::Size, &Request::default());
        points.retain(|point| point.figure.size.0 >= 8192);
        assert_eq!(points.len(), 54);
        let worst = points.iter().map(|point| point.error.abs()).fold(0.0, f64::max);
        assert!(near(&points) >= 44 && worst < 0.35, "{} {worst}", near(&points));
        let rate = |depth: u32| {
            let of = |point: &&Point| {
                point.figure.size.0 == 32 << 10
                    && point.figure.depth == depth
                    && point.figure.metric == Metric::Kiops
            };
            points.iter().find(of).expect("it is measured").ours
        };
        assert!((0.98..1.02).contains(&(rate(256) / rate(32))), "{} {}", rate(256), rate(32));
    }

    /// A reader beside reading neighbours: its slowdown within a factor of 1.5, and larger beside
    /// large requests than beside small ones. It waits for them and for nothing else.
    #[test]
    fn a_reader_beside_readers_slows_down_as_measured() {
        let mut facts = shipped("980-pro-filled").expect("it ships");
        facts.retain(|fact| {
            let metric = fact.figure.metric == Metric::Slowdown;
            let fresh = fact.figure.state == State::Fresh;
            let neighbours = fact.figure.neighbours;
            metric && fresh && neighbours.is_some_and(|other| matches!(other.jobs, 1 | 2))
        });
        let request = Request { effort: 0.05, ..Request::default() };
        let points = validate(&facts, &request, &|_, _| {}).expect("all run");
        let [small, more_small, large, more_large] = &points[..] else { panic!("{points:?}") };
        for point in &points {
            let factor = point.ours / point.measured;
            assert!((1.0 / 1.5..1.5).contains(&factor), "{}: {}", point.point, point.ours);
            let waited = point.waited_us.expect("it has neighbours");
            assert!(waited.drive < 0.1 && waited.neighbours > 0.5, "{waited:?}");
        }
        assert!(large.ours > 2.0 * small.ours && more_large.ours > 2.0 * more_small.ours);
        assert!(more_large.ours > large.ours, "more of them take longer");
    }

    /// Beside neighbours that write, but for one of four counts: two jobs slowed the measured
    /// reader down less than one did.
    #[test]
    #[ignore = "half a minute, of `make long`"]
    fn a_reader_beside_writers_slows_down_as_measured() {
        let mut facts = shipped("980-pro-filled").expect("it ships");
        facts.retain(|fact| {
            let metric = fact.figure.metric == Metric::Slowdown;
            metric && fact.figure.state == State::Sustained
        });
        let points = validate(&facts, &Request::default(), &|_, _| {}).expect("all run");
        let within = |point: &&Point| (1.0 / 1.5..1.5).contains(&(point.ours / point.measured));
        let count = points.iter().filter(within).count();
        assert!(points.len() == 4 && count >= 3, "{points:?}");
    }

    /// Figures that the preset was fitted to, and others, by the drive's own counter.
    #[test]
    fn the_counter_of_a_drive_is_met() {
        let mut facts = shipped("micron-7450-max").expect("it ships");
        facts.retain(|fact| fact.kind == Kind::Waf);
        let points = validate(&facts, &Request::default(), &|_, _| {}).expect("all run");
        let mut errors: Vec<f64> = points.iter().map(|point| point.error.abs()).collect();
        errors.sort_by(f64::total_cmp);
        assert!(errors.len() > 10 && errors[errors.len() / 2] < 0.03, "{errors:?}");
        assert!(errors.iter().all(|error| *error < 0.1), "{errors:?}");
    }
}
