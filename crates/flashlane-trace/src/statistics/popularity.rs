//! Statistics of how often pages are accessed.

use std::collections::HashMap;

use super::share;

/// Smallest number of accesses to the hottest page that gives a slope.
const HOTTEST_MIN: u32 = 5;
/// Largest number of pages from which a slope is computed.
const PAGES_MAX: usize = 5000;
/// Smallest number of pages that gives a slope.
const PAGES_MIN: usize = 3;

/// Distribution of the accesses over the pages that are accessed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Popularity {
    /// Number of distinct pages.
    pub count: u64,
    /// Share of the accesses that go to the hottest tenth of the pages.
    pub top10: f64,
    /// Share of the accesses that go to the hottest fifth of the pages.
    pub top20: f64,
    /// Negated slope of the logarithm of the accesses over the logarithm of the rank. It is fitted
    /// by least squares to the hottest tenth of the pages, at most 5,000. `None` if the hottest
    /// page has fewer than five accesses.
    pub zipf: Option<f64>,
}

impl Popularity {
    /// Computes the popularity from the number of accesses to each page, in any order.
    pub(super) fn of(mut accesses: Vec<u32>) -> Self {
        accesses.sort_unstable_by(|a, b| b.cmp(a));
        let total: u64 = accesses.iter().map(|&count| u64::from(count)).sum();
        let top = |part: usize| {
            let hottest = (accesses.len() / part).max(1).min(accesses.len());
            let sum: u64 = accesses[..hottest].iter().map(|&count| u64::from(count)).sum();
            share(sum as f64, total)
        };
        Self {
            count: accesses.len() as u64,
            top10: top(10),
            top20: top(5),
            zipf: slope(&accesses[..(accesses.len() / 10).min(PAGES_MAX)]),
        }
    }
}

fn slope(hottest: &[u32]) -> Option<f64> {
    if hottest.len() < PAGES_MIN || hottest[0] < HOTTEST_MIN {
        return None;
    }
    let points = || {
        (1_u32..)
            .zip(hottest)
            .map(|(rank, &count)| (libm::log(f64::from(rank)), libm::log(f64::from(count))))
    };
    let n = hottest.len() as f64;
    let (x, y) = points().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
    let up: f64 = points().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let down: f64 = points().map(|point| (point.0 - x) * (point.0 - x)).sum();
    Some(-up / down)
}

/// Distribution of the starts of requests over units of some size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Places {
    /// Number of starts.
    pub count: u64,
    /// Number of units that have a start.
    pub distinct: u64,
    /// Probability that two starts lie in one unit. The estimate has no bias from the length of the
    /// trace.
    pub collision: f64,
}

impl Places {
    /// Computes the distribution from the number of starts in each unit.
    pub(super) fn of(starts: &HashMap<(u32, u64), u32>) -> Self {
        let count: u64 = starts.values().map(|&count| u64::from(count)).sum();
        let pairs: u128 = starts.values().map(|&c| u128::from(c) * u128::from(c - 1)).sum();
        let all = count as f64 * count.saturating_sub(1) as f64;
        let collision = if all > 0.0 { pairs as f64 / all } else { 0.0 };
        Self { count, distinct: starts.len() as u64, collision }
    }
}
