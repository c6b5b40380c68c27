//! Prediction: the behaviour of the fitted drive for work that it was not fitted to.

use flashlane::Error;
use flashlane::config::load::{self, Overrides};
use flashlane_probe::{Measured, Operation, Simulated};
use serde::Serialize;

use super::keys::{self, Shape};
use super::replay::{failed, wrapped};
use super::{DriveFit, Request};

/// Drives up to this capacity are simulated as a whole. A part is enough for larger drives that
/// were only read. Unit: bytes.
const WHOLE: u64 = 64 << 30;
/// Largest relative error of a latency that counts as near.
const NEAR: f64 = 0.1;

/// Measurements beside predictions, for work that was not fitted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// Requests.
    pub requests: usize,
    /// Share of the requests whose latency is within 10 % of the measured one.
    pub near: f64,
    /// Measured and predicted: the mean, and the 50th, 90th, 99th and 99.9th percentile. Unit:
    /// microseconds.
    pub latencies: Vec<Prediction>,
}

/// A number, measured and predicted. Unit: microseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// `mean`, `p99`.
    pub name: String,
    /// Value of the measured drive.
    pub measured: f64,
    /// Value of the fitted drive.
    pub predicted: f64,
}

impl Prediction {
    /// Relative error of the prediction.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }
}

impl DriveFit {
    /// Sends measured requests to the fitted drive. Its data cache and blocks are those of a drive
    /// in its steady state.
    ///
    /// # Errors
    /// A base that does not load, or a drive that the simulator refuses.
    pub fn validate(&self, measured: &Measured, request: &Request) -> Result<Validation, Error> {
        let writes = measured.series.requests.iter().any(|one| one.operation != Operation::Read);
        let bytes = if writes || self.bytes <= WHOLE { self.bytes } else { self.wrap };
        let geometry = self.inside.geometries.get(self.geometry);
        let shape = Shape {
            bytes,
            inside: &self.inside,
            geometry,
            written: &self.written,
            servers: self.servers,
        };
        let mut sets = keys::structure(&shape);
        sets.extend(keys::sets(&self.calibration.parameters, &self.calibration.values));
        sets.extend(self.written.sets());
        let overrides = Overrides { sets, ..Overrides::default() };
        let config = load::device(&request.base, &overrides)?.config;
        let mut drive = Simulated::new(&config, request.seed, false).map_err(failed)?;
        let capacity = flashlane_probe::Target::facts(&drive).bytes.min(bytes);
        let predicted = wrapped(&measured.series, capacity).run(&mut drive).map_err(failed)?;
        Ok(compare(measured, &predicted))
    }
}

fn compare(measured: &Measured, predicted: &Measured) -> Validation {
    let pairs = measured.timings.iter().zip(&predicted.timings);
    let share = |(one, two): (&flashlane_probe::Timing, &flashlane_probe::Timing)| {
        (two.latency.as_us() / one.latency.as_us() - 1.0).abs()
    };
    let near = pairs.map(share).filter(|share| *share <= NEAR).count();
    let requests = measured.timings.len();
    let mut latencies = vec![Prediction {
        name: "mean".to_owned(),
        measured: measured.mean_us(),
        predicted: predicted.mean_us(),
    }];
    for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)] {
        latencies.push(Prediction {
            name: name.to_owned(),
            measured: measured.quantile_us(share),
            predicted: predicted.quantile_us(share),
        });
    }
    Validation { requests, near: near as f64 / requests.max(1) as f64, latencies }
}
