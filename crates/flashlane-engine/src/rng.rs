//! Random numbers: one root seed, independent named streams, the same draws on every machine.
//!
//! The generator is xoshiro256++ (Blackman and Vigna), seeded through SplitMix64 from the root seed
//! and a hash of the stream's name and number, so that a new consumer never shifts the draws of
//! others.

/// A stream of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Rng {
    /// The stream `name` number `index` of a root seed.
    #[must_use]
    pub fn stream(seed: u64, name: &str, index: u64) -> Self {
        let mut hash = 0xCBF2_9CE4_8422_2325_u64;
        for byte in name.bytes().chain(index.to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        let mut mix = seed ^ hash.rotate_left(17);
        Self { state: std::array::from_fn(|_| split_mix(&mut mix)) }
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform integer. Range: `0..bound`; `bound` must not be 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "an empty range has no elements");
        // Lemire's multiply-shift with rejection: exact and almost always one multiplication.
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Uniform number. Range: `0..1`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Exponential with mean 1. Range: 0 and above.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// Standard normal, by the polar method.
    pub fn normal(&mut self) -> f64 {
        loop {
            let x = 2.0 * self.unit() - 1.0;
            let y = 2.0 * self.unit() - 1.0;
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * libm::log(square) / square).sqrt();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_repeatable_and_independent() {
        let draw = |seed, name, index| {
            let mut rng = Rng::stream(seed, name, index);
            (0..4).map(|_| rng.next_u64()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, "flow", 0), draw(1, "flow", 0));
        assert_ne!(draw(1, "flow", 0), draw(1, "flow", 1));
        assert_ne!(draw(1, "flow", 0), draw(2, "flow", 0));
        assert_ne!(draw(1, "flow", 0), draw(1, "gc", 0));
    }

    #[test]
    #[cfg_attr(miri, ignore = "many draws, and nothing that Miri looks for")]
    fn moments_are_those_of_the_distributions() {
        let mut rng = Rng::stream(7, "test", 0);
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        assert!((mean(&mut || rng.unit()) - 0.5).abs() < 0.005);
        assert!((mean(&mut || rng.exponential()) - 1.0).abs() < 0.01);
        assert!(mean(&mut || rng.normal()).abs() < 0.01);
        assert!((mean(&mut || rng.below(10) as f64) - 4.5).abs() < 0.03);
    }
}
