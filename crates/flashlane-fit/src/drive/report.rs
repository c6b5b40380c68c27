//! A fitted drive as a report.

use std::collections::BTreeSet;

use flashlane::Error;
use flashlane::config::load::{self, Overrides};
use flashlane_probe::structure::Geometry;

use super::keys::{self, Other, Shape};
use super::spare::{OTHER, Spare};
use super::{DriveFit, Feature, Request};
use crate::calibrate::{Calibration, Residual};
use crate::write::{Key, Point, Report, SCHEMA, Source, Verdict, also, pairs, undetermined};

impl DriveFit {
    /// The report. `data`: name of the data that were fitted.
    ///
    /// # Errors
    /// A base that does not load.
    pub fn report(&self, data: &str, request: &Request) -> Result<Report, Error> {
        let found = &self.calibration;
        let mut keys = self.structure(request)?;
        keys.extend((0..found.values.len()).map(|at| Key::of(found, at, &self.determined_by(at))));
        let mut points = points(&self.features, found);
        let mut verdict = Verdict::of(found, request.options.worst_residual);
        if let Some(writes) = &self.written.calibration {
            keys.extend((0..writes.values.len()).map(|at| Key::of(writes, at, "behind-writes")));
            points.extend(self::points(&self.written.features, writes));
            verdict.evaluations += writes.evaluations;
            verdict.chi2 += writes.chi2;
        }
        points.extend(self.written.spare.iter().flat_map(of_spare));
        verdict.fits = self.fits();
        Ok(Report {
            schema: SCHEMA,
            data: data.to_owned(),
            base: request.base.clone(),
            tried: Vec::new(),
            verdict,
            keys,
            correlations: pairs(found),
            undetermined: undetermined(found),
            also: also(found),
            points,
            proposals: self.proposals(),
            observations: self.observations.clone(),
            validation: None,
        })
    }

    /// The measurement through which errors affect a parameter most.
    fn determined_by(&self, axis: usize) -> String {
        let elasticities = &self.calibration.elasticities[axis];
        let strength = |at: &usize| (elasticities[*at] / self.features[*at].sigma).abs();
        let best =
            (0..self.features.len()).max_by(|one, two| strength(one).total_cmp(&strength(two)));
        best.map(|at| self.features[at].name()).unwrap_or_default()
    }

    /// The keys of the structure.
    fn structure(&self, request: &Request) -> Result<Vec<Key>, Error> {
        let base = load::device(&request.base, &Overrides::default())?.config;
        let flash = &base.flash;
        let number = |of: fn(&Geometry) -> u32| move |one: &Geometry| of(one).to_string();
        let mut all = vec![
            self.part("flash.channels", &number(|one| one.channels), flash.channels),
            self.part("flash.chips_per_channel", &number(|one| one.chips), flash.chips_per_channel),
            self.part("flash.dies_per_chip", &number(|one| one.dies), flash.dies_per_chip),
            self.part("flash.planes_per_die", &number(|one| one.planes), flash.planes_per_die),
            self.part("ftl.allocation", &|one| format!("\"{}\"", one.order), "its own"),
        ];
        all.retain(|key| key.source != Source::Base);
        let geometry = self.inside.geometries.get(self.geometry);
        let shape = Shape {
            bytes: self.bytes,
            inside: &self.inside,
            geometry,
            written: &self.written,
            servers: self.servers,
        };
        all.extend(keys::others(&shape).iter().map(whole));
        Ok(all)
    }

    /// A key of the geometry. `of` gives its value as TOML.
    fn part(&self, key: &str, of: &dyn Fn(&Geometry) -> String, base: impl ToString) -> Key {
        let geometries = &self.inside.geometries;
        let class: BTreeSet<String> = geometries.iter().map(of).collect();
        let toml = geometries.get(self.geometry).map(of).unwrap_or_default();
        let text = |toml: &str| toml.trim_matches('"').to_owned();
        let list: Vec<String> = class.iter().map(|toml| text(toml)).collect();
        Key {
            key: key.to_owned(),
            value: toml.parse().ok(),
            interval: None,
            bounds: None,
            at_bound: false,
            text: text(&toml),
            toml,
            interval_text: list.join(" or "),
            base_text: base.to_string(),
            source: match list.len() {
                0 => Source::Base,
                1 => Source::Measured,
                _ => Source::Undetermined,
            },
            determined_by: if list.len() == 1 { "conflicts and planes" } else { "one of a class" }
                .to_owned(),
        }
    }

    /// Further measurements that would determine more.
    fn proposals(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.inside.page.is_none() {
            all.push("page-boundary on a drive that is idle: no page size was found".to_owned());
        }
        if self.inside.geometries.is_empty() {
            let why = "conflicts after the drive was written in order: pairs of reads a distance \
                       apart did not always do the same";
            all.push(why.to_owned());
        }
        if !self.written.goes_where_it_should() {
            let why = "nothing: a write did not keep the plane busy that it should go to, so the \
                       drive places data by the time of their writing, which no fit assumes";
            all.push(why.to_owned());
        }
        let told = |at: &usize| !self.calibration.determines(*at);
        let undetermined = (0..self.calibration.values.len()).filter(told);
        let key = |at: usize| &self.calibration.parameters[at].key;
        all.extend(undetermined.map(|at| format!("{}: no probe tells it", key(at))));
        all
    }
}

/// Measurements beside the values of the calibrated drive.
fn points(features: &[Feature], found: &Calibration) -> Vec<Point> {
    let point = |(feature, residual): (&Feature, &Residual)| Point {
        name: feature.name(),
        unit: feature.unit().to_owned(),
        measured: feature.value,
        fitted: residual.fitted,
        sigma: feature.sigma,
        sigmas: residual.sigmas,
        held_back: false,
        source: String::new(),
    };
    features.iter().zip(&found.residuals).map(point).collect()
}

/// The write amplification over the passes of `permutation`.
fn of_spare(spare: &Spare) -> impl Iterator<Item = Point> + '_ {
    let kind = if spare.counted { "by the counters of the drive" } else { "by its speed" };
    let point = move |(at, (&measured, &fitted)): (usize, (&f64, &f64))| Point {
        name: format!("permutation, part {} of the passes: write amplification, {kind}", at + 1),
        unit: String::new(),
        measured,
        fitted,
        sigma: OTHER,
        sigmas: libm::log(fitted / measured) / OTHER,
        held_back: false,
        source: String::new(),
    };
    spare.measured.iter().zip(&spare.fitted).enumerate().map(point)
}

/// A key with a value in TOML that follows from the measurements, or is a default.
fn whole(other: &Other) -> Key {
    let text = other.toml.trim_matches('"').to_owned();
    let told = other.determined_by.is_some();
    Key {
        key: other.key.to_owned(),
        toml: other.toml.clone(),
        value: None,
        interval: None,
        bounds: None,
        at_bound: false,
        interval_text: if told { text.clone() } else { "unknown".to_owned() },
        text,
        base_text: String::new(),
        source: if told { Source::Measured } else { Source::Undetermined },
        determined_by: other.determined_by.unwrap_or("cannot be told").to_owned(),
    }
}
