//! What several seeds say together: their median. The mean would follow a single run that stands
//! apart, as one in which a short tenant happens to wait for an erase.

/// The standard deviation of a normal distribution over the median of the deviations.
const NORMAL: f64 = 1.4826;
/// The standard error of a median over that of a mean, for a normal distribution.
const LESS_SHARP: f64 = 1.2533;

/// The median. `None` without a value.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let sorted = sorted(values);
    let at = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => None,
        0 => Some(f64::midpoint(sorted[at - 1], sorted[at])),
        _ => Some(sorted[at]),
    }
}

/// The 95 % interval of the median, whatever the distribution: two of the values, by the chance
/// that so few are on one side of the median. `None` for fewer than six values, which cannot tell.
pub(super) fn interval(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let sorted = sorted(values);
    let outside = outside(sorted.len())?;
    Some([sorted[outside], sorted[sorted.len() - 1 - outside]])
}

/// The spread of values, comparable to a standard deviation. A few values that stand apart do not
/// change it.
pub(super) fn spread(values: &[f64]) -> f64 {
    let Some(middle) = median(values.iter().copied()) else { return 0.0 };
    let deviations = values.iter().map(|value| (value - middle).abs());
    NORMAL * median(deviations).expect("as many deviations as values")
}

/// The standard error of the median of `count` values with this spread.
pub(super) fn error(spread: f64, count: usize) -> f64 {
    LESS_SHARP * spread / (count.max(1) as f64).sqrt()
}

fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// How many of `count` values may be left out at each end for a 95 % interval of the median.
fn outside(count: usize) -> Option<usize> {
    // The chance that exactly `below` values are below the median, as a logarithm.
    let mut chance = -(count as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    for below in 0..=count {
        sum += libm::exp(chance);
        if sum > 0.025 {
            return below.checked_sub(1);
        }
        chance += libm::log((count - below) as f64 / (below + 1) as f64);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_stands_apart_moves_nothing() {
        assert_eq!(median([3.0, 1.0, 2.0, 900.0, 2.5]), Some(2.5));
        assert_eq!((median([1.0, 2.0]), median([])), (Some(1.5), None));
        assert!((spread(&[3.0, 1.0, 2.0, 900.0, 2.5]) - 0.7413).abs() < 1e-9);
        assert_eq!(spread(&[]), 0.0);
    }

    /// Source: tables of binomial intervals for the median; 6 values are the fewest.
    #[test]
    fn intervals_are_those_of_the_binomial_distribution() {
        let ends = |count: usize| interval((1..=count).map(|value| value as f64));
        assert_eq!((ends(0), ends(1), ends(5)), (None, None, None));
        assert_eq!(ends(6), Some([1.0, 6.0]));
        assert_eq!(ends(9), Some([2.0, 8.0]));
        assert_eq!(ends(10), Some([2.0, 9.0]));
        assert_eq!(ends(20), Some([6.0, 15.0]));
        assert_eq!(ends(100), Some([40.0, 61.0]));
        let [low, high] = ends(10_000).expect("an interval");
        assert!((low - 4902.0).abs() <= 1.0 && (high - 5099.0).abs() <= 1.0, "{low} {high}");
    }

    #[test]
    fn errors_shrink_with_more_values() {
        assert!((error(1.0, 1) - LESS_SHARP).abs() < 1e-12);
        assert!((error(1.0, 100) - LESS_SHARP / 10.0).abs() < 1e-12);
    }
}
