//! Policies that look at the age of a block.
//!
//! Time is measured so that a valid page is invalidated with rate 1: a block of age `x` that was
//! not collected yet has a binomial number of valid pages with mean `b exp(-x)`. Blocks are filled
//! at a constant rate, so that the ages of full blocks are spread by the share that lives so long,
//! and the mean life is `(b - S) / (b rho)`.

use super::{SteadyState, check_share, root};

/// Parts by age into which a state divides the blocks.
const PARTS: usize = 64;

/// First in, first out: every block is collected at the same age `c`. With `f = exp(-c)` the valid
/// share of victims, `(1 - f) / c = rho`; write amplification is `1 / (1 - f)`. Source: Desnoyers
/// 2012, where the limit for large blocks equals greedy's.
#[must_use]
pub fn fifo(rho: f64, pages_per_block: u32) -> SteadyState {
    check_share(rho);
    let life = root(0.0, 1.0 / rho, |c| -libm::expm1(-c) / c - rho);
    let parts = PARTS as f64;
    let by_age = (0..PARTS)
        .map(|part| {
            let age = life * (1.0 - (part as f64 + 0.5) / parts);
            binomial(pages_per_block, libm::exp(-age))
        })
        .collect();
    SteadyState { by_age, write_amplification: 1.0 / -libm::expm1(-life) }
}

/// Distribution of the number of successes in `n` trials of chance `p`, in logarithms: coefficients
/// of thousands of trials overflow.
pub(super) fn binomial(n: u32, p: f64) -> Vec<f64> {
    let log_factorial = |n: u32| libm::lgamma(f64::from(n) + 1.0);
    let (log_p, log_q) = (libm::log(p), libm::log1p(-p));
    (0..=n)
        .map(|k| {
            let ways = log_factorial(n) - log_factorial(k) - log_factorial(n - k);
            libm::exp(ways + f64::from(k) * log_p + f64::from(n - k) * log_q)
        })
        .collect()
}

/// Cost-benefit: a block is collected as soon as `x (1 - u) / 2u` reaches the level at which the
/// right number of blocks is left; `u` is its valid share, `x` its age. The level follows from the
/// mean.
#[must_use]
pub fn cost_benefit(rho: f64, pages_per_block: u32) -> SteadyState {
    check_share(rho);
    let b = f64::from(pages_per_block);
    let valid_share = |level: f64| age(pages_per_block, level, |_| {}).valid / b;
    let emptiest = valid_share(LEVEL_MAX);
    if emptiest >= rho {
        return all_victims_empty(pages_per_block, rho / emptiest);
    }
    // Levels are searched by their logarithm: they spread over magnitudes.
    let log_level = root(libm::log(LEVEL_MIN), libm::log(LEVEL_MAX), |log_level| {
        valid_share(libm::exp(log_level)) - rho
    });
    let level = libm::exp(log_level);
    let whole = age(pages_per_block, level, |_| {});
    // Once more, to sort the blocks by age: youngest first as they are met, so parts from the end.
    let mut by_age = vec![vec![0.0; pages_per_block as usize + 1]; PARTS];
    let mut younger = 0.0;
    age(pages_per_block, level, |alive| {
        let part = (younger / whole.blocks * PARTS as f64) as usize;
        let sorted = &mut by_age[PARTS - 1 - part.min(PARTS - 1)];
        sorted.iter_mut().zip(alive).for_each(|(sum, share)| *sum += share);
        younger += alive.iter().sum::<f64>();
    });
    for part in &mut by_age {
        let mass: f64 = part.iter().sum();
        part.iter_mut().for_each(|share| *share /= mass);
    }
    SteadyState { by_age, write_amplification: b / (b - whole.victim_valid) }
}

/// So few valid pages that blocks become empty before they are collected: `used` of them hold
/// something, and wait as they do where a block is collected as soon as it is empty.
fn all_victims_empty(pages_per_block: u32, used: f64) -> SteadyState {
    let mut valid = vec![0.0; pages_per_block as usize + 1];
    let mut blocks = 0.0;
    age(pages_per_block, LEVEL_MAX, |alive| {
        valid.iter_mut().zip(alive).for_each(|(sum, share)| *sum += share);
        blocks += alive.iter().sum::<f64>();
    });
    valid.iter_mut().for_each(|share| *share *= used / blocks);
    valid[0] += 1.0 - used;
    SteadyState::ageless(valid, 1.0)
}

/// Range of levels of cost-benefit. At the first everything is collected at once, at the second
/// only what is empty.
const LEVEL_MIN: f64 = 1e-7;
const LEVEL_MAX: f64 = 1e9;

/// Steps of age in the mean time between two invalidations of a page: a few for each page of a
/// block, within these limits.
const STEPS: (f64, f64) = (1024.0, 4096.0);

/// What becomes of blocks that are filled together.
struct Aged {
    /// Sum over all ages of the share that is alive.
    blocks: f64,
    /// Mean valid pages of those.
    valid: f64,
    /// Mean valid pages of a victim.
    victim_valid: f64,
}

/// Lets blocks age until all are collected at the given level of `x (1 - u) / 2u`; `meet` sees the
/// share of blocks alive by their valid pages, at every step of age.
fn age(pages_per_block: u32, level: f64, mut meet: impl FnMut(&[f64])) -> Aged {
    let b = pages_per_block as usize;
    let step = 1.0 / (4.0 * b as f64).clamp(STEPS.0, STEPS.1);
    let odds = libm::expm1(step);
    let survive: Vec<f64> = (0..=b).map(|v| libm::exp(-step * v as f64)).collect();
    let (mut alive, mut next) = (vec![0.0; b + 1], vec![0.0; b + 1]);
    alive[b] = 1.0;
    // Levels that hold any blocks: all others are empty.
    let (mut low, mut high) = (b, b);
    let (mut blocks, mut valid, mut victims, mut victim_valid) = (0.0, 0.0, 0.0, 0.0);
    let mut x = 0.0;
    while low <= high {
        meet(&alive);
        for (v, share) in (low..).zip(&alive[low..=high]) {
            blocks += share;
            valid += share * v as f64;
        }
        x += step;
        let mut lowest = high;
        for v in low..=high {
            let mut share = alive[v] * survive[v];
            let mut left = v;
            loop {
                next[left] += share;
                lowest = lowest.min(left);
                if left == 0 || share < NOTHING {
                    break;
                }
                // Binomial: the next number of pages invalidated in this step.
                share *= left as f64 / (v - left + 1) as f64 * odds;
                left -= 1;
            }
            alive[v] = 0.0;
        }
        std::mem::swap(&mut alive, &mut next);
        low = lowest;
        // x (b - v) / 2v reaches the level for all v up to this.
        let collected = (b as f64 * x / (x + 2.0 * level)) as usize;
        while low <= high && (low <= collected || alive[low] < NOTHING) {
            victims += alive[low];
            victim_valid += alive[low] * low as f64;
            alive[low] = 0.0;
            low += 1;
        }
        while high > low && alive[high] < NOTHING {
            alive[high] = 0.0;
            high -= 1;
        }
    }
    Aged { blocks, valid: valid / blocks, victim_valid: victim_valid / victims }
}

/// A share of blocks too small to matter.
const NOTHING: f64 = 1e-13;
