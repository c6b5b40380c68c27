//! How well the measurements determine the parameters.

use nalgebra::DMatrix;

use flashlane::metrics::seeds::student_t_975;

use super::evaluate::{Evaluator, range, squares};
use super::problem::{EDGE, End, Slopes};
use super::{Calibration, Correlation, Direction, Interval, Options, Residual};

/// The 0.975 quantile of the normal distribution.
const NORMAL_975: f64 = 1.959_963_985;

/// The 0.95 quantile of the chi-squared distribution with one degree of freedom.
const CHI2_95: f64 = 3.841_458_821;

/// Correlations above this are reported.
const CORRELATED: f64 = 0.95;

/// Parameters with less than this share in a combination are left out of it.
const SMALL_SHARE: f64 = 0.1;

/// The calibration at the best position.
pub(super) fn outcome<S, E>(evaluator: &Evaluator<'_, S>, end: &End) -> Calibration
where
    S: Fn(&[f64]) -> Result<Vec<f64>, E> + Sync,
    E: Send,
{
    let End { position: best, residuals: sigmas, slopes, .. } = end;
    let options = evaluator.options;
    let chi2 = squares(sigmas);
    let lowest = 2.0 * NORMAL_975 / options.widest_share;
    let (rank, directions) = blind_directions(evaluator, slopes, lowest);
    let degrees = sigmas.len().saturating_sub(rank);
    let chi2_reduced = (degrees > 0).then(|| chi2 / degrees as f64);
    // The stated errors are used unless the residuals show that they are larger; then the errors
    // are estimated from the residuals.
    let (quantile, widening) = match chi2_reduced {
        Some(reduced) if reduced > 1.0 => (student_t_975(degrees + options.trust), reduced),
        _ => (NORMAL_975, 1.0),
    };
    let of_positions = covariance(slopes, widening);
    let values = evaluator.values(best);
    let (mut intervals, mut undetermined) = (Vec::new(), Vec::new());
    for (axis, &at) in best.iter().enumerate() {
        let half = quantile * of_positions[(axis, axis)].sqrt();
        let (low, high) = ((at - half).max(0.0), (at + half).min(1.0));
        if high - low > options.widest_share {
            undetermined.push(axis);
        }
        let value = |end: f64| {
            let mut position = best.clone();
            position[axis] = end;
            evaluator.values(&position)[axis]
        };
        let (at_low, at_high) = (at <= 2.0 * EDGE, at >= 1.0 - 2.0 * EDGE);
        intervals.push(Interval { low: value(low), high: value(high), at_low, at_high });
    }
    let known = evaluator.measured.iter().zip(evaluator.sigmas);
    let residuals = sigmas.iter().zip(known).map(|(&sigmas, (&measured, sigma))| {
        let fitted = measured * libm::exp(sigmas * sigma);
        Residual { measured, fitted, sigmas }
    });
    Calibration {
        parameters: evaluator.parameters.to_vec(),
        values,
        also: None,
        intervals,
        elasticities: elasticities(evaluator, slopes),
        covariance: of_logarithms(evaluator, &of_positions),
        correlations: correlations(&of_positions),
        undetermined,
        directions,
        residuals: residuals.collect(),
        chi2,
        degrees,
        chi2_reduced,
        evaluations: evaluator.used(),
        refused: evaluator.refused(),
        converged: end.converged,
        fits: end.worst <= options.worst_residual,
    }
}

/// The better of two ends. Parameters that the measurements do not determine are nearer to the
/// start in the first end, so the second end has to be better beyond chance. If the difference is
/// chance, the intervals include both ends.
pub(super) fn choose(first: Calibration, second: Calibration, options: &Options) -> Calibration {
    let smaller = if first.chi2 < second.chi2 { &first } else { &second };
    let chance = CHI2_95 * smaller.chi2_reduced.unwrap_or(1.0).max(1.0);
    let (mut best, other) =
        if second.chi2 + chance < first.chi2 { (second, first) } else { (first, second) };
    best.evaluations = best.evaluations.max(other.evaluations);
    best.refused = best.refused.max(other.refused);
    if other.chi2 > best.chi2 + chance {
        return best;
    }
    best.undetermined.clear();
    for (axis, parameter) in best.parameters.iter().enumerate() {
        let (interval, more) = (&mut best.intervals[axis], &other.intervals[axis]);
        interval.low = interval.low.min(more.low);
        interval.high = interval.high.max(more.high);
        let widest = options.widest_share * range(parameter);
        if libm::log(interval.high / interval.low) > widest {
            best.undetermined.push(axis);
        }
    }
    best.also = Some(other.values);
    best
}

/// Covariance of the positions. It also uses that the true value is between the bounds: a parameter
/// that the measurements do not determine is spread evenly there, with a variance of 1/12.
fn covariance(slopes: &Slopes, widening: f64) -> DMatrix<f64> {
    let axes = slopes.ncols();
    if axes == 0 {
        return DMatrix::zeros(0, 0);
    }
    let measured = slopes.transpose() * slopes / widening;
    let information = measured + DMatrix::identity(axes, axes) * 12.0;
    information.cholesky().map_or_else(|| DMatrix::zeros(axes, axes), |factor| factor.inverse())
}

fn of_logarithms<S>(evaluator: &Evaluator<'_, S>, of_positions: &DMatrix<f64>) -> Vec<Vec<f64>> {
    let ranges: Vec<f64> = evaluator.parameters.iter().map(range).collect();
    let row = |row: usize| {
        let cell = |column: usize| of_positions[(row, column)] * ranges[row] * ranges[column];
        (0..ranges.len()).map(cell).collect()
    };
    (0..ranges.len()).map(row).collect()
}

/// Slopes in logarithms of both, a list for each parameter.
fn elasticities<S>(evaluator: &Evaluator<'_, S>, slopes: &Slopes) -> Vec<Vec<f64>> {
    let of_parameter = |(axis, parameter)| {
        let scale = match range(parameter) {
            0.0 => 0.0,
            range => 1.0 / range,
        };
        let column = slopes.column(axis);
        let rows = column.iter().zip(evaluator.sigmas);
        rows.map(|(slope, sigma)| slope * sigma * scale).collect()
    };
    evaluator.parameters.iter().enumerate().map(of_parameter).collect()
}

fn correlations(covariance: &DMatrix<f64>) -> Vec<Correlation> {
    let mut found = Vec::new();
    for first in 0..covariance.ncols() {
        for second in first + 1..covariance.ncols() {
            let scale = (covariance[(first, first)] * covariance[(second, second)]).sqrt();
            let coefficient = covariance[(first, second)] / scale;
            if coefficient.abs() > CORRELATED {
                found.push(Correlation {
                    first,
                    second,
                    coefficient: coefficient.clamp(-1.0, 1.0),
                });
            }
        }
    }
    found
}

/// The number of combinations of parameters that the measurements determine, and the combinations
/// that they do not: singular vectors of the slopes whose singular value is below `lowest`.
fn blind_directions<S>(
    evaluator: &Evaluator<'_, S>,
    slopes: &Slopes,
    lowest: f64,
) -> (usize, Vec<Direction>) {
    let ranges: Vec<f64> = evaluator.parameters.iter().map(range).collect();
    let mut directions = Vec::new();
    // Parameters that affect no measurement are named alone, since any mixture of them is
    // undetermined too.
    let norm = |axis: usize| slopes.column(axis).norm();
    let (seen, unseen): (Vec<_>, Vec<_>) =
        (0..ranges.len()).partition(|&axis| norm(axis) >= lowest);
    for axis in unseen {
        directions.push(Direction { exponents: vec![(axis, 1.0)], sensitivity: norm(axis) });
    }
    if seen.is_empty() {
        return (0, directions);
    }
    // Rows of zeros, so that there is a singular vector for every parameter.
    let rows = slopes.nrows().max(seen.len());
    let padded = DMatrix::from_fn(rows, seen.len(), |row, column| {
        if row < slopes.nrows() { slopes[(row, seen[column])] } else { 0.0 }
    });
    let parts = padded.svd(false, true);
    let vectors = parts.v_t.expect("it was asked for");
    let mut rank = 0;
    for (index, &sensitivity) in parts.singular_values.iter().enumerate() {
        if sensitivity >= lowest {
            rank += 1;
            continue;
        }
        let vector = vectors.row(index);
        let exponents =
            seen.iter().zip(vector.iter()).map(|(&axis, part)| (axis, part * ranges[axis]));
        directions.push(Direction { exponents: readable(exponents.collect()), sensitivity });
    }
    (rank, directions)
}

/// Scales exponents so that the largest is 1, and leaves out the small ones.
fn readable(mut exponents: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    let mut largest = 0.0_f64;
    for &(_, exponent) in &exponents {
        if exponent.abs() > largest.abs() {
            largest = exponent;
        }
    }
    if largest != 0.0 {
        exponents.iter_mut().for_each(|(_, exponent)| *exponent /= largest);
        exponents.retain(|(_, exponent)| exponent.abs() >= SMALL_SHARE);
    }
    exponents
}
