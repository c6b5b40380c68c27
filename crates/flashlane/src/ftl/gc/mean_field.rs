//! Mean-field steady state of garbage collection under uniform random writes.
//!
//! `w[i]` is the share of full blocks with at least `i` valid pages, `i = 0..=b`. With the best of
//! `d` random blocks as victim, the victim has at least `i` valid pages with probability `w[i]^d`, and
//! `S = sum_{i>=1} w[i]^d` valid pages on average. A block that was just written has all `b` pages
//! valid; every host write invalidates one of the valid pages at random. Balance at level `i`:
//!
//! `1 - w[i]^d = (b - S) i (w[i] - w[i+1]) / (b rho)`, `w[b+1] = 0`, `sum_{i>=1} w[i] = b rho`.
//!
//! Write amplification is `b / (b - S)`. Greedy is the limit of large `d`, where `w[i]^d` is 0 below 1.
//! Source: Van Houdt 2013 (mean-field model of d-choices), MQSim (FAST'18) section 5.

/// Solves the balance equations for the best of `choices` blocks. `rho`: valid share of all pages of
/// full blocks, range 0..1 exclusive. Returns `w[0..=b]`.
#[must_use]
pub fn d_choices(rho: f64, pages_per_block: u32, choices: f64) -> Vec<f64> {
    solve(rho, pages_per_block, |above, coefficient| level(above, coefficient, choices))
}

/// The same for greedy: the best of all blocks.
#[must_use]
pub fn greedy(rho: f64, pages_per_block: u32) -> Vec<f64> {
    solve(rho, pages_per_block, |above, coefficient| (above + 1.0 / coefficient).min(1.0))
}

/// Finds `S` by bisection so that the mean number of valid pages is `b rho`; `next` solves one level
/// for `w[i]` from `w[i+1]` and the coefficient `(b - S) i / (b rho)`.
fn solve(rho: f64, pages_per_block: u32, next: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    assert!(rho > 0.0 && rho < 1.0, "steady state needs some valid and some invalid pages");
    let b = pages_per_block as usize;
    let levels = |victim_valid: f64| {
        let mut w = vec![0.0; b + 2];
        for i in (1..=b).rev() {
            let coefficient = (b as f64 - victim_valid) * i as f64 / (b as f64 * rho);
            w[i] = next(w[i + 1], coefficient);
        }
        w[0] = 1.0;
        w.truncate(b + 1);
        w
    };
    let (mut low, mut high) = (0.0, b as f64);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        // More valid pages in victims mean fewer invalidations per collection: fuller blocks.
        if levels(middle)[1..].iter().sum::<f64>() < b as f64 * rho {
            low = middle;
        } else {
            high = middle;
        }
    }
    levels(0.5 * (low + high))
}

/// Solves `1 - x^d = c (x - above)` for `x` in `above..=1`; the left side falls, the right side rises.
fn level(above: f64, c: f64, d: f64) -> f64 {
    // Newton's method from the right end: the function is convex and rising, so that every step
    // stays above the root.
    let mut x = 1.0;
    for _ in 0..60 {
        let power = libm::pow(x, d);
        let value = power + c * (x - above) - 1.0;
        let step = value / (d * power / x + c);
        x -= step;
        if step.abs() < 1e-15 {
            break;
        }
    }
    x.clamp(above, 1.0)
}

/// Share of blocks with exactly `v` valid pages, `v = 0..=b`, from `w`.
#[must_use]
pub fn valid_pages(w: &[f64]) -> Vec<f64> {
    (0..w.len()).map(|i| w[i] - w.get(i + 1).copied().unwrap_or(0.0)).collect()
}

/// Write amplification that a solution implies: `b / (b - S)` by the balance of the top level,
/// `S = b - rho b (1 - w[b]^d) / (b w[b])`, evaluated by the sum over all levels.
#[must_use]
pub fn write_amplification(w: &[f64], rho: f64, choices: Option<f64>) -> f64 {
    let b = (w.len() - 1) as f64;
    let top = w[w.len() - 1];
    let beaten = choices.map_or(0.0, |d| libm::pow(top, d));
    // Balance at level b: (b - S) = (1 - w[b]^d) rho / w[b].
    let freed = (1.0 - beaten) * rho / top;
    b / freed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limit of large blocks for greedy: A = 1 / (1 - f), with f = rho-dependent fixed point
    /// `f = rho' ...`: for b to infinity, greedy equals FIFO, `A = rho / (rho + W(-rho exp(-1/rho)...))`.
    /// The equivalent implicit form is `1/rho = (1 - f) ... `: valid share f of victims solves
    /// `f = exp(-(1 - f) / rho)`.
    #[test]
    fn greedy_approaches_fifo_for_large_blocks() {
        for rho in [0.78, 0.89] {
            let w = greedy(rho, 4096);
            let mut f = 0.5;
            for _ in 0..10_000 {
                f = libm::exp(-(1.0 - f) / rho);
            }
            let fifo = 1.0 / (1.0 - f);
            let ratio = write_amplification(&w, rho, None) / fifo;
            assert!((ratio - 1.0).abs() < 0.01, "{rho}: {ratio}");
        }
    }

    #[test]
    fn more_choices_amplify_less() {
        let waf = |d| write_amplification(&d_choices(0.85, 64, d), 0.85, Some(d));
        assert!(waf(1.0) > waf(2.0));
        assert!(waf(2.0) > waf(8.0));
        let greedy_waf = write_amplification(&greedy(0.85, 64), 0.85, None);
        assert!(waf(8.0) > greedy_waf);
        assert!((waf(20_000.0) / greedy_waf - 1.0).abs() < 0.01);
        // Random victims: every page is valid with probability rho.
        assert!((waf(1.0) - 1.0 / (1.0 - 0.85)).abs() < 0.01);
    }
}
