//! Least squares by simulation.
//!
//! Each parameter is a key of a device file with bounds. Its logarithm is varied between them. A
//! residual is `ln(fitted / measured) / sigma`; sigma is the relative error of the measurement.
//! Levenberg-Marquardt steps minimise the sum of the squared residuals; derivatives are central
//! differences, over steps that are large compared with the grain of a simulation.
//!
//! In addition to the values, a [`Calibration`] says how well the measurements determine them. It
//! has a 95 % interval of each value, and correlated pairs. It lists parameters, and combinations
//! of parameters, that the measurements do not determine, and says whether the model fits the
//! measurements at all.

mod determined;
mod evaluate;
mod problem;
mod start;

use std::fmt;

use levenberg_marquardt::LevenbergMarquardt;
use serde::Serialize;

use crate::unit::Unit;
use evaluate::{Evaluator, Position, Stopped};
pub(crate) use problem::loss;
use problem::{End, Problem};

/// Tolerance of the coarse search.
const COARSE: f64 = 0.03;

/// A key of a device file that is varied.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// The key, for example `flash.read_time`.
    pub key: String,
    /// Start of the search, from `low` to `high`. A value that the measurements do not determine
    /// stays near the start.
    pub start: f64,
    /// The smallest value that is tried. Range: above 0.
    pub low: f64,
    /// The largest value that is tried. Range: at least `low`.
    pub high: f64,
    /// How the value is written in a device file.
    pub unit: Unit,
}

/// Options of a calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Number of parallel simulations; 0 for one on each core. Never changes a result.
    pub threads: usize,
    /// Bound on the calls of `simulate`; the search ends before it needs more.
    pub most_evaluations: usize,
    /// Half the distance between the two points of a difference, as a share of the value.
    pub step: f64,
    /// Number of starting points of the search.
    ///
    /// If the search from the first start ends more than a sigma off a measurement, the others are
    /// tried all over the bounds, and a second search begins at the best of them. Its end counts if
    /// it is better beyond chance. If it is equally good, intervals include both ends.
    pub starts: usize,
    /// Seed of the points that are tried.
    pub seed: u64,
    /// The search ends when a step improves the sum of squares by less than this share.
    pub tolerance: f64,
    /// Residuals well beyond this one hardly pull: for models that cannot meet every measurement.
    /// `None` for least squares. Unit: sigmas.
    pub tail: Option<f64>,
    /// How strongly parameters are held at their start: deviations per distance of the bounds. It
    /// matters only where the measurements say next to nothing.
    pub hold: f64,
    /// A parameter is undetermined if its interval is wider than this share of the distance of its
    /// bounds.
    pub widest_share: f64,
    /// Weight of the stated errors when the residuals show that they are too small. It is a number
    /// of additional measurements: the quantile is that of Student's t with this many more degrees
    /// of freedom.
    pub trust: usize,
    /// The model does not fit if a residual is larger than this. Unit: sigmas.
    pub worst_residual: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 0,
            most_evaluations: 400,
            step: 0.015,
            starts: 1,
            seed: 1,
            tolerance: 1e-6,
            tail: None,
            hold: 0.1,
            widest_share: 0.5,
            trust: 4,
            worst_residual: 5.0,
        }
    }
}

/// The interval that contains the true value with a probability of 95 %, if the model is right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end, not below the lower bound.
    pub low: f64,
    /// Upper end, not above the upper bound.
    pub high: f64,
    /// True if the value is at its lower bound; a smaller value might fit better.
    pub at_low: bool,
    /// True if the value is at its upper bound; a larger value might fit better.
    pub at_high: bool,
}

impl Interval {
    /// True if the value is in the interval.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// Two parameters whose errors are nearly proportional.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Correlation {
    /// The first, as an index into the parameters.
    pub first: usize,
    /// The second.
    pub second: usize,
    /// Correlation coefficient. Range: -1 to 1, more than 0.95 in magnitude.
    pub coefficient: f64,
}

/// A combination of parameters that the measurements do not determine. Multiplying each parameter
/// by `factor ^ exponent` for any moderate factor changes no measurement beyond its error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Direction {
    /// Parameters, as indices, and exponents. The largest exponent is 1.
    pub exponents: Vec<(usize, f64)>,
    /// Change of all measurements together when the combination goes from one end of the bounds to
    /// the other. Unit: sigmas.
    pub sensitivity: f64,
}

/// A measurement, and the value of the calibrated model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Residual {
    /// The measurement.
    pub measured: f64,
    /// Value of the calibrated model.
    pub fitted: f64,
    /// `ln(fitted / measured)` divided by the relative error of the measurement.
    pub sigmas: f64,
}

/// Result of a calibration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// The parameters that were varied.
    pub parameters: Vec<Parameter>,
    /// The best value of each parameter.
    pub values: Vec<f64>,
    /// Other values that meet the measurements equally well, from the second search.
    pub also: Option<Vec<f64>>,
    /// The 95 % interval of each parameter. If there are other values, it includes them.
    pub intervals: Vec<Interval>,
    /// For each parameter, the change in percent of each measurement when the parameter grows by
    /// one percent.
    pub elasticities: Vec<Vec<f64>>,
    /// Covariance of the logarithms of the parameters, widened if the model fits badly.
    pub covariance: Vec<Vec<f64>>,
    /// Pairs of parameters that are correlated.
    pub correlations: Vec<Correlation>,
    /// Parameters that the measurements do not determine, as indices.
    #[serde(rename = "untold")]
    pub undetermined: Vec<usize>,
    /// Combinations of parameters that the measurements do not determine.
    pub directions: Vec<Direction>,
    /// Every measurement.
    pub residuals: Vec<Residual>,
    /// Sum of the squared residuals. Unit: squared sigmas.
    pub chi2: f64,
    /// Number of measurements, less the number of combinations of parameters that they determine.
    pub degrees: usize,
    /// `chi2 / degrees`; `None` without degrees of freedom. If it is above 1, intervals are wider
    /// by its root.
    pub chi2_reduced: Option<f64>,
    /// Calls of `simulate`.
    pub evaluations: usize,
    /// Calls of `simulate` that failed. Such points count as bad.
    pub refused: usize,
    /// True if the search ended by itself, and not because of the bound on evaluations.
    pub converged: bool,
    /// True if no residual is larger than the limit.
    pub fits: bool,
}

impl Calibration {
    /// True if the measurements determine a parameter.
    #[must_use]
    pub fn determines(&self, parameter: usize) -> bool {
        !self.undetermined.contains(&parameter)
    }
}

/// Reason why there is no calibration.
#[derive(Debug, thiserror::Error)]
pub enum Failure<E: fmt::Display> {
    /// The request is inconsistent.
    #[error("{0}")]
    Request(String),
    /// The model failed at the start of the search.
    #[error("{0}")]
    Simulation(E),
}

/// Finds the parameters with which `simulate` meets the measurements best.
///
/// `simulate` gets the values of the parameters in their order and returns one number for each
/// measurement. All measurements and all returned numbers are above 0. `sigmas` are relative
/// errors: 0.01 for 1 %. The result depends only on the arguments, and not on the number of
/// threads.
///
/// # Errors
/// Fails if lists have different lengths, if there is no measurement, if a value is not above 0, or
/// if a start is outside its bounds. Fails if fewer evaluations are allowed than one set of
/// derivatives takes, or if the simulation fails at the start.
pub fn calibrate<E: fmt::Display + Send>(
    parameters: &[Parameter],
    measured: &[f64],
    sigmas: &[f64],
    simulate: impl Fn(&[f64]) -> Result<Vec<f64>, E> + Sync,
    options: &Options,
) -> Result<Calibration, Failure<E>> {
    check(parameters, measured, sigmas, options).map_err(Failure::Request)?;
    let evaluator = Evaluator::new(parameters, measured, sigmas, &simulate, options);
    let start = evaluator.start();
    start::check(&evaluator, &start).map_err(|stopped| match stopped {
        Stopped::Failed(error) => Failure::Simulation(error),
        Stopped::Shape(message) => Failure::Request(message),
    })?;
    let first = search(&evaluator, start);
    let second = match first.worst > 1.0 {
        true => start::best(&evaluator).map(|start| search(&evaluator, start)),
        false => None,
    };
    let found = determined::outcome(&evaluator, &first);
    Ok(match second {
        Some(second) => {
            determined::choose(found, determined::outcome(&evaluator, &second), options)
        }
        None => found,
    })
}

/// A search from a start. Residuals that hardly pull would never lead away from a start that is far
/// off, so a coarse search by least squares comes first.
fn search<S, E>(evaluator: &Evaluator<'_, S>, start: Position) -> End
where
    S: Fn(&[f64]) -> Result<Vec<f64>, E> + Sync,
    E: Send,
{
    let Options { tolerance, tail, .. } = *evaluator.options;
    let start = match tail {
        Some(_) => descend(evaluator, start, None, tolerance.max(COARSE)).0.best(),
        None => start,
    };
    let (problem, converged) = descend(evaluator, start, tail, tolerance);
    problem.finish(converged)
}

/// Descends to the next minimum. Returns the problem with the best position, and whether the search
/// ended by itself.
fn descend<'a, 'b, S, E>(
    evaluator: &'a Evaluator<'b, S>,
    start: Position,
    tail: Option<f64>,
    tolerance: f64,
) -> (Problem<'a, 'b, S>, bool)
where
    S: Fn(&[f64]) -> Result<Vec<f64>, E> + Sync,
    E: Send,
{
    let options = evaluator.options;
    // One set of derivatives may cost as much as many steps, so `patience` does not limit the cost.
    let search = LevenbergMarquardt::new()
        .with_ftol(tolerance)
        .with_xtol(tolerance)
        .with_gtol(tolerance * 1e-3)
        .with_stepbound(10.0)
        .with_patience(options.most_evaluations);
    let (problem, report) = search.minimize(Problem::new(evaluator, start, tail));
    (problem, report.termination.was_successful())
}

fn check(
    parameters: &[Parameter],
    measured: &[f64],
    sigmas: &[f64],
    options: &Options,
) -> Result<(), String> {
    let positive = |value: f64| value.is_finite() && value > 0.0;
    for parameter in parameters {
        let Parameter { key, start, low, high, .. } = parameter;
        let ordered = positive(*low) && high.is_finite() && low <= start && start <= high;
        if !ordered {
            return Err(format!(
                "{key}: the start {start} is not within {low} and {high}, both above 0"
            ));
        }
    }
    if measured.is_empty() || measured.len() != sigmas.len() {
        let (numbers, errors) = (measured.len(), sigmas.len());
        return Err(format!("{numbers} measurements and {errors} errors of measurements"));
    }
    if let Some(bad) = measured.iter().chain(sigmas).find(|value| !positive(**value)) {
        return Err(format!("a measurement or its error is {bad}, allowed: above 0"));
    }
    let needed = options.starts.max(1) + 2 * (2 * parameters.len()) + 1;
    if options.most_evaluations < needed {
        let allowed = options.most_evaluations;
        return Err(format!("{allowed} evaluations are allowed, at least {needed} are needed"));
    }
    Ok(())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
