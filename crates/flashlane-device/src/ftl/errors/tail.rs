//! The probability that a codeword has more bit errors than a decoder corrects.
//!
//! Errors are independent: their number in `n` bits is binomial, and decoding fails with the
//! probability of the tail beyond `t`. A table holds the tail over the error rate.

/// Bits of the mantissa of an error rate that choose the place in the table.
const PLACES_BITS: u32 = 12;
const SHIFT: u32 = 52 - PLACES_BITS;
/// Tails below this count as 0.
const NEVER: f64 = 1e-21;
/// Tails above this count as 1.
const ALWAYS: f64 = 1.0 - 1e-15;

/// The tail of the binomial distribution by error rate. Linear between its places: relative error
/// below 0.001 for up to 300 bits.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    /// The upper bits of the first error rate.
    first: u64,
    values: Vec<f64>,
}

/// `ln` of the number of ways to choose `k` of `n`.
fn ln_choose(n: u32, k: u32) -> f64 {
    (0..k).map(|i| libm::log(f64::from(n - i) / f64::from(k - i))).sum()
}

/// The probability of more than `t` errors in `n` bits at the given rate. `ln_ways`: the logarithm
/// of the number of ways to choose `t + 1` of `n`.
fn tail(n: u32, t: u32, rate: f64, ln_ways: f64) -> f64 {
    if rate >= 1.0 {
        return 1.0;
    }
    let (bits, first) = (f64::from(n), f64::from(t + 1));
    let ln_term = ln_ways + first * libm::log(rate) + (bits - first) * libm::log1p(-rate);
    let odds = rate / (1.0 - rate);
    if bits * rate > first {
        // The first term may be too small for a number: sums the other side, downwards from `t`.
        let ln_before = ln_term + libm::log(first / (bits - first + 1.0) / odds);
        return 1.0 - at_most(n, t, libm::exp(ln_before), odds);
    }
    let mut term = libm::exp(ln_term);
    let mut sum = 0.0;
    for count in t + 1..=n {
        sum += term;
        let step = f64::from(n - count) / f64::from(count + 1) * odds;
        term *= step;
        if step < 1.0 && term < sum * 1e-17 {
            break;
        }
    }
    sum.min(1.0)
}

/// The probability of at most `t` errors in `n` bits. `term`: that of exactly `t` errors.
fn at_most(n: u32, t: u32, mut term: f64, odds: f64) -> f64 {
    let mut sum = 0.0;
    for count in (0..=t).rev() {
        sum += term;
        term *= f64::from(count) / f64::from(n - count + 1) / odds;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum
}

impl Tail {
    /// The tail of `n` bits beyond `t` errors. `t` must be less than `n`.
    pub(super) fn new(n: u32, t: u32) -> Self {
        assert!(t < n, "a decoder corrects a part of its codeword");
        let ln_ways = ln_choose(n, t + 1);
        let at = |place: u64| tail(n, t, f64::from_bits(place << SHIFT), ln_ways);
        let middle = (f64::from(t + 1) / f64::from(n)).to_bits() >> SHIFT;
        let mut first = middle;
        while at(first) > NEVER {
            first -= 1;
        }
        let (mut values, mut last) = (Vec::new(), 0.0_f64);
        for place in first.. {
            // Sums close to 1 differ by their rounding.
            last = last.max(at(place));
            values.push(last);
            if last >= ALWAYS {
                break;
            }
        }
        Self { first, values }
    }

    /// The tail at an error rate above 0.
    #[inline]
    pub(super) fn of(&self, rate: f64) -> f64 {
        let bits = rate.to_bits();
        let Some(place) = (bits >> SHIFT).checked_sub(self.first) else { return 0.0 };
        let Some(&[low, high]) = self.values.get(place as usize..).and_then(<[f64]>::first_chunk)
        else {
            return 1.0;
        };
        let rest = (bits & ((1 << SHIFT) - 1)) as f64 / (1_u64 << SHIFT) as f64;
        low + (high - low) * rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_tail_is_the_sum_of_its_terms() {
        // 4 bits, 1 corrected: 1 - q^4 - 4 p q^3.
        let table = Tail::new(4, 1);
        for rate in [0.001, 0.01, 0.1, 0.3, 0.7] {
            let q: f64 = 1.0 - rate;
            let exact = 1.0 - q * q * q * q - 4.0 * rate * q * q * q;
            assert!((table.of(rate) / exact - 1.0).abs() < 1e-6, "{rate}");
        }
        assert_eq!((table.of(1e-12), table.of(1.0), table.of(3.0)), (0.0, 1.0, 1.0));
    }

    #[test]
    fn the_table_follows_the_tail_of_long_codewords() {
        for (n, t) in [(8192, 72), (16_384, 144), (32_768, 288)] {
            let (table, ln_ways) = (Tail::new(n, t), ln_choose(n, t + 1));
            let mut before = 0.0;
            for step in 0..4000 {
                let rate = 1e-3 * libm::pow(1.002, f64::from(step));
                let (found, exact) = (table.of(rate), tail(n, t, rate, ln_ways));
                if exact > 1e-18 {
                    assert!((found / exact - 1.0).abs() < 1e-3, "{n} {rate}: {found} {exact}");
                }
                assert!(found >= before, "more errors, more failures");
                before = found;
            }
            assert_eq!(before, 1.0);
        }
    }
}
