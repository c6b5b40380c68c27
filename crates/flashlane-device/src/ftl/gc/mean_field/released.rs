//! The steady state that the released MQSim computes, which its rounding and its treatment of hot
//! pages lead away from ours. Source: our notes on the release (commit 7ec40e3), and runs of it.

use super::binomial;

/// Number of random blocks among which greedy is said to choose.
pub const CHOICES: u32 = 30;

/// Size of a step, the most steps, and the change after which the state counts as steady.
const STEP: f64 = 0.001;
const STEPS_MAX: u32 = 10_000;
const STEADY: f64 = 1e-10;

/// A whole power, by squares.
fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent % 2 == 1 {
            product *= base;
        }
        base *= base;
        exponent /= 2;
    }
    product
}

/// Share of all blocks with exactly `v` valid pages, `v = 0..=b`, with the best of `choices` blocks
/// as victim. The state of [`super::d_choices`], reached by steps from blocks that hold pages at
/// random; no block is wholly valid.
#[must_use]
pub fn best_of(choices: u32, rho: f64, pages_per_block: u32) -> Vec<f64> {
    let b = pages_per_block as usize;
    let mut above = vec![0.0; b + 2];
    for (i, share) in binomial(pages_per_block, rho).into_iter().enumerate().rev() {
        above[i] = above[i + 1] + share;
    }
    above[0] = 1.0;
    let mut beaten: Vec<f64> = above.iter().map(|share| power(*share, choices)).collect();
    for _ in 0..STEPS_MAX {
        let gained = b as f64 - beaten[1..=b].iter().sum::<f64>();
        above[b] = 0.0;
        let mut change: f64 = 0.0;
        for i in 1..b {
            let lost = gained * i as f64 * (above[i] - above[i + 1]) / (b as f64 * rho);
            let step = STEP * (1.0 - beaten[i] - lost);
            above[i] += step;
            change = change.max(step.abs());
        }
        beaten.iter_mut().zip(&above).for_each(|(b, share)| *b = power(*share, choices));
        if change <= STEADY {
            break;
        }
    }
    above.windows(2).map(|pair| pair[0] - pair[1]).collect()
}

/// The state with random victims.
#[must_use]
pub fn of_random_victims(rho: f64, pages_per_block: u32) -> Vec<f64> {
    let b = f64::from(pages_per_block);
    let empty = 1.0 - rho;
    // Share of the blocks with at most `i` valid pages, as the release has it.
    let mut at_most = vec![0.0; pages_per_block as usize + 1];
    let mut product = 1.0;
    let mut i = b;
    for share in at_most.iter_mut().rev() {
        *share = rho / (rho + libm::pow(empty, i)) * product;
        product *= empty * i / (rho + empty * i);
        i -= 1.0;
    }
    let before = std::iter::once(0.0).chain(at_most.iter().copied());
    at_most.iter().zip(before).map(|(share, before)| share - before).collect()
}

/// The state of a flow whose hot pages are the share `hot` of all: that of uniform writes,
/// stretched from its mean.
#[must_use]
pub fn with_hot_pages(uniform: &[f64], hot: f64) -> Vec<f64> {
    let stretch = ((1.0 - hot) / hot).sqrt();
    let mean = mean(uniform);
    let of = |i: usize| {
        let from = ((i as f64 - mean) * stretch).trunc();
        if from < 0.0 { 0.0 } else { uniform.get(from as usize).map_or(0.0, |p| stretch * p) }
    };
    let mut shares: Vec<f64> = (0..uniform.len()).map(of).collect();
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
    shares
}

/// Mean number of valid pages.
#[must_use]
pub fn mean(shares: &[f64]) -> f64 {
    shares.iter().zip(0_u32..).map(|(share, valid)| share * f64::from(valid)).sum()
}

/// The state moved by whole pages towards a mean. What leaves the range is lost, and the share of
/// wholly valid blocks stays.
#[must_use]
pub fn moved_to(shares: &[f64], mean_wanted: f64) -> Vec<f64> {
    let missing = mean_wanted - mean(shares);
    if missing.abs() <= 0.9999 {
        return shares.to_vec();
    }
    let by = missing.trunc() as i64;
    let (valid, partly) = shares.split_last().expect("a block has pages");
    let of =
        |i: usize| usize::try_from(i as i64 - by).ok().and_then(|from| partly.get(from)).copied();
    let moved = (0..partly.len()).map(|i| of(i).unwrap_or(0.0));
    moved.chain(std::iter::once(*valid)).collect()
}

/// Valid pages of the blocks that together hold `pages` pages, fullest first. Each number of valid
/// pages gets its share of `count` blocks, rounded down. Pages for which no block is left go to
/// more blocks of the fullest kind. The last kind that still gets pages has all its blocks, some of
/// them without a page.
#[must_use]
pub fn rounded_down(shares: &[f64], count: u64, pages: u64) -> Vec<u32> {
    let blocks: Vec<u64> = shares.iter().map(|share| (share * count as f64) as u64).collect();
    let held: u64 = blocks.iter().zip(0..).map(|(count, level)| count * level).sum();
    let top = blocks.iter().rposition(|&count| count > 0).unwrap_or(1).max(1) as u64;
    let mut missing = pages.saturating_sub(held).div_ceil(top);
    let (mut valid, mut left) = (Vec::new(), pages);
    for level in (1..blocks.len()).rev().filter(|&level| blocks[level] > 0) {
        if left == 0 {
            break;
        }
        for _ in 0..blocks[level] + std::mem::take(&mut missing) {
            let here = left.min(level as u64);
            valid.push(here as u32);
            left -= here;
        }
    }
    valid
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Free blocks of a plane of 512 blocks were found by the number of writes after which the
    /// release begins to collect.
    #[test]
    fn as_many_blocks_are_in_use_as_in_the_release() {
        let in_use = |held: f64, pages: u64, hot: Option<f64>| {
            let uniform = best_of(CHOICES, held * 0.93 / (1.0 - 25.0 / 512.0), 64);
            let state = hot.map_or(uniform.clone(), |hot| with_hot_pages(&uniform, hot));
            rounded_down(&moved_to(&state, pages as f64 / 500.0), 500, pages)
        };
        for (held, pages, blocks) in
            [(0.25, 7618, 477), (0.3, 9142, 479), (0.35, 10666, 482), (0.4, 12190, 478)]
        {
            let valid = in_use(held, pages, None);
            assert_eq!(valid.len(), blocks, "{held}");
            assert_eq!(valid.iter().map(|&pages| u64::from(pages)).sum::<u64>(), pages);
            assert!(valid.is_sorted_by(|more, less| more >= less), "{held}: {valid:?}");
            assert_eq!(valid[0], 63, "no block is wholly valid");
        }
        let hot = in_use(0.75, 22_856, Some(0.2));
        assert_eq!((hot.len(), hot[0], hot[453]), (454, 64, 0));
    }

    #[test]
    fn the_states_are_those_of_the_models() {
        let close = |ours: &[f64], expected: &[f64], within: f64| {
            let differ = ours.iter().zip(expected).map(|(a, b)| (a - b).abs());
            assert!(differ.fold(0.0, f64::max) < within, "{ours:?}\n{expected:?}");
        };
        let model = super::super::d_choices(0.7, 32, 30.0).valid_pages();
        close(&best_of(30, 0.7, 32), &model, 0.06);
        let sum: f64 = of_random_victims(0.7, 32).iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        let moved = moved_to(&[0.0, 0.5, 0.5, 0.0], 0.4);
        close(&moved, &[0.5, 0.5, 0.0, 0.0], 1e-12);
        close(&moved_to(&[0.0, 0.5, 0.5, 0.0], 0.6), &[0.0, 0.5, 0.5, 0.0], 1e-12);
    }
}
