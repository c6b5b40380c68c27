//! MQSim's random numbers, draw for draw.
//!
//! The generator is L'Ecuyer's MRG32k3a (Operations Research 47(1), 1999) with all six seeds 1. A
//! seed picks the starting point: (seed / 200 + 1) * 2^(seed % 200) steps ahead. The released MQSim
//! computes that jump in wrapping 64-bit products with truncated remainders, so the states differ
//! from a true MRG32k3a and can be negative. This code does the same.

type Matrix = [[i64; 3]; 3];

const MODULI: [i64; 2] = [4_294_967_087, 4_294_944_443];
/// The transition matrix of each component for one step.
const STEPS: [Matrix; 2] = [
    [[0, 1, 0], [0, 0, 1], [MODULI[0] - 810_728, 1_403_580, 0]],
    [[0, 1, 0], [0, 0, 1], [MODULI[1] - 1_370_589, 0, 527_612]],
];
/// 1 / (first modulus + 1), with the digits of MQSim.
const SCALE: f64 = 2.328_306_549_295_728e-10;

/// A generator of MQSim. With equal seeds it draws the numbers of the released MQSim.
#[derive(Clone, Debug, PartialEq)]
pub struct MqsimRandom {
    state: [[f64; 3]; 2],
    /// Second value of the last pair of normal draws.
    spare: Option<f64>,
}

/// The sum of the products of the terms, with the remainder taken after every term.
fn dot(terms: impl Iterator<Item = (i64, i64)>, modulus: i64) -> i64 {
    terms.fold(0, |sum: i64, (left, right)| left.wrapping_mul(right).wrapping_add(sum) % modulus)
}

fn square(matrix: &Matrix, modulus: i64) -> Matrix {
    std::array::from_fn(|row| {
        std::array::from_fn(|column| {
            dot((0..3).map(|k| (matrix[row][k], matrix[k][column])), modulus)
        })
    })
}

fn apply(matrix: &Matrix, vector: [i64; 3], modulus: i64) -> [i64; 3] {
    std::array::from_fn(|row| dot((0..3).map(|k| (matrix[row][k], vector[k])), modulus))
}

/// The state after (seed / 200 + 1) * 2^(seed % 200) steps from all ones.
fn jump(step: &Matrix, modulus: i64, seed: u32) -> [f64; 3] {
    let mut matrix = *step;
    for _ in 0..seed % 200 {
        matrix = square(&matrix, modulus);
    }
    let mut vector = [1; 3];
    let mut count = seed / 200 + 1;
    loop {
        if count & 1 == 1 {
            vector = apply(&matrix, vector, modulus);
        }
        count >>= 1;
        if count == 0 {
            return vector.map(|value| value as f64);
        }
        matrix = square(&matrix, modulus);
    }
}

/// Remainder of the magnitude's truncated quotient, made non-negative once.
fn remainder(value: f64, modulus: f64) -> f64 {
    let rest = value - (value / modulus).trunc() * modulus;
    if rest < 0.0 { rest + modulus } else { rest }
}

impl MqsimRandom {
    /// The generator of a seed.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        let state = std::array::from_fn(|i| jump(&STEPS[i], MODULI[i], seed));
        Self { state, spare: None }
    }

    /// Uniform number. Range: above 0, below 1.
    pub fn unit(&mut self) -> f64 {
        let [first, second] = &mut self.state;
        let modulus = MODULI.map(|m| m as f64);
        let one = remainder(1_403_580.0 * first[1] - 810_728.0 * first[0], modulus[0]);
        *first = [first[1], first[2], one];
        let two = remainder(527_612.0 * second[2] - 1_370_589.0 * second[0], modulus[1]);
        *second = [second[1], second[2], two];
        let difference = if one < two { one - two + modulus[0] } else { one - two };
        (difference + 1.0) * SCALE
    }

    /// Uniform integer. Range: `0..count`.
    pub fn below(&mut self, count: u64) -> u64 {
        (count as f64 * self.unit()) as u64
    }

    /// Exponential with mean 1. Range: above 0.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.unit())
    }

    /// Standard normal, by the polar method; every second call uses the rest of the first.
    pub fn normal(&mut self) -> f64 {
        if let Some(value) = self.spare.take() {
            return value;
        }
        loop {
            let x = 2.0 * self.unit() - 1.0;
            let y = 2.0 * self.unit() - 1.0;
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = ((-2.0 * libm::log(square)) / square).sqrt();
                // MQSim takes a zero for an empty spare.
                self.spare = Some(y * scale).filter(|&value| value != 0.0);
                return x * scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_those_of_the_released_mqsim() {
        let mut random = MqsimRandom::new(798);
        for expected in [0.184_883_874, 0.649_318_711, 0.180_721_310] {
            let draw = random.unit();
            assert!((draw - expected).abs() < 5e-10, "{draw} is not {expected}");
        }
    }

    #[test]
    fn seeds_two_hundred_apart_repeat_each_other() {
        // A property of the released generator: seed 200 + k starts where seed k + 1 does.
        let mut one = MqsimRandom::new(206);
        let mut other = MqsimRandom::new(7);
        for _ in 0..100 {
            assert_eq!(one.unit().to_bits(), other.unit().to_bits());
        }
    }

    #[test]
    fn draws_stay_in_their_ranges_for_all_kinds_of_seeds() {
        for seed in [0, 1, 31, 63, 199, 200, 798, 6533, 123_456_789, u32::MAX] {
            let mut random = MqsimRandom::new(seed);
            for _ in 0..10_000 {
                let unit = random.unit();
                assert!(unit > 0.0 && unit < 1.0, "seed {seed} drew {unit}");
                assert!(random.below(7) < 7);
            }
            assert!(random.exponential().is_finite());
            assert!(random.normal().is_finite());
        }
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = MqsimRandom::new(798);
        let n = 200_000;
        let mut mean = |f: fn(&mut MqsimRandom) -> f64| {
            (0..n).map(|_| f(&mut random)).sum::<f64>() / f64::from(n)
        };
        assert!((mean(MqsimRandom::unit) - 0.5).abs() < 0.005);
        assert!((mean(MqsimRandom::exponential) - 1.0).abs() < 0.01);
        assert!(mean(MqsimRandom::normal).abs() < 0.01);
    }
}
