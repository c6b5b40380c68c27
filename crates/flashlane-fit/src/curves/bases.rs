//! The base of a fit if none is named: the presets of real drives that are nearest to the figures.
//!
//! Every preset runs the figures with its own values. The search begins at the nearest two of them,
//! and its best end counts. So the structure comes from a drive that behaves alike.

use std::sync::atomic::{AtomicUsize, Ordering};

use flashlane::Error;
use serde::Serialize;

use super::{Bench, CurveFit, Figure, Request, Step, fit, fitted_to, keys, tail};
use crate::calibrate::loss;
use crate::parallel;

/// Presets whose latencies beside writes are those of a measured drive: first those whose write
/// buffer never pauses.
const BESIDE_WRITES: &[&str] =
    &["solidigm-p5520", "samsung-pm9a3", "micron-7450-max", "kioxia-cm7-r"];

/// Number of the presets whose write buffer never pauses.
const WITHOUT_PAUSES: usize = 2;

/// Presets of drives with measured reads, writes and rates.
const OTHERS: &[&str] =
    &["980-pro-filled", "zn540", "p4800x", "970-pro", "980-pro", "p4510", "p3700", "micron-9100"];

/// Presets with measured fillings.
const FILLED: &[&str] = &["msi-m480-play", "adata-atom-50", "team-mp44s", "hp-fx700"];

/// Number of bases from which a search begins.
const SEARCHED: usize = 2;

/// A preset that was tried as a base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// The preset.
    pub base: String,
    /// Sum of the squared residuals of the preset as it is, as the search counts them.
    pub before: f64,
    /// The sum after the search; `None` if no search began here.
    pub after: Option<f64>,
}

/// Fits the nearest presets to figures. Calls `progress` after every simulation. The base of the
/// request has no effect.
///
/// # Errors
/// As for [`fit`], if no preset can be measured for the figures.
pub fn fit_nearest(
    figures: &[Figure],
    request: &Request,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<CurveFit, Error> {
    let ended = AtomicUsize::new(0);
    let count = |step: Step, before: usize| {
        progress(Step { simulations: before + step.simulations });
    };
    let fitted = fitted_to(figures, request);
    let seen: Vec<Figure> = fitted.into_iter().map(|index| figures[index].clone()).collect();
    let mut tried = rank(&seen, request, &|| {
        count(Step { simulations: ended.fetch_add(1, Ordering::Relaxed) + 1 }, 0);
    })?;
    let mut best: Option<(f64, CurveFit)> = None;
    for (nth, one) in tried.iter_mut().take(SEARCHED).enumerate() {
        let mut request = Request { base: one.base.clone(), ..request.clone() };
        // The other bases take the place of other starts, and share the evaluations: the nearest
        // base gets half of them, and the next one a quarter.
        request.options.starts = 1;
        request.options.most_evaluations = request.options.most_evaluations.div_ceil(2 << nth);
        let (before, latest) = (ended.load(Ordering::Relaxed), AtomicUsize::new(0));
        let found = fit(figures, &request, &|step| {
            latest.fetch_max(step.simulations, Ordering::Relaxed);
            count(step, before);
        })?;
        ended.store(before + latest.into_inner(), Ordering::Relaxed);
        let residuals: Vec<f64> =
            found.calibration.residuals.iter().map(|one| one.sigmas).collect();
        let after = loss(&residuals, tail(&seen, &request));
        one.after = Some(after);
        if best.as_ref().is_none_or(|(least, _)| after < *least) {
            best = Some((after, found));
        }
    }
    let (_, found) = best.expect("one base at least is tried");
    Ok(CurveFit { tried, ..found })
}

/// The presets that can be measured for the figures, nearest first.
fn rank(
    figures: &[Figure],
    request: &Request,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Tried>, Error> {
    let bases = candidates(figures);
    let threads = parallel::threads(request.options.threads);
    let results = parallel::each(threads, &bases, |base| {
        let result = misfit(base, figures, request);
        progress();
        result
    });
    let mut tried = Vec::new();
    let mut first_error = None;
    for (base, result) in bases.iter().zip(results) {
        match result {
            Ok(before) => tried.push(Tried { base: (*base).to_owned(), before, after: None }),
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    tried.sort_by(|a, b| a.before.total_cmp(&b.before));
    match first_error {
        Some(error) if tried.is_empty() => Err(error),
        _ => Ok(tried),
    }
}

/// The presets to try for figures.
fn candidates(figures: &[Figure]) -> Vec<&'static str> {
    if figures.iter().any(|figure| figure.metric.is_of_fill()) {
        return FILLED.to_vec();
    }
    let beside_writes = figures.iter().any(|figure| figure.load.is_some());
    match (beside_writes, keys::stall(figures)) {
        (true, Some(_)) => BESIDE_WRITES.to_vec(),
        (true, None) => BESIDE_WRITES[..WITHOUT_PAUSES].to_vec(),
        (false, _) => BESIDE_WRITES.iter().chain(OTHERS).copied().collect(),
    }
}

/// Distance of a preset, as it is, from the figures.
fn misfit(base: &str, figures: &[Figure], request: &Request) -> Result<f64, Error> {
    let request = Request { base: base.to_owned(), ..request.clone() };
    let bench = Bench::new(&request, figures, &|_| {});
    let residual = |figure: &Figure| {
        let value = bench.measure(figure, &[])?;
        Ok(libm::log(value / figure.value) / figure.sigma)
    };
    let residuals: Vec<f64> = figures.iter().map(residual).collect::<Result<_, Error>>()?;
    match residuals.iter().all(|residual| residual.is_finite()) {
        true => Ok(loss(&residuals, tail(figures, &request))),
        false => Err(Error::config(base, "has no value of a figure")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::*;
    use flashlane::config::load::{self, Overrides};
    use flashlane::config::preset::Preset;

    /// Presets that stand for no drive that one can measure.
    const NO_DRIVES: &[&str] = &["fast18", "flin", "upi", "xpoint", "tiny"];

    /// Presets of zones: they refuse the random writes that a figure may ask for.
    const ZONED: &[&str] = &["zn540-zones"];

    #[test]
    fn every_preset_of_a_drive_is_in_a_list() {
        let mut listed = [BESIDE_WRITES, OTHERS, FILLED, NO_DRIVES, ZONED].concat();
        let mut presets = Preset::names();
        listed.sort_unstable();
        presets.sort_unstable();
        assert_eq!(listed, presets, "a new preset belongs to a list of this file");
    }

    #[test]
    fn the_presets_to_try_are_of_drives_of_the_kind() {
        let of = |text: &str| candidates(&table::parse(text, "x").expect("right"));
        let head = "op,pattern,size,load_iops,write_share,metric,value,state\n";
        let write = |p99| format!("write,random,4KiB,40000,0.9,p99_us,{p99},sustained\n");
        let read = "read,random,4KiB,40000,0.9,p50_us,90,sustained\n";
        let smooth = of(&format!("{head}{}{read}", write(50)));
        assert_eq!(smooth, BESIDE_WRITES[..WITHOUT_PAUSES]);
        assert_eq!(of(&format!("{head}{}{read}", write(5000))), BESIDE_WRITES);
        let closed = of("op,pattern,size,depth,metric,value\nread,random,4KiB,1,mean_us,80\n");
        assert_eq!(closed.len(), BESIDE_WRITES.len() + OTHERS.len());
        for preset in BESIDE_WRITES.iter().chain(OTHERS).chain(FILLED) {
            let device = load::device(preset, &Overrides::default()).expect("a preset").config;
            let pauses = BESIDE_WRITES[WITHOUT_PAUSES..].contains(preset);
            assert_eq!(device.cache.pause.is_on(), pauses, "{preset}");
        }
    }

    #[test]
    fn without_a_base_the_search_begins_at_the_nearest_presets() {
        let text = "op,pattern,size,depth,metric,value\nread,random,4KiB,1,mean_us,73.5\n\
                    read,random,4KiB,16,kiops,174\n";
        let figures = table::parse(text, "x").expect("right");
        let mut request = Request { effort: 0.05, proposals: 0, ..Request::of("") };
        let [one, three] = [1, 3].map(|threads| {
            request.options.threads = threads;
            fit_nearest(&figures, &request, &|_| {}).expect("it can be fitted")
        });
        assert_eq!(one, three, "at any number of threads");
        assert_eq!(one.tried.len(), BESIDE_WRITES.len() + OTHERS.len());
        assert!(one.tried.is_sorted_by(|a, b| a.before <= b.before));
        let searched: Vec<bool> = one.tried.iter().map(|tried| tried.after.is_some()).collect();
        assert!(searched[..SEARCHED].iter().all(|&one| one));
        assert!(searched[SEARCHED..].iter().all(|&one| !one));
        assert!(one.tried[..SEARCHED].iter().any(|tried| tried.base == one.base));
        assert!(one.calibration.fits, "{:?}", one.calibration.residuals);
    }
}
