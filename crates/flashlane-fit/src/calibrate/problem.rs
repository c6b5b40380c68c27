//! The sum of squares as the optimiser sees it.
//!
//! The optimiser varies `z` without bounds. The position of a parameter between its bounds is `1 /
//! (1 + exp(-z))`, so that no step leaves them. An additional row for each parameter holds it
//! weakly at its start; this decides only where the measurements do not.
//!
//! A model may be unable to meet a few measurements, whatever its parameters. Squares would let
//! these draw all parameters away from the others. So a residual `r` may count as that of Cauchy's
//! loss: `c sqrt(ln(1 + (r / c)^2))` ([`Options::tail`](super::Options::tail) is `c`). It is `r`
//! near 0, and hardly grows beyond a few times `c`.

use std::cell::RefCell;

use levenberg_marquardt::LeastSquaresProblem;
use nalgebra::storage::Owned;
use nalgebra::{DMatrix, DVector, Dyn};

use super::evaluate::{Evaluator, Position, range, squares};

/// Smallest distance from a bound that the search reaches, as a share of the distance between the
/// bounds.
pub(super) const EDGE: f64 = 1e-3;

/// Derivatives of the residuals by the positions: a row for each measurement.
pub(super) type Slopes = DMatrix<f64>;

pub(super) struct Problem<'a, 'b, S> {
    evaluator: &'a Evaluator<'b, S>,
    start: Position,
    /// Residuals well beyond this one hardly pull, if they are bounded. Unit: sigmas.
    tail: Option<f64>,
    now: DVector<f64>,
    found: RefCell<Found>,
}

/// End of a search.
pub(super) struct End {
    pub(super) position: Position,
    /// Residuals at the end. Unit: sigmas.
    pub(super) residuals: Vec<f64>,
    pub(super) slopes: Slopes,
    /// The largest residual. Unit: sigmas.
    pub(super) worst: f64,
    /// True if the search ended by itself.
    pub(super) converged: bool,
}

/// The sum that a search minimises: of the squares of the residuals as they count.
pub(crate) fn loss(residuals: &[f64], tail: Option<f64>) -> f64 {
    let counted: Vec<f64> = residuals.iter().map(|&residual| counted(residual, tail).0).collect();
    squares(&counted)
}

/// A residual as it counts, and its derivative by the residual.
fn counted(residual: f64, tail: Option<f64>) -> (f64, f64) {
    let Some(tail) = tail else { return (residual, 1.0) };
    let share = residual / tail;
    let size = libm::sqrt(libm::log1p(share * share));
    // Near 0 the quotient is 0 / 0 in the limit 1.
    let slope = if size < 1e-6 { 1.0 } else { share.abs() / (size * (1.0 + share * share)) };
    (tail * size * residual.signum(), slope)
}

/// The best position so far, and the last derivatives.
struct Found {
    sum: f64,
    best: Position,
    residuals: Vec<f64>,
    /// The last position, and its residuals.
    last: (Position, Vec<f64>),
    slopes: Option<(Position, Slopes)>,
}

impl<'a, 'b, S, E> Problem<'a, 'b, S>
where
    S: Fn(&[f64]) -> Result<Vec<f64>, E> + Sync,
    E: Send,
{
    pub(super) fn new(evaluator: &'a Evaluator<'b, S>, first: Position, tail: Option<f64>) -> Self {
        let start = evaluator.start();
        let now = first.iter().map(|at| {
            let at = at.clamp(EDGE, 1.0 - EDGE);
            libm::log(at / (1.0 - at))
        });
        let now = DVector::from_iterator(first.len(), now);
        let found = Found {
            sum: f64::INFINITY,
            best: first,
            residuals: Vec::new(),
            last: (Vec::new(), Vec::new()),
            slopes: None,
        };
        Self { evaluator, start, tail, now, found: RefCell::new(found) }
    }

    /// The best position.
    pub(super) fn best(self) -> Position {
        self.found.into_inner().best
    }

    /// The best position with its residuals and derivatives.
    pub(super) fn finish(self, converged: bool) -> End {
        let Found { best, mut residuals, slopes, .. } = self.found.into_inner();
        let slopes = match slopes {
            Some((position, slopes)) if position == best => slopes,
            _ => differences(self.evaluator, &best),
        };
        if residuals.is_empty() {
            residuals = self.evaluator.residuals_or_worst(&best);
        }
        let worst = residuals.iter().map(|residual| residual.abs()).fold(0.0, f64::max);
        End { position: best, residuals, slopes, worst, converged }
    }

    /// The residuals at a position, which usually is the last one.
    fn residuals_at(&self, position: &Position) -> Vec<f64> {
        let (last, residuals) = self.found.borrow().last.clone();
        if last == *position { residuals } else { self.evaluator.residuals_or_worst(position) }
    }

    fn position(&self) -> Position {
        self.now.iter().map(|z| (1.0 / (1.0 + libm::exp(-z))).clamp(EDGE, 1.0 - EDGE)).collect()
    }
}

impl<S, E> LeastSquaresProblem<f64, Dyn, Dyn> for Problem<'_, '_, S>
where
    S: Fn(&[f64]) -> Result<Vec<f64>, E> + Sync,
    E: Send,
{
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;
    type ParameterStorage = Owned<f64, Dyn>;

    fn set_params(&mut self, now: &DVector<f64>) {
        self.now.copy_from(now);
    }

    fn params(&self) -> DVector<f64> {
        self.now.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        if self.evaluator.left() == 0 {
            return None;
        }
        let position = self.position();
        let measured = self.evaluator.residuals_or_worst(&position);
        let (hold, tail) = (self.evaluator.options.hold, self.tail);
        let mut residuals: Vec<f64> =
            measured.iter().map(|&residual| counted(residual, tail).0).collect();
        residuals.extend(position.iter().zip(&self.start).map(|(at, start)| hold * (at - start)));
        let sum = squares(&residuals);
        let mut found = self.found.borrow_mut();
        if sum < found.sum {
            (found.sum, found.best, found.residuals) = (sum, position.clone(), measured.clone());
        }
        found.last = (position, measured);
        Some(DVector::from_vec(residuals))
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let axes = self.start.len();
        if self.evaluator.left() < 2 * axes {
            return None;
        }
        let position = self.position();
        let slopes = differences(self.evaluator, &position);
        let rows = slopes.nrows();
        let (hold, tail) = (self.evaluator.options.hold, self.tail);
        let residuals = self.residuals_at(&position);
        let jacobian = DMatrix::from_fn(rows + axes, axes, |row, axis| {
            let by_position = match row.checked_sub(rows) {
                None => slopes[(row, axis)] * counted(residuals[row], tail).1,
                Some(held) if held == axis => hold,
                Some(_) => 0.0,
            };
            by_position * position[axis] * (1.0 - position[axis])
        });
        self.found.borrow_mut().slopes = Some((position, slopes));
        Some(jacobian)
    }
}

/// Derivatives by central differences, all simulated side by side. At a bound, or next to a
/// position that the model refuses, the difference uses a smaller step or only one side.
fn differences<S, E>(evaluator: &Evaluator<'_, S>, position: &Position) -> Slopes
where
    S: Fn(&[f64]) -> Result<Vec<f64>, E> + Sync,
    E: Send,
{
    let axes = position.len();
    let mut points = Vec::with_capacity(2 * axes);
    for (axis, parameter) in evaluator.parameters.iter().enumerate() {
        let step = match range(parameter) {
            0.0 => 0.0,
            range => libm::log1p(evaluator.options.step) / range,
        };
        for step in [-step, step] {
            let mut point = position.clone();
            point[axis] = (point[axis] + step).clamp(0.0, 1.0);
            points.push(point);
        }
    }
    let results: Vec<_> = evaluator.residuals(&points).into_iter().map(Result::ok).collect();
    let mut slopes = DMatrix::zeros(evaluator.measured.len(), axes);
    for axis in 0..axes {
        let distance = points[2 * axis + 1][axis] - points[2 * axis][axis];
        let sides = (&results[2 * axis], &results[2 * axis + 1]);
        if let ((Some(low), Some(high)), true) = (sides, distance > 0.0) {
            for (row, (low, high)) in low.iter().zip(high).enumerate() {
                slopes[(row, axis)] = (high - low) / distance;
            }
        }
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_of_a_tail_hardly_pull() {
        let values = |residual| counted(residual, Some(2.0));
        assert_eq!(counted(7.0, None), (7.0, 1.0));
        assert_eq!(values(0.0), (0.0, 1.0));
        for residual in [-40.0, -3.0, -0.1, 0.1, 3.0, 40.0] {
            let (value, slope) = values(residual);
            let difference = (values(residual + 1e-4).0 - values(residual - 1e-4).0) / 2e-4;
            assert!((slope - difference).abs() < 1e-4, "{slope} {difference}");
            assert!(value.signum() == residual.signum() && value.abs() <= residual.abs());
        }
        assert!(values(0.1).1 > 0.99 && values(40.0).1 < 0.05);
        assert_eq!(loss(&[3.0, -4.0], None), 25.0);
        assert!(loss(&[40.0], Some(2.0)) < 4.0 * loss(&[4.0], Some(2.0)));
    }
}
