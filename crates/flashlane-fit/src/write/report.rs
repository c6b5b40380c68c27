//! The results of a fit, in the form from which files and pages are written.

use serde::Serialize;

use crate::calibrate::{Calibration, Direction};
use crate::curves::Tried;
use crate::drive::Validation;
use crate::unit::Unit;

/// The format of `fit.json`.
pub const SCHEMA: &str = "flashlane.fit/1";

/// The results of a fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The data that were fitted, for example the name of a file.
    pub data: String,
    /// The device whose keys were varied.
    pub base: String,
    /// The presets that were tried as a base, nearest first; left out if a base was named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// Whether the fitted device agrees with the data.
    pub verdict: Verdict,
    /// Every key that the fit considered.
    pub keys: Vec<Key>,
    /// Pairs of keys whose errors are nearly proportional, in words.
    pub correlations: Vec<Pair>,
    /// Combinations of keys that the data do not determine.
    #[serde(rename = "untold")]
    pub undetermined: Vec<Undetermined>,
    /// Other values of the keys that meet the data equally well, in words; empty if none were
    /// found.
    pub also: Vec<String>,
    /// Every measurement.
    pub points: Vec<Point>,
    /// Proposals for further measurements, in words, best first.
    pub proposals: Vec<String>,
    /// Observations that no key expresses, in words.
    pub observations: Vec<String>,
    /// Quality of the prediction of work that was not fitted, if there is some.
    pub validation: Option<Validation>,
}

/// A figure that was held back from the fit, and what the fitted device makes of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction<'a> {
    /// Name of the measurement.
    pub point: &'a str,
    /// Unit of both values.
    pub unit: &'a str,
    /// The measurement.
    pub measured: f64,
    /// Value of the fitted device.
    pub ours: f64,
    /// `ours / measured - 1`.
    pub error: f64,
}

impl Report {
    /// The figures that were held back.
    #[must_use]
    pub fn predicted(&self) -> Vec<Prediction<'_>> {
        let held_back = self.points.iter().filter(|point| point.held_back);
        held_back.map(Prediction::of).collect()
    }
}

impl<'a> Prediction<'a> {
    fn of(point: &'a Point) -> Self {
        Self {
            point: &point.name,
            unit: &point.unit,
            measured: point.measured,
            ours: point.fitted,
            error: point.fitted / point.measured - 1.0,
        }
    }
}

/// Whether the fitted device agrees with the data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// True if no residual exceeds the limit.
    pub fits: bool,
    /// The largest residual that counts as fitting. Unit: sigmas.
    pub limit: f64,
    /// True if the search ended by itself.
    pub converged: bool,
    /// Sum of the squared residuals.
    pub chi2: f64,
    /// Number of measurements, less the number of combinations of keys that they determine.
    pub degrees: usize,
    /// `chi2 / degrees`.
    pub chi2_reduced: Option<f64>,
    /// Number of simulated devices.
    pub evaluations: usize,
}

/// Source of the value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The data determine it.
    Measured,
    /// The key was varied, but the data do not determine it; its value depends on those of other
    /// keys.
    #[serde(rename = "untold")]
    Undetermined,
    /// The value is that of the base device.
    Base,
}

/// A key of the device file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Key {
    /// The key.
    pub key: String,
    /// Value of the key, as in a device file.
    pub toml: String,
    /// Value of the key as a number, in the base unit: picoseconds, bytes, bytes or transfers per
    /// second. `None` if it is no quantity.
    pub value: Option<f64>,
    /// The 95 % interval, in the same unit. For whole numbers, the smallest and the largest value
    /// that the data do not exclude.
    pub interval: Option<(f64, f64)>,
    /// The bounds of the search, in the same unit.
    pub bounds: Option<(f64, f64)>,
    /// True if the value is at a bound of the search.
    pub at_bound: bool,
    /// The value for people.
    pub text: String,
    /// The interval for people; empty if there is none.
    pub interval_text: String,
    /// The value of the base for people.
    pub base_text: String,
    /// Source of the value.
    pub source: Source,
    /// The measurement that determines it most, or the reason why it was not varied.
    #[serde(rename = "told_by")]
    pub determined_by: String,
}

/// Two keys whose errors are nearly proportional.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The first.
    pub first: String,
    /// The second.
    pub second: String,
    /// Correlation coefficient. Range: -1 to 1.
    pub coefficient: f64,
}

/// A combination of keys that the data do not determine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Undetermined {
    /// Keys and exponents; see [`Direction`].
    pub exponents: Vec<(String, f64)>,
    /// The combination in words.
    pub text: String,
}

/// A measurement, and the value of the fitted device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Name of the measurement.
    pub name: String,
    /// Unit of the measurement.
    pub unit: String,
    /// The measurement.
    pub measured: f64,
    /// Value of the fitted device.
    pub fitted: f64,
    /// The relative error of the measurement.
    pub sigma: f64,
    /// `ln(fitted / measured) / sigma`.
    pub sigmas: f64,
    /// True if the fit did not use it.
    pub held_back: bool,
    /// Source of the measurement; may be empty.
    pub source: String,
}

impl Verdict {
    /// The verdict on a calibration. `limit`: the largest residual that counts as fitting.
    #[must_use]
    pub fn of(calibration: &Calibration, limit: f64) -> Self {
        let Calibration { fits, converged, chi2, degrees, chi2_reduced, evaluations, .. } =
            *calibration;
        Self { fits, limit, converged, chi2, degrees, chi2_reduced, evaluations }
    }
}

impl Key {
    /// A parameter of a calibration. `determined_by`: the measurement that determines it most.
    #[must_use]
    pub fn of(calibration: &Calibration, index: usize, determined_by: &str) -> Self {
        let (parameter, interval) = (&calibration.parameters[index], &calibration.intervals[index]);
        let (value, unit) = (calibration.values[index], &parameter.unit);
        let (told, at_bound) = (calibration.determines(index), interval.at_low || interval.at_high);
        Self {
            key: parameter.key.clone(),
            toml: unit.toml_rounded(value),
            value: Some(value),
            interval: Some((interval.low, interval.high)),
            bounds: Some((parameter.low, parameter.high)),
            at_bound,
            text: unit.text(value),
            interval_text: format!("{} to {}", unit.text(interval.low), unit.text(interval.high)),
            base_text: unit.text(parameter.start),
            source: if told { Source::Measured } else { Source::Undetermined },
            determined_by: if told {
                determined_by.to_owned()
            } else {
                "cannot be told".to_owned()
            },
        }
    }

    /// A whole number for which some values agree with the data, in ascending order. It counts as
    /// measured if `told` is true.
    #[must_use]
    pub fn whole(key: &str, base: u64, best: u64, agreeing: &[u64], told: bool) -> Self {
        let (low, high) =
            (agreeing.first().copied().unwrap_or(best), agreeing.last().copied().unwrap_or(best));
        let list: Vec<_> = agreeing.iter().map(u64::to_string).collect();
        Self {
            key: key.to_owned(),
            toml: Unit::Whole.toml(best as f64),
            value: Some(best as f64),
            interval: Some((low as f64, high as f64)),
            bounds: None,
            at_bound: false,
            text: best.to_string(),
            interval_text: list.join(", "),
            base_text: base.to_string(),
            source: if told { Source::Measured } else { Source::Undetermined },
            determined_by: if told { "all of the data" } else { "cannot be told" }.to_owned(),
        }
    }

    /// A key that keeps the value of the base, as TOML.
    #[must_use]
    pub fn kept(key: &str, value: &str, reason: &str) -> Self {
        let text = value.trim_matches('"').to_owned();
        Self {
            key: key.to_owned(),
            toml: value.to_owned(),
            value: None,
            interval: None,
            bounds: None,
            at_bound: false,
            text: text.clone(),
            interval_text: String::new(),
            base_text: text,
            source: Source::Base,
            determined_by: reason.to_owned(),
        }
    }
}

/// The correlated pairs of a calibration.
#[must_use]
pub fn pairs(calibration: &Calibration) -> Vec<Pair> {
    let key = |index: usize| calibration.parameters[index].key.clone();
    let pairs = calibration.correlations.iter();
    let pair = |pair: &crate::calibrate::Correlation| Pair {
        first: key(pair.first),
        second: key(pair.second),
        coefficient: pair.coefficient,
    };
    pairs.map(pair).collect()
}

/// The combinations that a calibration does not determine.
#[must_use]
pub fn undetermined(calibration: &Calibration) -> Vec<Undetermined> {
    let of_direction = |direction: &Direction| {
        let part = |&(index, exponent): &(usize, f64)| {
            (calibration.parameters[index].key.clone(), exponent)
        };
        let exponents: Vec<_> = direction.exponents.iter().map(part).collect();
        let text = words(&exponents);
        Undetermined { exponents, text }
    };
    calibration.directions.iter().map(of_direction).collect()
}

/// Other values that meet the data of a calibration equally well.
#[must_use]
pub fn also(calibration: &Calibration) -> Vec<String> {
    let values = calibration.parameters.iter().zip(calibration.also.iter().flatten());
    values.map(|(of, &value)| format!("{} {}", of.key, of.unit.text(value))).collect()
}

/// Text for a combination: "a", or "a against b" if b shrinks as a grows and no measurement
/// changes.
fn words(exponents: &[(String, f64)]) -> String {
    let list = |sign: f64| {
        let with = exponents.iter().filter(|(_, exponent)| exponent * sign > 0.0);
        let power = |(key, exponent): &(String, f64)| match exponent.abs() {
            exponent if exponent > 0.95 => key.clone(),
            exponent => format!("{key}^{exponent:.1}"),
        };
        with.map(power).collect::<Vec<_>>().join(" and ")
    };
    match (list(1.0), list(-1.0)) {
        (up, down) if down.is_empty() => up,
        (up, down) if up.is_empty() => down,
        (up, down) => format!("{up} against {down}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_put_into_words() {
        let parts = |parts: &[(&str, f64)]| {
            words(&parts.iter().map(|&(key, by)| (key.to_owned(), by)).collect::<Vec<_>>())
        };
        assert_eq!(parts(&[("a", 1.0)]), "a");
        assert_eq!(parts(&[("a", 1.0), ("b", -0.31), ("c", -1.0)]), "a against b^0.3 and c");
    }
}
