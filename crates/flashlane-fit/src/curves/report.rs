//! A fit to figures as a report.

use super::{CurveFit, Request, Role};
use crate::write::{Key, Point, Report, SCHEMA, Verdict, also, pairs, undetermined};

impl CurveFit {
    /// The report. `data`: name of the data that were fitted.
    #[must_use]
    pub fn report(&self, data: &str, request: &Request) -> Report {
        let found = &self.calibration;
        let determined_by =
            |at: usize| self.determined_by[at].map(|index| self.figures[index].name());
        let mut keys: Vec<Key> = (0..found.values.len())
            .map(|at| Key::of(found, at, &determined_by(at).unwrap_or_default()))
            .collect();
        keys.extend(self.scans.iter().map(|scan| {
            Key::whole(&scan.key, scan.base, scan.best, &scan.agreeing, scan.determines())
        }));
        keys.extend(self.kept.iter().map(|kept| Key::kept(&kept.key, &kept.value, &kept.reason)));
        let points = self.figures.iter().zip(&self.fitted).map(|(figure, &fitted)| Point {
            name: figure.name(),
            unit: figure.metric.unit().to_owned(),
            measured: figure.value,
            fitted,
            sigma: figure.sigma,
            sigmas: libm::log(fitted / figure.value) / figure.sigma,
            held_back: request.hold_back && figure.role == Role::Predicted,
            source: figure.source.clone(),
        });
        let proposals = self.proposals.iter().map(|proposal| {
            format!(
                "{}: {} would be known to {:.0} % instead of {:.0} %",
                proposal.name,
                proposal.key,
                100.0 * proposal.after,
                100.0 * proposal.before
            )
        });
        Report {
            schema: SCHEMA,
            data: data.to_owned(),
            base: self.base.clone(),
            tried: self.tried.clone(),
            verdict: Verdict::of(found, request.options.worst_residual),
            keys,
            correlations: pairs(found),
            undetermined: undetermined(found),
            also: also(found),
            points: points.collect(),
            proposals: proposals.collect(),
            observations: Vec::new(),
            validation: None,
        }
    }
}
