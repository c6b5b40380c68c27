//! The page size: the largest unit of addresses whose reads stay in one place.

use flashlane_engine::Time;

use crate::battery::page_boundary::SPAN;
use crate::data::Measured;

/// Reads over the end of a page must differ from the others by this many standard errors.
const CLEAR: f64 = 6.0;

/// The page size from the series of `page-boundary`. Unit: bytes. `None` if no size explains them.
///
/// Some ends of pages show in only one of the two ways. If the next page is on another die of the
/// same channel, a read over the end takes as long as any other. If it is on the same die, a pair
/// waits as within a page. Therefore the smaller of the two sizes is the page size.
#[must_use]
pub fn page_size(series: &[Measured]) -> Option<u64> {
    let of_kind = |kind: &str| -> Vec<&Measured> {
        series.iter().filter(|one| one.series.name.starts_with(kind)).collect()
    };
    let sizes = [over_ends(&of_kind("place-")), of_pairs(&of_kind("pairs-"))];
    sizes.into_iter().flatten().min()
}

/// The size by reads over the ends of pages.
///
/// Read `i` of a series covers blocks `i` and `i + 1`. For a page of `n` blocks, the read with `i =
/// n - 1` modulo `n` reaches over an end: the latency changes before and after it, and nowhere
/// else. The size is the one for which these changes differ most clearly from the others.
fn over_ends(series: &[&Measured]) -> Option<u64> {
    let block = u64::from(series.first()?.series.requests.first()?.bytes) / 2;
    let places = (SPAN / block) as usize;
    // Change of the latency from a place to the next one, averaged over the bases.
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

/// The size by pairs: the smallest distance from which on a pair does not wait as it does within a
/// page, for most bases. `None` if pairs within a page do not wait.
fn of_pairs(series: &[&Measured]) -> Option<u64> {
    let block = u64::from(series.first()?.series.requests.first()?.bytes);
    // Delay of the end of the second read of a pair, averaged over the bases, by distance.
    let mut later = vec![0.0; (SPAN / block) as usize - 1];
    for one in series {
        for (later, pair) in later.iter_mut().zip(one.timings.chunks_exact(2)) {
            let by = pair[1].latency.0.saturating_sub(pair[0].latency.0);
            *later += Time(by).as_us() / series.len() as f64;
        }
    }
    let within = later[0];
    let alone = super::median(series.iter().map(|one| one.timings[0].latency.as_us()).collect());
    if within < 0.3 * alone {
        return None;
    }
    let parts = later.iter().position(|later| *later < 0.6 * within)? as u64 + 1;
    parts.is_power_of_two().then_some(parts * block)
}

/// The difference, in standard errors, between the changes at the ends of pages of `blocks` blocks
/// and the other changes. The error is estimated from the others.
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
    let square = |change: &f64| (change - of_rest) * (change - of_rest);
    let squares: f64 = rest.iter().map(square).sum();
    // The resolution of the clock is a nanosecond.
    let spread = (squares / (rest.len() - 1) as f64).sqrt() + 1e-3;
    let share = 1.0 / ends.len() as f64 + 1.0 / rest.len() as f64;
    (of_ends - of_rest) / (spread * share.sqrt())
}
