//! A random block among those with at most `a` valid pages.
//!
//! Let `p[i]` be the share of blocks with `i` valid pages, and `P` the share of candidates. Let `l`
//! be the invalidations of a valid page per collection, in units of one over the number of blocks.
//! Every block passes each level above `a` once a cycle, and leaves the levels below by collection:
//!
//! `l i p[i] = 1` for `i > a`, and `l i p[i] = C[i-1] / P` for `i <= a`, with `C[i] = sum_{j<=i}
//! p[j]`.
//!
//! Therefore `P = 1 - H / l` with `H = sum_{j=a+1..b} 1/j`, and `C[i-1] = C[i] / (1 + 1 / ((l - H)
//! i))` down from `C[a] = P`; no binomials occur, so nothing overflows. `l` follows from the mean,
//! which falls as `l` grows; `b - S = l b rho`. All blocks are candidates for `a = b`, where `l =
//! (1 - rho) / rho`.

use super::{SteadyState, check_share, root};

/// The state with `rho` of the pages of full blocks valid (range 0..1 exclusive) and at most
/// `most_valid` valid pages in a victim. `None` where every block would be collected before it got
/// that empty.
#[must_use]
pub fn random(rho: f64, pages_per_block: u32, most_valid: u32) -> Option<SteadyState> {
    check_share(rho);
    let b = pages_per_block;
    let above: f64 = (most_valid + 1..=b).map(|j| 1.0 / f64::from(j)).sum();
    let mean = rho * f64::from(b);
    // The fullest state that is possible collects every block as soon as it is a candidate.
    if above > 0.0 && mean >= f64::from(b - most_valid) / above {
        return None;
    }
    let mean_of = |rate: f64| {
        let valid = distribution(b, most_valid, above, rate);
        valid.iter().enumerate().map(|(v, share)| v as f64 * share).sum::<f64>()
    };
    let rate = root(above, above + 2.0 / rho, |rate| mean_of(rate) - mean);
    let valid = distribution(b, most_valid, above, rate);
    Some(SteadyState::ageless(valid, 1.0 / (rate * rho)))
}

/// Share of blocks with `v` valid pages, `v = 0..=b`, for a rate above `H`.
fn distribution(b: u32, most_valid: u32, above: f64, rate: f64) -> Vec<f64> {
    let mut valid = vec![0.0; b as usize + 1];
    for i in most_valid + 1..=b {
        valid[i as usize] = 1.0 / (rate * f64::from(i));
    }
    let among = rate - above;
    let mut up_to = 1.0 - above / rate;
    for i in (1..=most_valid).rev() {
        let below = up_to / (1.0 + 1.0 / (among * f64::from(i)));
        valid[i as usize] = up_to - below;
        up_to = below;
    }
    valid[0] = up_to;
    valid
}
