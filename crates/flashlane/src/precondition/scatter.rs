//! An order of `0..n` without storing it.

use flashlane_engine::Rng;

/// Rounds of the network.
const ROUNDS: usize = 4;

/// Values that a round mixes into the other half of a number, indexed by half.
type Round = [u16; 1 << u16::BITS];

/// In which order pages go to blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Random,
    Rising,
    Falling,
}

/// A bijection on `0..n`. The random one is a four-round Feistel network on the next even power of
/// two, walked until the value is in range.
pub(super) struct Scatter {
    n: u32,
    half_bits: u32,
    order: Order,
    rounds: Box<[Round; ROUNDS]>,
}

impl Scatter {
    /// An empty order, to be set later.
    pub(super) fn new() -> Self {
        let rounds: Box<[Round]> = vec![[0; 1 << u16::BITS]; ROUNDS].into();
        let rounds = rounds.try_into().expect("as many as there are rounds");
        Self { n: 0, half_bits: 0, order: Order::Rising, rounds }
    }

    /// Sets the order for a flow on a plane.
    pub(super) fn set(&mut self, n: u32, order: Order, seed: u64, plane: u64, flow: u64) {
        self.draw(n, Rng::stream(seed, "precondition.order", plane << 16 | flow));
        self.order = order;
    }

    /// Sets a random order.
    pub(super) fn draw(&mut self, n: u32, mut rng: Rng) {
        let bits = 32 - n.max(2).saturating_sub(1).leading_zeros();
        (self.n, self.half_bits, self.order) = (n, bits.div_ceil(2), Order::Random);
        for round in self.rounds.iter_mut() {
            let key = rng.next_u64() | 1;
            for (mixed, half) in round[..1 << self.half_bits].iter_mut().zip(0_u64..) {
                let product = half.wrapping_add(key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                *mixed = (product >> 40 & ((1 << self.half_bits) - 1)) as u16;
            }
        }
    }

    /// True if pages go to the front of their blocks, from the last page on.
    pub(super) fn is_falling(&self) -> bool {
        self.order == Order::Falling
    }

    /// The numbers at `first`, `first + 1`, ... of the order; all positions below `n`.
    ///
    /// All numbers that are still out of range take a step together, without a branch on their
    /// values. Such a branch would be mispredicted every other time, which costs more than the
    /// steps.
    pub(super) fn fill(&self, first: u32, numbers: &mut [u32]) {
        for (number, k) in numbers.iter_mut().zip(first..) {
            *number = k;
        }
        match self.order {
            Order::Random => {}
            Order::Rising => return,
            Order::Falling => {
                numbers.iter_mut().for_each(|number| *number = self.n - 1 - *number);
                return;
            }
        }
        // One step of the walk: a bijection on the power of two. Halves have at most 16 bits, so
        // the look-ups need no check of the index.
        let [a, b, c, d] = &*self.rounds;
        let mask = (1 << self.half_bits) - 1;
        let step = |value: u32| {
            let (left, right) = ((value >> self.half_bits) as u16, (value & mask) as u16);
            let left = left ^ a[usize::from(right)];
            let right = right ^ b[usize::from(left)];
            let left = left ^ c[usize::from(right)];
            let right = right ^ d[usize::from(left)];
            u32::from(left) << self.half_bits | u32::from(right)
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

/// Most numbers that are drawn together.
pub(super) const CHUNK: usize = 256;

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The number at one position of this order.
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
        let mut scatter = Scatter::new();
        for n in [1, 2, 3, 17, 64, 1000, 4097] {
            scatter.set(n, Order::Random, 9, 3, 1);
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
        scatter.set(10, Order::Rising, 9, 3, 1);
        scatter.fill(4, &mut numbers);
        assert_eq!(numbers, [4, 5, 6]);
        scatter.set(10, Order::Falling, 9, 3, 1);
        scatter.fill(4, &mut numbers);
        assert_eq!((numbers, scatter.is_falling()), ([5, 4, 3], true));
    }
}
