//! Mean-field steady states of garbage collection under uniform random writes.
//!
//! A block has `b` pages, and all are valid when it has just been filled. Every host write
//! invalidates one of the valid pages at random. `rho` is the valid share of all pages of full
//! blocks. The victim has `S` valid pages on average, so that write amplification is `b / (b - S)`.
//! Source: Van Houdt 2013 (mean-field models of garbage collection), MQSim (FAST'18) section 4.4.

mod aged;
mod choices;
mod random;
pub mod released;

use aged::binomial;
pub use aged::{cost_benefit, fifo};
pub use choices::{d_choices, greedy};
pub use random::random;

/// The full blocks of a plane in steady state.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// For each of several equal parts of the blocks, the share of blocks with exactly `v` valid
    /// pages, `v = 0..=b`. The part that was filled first comes first. There is a single part where
    /// age does not matter.
    pub by_age: Vec<Vec<f64>>,
    /// All programs over programs of the host.
    pub write_amplification: f64,
}

impl SteadyState {
    /// A state in which age does not matter.
    fn ageless(valid: Vec<f64>, write_amplification: f64) -> Self {
        Self { by_age: vec![valid], write_amplification }
    }

    /// Share of all blocks with exactly `v` valid pages, `v = 0..=b`.
    #[must_use]
    pub fn valid_pages(&self) -> Vec<f64> {
        let parts = self.by_age.len() as f64;
        (0..self.by_age[0].len())
            .map(|v| self.by_age.iter().map(|part| part[v]).sum::<f64>() / parts)
            .collect()
    }

    /// Valid pages of each of `count` blocks, those filled first in front.
    ///
    /// Where age does not matter, block `j` takes the quantile `(j + 1/2) / count`, fewest first.
    /// Otherwise it takes a quantile of its part by age; the golden ratio spreads the quantiles
    /// evenly.
    pub fn counts(&self, count: u64) -> Vec<u32> {
        let parts = self.by_age.len() as u64;
        let (mut part, mut level, mut below) = (0, 0, self.by_age[0][0]);
        (0..count)
            .map(|index| {
                let position = index as f64 + 0.5;
                let quantile =
                    if parts == 1 { position / count as f64 } else { (position * GOLDEN) % 1.0 };
                if parts > 1 {
                    part = (index * parts / count) as usize;
                    (level, below) = (0, self.by_age[part][0]);
                }
                let shares = &self.by_age[part];
                while below < quantile && level + 1 < shares.len() {
                    level += 1;
                    below += shares[level];
                }
                level as u32
            })
            .collect()
    }
}

/// Multiples of the golden ratio, modulo 1, fill the unit interval evenly.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Checks that valid and invalid pages both exist.
fn check_share(rho: f64) {
    assert!(rho > 0.0 && rho < 1.0, "steady state needs some valid and some invalid pages");
}

/// Finds where a falling function becomes zero, by bisection of `low..high`.
fn root(mut low: f64, mut high: f64, mut falling: impl FnMut(f64) -> f64) -> f64 {
    while high - low > 1e-14 * (low.abs() + high.abs()) {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        if falling(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Write amplification of first in, first out: the valid share `f` of victims solves
    /// `f = exp(-(1 - f) / rho)`, found here by iteration.
    fn closed_fifo(rho: f64) -> f64 {
        let f = (0..10_000).fold(0.5, |f, _| libm::exp(-(1.0 - f) / rho));
        1.0 / (1.0 - f)
    }

    #[test]
    fn greedy_approaches_fifo_for_large_blocks() {
        for rho in [0.78, 0.89] {
            let ratio = greedy(rho, 4096).write_amplification / closed_fifo(rho);
            assert!((ratio - 1.0).abs() < 0.01, "{rho}: {ratio}");
        }
    }

    #[test]
    fn more_choices_amplify_less() {
        let waf = |d| d_choices(0.85, 64, d).write_amplification;
        assert!(waf(1.0) > waf(2.0));
        assert!(waf(2.0) > waf(8.0));
        let greedy_waf = greedy(0.85, 64).write_amplification;
        assert!(waf(8.0) > greedy_waf);
        assert!((waf(20_000.0) / greedy_waf - 1.0).abs() < 0.01);
        // Random victims: every page is valid with probability rho.
        assert!((waf(1.0) - 1.0 / (1.0 - 0.85)).abs() < 0.01);
    }

    #[test]
    fn closed_forms_hold() {
        for rho in [0.5, 0.78, 0.93] {
            for pages in [64, 256, 1024] {
                let close = |ours: f64, expected: f64| (ours / expected - 1.0).abs() < 1e-6;
                let any = random(rho, pages, pages).expect("always possible");
                assert!(close(any.write_amplification, 1.0 / (1.0 - rho)), "{rho} {pages}");
                let choice = d_choices(rho, pages, 1.0).valid_pages();
                let difference = choice.iter().zip(any.valid_pages()).map(|(a, b)| (a - b).abs());
                assert!(difference.fold(0.0, f64::max) < 1e-6, "one choice is random");
                assert!(close(fifo(rho, pages).write_amplification, closed_fifo(rho)));
            }
        }
    }

    /// Every restriction of random victims lowers write amplification, and none beats greedy.
    #[test]
    fn policies_rank_as_they_should() {
        for (rho, pages) in [(0.8, 32), (0.9, 64), (0.93, 256), (0.85, 1024)] {
            let mean = (rho * f64::from(pages)) as u32;
            let waf = [
                greedy(rho, pages),
                cost_benefit(rho, pages),
                fifo(rho, pages),
                random(rho, pages, mean).expect("the mean is always possible"),
                random(rho, pages, pages - 1).expect("always possible"),
                random(rho, pages, pages).expect("always possible"),
            ]
            .map(|state| state.write_amplification);
            // Greedy and cost-benefit nearly coincide for large blocks.
            assert!(waf[0] < 1.001 * waf[1] && waf[1] < waf[2], "{rho} {pages}: {waf:?}");
            assert!(waf[2] < waf[5] && waf[3] < waf[4] && waf[4] < waf[5], "{waf:?}");
        }
    }

    #[test]
    fn victims_may_be_asked_to_be_emptier_than_blocks_get() {
        assert!(random(0.95, 64, 40).is_none());
        assert!(random(0.7, 64, 40).is_some());
    }

    #[test]
    fn quantiles_reproduce_the_distribution() {
        for state in [greedy(0.85, 64), fifo(0.85, 64), cost_benefit(0.85, 64)] {
            let sum: u64 = state.counts(4096).into_iter().map(u64::from).sum();
            let mean = sum as f64 / 4096.0;
            assert!((mean / (0.85 * 64.0) - 1.0).abs() < 0.002, "{mean}");
        }
    }
}
