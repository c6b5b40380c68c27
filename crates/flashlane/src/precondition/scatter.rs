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

    /// One step of the walk: a bijection on the power of two.
    #[inline]
    fn step(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            let mixed = (right.wrapping_add(key)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (left, right) = (right, left ^ (mixed >> 40 & mask));
        }
        left << self.half_bits | right
    }

    /// The numbers at `first`, `first + 1`, ... of the order; all positions below `n`.
    ///
    /// Every number takes its steps together with the others that are still out of range, without a
    /// branch that depends on the values: a branch mispredicted every other time would cost more than
    /// the steps.
    pub(super) fn fill(&self, first: u64, numbers: &mut [u64]) {
        for (number, k) in numbers.iter_mut().zip(first..) {
            *number = k;
        }
        if !self.random {
            return;
        }
        let mut walking = [0_u16; CHUNK];
        let mut count = numbers.len();
        for (place, index) in walking.iter_mut().zip(0..count as u16) {
            *place = index;
        }
        while count > 0 {
            let mut left = 0;
            for at in 0..count {
                let index = walking[at];
                let value = self.step(numbers[index as usize]);
                numbers[index as usize] = value;
                walking[left] = index;
                left += usize::from(value >= self.n);
            }
            count = left;
        }
    }
}

/// Numbers that are drawn together at most.
pub(super) const CHUNK: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_once() {
        for n in [1, 2, 3, 17, 64, 1000, 4097] {
            let scatter = Scatter::new(n, true, 9, 3, 1);
            let mut seen = vec![0; n as usize];
            for (chunk, first) in seen.chunks_mut(CHUNK).zip((0..).step_by(CHUNK)) {
                scatter.fill(first, chunk);
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
        let mut numbers = [0; 3];
        Scatter::new(10, false, 9, 3, 1).fill(4, &mut numbers);
        assert_eq!(numbers, [4, 5, 6]);
    }
}
