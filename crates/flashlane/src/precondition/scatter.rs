//! A random order of `0..n` without storing it.

use flashlane_engine::Rng;

/// Rounds of the network.
const ROUNDS: usize = 4;

/// A bijection on `0..n`: a four-round Feistel network on the next even power of two, walked until
/// the value is in range; or the identity.
pub(super) struct Scatter {
    n: u32,
    half_bits: u32,
    /// What each round mixes into the other half, by half; `None` for the identity.
    rounds: Option<[Vec<u16>; ROUNDS]>,
}

impl Scatter {
    /// The order for one flow on one plane.
    pub(super) fn new(n: u32, random: bool, seed: u64, plane: u64, flow: u64) -> Self {
        let bits = 32 - n.max(2).saturating_sub(1).leading_zeros();
        let half_bits = bits.div_ceil(2);
        let mut rng = Rng::stream(seed, "precondition.order", plane << 16 | flow);
        let round = |key: u64| {
            let mix = |half: u64| half.wrapping_add(key).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let halves = 1 << half_bits;
            (0..halves).map(|half| (mix(half) & (halves - 1)) as u16).collect()
        };
        let rounds = random.then(|| std::array::from_fn(|_| round(rng.next_u64() | 1)));
        Self { n, half_bits, rounds }
    }

    /// The numbers at `first`, `first + 1`, ... of the order; all positions below `n`.
    ///
    /// Every number takes its steps together with the others that are still out of range, without a
    /// branch that depends on the values: a branch mispredicted every other time would cost more than
    /// the steps.
    pub(super) fn fill(&self, first: u32, numbers: &mut [u32]) {
        for (number, k) in numbers.iter_mut().zip(first..) {
            *number = k;
        }
        let Some(rounds) = &self.rounds else { return };
        // One step of the walk: a bijection on the power of two.
        let [a, b, c, d] = rounds.each_ref().map(|round| &round[..1 << self.half_bits]);
        let mask = (1 << self.half_bits) - 1;
        let step = |value: u32| {
            let (left, right) = (value >> self.half_bits, value & mask);
            let left = left ^ u32::from(a[right as usize]);
            let right = right ^ u32::from(b[left as usize]);
            let left = left ^ u32::from(c[right as usize]);
            let right = right ^ u32::from(d[left as usize]);
            left << self.half_bits | right
        };
        let mut walking = [0_u16; CHUNK];
        let mut count = 0;
        for (number, index) in numbers.iter_mut().zip(0_u16..) {
            *number = step(*number);
            walking[count] = index;
            count += usize::from(*number >= self.n);
        }
        while count > 0 {
            let mut left = 0;
            for at in 0..count {
                let index = walking[at];
                let value = step(numbers[index as usize]);
                numbers[index as usize] = value;
                walking[left] = index;
                left += usize::from(value >= self.n);
            }
            count = left;
        }
    }
}

/// Numbers that are drawn together at most.
pub(super) const CHUNK: usize = 1024;

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The same order, one number at a time.
    pub(in crate::precondition) fn at(k: u32, n: u32, seed: u64, plane: u64, flow: u64) -> u32 {
        let mut rng = Rng::stream(seed, "precondition.order", plane << 16 | flow);
        let keys: [u64; 4] = std::array::from_fn(|_| rng.next_u64() | 1);
        let half_bits = (64 - (u64::from(n).max(2) - 1).leading_zeros()).div_ceil(2);
        let mask = (1 << half_bits) - 1;
        let mut value = u64::from(k);
        loop {
            let (mut left, mut right) = (value >> half_bits, value & mask);
            for key in keys {
                let mixed = (right.wrapping_add(key)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                (left, right) = (right, left ^ (mixed >> 40 & mask));
            }
            value = left << half_bits | right;
            if value < u64::from(n) {
                return value as u32;
            }
        }
    }

    #[test]
    fn every_number_once() {
        for n in [1, 2, 3, 17, 64, 1000, 4097] {
            let scatter = Scatter::new(n, true, 9, 3, 1);
            let mut seen = vec![0; n as usize];
            for (chunk, first) in seen.chunks_mut(CHUNK).zip((0..).step_by(CHUNK)) {
                scatter.fill(first, chunk);
            }
            let expected: Vec<u32> = (0..n).map(|k| at(k, n, 9, 3, 1)).collect();
            assert_eq!(seen, expected);
            seen.sort_unstable();
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
        let mut numbers = [0; 3];
        Scatter::new(10, false, 9, 3, 1).fill(4, &mut numbers);
        assert_eq!(numbers, [4, 5, 6]);
    }
}
