//! Features: the numbers by which a measured and a simulated drive are compared.

use std::collections::BTreeSet;

use flashlane_probe::structure::{Programs, levels, programs};
use flashlane_probe::{Collected, Measured, Rule};
use serde::Serialize;

use super::Inside;

/// Relative error of a latency of requests one at a time, which is reproducible.
const ALONE: f64 = 0.003;
/// Relative error of a rate of requests that delay each other.
const TOGETHER: f64 = 0.01;
/// Relative error of a rate where dies have several planes, until a better one is known. The number
/// of reads that such dies serve together depends on the places of the data in their blocks, which
/// are unknown.
const ON_PLANES: f64 = 0.15;
/// Factor on the spread of drives that differ only in these places.
const SPREADS: f64 = 2.0;

/// A feature, and where it was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Feature {
    /// The probe.
    pub probe: String,
    /// The series, or the common prefix of several series.
    pub series: String,
    /// How the number is computed.
    pub kind: Kind,
    /// The measurement. Unit: microseconds or requests a second.
    pub value: f64,
    /// Relative error of the measurement.
    pub sigma: f64,
}

/// How a number is computed from a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The mean latency.
    Mean,
    /// The median latency of the fastest kind of pages, out of this many kinds.
    Fastest(usize),
    /// The median latency of one kind of pages: its index, and the number of kinds.
    Level(usize, usize),
    /// Requests a second.
    Rate,
    /// The median time from the end of a request to that of the next one, of one kind of pages: its
    /// index, and the number of kinds.
    Gap(usize, usize),
}

impl Feature {
    /// Name for people.
    #[must_use]
    pub fn name(&self) -> String {
        let what = match self.kind {
            Kind::Mean => "mean latency".to_owned(),
            Kind::Fastest(1) => "median latency".to_owned(),
            Kind::Fastest(_) => "latency of the fastest pages".to_owned(),
            Kind::Level(_, 1) => "latency".to_owned(),
            Kind::Level(which, of) => format!("latency of pages of kind {} of {of}", which + 1),
            Kind::Rate => "rate".to_owned(),
            Kind::Gap(_, 1) => "from one write to the next".to_owned(),
            Kind::Gap(which, of) => {
                format!("from one write to the next, pages of kind {} of {of}", which + 1)
            }
        };
        format!("{}, {}: {what}", self.probe, self.series)
    }

    /// Unit of the value.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        if self.kind == Kind::Rate { "IOPS" } else { "us" }
    }

    /// The value of this feature in other measurements. It is at least 1 picosecond or request a
    /// second, so that it has a logarithm.
    #[must_use]
    pub fn of(&self, data: &Collected) -> f64 {
        let of_name = |one: &&Measured| match self.kind {
            Kind::Level(..) => one.series.name.starts_with(&self.series),
            _ => one.series.name == self.series,
        };
        let series: Vec<&Measured> = data.probe(&self.probe).iter().filter(of_name).collect();
        let value = match self.kind {
            Kind::Mean => series.first().map(|one| one.mean_us()),
            Kind::Fastest(of) => series.first().map(|one| one.quantile_us(0.5 / of as f64)),
            Kind::Rate => series.first().map(|one| one.iops()),
            Kind::Gap(which, of) => series.first().and_then(|one| {
                let gaps = programs::gaps(one);
                level(gaps[gaps.len() / 2..].to_vec(), which, of)
            }),
            Kind::Level(which, of) => {
                let latencies = series.iter().flat_map(|one| &one.timings);
                level(latencies.map(|timing| timing.latency.as_us()).collect(), which, of)
            }
        };
        value.unwrap_or(0.0).max(1e-6)
    }

    fn at(data: &Collected, probe: &str, series: &str, kind: Kind, sigma: f64) -> Self {
        let (probe, series) = (probe.to_owned(), series.to_owned());
        let feature = Self { probe, series, kind, value: 0.0, sigma };
        let value = feature.of(data);
        Self { value, ..feature }
    }
}

/// The median of a group of latencies. If there are not as many groups, the median of an equal
/// share in order of size.
fn level(mut latencies: Vec<f64>, which: usize, of: usize) -> Option<f64> {
    let found = levels(latencies.clone());
    if found.len() == of {
        return found.get(which).copied();
    }
    latencies.sort_by(f64::total_cmp);
    let place = (which as f64 + 0.5) / of as f64 * latencies.len() as f64;
    latencies.get(place as usize).copied()
}

/// All features.
pub(super) fn all(data: &Collected, inside: &Inside) -> Vec<Feature> {
    let kinds = inside.levels.len().max(1);
    let mut all = Vec::new();
    for name in ["small-alone", "large-alone"] {
        let begins = |one: &Measured| one.series.name.starts_with(name);
        if data.probe("conflicts").iter().any(begins) {
            for which in 0..kinds {
                let kind = Kind::Level(which, kinds);
                all.push(Feature::at(data, "conflicts", name, kind, ALONE));
            }
        }
    }
    let page = inside.page.unwrap_or(4096);
    for one in data.probe("idle-latency") {
        let within = one.series.requests.first().is_some_and(|read| u64::from(read.bytes) <= page);
        let (kind, sigma) = match within || kinds == 1 {
            true => (Kind::Fastest(kinds), ALONE),
            false => (Kind::Mean, sampled(one, ALONE)),
        };
        all.push(Feature::at(data, "idle-latency", &one.series.name, kind, sigma));
    }
    let planes = inside.shows_planes();
    for probe in ["shared-die", "depth"] {
        for one in data.probe(probe) {
            let sigma = sampled(one, if planes { ON_PLANES } else { TOGETHER });
            all.push(Feature::at(data, probe, &one.series.name, Kind::Rate, sigma));
        }
    }
    all
}

/// Sets the relative errors that were [`ON_PLANES`] to the spread of drives that differ only in the
/// places of their data.
pub(super) fn from_spread(features: &mut [Feature], drives: &[Vec<f64>]) {
    for (at, feature) in features.iter_mut().enumerate() {
        if feature.kind != Kind::Rate {
            continue;
        }
        let count = drives.len() as f64;
        let mean = drives.iter().map(|drive| drive[at]).sum::<f64>() / count;
        let squares = drives.iter().map(|drive| (drive[at] - mean) * (drive[at] - mean));
        let spread = (squares.sum::<f64>() / (count - 1.0).max(1.0)).sqrt() / mean;
        let error = SPREADS * spread;
        feature.sigma = feature.sigma.min((TOGETHER * TOGETHER + error * error).sqrt());
    }
}

/// The features of writes.
pub(super) fn of_writes(data: &Collected, programs: &Programs) -> Vec<Feature> {
    let of = programs.levels.len();
    let gap = |which| {
        let kind = Kind::Gap(which, of);
        Feature::at(data, "behind-writes", "without-pause", kind, ALONE)
    };
    (0..of).map(gap).collect()
}

/// The relative error of a mean over requests; the simulated drive draws different requests.
fn sampled(one: &Measured, least: f64) -> f64 {
    let mean = one.mean_us();
    let off = |timing: &flashlane_probe::Timing| timing.latency.as_us() - mean;
    let squares: f64 = one.timings.iter().map(|timing| off(timing) * off(timing)).sum();
    let count = one.timings.len() as f64;
    // Requests that are outstanding together wait for the same resources.
    let together = match one.series.rule {
        Rule::Closed { depth } => f64::from(depth),
        Rule::Bursts { size, .. } => f64::from(size),
        Rule::Open => 1.0,
    };
    // A page that is read again takes an equal time again.
    let places: BTreeSet<u64> = one.series.requests.iter().map(|request| request.offset).collect();
    let independent = (count / together.sqrt()).min(places.len() as f64).max(1.0);
    let error = (squares / count / independent).sqrt() / mean;
    (2.0 * error * error + least * least).sqrt()
}
