//! Calibrates the drives that reads allow, one after the other, and finds the best.

use flashlane::Error;
use flashlane_probe::Collected;

use super::feature::{self, Feature};
use super::keys::{self, Shape};
use super::replay::{self, Replay};
use super::{Inside, Request, Written, failed};
use crate::calibrate::{Calibration, Parameter, calibrate};

/// Most geometries that are calibrated.
const MOST_GEOMETRIES: usize = 8;
/// Number of drives that differ only in the places of their data.
const DRIVES: u64 = 4;
/// Numbers of processors that are tried if a single one does not fit.
const SERVERS: [u32; 4] = [2, 4, 8, 32];

/// A drive that the reads allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    /// Geometry of the drive, as an index into the list.
    pub(super) geometry: usize,
    /// Number of processors that run the firmware.
    pub(super) servers: u32,
}

/// Inputs of the search.
pub(super) struct Search<'a> {
    pub(super) data: &'a Collected,
    pub(super) request: &'a Request,
    pub(super) inside: &'a Inside,
    pub(super) written: &'a Written,
    pub(super) parameters: &'a [Parameter],
    pub(super) features: Vec<Feature>,
    pub(super) progress: &'a (dyn Fn() + Sync),
}

/// The variants with their calibrations, best first.
pub(super) type Found = Vec<(Variant, Calibration)>;

impl Search<'_> {
    /// Calibrates every distinct geometry. If one processor does not fit, also with several.
    pub(super) fn run(&mut self) -> Result<Found, Error> {
        let different = self.inside.different().into_iter().take(MOST_GEOMETRIES);
        let variants: Vec<Variant> =
            different.map(|geometry| Variant { geometry, servers: 1 }).collect();
        let mut found = self.calibrated(&variants)?;
        if self.inside.shows_planes() {
            // The first fit determines the spread of drives with planes.
            self.look_at_spread(&found[0])?;
            found = self.calibrated(&variants)?;
        }
        for servers in SERVERS {
            // More processors do not help if data is in places that no fit assumes.
            if found[0].1.fits || !self.inside.is_whole() || !self.written.goes_where_it_should() {
                break;
            }
            let several = |one: &Variant| Variant { servers, ..*one };
            let variants: Vec<Variant> = variants.iter().map(several).collect();
            found.extend(self.calibrated(&variants)?);
            sort(&mut found);
        }
        Ok(found)
    }

    fn calibrated(&self, variants: &[Variant]) -> Result<Found, Error> {
        let measured: Vec<f64> = self.features.iter().map(|feature| feature.value).collect();
        let sigmas: Vec<f64> = self.features.iter().map(|feature| feature.sigma).collect();
        let mut found = Vec::new();
        for &variant in variants {
            let replay = self.replay(variant);
            let simulate = |values: &[f64]| {
                (self.progress)();
                self.values(&replay, self.request.seed, values)
            };
            let options = &self.request.options;
            let outcome = calibrate(self.parameters, &measured, &sigmas, simulate, options);
            found.push((variant, outcome.map_err(failed)?));
        }
        sort(&mut found);
        Ok(found)
    }

    /// The features of a drive with parameters at values.
    fn values(&self, replay: &Replay<'_>, seed: u64, values: &[f64]) -> Result<Vec<f64>, Error> {
        let drive = replay.run_on(seed, &keys::sets(self.parameters, values))?;
        Ok(self.features.iter().map(|feature| feature.of(&drive)).collect())
    }

    fn look_at_spread(&mut self, found: &(Variant, Calibration)) -> Result<(), Error> {
        let replay = self.replay(found.0);
        let drives = (1..=DRIVES).map(|seed| {
            (self.progress)();
            self.values(&replay, self.request.seed + seed, &found.1.values)
        });
        let drives = drives.collect::<Result<Vec<_>, Error>>()?;
        feature::from_spread(&mut self.features, &drives);
        Ok(())
    }

    /// The requests for drives of a variant.
    fn replay(&self, variant: Variant) -> Replay<'_> {
        let geometry = self.inside.geometries.get(variant.geometry);
        let bytes = replay::wrap(self.data, self.inside);
        let (inside, written, servers) = (self.inside, self.written, variant.servers);
        let structure = keys::structure(&Shape { bytes, inside, geometry, written, servers });
        Replay::of(self.data, self.inside, self.request, structure)
    }
}

fn sort(found: &mut Found) {
    found.sort_by(|one, two| one.1.chi2.total_cmp(&two.1.chi2));
}
