//! A fixed shuffle of the integers below a bound, without a table.

/// A bijection of `0..count` that looks random: a keyed Feistel network over the next power of two,
/// walked until it lands below `count` (Black and Rogaway's cycle walking).
#[derive(Clone, Debug)]
pub struct Scatter {
    count: u64,
    low_bits: u32,
    high_bits: u32,
    keys: [u64; 4],
}

/// The finaliser of SplitMix64.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Scatter {
    /// The shuffle of `0..count` that belongs to `key`. Range of `count`: 1 and above.
    pub fn new(count: u64, key: u64) -> Self {
        assert!(count > 0, "nothing to shuffle");
        let bits = (64 - (count - 1).leading_zeros()).max(2);
        let keys = std::array::from_fn(|round| mix(key ^ mix(round as u64 + 1)));
        Self { count, low_bits: bits / 2, high_bits: bits - bits / 2, keys }
    }

    /// Number of shuffled integers.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The image of `index`. Range: `index` and the result are in `0..count`.
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.count, "{index} is not below {}", self.count);
        let mut value = index;
        // The domain is below 2 * count, so this takes less than two rounds on average.
        loop {
            value = self.permute(value);
            if value < self.count {
                return value;
            }
        }
    }

    fn permute(&self, value: u64) -> u64 {
        let low_mask = (1_u64 << self.low_bits) - 1;
        let high_mask = ((1_u128 << self.high_bits) - 1) as u64;
        let (mut high, mut low) = (value >> self.low_bits, value & low_mask);
        for keys in self.keys.chunks_exact(2) {
            high ^= mix(low ^ keys[0]) & high_mask;
            low ^= mix(high ^ keys[1]) & low_mask;
        }
        high << self.low_bits | low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_is_shuffled_without_loss() {
        for count in [1, 2, 3, 4, 5, 63, 64, 65, 1000, 4097] {
            let scatter = Scatter::new(count, 99);
            let mut seen = vec![false; count as usize];
            for index in 0..count {
                let to = scatter.at(index) as usize;
                assert!(!seen[to], "{to} twice of {count}");
                seen[to] = true;
            }
        }
    }

    #[test]
    fn large_counts_stay_in_range_and_depend_on_the_key() {
        let scatter = |key| Scatter::new((1 << 40) + 7, key);
        let list = |key| (0..100).map(|i| scatter(key).at(i)).collect::<Vec<_>>();
        assert!(list(1).iter().all(|&v| v < (1 << 40) + 7));
        assert_ne!(list(1), list(2));
    }
}
