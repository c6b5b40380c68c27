//! The page: the unit of addresses within which a read stays at one place.

use flashlane_engine::Time;

use crate::battery::page_boundary::SPAN;
use crate::data::Measured;

/// Reads that reach over the end of a page have to stand out by so many standard errors.
const CLEAR: f64 = 6.0;

/// The page size from the series of `page-boundary`. Unit: bytes. `None` where no size explains
/// where the latency of reads changes.
///
/// Read `i` of a series covers blocks `i` and `i + 1`. For a page of `n` blocks the one with
/// `i = n - 1` modulo `n` reaches over an end: the latency changes before and after it, and nowhere
/// else. The size is the one for which these changes differ most clearly from the others.
#[must_use]
pub fn page_size(series: &[Measured]) -> Option<u64> {
    let block = u64::from(series.first()?.series.requests.first()?.bytes) / 2;
    let places = (SPAN / block) as usize;
    // By how much the latency changes from a place to the next one, averaged over the bases.
    let mut changes = vec![0.0; places - 1];
    for one in series {
        for (change, two) in changes.iter_mut().zip(one.timings.windows(2)) {
            let by = two[1].latency.0.abs_diff(two[0].latency.0);
            *change += Time(by).as_us() / series.len() as f64;
        }
    }
    let mut best: Option<(f64, u64)> = None;
    let mut blocks = 2;
    while blocks * block <= SPAN / 2 {
        let score = contrast(&changes, blocks as usize);
        if score > best.map_or(CLEAR, |(found, _)| found) {
            best = Some((score, blocks * block));
        }
        blocks *= 2;
    }
    best.map(|(_, size)| size)
}

/// How many standard errors lie between the changes at the ends of pages of so many blocks and the
/// rest, if ends were nothing special: the error is that of the rest.
fn contrast(changes: &[f64], blocks: usize) -> f64 {
    let group = |end: bool| -> Vec<f64> {
        let is_end = |place: usize| place % blocks + 2 >= blocks;
        let chosen = changes.iter().enumerate().filter(|(place, _)| is_end(*place) == end);
        chosen.map(|(_, change)| *change).collect()
    };
    let (ends, rest) = (group(true), group(false));
    if ends.is_empty() || rest.len() < 2 {
        return 0.0;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (of_ends, of_rest) = (mean(&ends), mean(&rest));
    let squares: f64 = rest.iter().map(|change| (change - of_rest).powi(2)).sum();
    // A clock that ticks in nanoseconds cannot tell less than that.
    let spread = (squares / (rest.len() - 1) as f64).sqrt() + 1e-3;
    let share = 1.0 / ends.len() as f64 + 1.0 / rest.len() as f64;
    (of_ends - of_rest) / (spread * share.sqrt())
}
