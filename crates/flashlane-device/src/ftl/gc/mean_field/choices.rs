//! The best of some or of all blocks.
//!
//! `w[i]` is the share of full blocks with at least `i` valid pages, `i = 0..=b`. With the best of
//! `d` random blocks as victim, the victim has at least `i` valid pages with probability `w[i]^d`,
//! and `S = sum_{i>=1} w[i]^d`. Balance at level `i`:
//!
//! `1 - w[i]^d = (b - S) i (w[i] - w[i+1]) / (b rho)`, `w[b+1] = 0`, `sum_{i>=1} w[i] = b rho`.
//!
//! Greedy is the limit of large `d`, where `w[i]^d` is 0 below 1.

use super::{SteadyState, check_share, root};

/// The best of `choices` blocks. `rho`: valid share of all pages of full blocks, range 0..1
/// exclusive.
#[must_use]
pub fn d_choices(rho: f64, pages_per_block: u32, choices: f64) -> SteadyState {
    let beaten = |top| libm::pow(top, choices);
    solve(rho, pages_per_block, beaten, |above, coefficient| level(above, coefficient, choices))
}

/// The best of all blocks.
#[must_use]
pub fn greedy(rho: f64, pages_per_block: u32) -> SteadyState {
    solve(rho, pages_per_block, |_| 0.0, |above, coefficient| (above + 1.0 / coefficient).min(1.0))
}

/// Finds `S` for which the mean number of valid pages is `b rho`. `next` solves one level: `w[i]`
/// from `w[i+1]` and the coefficient `(b - S) i / (b rho)`. `beaten` gives the chance that a victim
/// is wholly valid, from the share `w[b]` of wholly valid blocks.
fn solve(
    rho: f64,
    pages_per_block: u32,
    beaten: impl Fn(f64) -> f64,
    next: impl Fn(f64, f64) -> f64,
) -> SteadyState {
    check_share(rho);
    let b = pages_per_block as usize;
    let levels = |victim_valid: f64| {
        let mut w = vec![0.0; b + 2];
        for i in (1..=b).rev() {
            let coefficient = (b as f64 - victim_valid) * i as f64 / (b as f64 * rho);
            w[i] = next(w[i + 1], coefficient);
        }
        w[0] = 1.0;
        w
    };
    // More valid pages in victims mean fewer invalidations per collection: fuller blocks.
    let missing = |victim_valid| b as f64 * rho - levels(victim_valid)[1..].iter().sum::<f64>();
    let w = levels(root(0.0, b as f64, missing));
    let valid = w.windows(2).map(|pair| pair[0] - pair[1]).collect();
    // Balance at level b: (b - S) = (1 - w[b]^d) rho / w[b].
    let freed = (1.0 - beaten(w[b])) * rho / w[b];
    SteadyState::ageless(valid, b as f64 / freed)
}

/// Solves `1 - x^d = c (x - above)` for `x` in `above..=1`; the left side falls, the right side
/// rises.
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
