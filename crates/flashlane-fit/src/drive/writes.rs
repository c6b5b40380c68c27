//! Results from writes: the buffer, programs and erases, and the spare room.

use flashlane::Error;
use flashlane_probe::Collected;
use flashlane_probe::structure::{Buffer, Programs, Wait, buffer};

use super::feature::{self, Feature};
use super::keys;
use super::replay::Replay;
use super::spare::{Plane, Spare};
use super::{Inside, Request, failed};
use crate::calibrate::{Calibration, calibrate};

/// Results from writes; empty if the drive was only read.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The buffer for writes.
    pub buffer: Option<Buffer>,
    /// Programs and erases.
    pub programs: Option<Programs>,
    /// tPROG of each kind of page, by simulation.
    pub calibration: Option<Calibration>,
    /// The measurements that it was fitted to.
    pub features: Vec<Feature>,
    /// The spare room.
    pub spare: Option<Spare>,
}

impl Written {
    /// Analyses the measurements, without simulation.
    pub(super) fn of(data: &Collected, inside: &Inside) -> Self {
        let flash_us = inside.levels.first().copied().unwrap_or(0.0);
        let buffer = buffer(data.probe("read-back"), flash_us);
        let mut programs = Programs::of(data.probe("behind-writes"));
        let kinds = inside.levels.len();
        if let Some(programs) = programs.as_mut().filter(|one| kinds > 1 && one.levels.len() > 1)
            && programs.levels.len() != kinds
        {
            // Programs show other kinds of pages than reads do, so one time has to represent all of
            // them.
            let mean = programs.levels.iter().sum::<f64>() / programs.levels.len() as f64;
            programs.levels = vec![mean];
        }
        Self { buffer, programs, ..Self::default() }
    }

    /// True if all measurements are explained.
    pub(super) fn fits(&self) -> bool {
        let programs = self.calibration.as_ref().is_none_or(|one| one.fits);
        programs && self.goes_where_it_should() && self.spare.as_ref().is_none_or(Spare::fits)
    }

    /// True if writes go to the plane that the order of pages gives.
    pub(super) fn goes_where_it_should(&self) -> bool {
        self.programs.as_ref().is_none_or(|programs| programs.wait != Wait::Elsewhere)
    }

    /// Calibrates programs, then finds the spare room. `sets`: the keys known so far.
    pub(super) fn fit(
        &mut self,
        data: &Collected,
        request: &Request,
        inside: &Inside,
        geometry: usize,
        sets: Vec<String>,
        progress: &(dyn Fn() + Sync),
    ) -> Result<(), Error> {
        let (Some(programs), Some(page)) = (self.programs.clone(), inside.page) else {
            return Ok(());
        };
        let geometry = inside.geometries.get(geometry);
        let planes = keys::planes(geometry);
        let replay = Replay::of(data, inside, request, sets).of_writes(planes, page);
        let features = feature::of_writes(data, &programs);
        let parameters = keys::of_writes(&programs);
        let measured: Vec<f64> = features.iter().map(|feature| feature.value).collect();
        let sigmas: Vec<f64> = features.iter().map(|feature| feature.sigma).collect();
        let simulate = |values: &[f64]| {
            progress();
            let replayed = replay.run(&keys::sets(&parameters, values))?;
            Ok(features.iter().map(|feature| feature.of(&replayed)).collect::<Vec<f64>>())
        };
        let outcome = calibrate(&parameters, &measured, &sigmas, simulate, &request.options);
        self.calibration = Some(outcome.map_err(failed)?);
        self.features = features;
        let read_us = inside.levels.iter().sum::<f64>() / inside.levels.len().max(1) as f64;
        let program_us = programs.levels.iter().sum::<f64>() / programs.levels.len() as f64;
        let Some(pages_per_block) = programs.pages_per_block else { return Ok(()) };
        if !self.goes_where_it_should() {
            return Ok(());
        }
        let buffer = match self.buffer {
            Some(Buffer::Bytes(bytes)) => Some(bytes),
            _ => None,
        };
        let plane = Plane {
            data,
            base: &request.base,
            seed: request.seed,
            page,
            pages_per_block,
            planes,
            buffer,
            read_us,
            program_us,
        };
        self.spare = plane.spare(progress)?;
        Ok(())
    }

    /// Keys of programs with their values, as `--set` takes them.
    pub(super) fn sets(&self) -> Vec<String> {
        let of = |one: &Calibration| keys::sets(&one.parameters, &one.values);
        self.calibration.as_ref().map(of).unwrap_or_default()
    }
}
