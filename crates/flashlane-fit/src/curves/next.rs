//! Proposals: the further figures that would narrow the intervals most.

use flashlane::Error;
use flashlane::config::units::ByteSize;
use nalgebra::DMatrix;
use serde::Serialize;

use super::figure::{Metric, Operation, State};
use super::pattern::Pattern;
use super::{Bench, Figure};
use crate::calibrate::Calibration;

/// Half the distance between the two points of a difference, as a share of the value.
const STEP: f64 = 0.03;

/// Largest factor of an interval that counts; wider intervals are no better than none.
const WIDEST: f64 = 6.0;

/// Smallest gain that counts. Unit: factor by which an interval narrows, in the logarithm.
const SMALL_GAIN: f64 = 0.02;

/// A measurement that was not made yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proposal {
    /// The measurement, in words.
    pub name: String,
    /// The key whose interval it narrows most.
    pub key: String,
    /// Half the width of that key's interval now. Unit: share of the value.
    pub before: f64,
    /// Half the width with the measurement.
    pub after: f64,
}

/// The best proposals: standard measurements that are not among the figures.
pub(super) fn propose(
    calibration: &Calibration,
    figures: &[Figure],
    wholes: &[String],
    bench: &Bench<'_>,
) -> Result<Vec<Proposal>, Error> {
    let wanted = bench.request.proposals;
    if wanted == 0 || calibration.parameters.is_empty() {
        return Ok(Vec::new());
    }
    let information = information(calibration, figures);
    let now = half_widths(&information);
    let mut found = Vec::new();
    for figure in candidates() {
        if !is_about(&figure, calibration)
            || figures.iter().any(|known| known.name() == figure.name())
        {
            continue;
        }
        // A measurement that the simulated drive refuses is useless.
        let Ok(row) = elasticities(calibration, &figure, wholes, bench) else { continue };
        let row = DMatrix::from_fn(1, row.len(), |_, axis| row[axis] / figure.sigma);
        let then = half_widths(&(&information + row.transpose() * &row));
        let gains: Vec<f64> = now.iter().zip(&then).map(|(now, then)| now - then).collect();
        let best = (0..gains.len()).max_by(|&a, &b| gains[a].total_cmp(&gains[b]));
        let best = best.expect("there are parameters");
        if gains[best] > SMALL_GAIN {
            let (name, key) = (figure.name(), calibration.parameters[best].key.clone());
            let (before, after) = (libm::expm1(now[best]), libm::expm1(then[best]));
            found.push((gains.iter().sum::<f64>(), Proposal { name, key, before, after }));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(wanted);
    Ok(found.into_iter().map(|(_, proposal)| proposal).collect())
}

/// True if a measurement depends on no key that the fit takes from the base but could vary. Writes
/// depend on the time of programs, and writes in steady state on over-provisioning.
fn is_about(figure: &Figure, calibration: &Calibration) -> bool {
    let varied = |key: &str| calibration.parameters.iter().any(|parameter| parameter.key == key);
    match (figure.operation, figure.state) {
        (Operation::Read, _) => true,
        (Operation::Write, State::Fresh) => varied("flash.program_time"),
        (Operation::Write, State::Sustained) => {
            varied("flash.program_time") && varied("ftl.over_provisioning")
        }
    }
}

/// The information of the figures about the logarithms of the parameters. A small amount is added,
/// as if each parameter were known to a factor, so that there is an inverse.
fn information(calibration: &Calibration, figures: &[Figure]) -> DMatrix<f64> {
    let axes = calibration.parameters.len();
    let known = libm::log(WIDEST);
    let mut information = DMatrix::identity(axes, axes) / (known * known);
    for (at, figure) in figures.iter().enumerate() {
        for first in 0..axes {
            for second in 0..axes {
                let slope = |axis: usize| calibration.elasticities[axis][at] / figure.sigma;
                information[(first, second)] += slope(first) * slope(second);
            }
        }
    }
    information
}

/// Half the width of the 95 % interval of each logarithm, at most the widest.
fn half_widths(information: &DMatrix<f64>) -> Vec<f64> {
    let axes = information.ncols();
    let Some(factor) = information.clone().cholesky() else { return vec![libm::log(WIDEST); axes] };
    let covariance = factor.inverse();
    (0..axes).map(|at| (1.96 * covariance[(at, at)].sqrt()).min(libm::log(WIDEST))).collect()
}

/// Elasticity of a figure of the calibrated device for each parameter.
fn elasticities(
    calibration: &Calibration,
    figure: &Figure,
    wholes: &[String],
    bench: &Bench<'_>,
) -> Result<Vec<f64>, Error> {
    let slope = |axis: usize| {
        let at = |factor: f64| {
            let mut values = calibration.values.clone();
            values[axis] *= factor;
            let sets = bench.sets(&calibration.parameters, &values, wholes);
            bench.measure(figure, &sets)
        };
        let (low, high) = (at(1.0 / (1.0 + STEP))?, at(1.0 + STEP)?);
        Ok(libm::log(high / low) / (2.0 * libm::log1p(STEP)))
    };
    (0..calibration.values.len()).map(slope).collect()
}

/// Measurements that take minutes with common tools.
fn candidates() -> Vec<Figure> {
    let figure = |operation, pattern, size, depth, metric| Figure {
        size: ByteSize(size),
        depth,
        ..Figure::of(operation, pattern, metric, 1.0)
    };
    use Metric::{GbPerS, Kiops, MeanUs};
    use Operation::{Read, Write};
    use Pattern::{Random, Sequential};
    vec![
        figure(Read, Random, 4096, 1, MeanUs),
        figure(Read, Random, 16 << 10, 1, MeanUs),
        figure(Read, Random, 128 << 10, 1, MeanUs),
        figure(Read, Random, 4096, 16, Kiops),
        figure(Read, Random, 4096, 128, Kiops),
        figure(Read, Sequential, 128 << 10, 32, GbPerS),
        figure(Write, Random, 4096, 1, MeanUs),
        figure(Write, Random, 4096, 128, Kiops),
        figure(Write, Sequential, 128 << 10, 32, GbPerS),
        Figure { state: State::Sustained, ..figure(Write, Random, 4096, 32, Kiops) },
    ]
}
