//! Division by a number that is known once and used often.

/// Divides 32-bit numbers by a fixed one with a multiplication instead of a division.
///
/// Source: Lemire, Kaser, Kurz, "Faster remainder by direct computation", 2019, section 3: with
/// `m = ceil(2^64 / d)` the quotient of every 32-bit `n` is `floor(m * n / 2^64)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    /// `ceil(2^64 / d)`. 0 stands for 2^64, which belongs to the divisor 1.
    inverse: u64,
    divisor: u32,
    /// All bits set if the divisor is 1.
    whole: u64,
}

impl Divisor {
    /// A divisor above 0.
    #[must_use]
    pub const fn new(divisor: u32) -> Self {
        assert!(divisor > 0, "nothing is divided by 0");
        let inverse = (u64::MAX / divisor as u64).wrapping_add(1);
        Self { inverse, divisor, whole: if divisor == 1 { u64::MAX } else { 0 } }
    }

    /// The number itself.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u32 {
        self.divisor
    }

    /// `n / self`.
    #[inline]
    #[must_use]
    pub const fn divide(self, n: u32) -> u32 {
        (((self.inverse as u128 * n as u128) >> 64) as u64 + (n as u64 & self.whole)) as u32
    }

    /// `n / self` for a larger number, below `2^64 / d^2` for a divisor `d`.
    #[inline]
    #[must_use]
    pub const fn divide_long(self, n: u64) -> u64 {
        debug_assert!(n as u128 * self.divisor as u128 * self.divisor as u128 <= 1 << 64);
        ((self.inverse as u128 * n as u128) >> 64) as u64 + (n & self.whole)
    }

    /// `n % self`.
    #[inline]
    #[must_use]
    pub const fn remainder(self, n: u32) -> u32 {
        n - self.divide(n) * self.divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn quotients_are_exact() {
        let mut rng = Rng::stream(1, "divisor", 0);
        let edges = [0, 1, 2, 3, 255, 256, 257, u32::MAX - 1, u32::MAX];
        let large: Vec<u32> = (0..300).map(|_| rng.below(1 << 32) as u32).collect();
        for d in (1..300).chain(large).chain(edges).filter(|&d| d > 0) {
            let divisor = Divisor::new(d);
            let some = (0..50).map(|_| rng.below(1 << 32) as u32).collect::<Vec<_>>();
            let near = (0..4).flat_map(|k| [d.wrapping_mul(k), d.wrapping_mul(k).wrapping_sub(1)]);
            for n in edges.into_iter().chain(some).chain(near) {
                assert_eq!(divisor.divide(n), n / d, "{n} / {d}");
                assert_eq!(divisor.remainder(n), n % d, "{n} % {d}");
            }
            assert_eq!(divisor.get(), d);
            let most = ((1_u128 << 64) / u128::from(d).pow(2)).min(u128::from(u64::MAX)) as u64;
            for n in [most - 1, most / 2, most / 3].map(|n| n.max(u64::from(u32::MAX).min(most))) {
                assert_eq!(divisor.divide_long(n), n / u64::from(d), "{n} / {d}");
            }
        }
    }
}
