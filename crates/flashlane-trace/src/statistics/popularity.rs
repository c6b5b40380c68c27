//! How often places are visited.

use std::collections::HashMap;

use super::share;

/// The most visited page must have so many visits for a slope.
const HOTTEST_MIN: u32 = 5;
/// Most pages that a slope is formed over.
const PAGES_MAX: usize = 5000;
/// Fewest pages that give a slope.
const PAGES_MIN: usize = 3;

/// How accesses spread over the pages that are accessed at all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Popularity {
    /// Distinct pages.
    pub count: u64,
    /// Share of accesses to the hottest tenth of them.
    pub top10: f64,
    /// Share of accesses to the hottest fifth of them.
    pub top20: f64,
    /// Slope of the logarithm of the accesses over the logarithm of the rank, negated, by least
    /// squares over the hottest tenth, 5,000 at most. `None` where even the hottest page has fewer
    /// than five accesses.
    pub zipf: Option<f64>,
}

impl Popularity {
    /// Of the accesses to each page, in any order.
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

/// Where starts fall, in units of some size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Places {
    /// Starts.
    pub count: u64,
    /// Units in which at least one lies.
    pub distinct: u64,
    /// Probability that two starts lie in the same unit, without bias from the length of the trace.
    pub collision: f64,
}

impl Places {
    /// Of the starts in each unit.
    pub(super) fn of(starts: &HashMap<(u32, u64), u32>) -> Self {
        let count: u64 = starts.values().map(|&count| u64::from(count)).sum();
        let pairs: u128 = starts.values().map(|&c| u128::from(c) * u128::from(c - 1)).sum();
        let all = count as f64 * count.saturating_sub(1) as f64;
        let collision = if all > 0.0 { pairs as f64 / all } else { 0.0 };
        Self { count, distinct: starts.len() as u64, collision }
    }
}
