//! Runs simulations in parallel, and computes their residuals.

use std::cell::Cell;

use super::{Options, Parameter};
use crate::parallel;

/// Residual of a simulation that failed. Unit: sigmas.
const REFUSED: f64 = 1e4;

/// Reason why there are no numbers.
pub(super) enum Stopped<E> {
    /// The simulation failed.
    Failed(E),
    /// The result of the simulation is not one number above 0 for each measurement.
    Shape(String),
}

/// Positions of all parameters between their bounds, on a logarithmic scale. Range: 0 to 1.
pub(super) type Position = Vec<f64>;

/// Calls the model.
pub(super) struct Evaluator<'a, S> {
    pub(super) parameters: &'a [Parameter],
    pub(super) measured: &'a [f64],
    pub(super) sigmas: &'a [f64],
    pub(super) options: &'a Options,
    simulate: &'a S,
    threads: usize,
    used: Cell<usize>,
    refused: Cell<usize>,
}

impl<'a, S, E> Evaluator<'a, S>
where
    S: Fn(&[f64]) -> Result<Vec<f64>, E> + Sync,
    E: Send,
{
    pub(super) fn new(
        parameters: &'a [Parameter],
        measured: &'a [f64],
        sigmas: &'a [f64],
        simulate: &'a S,
        options: &'a Options,
    ) -> Self {
        let threads = parallel::threads(options.threads);
        let (used, refused) = (Cell::new(0), Cell::new(0));
        Self { parameters, measured, sigmas, options, simulate, threads, used, refused }
    }

    /// Calls of the model so far.
    pub(super) fn used(&self) -> usize {
        self.used.get()
    }

    /// Calls of the model that failed.
    pub(super) fn refused(&self) -> usize {
        self.refused.get()
    }

    /// Evaluations that are still allowed, less those for the ends of two searches.
    pub(super) fn left(&self) -> usize {
        let kept = 4 * self.parameters.len() + 1;
        self.options.most_evaluations.saturating_sub(self.used.get() + kept)
    }

    /// Residuals at each position, in the order of the positions. Unit: sigmas.
    pub(super) fn residuals(&self, positions: &[Position]) -> Vec<Result<Vec<f64>, Stopped<E>>> {
        let values: Vec<_> = positions.iter().map(|position| self.values(position)).collect();
        let numbers = parallel::each(self.threads, &values, |values| (self.simulate)(values));
        self.used.set(self.used.get() + positions.len());
        numbers.into_iter().map(|numbers| self.compare(numbers)).collect()
    }

    /// Residuals at one position; a refused simulation has very large ones.
    pub(super) fn residuals_or_worst(&self, position: &Position) -> Vec<f64> {
        let result = self.residuals(std::slice::from_ref(position)).pop();
        result.and_then(Result::ok).unwrap_or_else(|| vec![REFUSED; self.measured.len()])
    }

    /// The values of the parameters at a position.
    pub(super) fn values(&self, position: &Position) -> Vec<f64> {
        let value = |(parameter, &at): (&Parameter, &f64)| {
            let value = parameter.low * libm::exp(at * range(parameter));
            value.clamp(parameter.low, parameter.high)
        };
        self.parameters.iter().zip(position).map(value).collect()
    }

    /// The position of the start.
    pub(super) fn start(&self) -> Position {
        let position = |parameter: &Parameter| match range(parameter) {
            0.0 => 0.0,
            range => libm::log(parameter.start / parameter.low) / range,
        };
        self.parameters.iter().map(position).collect()
    }

    fn compare(&self, numbers: Result<Vec<f64>, E>) -> Result<Vec<f64>, Stopped<E>> {
        let refuse = |stopped| {
            self.refused.set(self.refused.get() + 1);
            Err(stopped)
        };
        let numbers = match numbers {
            Ok(numbers) => numbers,
            Err(error) => return refuse(Stopped::Failed(error)),
        };
        let (found, wanted) = (numbers.len(), self.measured.len());
        if found != wanted {
            let message = format!("the model gives {found} numbers for {wanted} measurements");
            return refuse(Stopped::Shape(message));
        }
        if let Some(bad) = numbers.iter().find(|number| !(number.is_finite() && **number > 0.0)) {
            return refuse(Stopped::Shape(format!("the model gives {bad}, allowed: above 0")));
        }
        let known = self.measured.iter().zip(self.sigmas);
        let residual =
            |(fitted, (measured, sigma)): (f64, (&f64, &f64))| libm::log(fitted / measured) / sigma;
        Ok(numbers.into_iter().zip(known).map(residual).collect())
    }
}

/// Distance between the bounds of a parameter, on a logarithmic scale.
pub(super) fn range(parameter: &Parameter) -> f64 {
    libm::log(parameter.high / parameter.low)
}

/// Sum of squares.
pub(super) fn squares(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}
