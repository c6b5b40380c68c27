//! Finds the set of extents that the starts of a trace were drawn from, from the coincidences among
//! them.

use flashlane_trace::statistics::Places;

/// Ranks that are summed one by one.
const EXACT: u64 = 64;
/// Ratio of successive edges beyond those ranks.
const STEP: f64 = 1.1;
/// Largest size of the set, as a multiple of the touched extents.
const GROWTH_MAX: u64 = 64;
/// Largest exponent.
const THETA_MAX: f64 = 3.0;

/// A set of extents with Zipf popularity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Set {
    /// Extents.
    pub(super) count: u64,
    /// Zipf exponent.
    pub(super) theta: f64,
}

/// Sum of `value(probability)` over all ranks.
fn over_ranks(set: Set, value: impl Fn(f64) -> f64) -> f64 {
    let weight = |rank: f64| libm::pow(rank, -set.theta);
    let total = sum(set.count, weight);
    sum(set.count, |rank| value(weight(rank) / total))
}

/// Sum of `value` over the ranks 1 to `count`: the first ranks one by one, then ranges by their
/// middle.
fn sum(count: u64, value: impl Fn(f64) -> f64) -> f64 {
    let exact: f64 = (1..=count.min(EXACT)).map(|rank| value(rank as f64)).sum();
    let (mut edge, end) = (EXACT as f64 + 0.5, count as f64 + 0.5);
    let mut rest = 0.0;
    while edge < end {
        let next = (edge * STEP).min(end);
        rest += (next - edge) * value((edge * next).sqrt());
        edge = next;
    }
    exact + rest
}

/// Probability that two draws are the same extent.
fn collision(set: Set) -> f64 {
    over_ranks(set, |p| p * p)
}

/// Expected number of distinct extents in `draws` draws.
fn distinct(set: Set, draws: u64) -> f64 {
    over_ranks(set, |p| -libm::expm1(draws as f64 * libm::log1p(-p.min(1.0 - 1e-12))))
}

/// The largest set with this exponent whose draws coincide with at least the probability `wanted`;
/// `largest` if all sets do.
fn count_of(theta: f64, wanted: f64, largest: u64) -> u64 {
    let (mut low, mut high) = (1, largest);
    while low < high {
        let count = low + (high - low).div_ceil(2);
        if collision(Set { count, theta }) >= wanted { low = count } else { high = count - 1 }
    }
    low
}

/// The set whose draws touch as many extents, and coincide as often, as the starts of a trace did.
///
/// With the same probability of coincidence, a larger exponent has a longer tail, so that more
/// extents are touched. Thus one number decides the exponent, and the other the size. A trace in
/// which no start comes back only bounds the size from below. The set is then large enough to make
/// that likely.
pub(super) fn set_of(starts: &Places) -> Set {
    if starts.distinct < 2 {
        return Set { count: starts.distinct.max(1), theta: 0.0 };
    }
    let largest = starts.distinct.saturating_mul(GROWTH_MAX);
    if starts.collision <= 0.0 {
        let pairs = starts.count.saturating_mul(starts.count) / 2;
        return Set { count: pairs.clamp(starts.distinct, largest), theta: 0.0 };
    }
    let at = |theta: f64| Set { count: count_of(theta, starts.collision, largest), theta };
    let (mut low, mut high) = (0.0, THETA_MAX);
    for _ in 0..30 {
        let theta = (low + high) / 2.0;
        let set = at(theta);
        // At the bound on the size, the draws coincide too often: the trace has less skew.
        let too_large =
            set.count == largest || distinct(set, starts.count) > starts.distinct as f64;
        if too_large { high = theta } else { low = theta }
    }
    let set = at(low);
    Set { count: set.count.max(starts.distinct), theta: set.theta }
}

#[cfg(test)]
mod tests {
    use flashlane_engine::Rng;

    use super::*;
    use crate::zipf::Zipf;

    /// The expected coincidences of draws from a set.
    fn drawn(set: Set, draws: u64) -> Places {
        let zipf = Zipf::new(set.count, set.theta);
        let mut rng = Rng::stream(4, "test.set", 0);
        let mut counts = vec![0_u64; set.count as usize];
        (0..draws).for_each(|_| counts[zipf.draw(&mut rng) as usize] += 1);
        let pairs: u64 = counts.iter().map(|&c| c * c.saturating_sub(1)).sum();
        Places {
            count: draws,
            distinct: counts.iter().filter(|&&c| c > 0).count() as u64,
            collision: pairs as f64 / (draws * (draws - 1)) as f64,
        }
    }

    #[test]
    fn expectations_meet_draws() {
        for (count, theta) in [(5000, 0.0), (5000, 0.6), (200, 1.2), (30, 0.9), (100_000, 1.0)] {
            let set = Set { count, theta };
            let found = drawn(set, 100_000);
            let ratio = collision(set) / found.collision;
            assert!((ratio - 1.0).abs() < 0.05, "{set:?}: collision {ratio}");
            let ratio = distinct(set, 100_000) / found.distinct as f64;
            assert!((ratio - 1.0).abs() < 0.01, "{set:?}: distinct {ratio}");
        }
    }

    #[test]
    fn the_set_behind_the_draws_is_found() {
        for (count, theta) in [(5000, 0.0), (5000, 0.6), (20_000, 0.9), (3000, 1.2)] {
            let found = set_of(&drawn(Set { count, theta }, 200_000));
            assert!((found.theta - theta).abs() < 0.06, "{count}, {theta}: {found:?}");
            let ratio = found.count as f64 / count as f64;
            assert!((0.9..1.15).contains(&ratio), "{count}, {theta}: {found:?}");
        }
    }

    #[test]
    fn draws_that_never_come_back_bound_the_set_from_below() {
        let starts = Places { count: 1000, distinct: 1000, collision: 0.0 };
        assert_eq!(set_of(&starts), Set { count: 64_000, theta: 0.0 });
        assert_eq!(set_of(&Places::default()), Set { count: 1, theta: 0.0 });
        let one = Places { count: 9, distinct: 1, collision: 1.0 };
        assert_eq!(set_of(&one), Set { count: 1, theta: 0.0 });
    }
}
