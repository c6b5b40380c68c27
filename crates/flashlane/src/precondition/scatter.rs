//! A random order of `0..n` without storing it.

use flashlane_engine::Rng;

/// A bijection on `0..n`: a four-round Feistel network on the next even power of two, walked until
/// the value is in range; or the identity.
pub(super) struct Scatter {
    n: u64,
    half_bits: u32,
    keys: [u64; 4],
    random: bool,
}

impl Scatter {
    /// The order for one flow on one plane.
    pub(super) fn new(n: u64, random: bool, seed: u64, plane: u64, flow: u64) -> Self {
        let mut rng = Rng::stream(seed, "precondition.order", plane << 16 | flow);
        let bits = 64 - n.max(2).saturating_sub(1).leading_zeros();
        Self {
            n,
            half_bits: bits.div_ceil(2),
            keys: std::array::from_fn(|_| rng.next_u64() | 1),
            random,
        }
    }

    /// The `k`th number; `k` below `n`.
    #[inline]
    pub(super) fn at(&self, k: u64) -> u64 {
        if !self.random {
            return k;
        }
        let mask = (1 << self.half_bits) - 1;
        let mut value = k;
        loop {
            let (mut left, mut right) = (value >> self.half_bits, value & mask);
            for key in self.keys {
                let mixed = (right.wrapping_add(key)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                (left, right) = (right, left ^ (mixed >> 40 & mask));
            }
            value = left << self.half_bits | right;
            if value < self.n {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_once() {
        for n in [1, 2, 3, 17, 64, 1000, 4097] {
            let scatter = Scatter::new(n, true, 9, 3, 1);
            let mut seen: Vec<u64> = (0..n).map(|k| scatter.at(k)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
        assert_eq!(Scatter::new(10, false, 9, 3, 1).at(4), 4);
    }
}
