//! Whole numbers, tried value by value. For each combination, all quantities are calibrated again.

use flashlane::Error;
use serde::Serialize;

use super::keys::Plan;
use super::{Bench, Figure};
use crate::calibrate::{Calibration, Options};

/// The 0.95 quantile of the chi-squared distribution with one degree of freedom.
const CHI2_95: f64 = 3.841_458_821;

/// Most combinations of whole numbers that are tried.
const MOST_COMBINATIONS: usize = 100;

/// A key of a whole number, and the values that were tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scan {
    /// The key.
    pub key: String,
    /// The value of the base.
    pub base: u64,
    /// The value with the smallest sum of squares.
    pub best: u64,
    /// Values that the figures do not exclude at 95 %, in ascending order, including `best`.
    pub agreeing: Vec<u64>,
    /// Every value in ascending order, with the smallest sum of squares; `None` if the simulator
    /// refuses the device.
    pub tried: Vec<(u64, Option<f64>)>,
}

impl Scan {
    /// True if the figures exclude a value that was tried.
    #[must_use]
    pub fn determines(&self) -> bool {
        self.agreeing.len() < self.tried.len()
    }
}

/// The best of the scans as keys with values.
pub(super) fn sets(scans: &[Scan]) -> Vec<String> {
    scans.iter().map(|scan| format!("{}={}", scan.key, scan.best)).collect()
}

/// The best combination of whole numbers, and its calibration.
pub(super) fn best(
    plan: &Plan,
    figures: &[Figure],
    bench: &Bench<'_>,
) -> Result<(Calibration, Vec<Scan>), Error> {
    let combinations = combinations(plan)?;
    let options = &bench.request.options;
    let mut found: Vec<Option<Calibration>> = Vec::new();
    for numbers in &combinations {
        let wholes: Vec<String> = plan
            .grids
            .iter()
            .zip(numbers)
            .map(|((parameter, _), number)| format!("{}={number}", parameter.key))
            .collect();
        // A coarse search decides which combination is best; the base itself has to work.
        let quick = Options { starts: 1, tolerance: 1e-4, ..options.clone() };
        let options = if combinations.len() == 1 { options } else { &quick };
        match bench.calibrate(&plan.parameters, figures, &wholes, options) {
            Err(error) if found.is_empty() => return Err(error),
            result => found.push(result.ok()),
        }
    }
    let sum = |index: usize| found[index].as_ref().map_or(f64::INFINITY, |found| found.chi2);
    let indices = 0..combinations.len();
    let best = indices.clone().min_by(|&a, &b| sum(a).total_cmp(&sum(b))).expect("one at least");
    let calibration = found[best].clone().expect("the best one is there");
    let limit = calibration.chi2 + CHI2_95 * calibration.chi2_reduced.unwrap_or(1.0).max(1.0);
    let scans = plan.grids.iter().enumerate().map(|(axis, (parameter, values))| {
        let mut values = values.clone();
        values.sort_unstable();
        let smallest = |value: u64| {
            let with = indices.clone().filter(|&index| combinations[index][axis] == value);
            with.map(sum).min_by(f64::total_cmp).filter(|sum| sum.is_finite())
        };
        let tried: Vec<_> = values.iter().map(|&value| (value, smallest(value))).collect();
        let agrees = |sum: &Option<f64>| sum.is_some_and(|sum| sum <= limit);
        let agreeing = tried.iter().filter(|(_, sum)| agrees(sum)).map(|(value, _)| *value);
        Scan {
            key: parameter.key.clone(),
            base: parameter.start as u64,
            best: combinations[best][axis],
            agreeing: agreeing.collect(),
            tried,
        }
    });
    Ok((calibration, scans.collect()))
}

/// Every combination of the values of all grids, beginning with that of the base.
fn combinations(plan: &Plan) -> Result<Vec<Vec<u64>>, Error> {
    let mut all = vec![Vec::new()];
    for (_, values) in &plan.grids {
        let longer = |numbers: &Vec<u64>| {
            let numbers = numbers.clone();
            values.iter().map(move |&value| {
                let mut longer = numbers.clone();
                longer.push(value);
                longer
            })
        };
        all = all.iter().flat_map(longer).collect();
        if all.len() > MOST_COMBINATIONS {
            let message = format!(
                "the whole numbers have more than {MOST_COMBINATIONS} combinations; vary fewer"
            );
            return Err(Error::config("--vary", message));
        }
    }
    Ok(all)
}
