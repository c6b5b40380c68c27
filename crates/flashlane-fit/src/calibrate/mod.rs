//! Least squares by simulation.
//!
//! Each parameter is a key of a device file with bounds. Its logarithm is varied between them. A
//! residual is `ln(fitted / measured) / sigma`; sigma is the relative error of the measurement.
//! Levenberg-Marquardt steps minimise the sum of the squared residuals; derivatives are central
//! differences over steps that are large beside the grain of a simulation.
//!
//! Beside the values, a [`Calibration`] says how well the measurements determine them: a 95 %
//! interval of each, pairs that are correlated, parameters and combinations of parameters that the
//! measurements cannot tell, and whether the model fits the measurements at all.

mod evaluate;
mod problem;
mod start;
mod told;

use std::fmt;

use levenberg_marquardt::LevenbergMarquardt;
use serde::Serialize;

use crate::unit::Unit;
use evaluate::{Evaluator, Position, Stopped};
use problem::{End, Problem};

/// A key of a device file that is varied.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// The key, for example `flash.read_time`.
    pub key: String,
    /// Where the search starts, from `low` to `high`. What the measurements cannot tell stays near
    /// this value.
    pub start: f64,
    /// The smallest value that is tried. Range: above 0.
    pub low: f64,
    /// The largest value that is tried. Range: at least `low`.
    pub high: f64,
    /// How the value is written.
    pub unit: Unit,
}

/// How to calibrate.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Simulations at a time; 0 for one on each core. Never changes a result.
    pub threads: usize,
    /// The search ends before it needs more calls of `simulate` than this.
    pub most_evaluations: usize,
    /// Half the distance between the two points of a difference, as a share of the value.
    pub step: f64,
    /// Where the search from the start ends more than a sigma off a measurement, so many points
    /// less one are tried all over the bounds, and a second search begins at the best of them. Its
    /// end counts where it is better beyond chance; where it is as good, intervals hold both ends.
    pub starts: usize,
    /// Seed of the points that are tried.
    pub seed: u64,
    /// The search ends where a step improves the sum of squares by less than this share.
    pub tolerance: f64,
    /// How strongly parameters are held at their start: deviations per bounds' distance. It matters
    /// only where the measurements say next to nothing.
    pub hold: f64,
    /// A parameter is untold where its interval is wider than this share of its bounds' distance.
    pub widest_share: f64,
    /// How many measurements beyond those that there are the stated errors are worth, where the
    /// residuals say that they are too small: their quantile is that of Student's t with so many
    /// more degrees of freedom.
    pub trust: usize,
    /// The model does not fit where a residual is larger than this. Unit: sigmas.
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
            hold: 0.1,
            widest_share: 0.5,
            trust: 4,
            worst_residual: 5.0,
        }
    }
}

/// Where a true value lies with a probability of 95 %, if the model is right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end, not below the lower bound.
    pub low: f64,
    /// Upper end, not above the upper bound.
    pub high: f64,
    /// The value is at its lower bound; a smaller one might fit better.
    pub at_low: bool,
    /// The value is at its upper bound; a larger one might fit better.
    pub at_high: bool,
}

impl Interval {
    /// Whether a value lies in the interval.
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
    /// Range: -1 to 1, more than 0.95 in magnitude.
    pub coefficient: f64,
}

/// A combination of parameters that the measurements cannot tell: multiplying each parameter by
/// `factor ^ exponent` for any moderate factor changes no measurement beyond its error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Direction {
    /// Parameters, as indices, and exponents. The largest exponent is 1.
    pub exponents: Vec<(usize, f64)>,
    /// How much all measurements together change along the combination from one end of the
    /// bounds to the other. Unit: sigmas.
    pub sensitivity: f64,
}

/// What a measurement and the calibrated model say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Residual {
    /// The measurement.
    pub measured: f64,
    /// What the calibrated model gives.
    pub fitted: f64,
    /// `ln(fitted / measured)` over the relative error of the measurement.
    pub sigmas: f64,
}

/// The outcome of a calibration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// What was varied.
    pub parameters: Vec<Parameter>,
    /// The best value of each parameter.
    pub values: Vec<f64>,
    /// Other values that meet the measurements as well, at the end of a search from elsewhere.
    pub also: Option<Vec<f64>>,
    /// The 95 % interval of each parameter. Where there are other values, it holds theirs, too.
    pub intervals: Vec<Interval>,
    /// For each parameter, by how many percent each measurement follows when it grows by one.
    pub elasticities: Vec<Vec<f64>>,
    /// Covariance of the logarithms of the parameters, widened where the model fits badly.
    pub covariance: Vec<Vec<f64>>,
    /// Pairs of parameters that are correlated.
    pub correlations: Vec<Correlation>,
    /// Parameters that the measurements cannot tell, as indices.
    pub untold: Vec<usize>,
    /// Combinations of parameters that the measurements cannot tell.
    pub directions: Vec<Direction>,
    /// Every measurement.
    pub residuals: Vec<Residual>,
    /// Sum of the squared residuals. Unit: squared sigmas.
    pub chi2: f64,
    /// Measurements less the combinations of parameters that they tell.
    pub degrees: usize,
    /// `chi2 / degrees`; `None` without degrees of freedom. Intervals are wider by its root where
    /// it is above 1.
    pub chi2_reduced: Option<f64>,
    /// Calls of `simulate`.
    pub evaluations: usize,
    /// Those of them that failed. Such points count as bad.
    pub refused: usize,
    /// The search ended by itself, not for want of evaluations.
    pub converged: bool,
    /// No residual is larger than the limit.
    pub fits: bool,
}

impl Calibration {
    /// Whether the measurements tell a parameter.
    #[must_use]
    pub fn tells(&self, parameter: usize) -> bool {
        !self.untold.contains(&parameter)
    }
}

/// Why there is no calibration.
#[derive(Debug, thiserror::Error)]
pub enum Failure<E: fmt::Display> {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Request(String),
    /// The model failed where the search starts.
    #[error("{0}")]
    Simulation(E),
}

/// Finds the parameters with which `simulate` meets the measurements best.
///
/// `simulate` gets the values of the parameters in their order and gives one number for each
/// measurement. All measurements and all these numbers are above 0. `sigmas` are relative errors:
/// 0.01 for 1 %. The outcome depends on nothing but the arguments, least of all on threads.
///
/// # Errors
/// Lists of different lengths, no measurement, values that are not above 0, a start outside its
/// bounds, fewer evaluations allowed than one set of derivatives takes, or a simulation that fails
/// at the start.
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
    let first = descend(&evaluator, start);
    let second = match first.worst > 1.0 {
        true => start::best(&evaluator).map(|start| descend(&evaluator, start)),
        false => None,
    };
    let found = told::outcome(&evaluator, &first);
    Ok(match second {
        Some(second) => told::choose(found, told::outcome(&evaluator, &second), options),
        None => found,
    })
}

/// A local search.
fn descend<S, E>(evaluator: &Evaluator<'_, S>, start: Position) -> End
where
    S: Fn(&[f64]) -> Result<Vec<f64>, E> + Sync,
    E: Send,
{
    let options = evaluator.options;
    // One set of derivatives may cost as much as many steps, so `patience` is not what limits this.
    let search = LevenbergMarquardt::new()
        .with_ftol(options.tolerance)
        .with_xtol(options.tolerance)
        .with_gtol(options.tolerance * 1e-3)
        .with_stepbound(10.0)
        .with_patience(options.most_evaluations);
    let (problem, report) = search.minimize(Problem::new(evaluator, start));
    problem.finish(report.termination.was_successful())
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
