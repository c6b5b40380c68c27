//! Calibrates a device file to published figures: points of latency or rate by depth and size.
//!
//! Such figures tell nothing about the numbers of channels, chips or planes of a drive, which come
//! from the base device. They do tell something about times and rates, and [`fit`] determines
//! those.

mod bases;
mod figure;
mod fill;
mod hosted;
mod keys;
mod length;
mod machine;
mod mqsim;
mod neighbours;
mod next;
mod pattern;
mod report;
mod run;
mod scaled;
mod scan;
pub mod table;

use std::collections::HashMap;
use std::sync::Mutex;

use flashlane::Error;
use serde::Serialize;

use crate::calibrate::{Calibration, Failure, Options, Parameter, calibrate};

pub use bases::{Tried, fit_nearest};
pub use figure::{Figure, Lasted, Load, Metric, Operation, Phase, Role, State, USUAL_WRITTEN};
pub use hosted::{Fault, Host, Software};
pub use keys::Kept;
pub use neighbours::Neighbours;
pub use next::Proposal;
pub use pattern::Pattern;
pub use run::{Outcome, copies_cost};
pub use scan::Scan;

/// Residuals well beyond this one hardly pull, where latencies beside writes are among the figures:
/// drives have tails that the model lacks. Unit: sigmas.
const TAIL: f64 = 2.0;

/// A request for a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The device that is varied: a preset or a file.
    pub base: String,
    /// Keys to vary; empty for the usual ones. Keys of whole numbers are tried value by value.
    pub vary: Vec<String>,
    /// True if figures with the role [`Role::Predicted`] are held back from the fit.
    pub hold_back: bool,
    /// Scales the number of simulated requests. Range: above 0, usually 1.
    pub effort: f64,
    /// Number of further measurements to propose.
    pub proposals: usize,
    /// How to calibrate.
    pub options: Options,
}

impl Request {
    /// The usual options for a base device.
    #[must_use]
    pub fn of(base: &str) -> Self {
        Self {
            base: base.to_owned(),
            vary: Vec::new(),
            hold_back: true,
            effort: 1.0,
            proposals: 3,
            // Bounds are far apart here: a quarter of the distance is a factor of 2.4. Runs are
            // short and queues chaotic, so small steps would measure noise.
            options: Options {
                widest_share: 0.25,
                tolerance: 1e-4,
                step: 0.08,
                ..Options::default()
            },
        }
    }
}

/// Result of a fit to figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveFit {
    /// The base device.
    pub base: String,
    /// The presets that were tried as a base, nearest first; empty if a base was named.
    pub tried: Vec<Tried>,
    /// The figures, including those that were held back.
    pub figures: Vec<Figure>,
    /// The fitted device's value of each figure.
    pub fitted: Vec<f64>,
    /// The quantities that were varied.
    pub calibration: Calibration,
    /// For each parameter, the figure that tells most about it, as an index into `figures`.
    #[serde(rename = "told_by")]
    pub determined_by: Vec<Option<usize>>,
    /// The whole numbers that were tried.
    pub scans: Vec<Scan>,
    /// Keys that keep the value of the base.
    pub kept: Vec<Kept>,
    /// Measurements that would narrow the intervals most, best first.
    pub proposals: Vec<Proposal>,
}

/// A step of the work, for progress messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of simulated figures so far.
    pub simulations: usize,
}

/// Fits a base device to figures. Calls `progress` after every simulation.
///
/// # Errors
/// A base that does not load, keys that cannot be varied, figures that the base cannot be measured
/// for, or no figure that is fitted to.
pub fn fit(
    figures: &[Figure],
    request: &Request,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<CurveFit, Error> {
    let used = fitted_to(figures, request);
    if used.is_empty() {
        return Err(Error::config("role", "every figure is held back, so there is none to fit"));
    }
    let seen: Vec<Figure> = used.iter().map(|&index| figures[index].clone()).collect();
    let plan = keys::plan(&request.base, &request.vary, &seen)?;
    let mut request = request.clone();
    request.options.tail = tail(&seen, &request);
    let request = &request;
    let bench = Bench::new(request, figures, progress);
    let (calibration, scans) = scan::best(&plan, &seen, &bench)?;
    let wholes = scan::sets(&scans);
    let determined_by =
        determined_by(&calibration, &seen).into_iter().map(|one| one.map(|at| used[at]));
    let proposals = next::propose(&calibration, &seen, &wholes, &bench)?;
    let sets = bench.sets(&calibration.parameters, &calibration.values, &wholes);
    let values = figures.iter().map(|figure| bench.measure(figure, &sets));
    Ok(CurveFit {
        base: request.base.clone(),
        tried: Vec::new(),
        figures: figures.to_vec(),
        fitted: values.collect::<Result<_, _>>()?,
        determined_by: determined_by.collect(),
        calibration,
        scans,
        kept: plan.kept,
        proposals,
    })
}

/// The figures that are not held back, as indices.
fn fitted_to(figures: &[Figure], request: &Request) -> Vec<usize> {
    let fitted = |&index: &usize| !request.hold_back || figures[index].role == Role::Fitted;
    (0..figures.len()).filter(fitted).collect()
}

/// The residual well beyond which others hardly pull ([`Options::tail`]).
fn tail(figures: &[Figure], request: &Request) -> Option<f64> {
    let beside_writes = figures.iter().any(|figure| figure.load.is_some());
    request.options.tail.or(beside_writes.then_some(TAIL))
}

/// Simulates figures, and remembers their values.
struct Bench<'a> {
    request: &'a Request,
    progress: &'a (dyn Fn(Step) + Sync),
    known: Mutex<HashMap<String, f64>>,
    /// All figures, since one run gives several of them.
    figures: &'a [Figure],
}

impl<'a> Bench<'a> {
    fn new(
        request: &'a Request,
        figures: &'a [Figure],
        progress: &'a (dyn Fn(Step) + Sync),
    ) -> Self {
        Self { request, progress, known: Mutex::new(HashMap::new()), figures }
    }

    /// The keys of all parameters with their values, as `--set` takes them.
    fn sets(&self, parameters: &[Parameter], values: &[f64], wholes: &[String]) -> Vec<String> {
        let set = |(parameter, &value): (&Parameter, &f64)| {
            format!("{}={}", parameter.key, parameter.unit.toml(value))
        };
        let sets = parameters.iter().zip(values).map(set);
        sets.chain(wholes.iter().cloned()).collect()
    }

    /// The value of a figure with keys set. A run with only reads does not depend on the times of
    /// programs and erases, so it runs once for all of these.
    fn measure(&self, figure: &Figure, sets: &[String]) -> Result<f64, Error> {
        let of_writes =
            ["flash.program_time=", "flash.erase_time=", "interface.write_firmware_time="];
        let reads = figure.operation == Operation::Read && figure.load.is_none();
        let unread = reads && figure.state == State::Fresh;
        let sets: Vec<String> = sets
            .iter()
            .filter(|set| !(unread && of_writes.iter().any(|key| set.starts_with(key))))
            .cloned()
            .collect();
        let name = |figure: &Figure| format!("{} {}", figure.identity(), sets.join(" "));
        let known = || self.known.lock().expect("no thread panics with it");
        if let Some(&value) = known().get(&name(figure)) {
            return Ok(value);
        }
        let outcome = Outcome::of(figure, &self.request.base, &sets, self.request.effort)?;
        let value = outcome.value(figure);
        let others = self.figures.iter().filter(|one| one.shares_run(figure));
        let simulations = {
            let mut known = known();
            known.insert(name(figure), value);
            known.extend(others.map(|other| (name(other), outcome.value(other))));
            known.len()
        };
        (self.progress)(Step { simulations });
        Ok(value)
    }

    /// Calibrates quantities while whole numbers are fixed.
    fn calibrate(
        &self,
        parameters: &[Parameter],
        figures: &[Figure],
        wholes: &[String],
        options: &Options,
    ) -> Result<Calibration, Error> {
        let measured: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
        let sigmas: Vec<f64> = figures.iter().map(|figure| figure.sigma).collect();
        let simulate = |values: &[f64]| {
            let sets = self.sets(parameters, values, wholes);
            figures.iter().map(|figure| self.measure(figure, &sets)).collect()
        };
        calibrate(parameters, &measured, &sigmas, simulate, options).map_err(
            |failure| match failure {
                Failure::Simulation(error) => error,
                Failure::Request(message) => Error::config("fit", message),
            },
        )
    }
}

/// For each determined parameter, the figure through which errors affect it most.
fn determined_by(calibration: &Calibration, figures: &[Figure]) -> Vec<Option<usize>> {
    let strongest = |(axis, elasticities): (usize, &Vec<f64>)| {
        let strength = |at: usize| (elasticities[at] / figures[at].sigma).abs();
        let best = (0..figures.len()).max_by(|&a, &b| strength(a).total_cmp(&strength(b)))?;
        calibration.determines(axis).then_some(best)
    };
    calibration.elasticities.iter().enumerate().map(strongest).collect()
}
