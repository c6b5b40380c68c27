//! Finds the device file that behaves as a probed drive does.
//!
//! The steps in order: [`Inside`] is what the measurements show without simulation. Each geometry
//! that they allow is simulated as a drive ([`search`]). Its quantities are calibrated by sending
//! it the same requests ([`replay`]) and comparing the numbers of [`feature`]. Writes determine
//! further keys ([`writes`], [`spare`]).

mod feature;
mod keys;
mod replay;
mod report;
mod search;
mod spare;
mod validate;
mod writes;

use flashlane::Error;
use flashlane_probe::Collected;
pub use flashlane_probe::structure::Inside;
use flashlane_probe::structure::observed;

use crate::calibrate::{Calibration, Failure, Options};
pub use feature::Feature;
use keys::Shape;
use search::{Search, Variant};
pub use spare::Spare;
pub use validate::{Prediction, Validation};
pub use writes::Written;

/// A request for a fit.
#[derive(Clone, Debug)]
pub struct Request {
    /// The device with the keys that the measurements do not determine: a preset or a file.
    pub base: String,
    /// How the quantities are calibrated.
    pub options: Options,
    /// Seed of the simulated drives.
    pub seed: u64,
}

impl Request {
    /// The usual options for a base.
    #[must_use]
    pub fn of(base: &str) -> Self {
        let options = Options {
            most_evaluations: 600,
            step: 0.02,
            tolerance: 1e-4,
            hold: 0.02,
            ..Options::default()
        };
        Self { base: base.to_owned(), options, seed: 1 }
    }
}

/// Result of a fit to a drive.
#[derive(Clone, Debug)]
pub struct DriveFit {
    /// Facts that the measurements show without simulation.
    pub inside: Inside,
    /// The best geometry, as an index into [`Inside::geometries`].
    pub geometry: usize,
    /// Processors that run the firmware.
    pub servers: u32,
    /// Geometries that fit equally well, including the best one.
    pub as_good: Vec<usize>,
    /// The calibration with the best geometry.
    pub calibration: Calibration,
    /// Results from writes.
    pub written: Written,
    /// Every measurement of reads that was fitted.
    pub features: Vec<Feature>,
    /// Keys with values, as `--set` takes them: the fitted drive, relative to the base.
    pub sets: Vec<String>,
    /// Observations that no key expresses, in words.
    pub observations: Vec<String>,
    /// Number of measured requests.
    pub commands: u64,
    /// Capacity of the drive. Unit: bytes.
    pub bytes: u64,
    /// Capacity of the drives that were tried. Unit: bytes.
    wrap: u64,
}

impl DriveFit {
    /// True if the drive behaves as measured, and its page and geometry are known.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.calibration.fits && self.inside.is_whole() && self.written.fits()
    }
}

/// Fits a drive to what was measured. Calls `progress` after every simulated drive.
///
/// # Errors
/// A base that does not load, no measurement that can be fitted to, or a drive that the simulator
/// refuses.
pub fn fit(
    data: &Collected,
    request: &Request,
    progress: &(dyn Fn() + Sync),
) -> Result<DriveFit, Error> {
    let inside = Inside::of(data);
    let features = feature::all(data, &inside);
    if features.is_empty() {
        return Err(Error::config("probe", "no probe is complete that a fit could use"));
    }
    let parameters = &keys::parameters(data, &inside);
    let mut written = Written::of(data, &inside);
    let before = &written;
    let mut search =
        Search { data, request, inside: &inside, written: before, parameters, features, progress };
    let found = search.run()?;
    let features = search.features;
    let best = found[0].1.chi2;
    let chance = 10.0 * found[0].1.chi2_reduced.unwrap_or(1.0).max(1.0);
    let as_good = found.iter().filter(|(_, one)| one.chi2 < best + chance);
    let as_good = as_good.map(|(variant, _)| variant.geometry).collect();
    let (Variant { geometry, servers }, calibration) = found[0].clone();
    let (bytes, wrap) = (data.facts.bytes, replay::wrap(data, &inside));
    let read = keys::sets(parameters, &calibration.values);
    let best = inside.geometries.get(geometry);
    let shape = Shape { bytes: wrap, inside: &inside, geometry: best, written: &written, servers };
    let structure = keys::structure(&shape);
    written.fit(data, request, &inside, geometry, [structure, read.clone()].concat(), progress)?;
    let shape = Shape { bytes, inside: &inside, geometry: best, written: &written, servers };
    let mut sets = keys::structure(&shape);
    sets.extend(read);
    sets.extend(written.sets());
    let commands = data.commands();
    Ok(DriveFit {
        inside,
        geometry,
        servers,
        as_good,
        calibration,
        written,
        features,
        sets,
        observations: observed(data),
        commands,
        bytes,
        wrap,
    })
}

fn failed(failure: Failure<Error>) -> Error {
    match failure {
        Failure::Simulation(error) => error,
        Failure::Request(message) => Error::config("fit", message),
    }
}
