//! Gaps between the arrivals of a clone: renewal draws times a burst cascade.

use flashlane_engine::Rng;

use crate::scatter::mix;

/// Most levels of a [`Cascade`].
pub(super) const LEVELS_MAX: usize = 24;

/// Positive draws with mean 1 and a given squared coefficient of variation.
#[derive(Clone, Debug)]
pub(super) enum Renewal {
    /// A mixture of two exponentials with balanced means, for 1 and above.
    Hyper { share: f64 },
    /// Weibull, for less than 1.
    Weibull { power: f64, scale: f64 },
}

impl Renewal {
    /// Draws with the squared coefficient of variation `square`. Range: 0.01 and above.
    pub(super) fn new(square: f64) -> Self {
        assert!(square >= 0.01, "squared coefficient of variation {square}");
        if square >= 1.0 {
            return Self::Hyper { share: (1.0 + ((square - 1.0) / (square + 1.0)).sqrt()) / 2.0 };
        }
        // The variation of a Weibull variable falls as its shape grows; 12 is below 0.01.
        let (mut low, mut high) = (1.0, 16.0);
        for _ in 0..80 {
            let shape = (low + high) / 2.0;
            let first = libm::tgamma(1.0 + 1.0 / shape);
            let variation = libm::tgamma(1.0 + 2.0 / shape) / (first * first) - 1.0;
            if variation > square { low = shape } else { high = shape }
        }
        Self::Weibull { power: 1.0 / low, scale: 1.0 / libm::tgamma(1.0 + 1.0 / low) }
    }

    /// The next draw.
    pub(super) fn draw(&self, rng: &mut Rng) -> f64 {
        match *self {
            Self::Hyper { share } => {
                let branch = if rng.unit() < share { share } else { 1.0 - share };
                rng.exponential() / (2.0 * branch)
            }
            Self::Weibull { power, scale } => scale * libm::pow(rng.exponential(), power),
        }
    }
}

/// A b-model cascade over dyadic blocks of requests. In each block, one half gets the share `bias`
/// of the gaps, and the other half gets the rest. A hash of the block's number decides which half,
/// so only the factors on the way from the top block to the current block are stored.
///
/// Invariant: the mean of the factors over a whole top block is 1. Source: the b-model of Wang et
/// al., Data mining meets performance evaluation, ICDE 2002.
#[derive(Clone, Debug)]
pub(super) struct Cascade {
    key: u64,
    bias: f64,
    levels: usize,
    leaf_log2: u32,
    index: u64,
    /// Entry `k` is the product of the factors of the first `k` levels.
    products: [f64; LEVELS_MAX + 1],
}

impl Cascade {
    /// `levels` halvings above leaves of `2^leaf_log2` requests.
    pub(super) fn new(bias: f64, levels: usize, leaf_log2: u32, key: u64) -> Self {
        assert!((0.5..1.0).contains(&bias), "bias {bias}");
        assert!(levels <= LEVELS_MAX, "{levels} levels");
        Self { key, bias, levels, leaf_log2, index: 0, products: [1.0; LEVELS_MAX + 1] }
    }

    /// Mean square of the factors.
    pub(super) fn mean_square(bias: f64, levels: usize) -> f64 {
        libm::pow(2.0 * (bias * bias + (1.0 - bias) * (1.0 - bias)), levels as f64)
    }

    /// Requests of a top block.
    pub(super) fn period(&self) -> u64 {
        1 << (self.levels as u32 + self.leaf_log2)
    }

    /// The factor of the next request's gap.
    pub(super) fn next(&mut self) -> f64 {
        let leaf = self.index >> self.leaf_log2;
        if self.index.is_multiple_of(1 << self.leaf_log2) {
            // Updates only the levels whose block changed: two on average.
            let changed = (leaf.trailing_zeros() as usize + 1).min(self.levels);
            for level in self.levels - changed..self.levels {
                let block = leaf >> (self.levels - 1 - level);
                let coin = mix(self.key ^ mix((block >> 1) << 8 | level as u64)) >> 63;
                let share = if block & 1 == coin { self.bias } else { 1.0 - self.bias };
                self.products[level + 1] = self.products[level] * 2.0 * share;
            }
        }
        self.index += 1;
        self.products[self.levels]
    }
}

/// Keeps the mean of one type's gaps at its target in the long run.
///
/// A cascade and a Markov chain of types are independent, so chance decides which type falls into
/// the slow blocks. With such variable gaps, a million requests do not average that out. The gap is
/// therefore scaled by `1 + deficit / horizon`, where the horizon covers many top blocks, so that
/// no burst is flattened.
#[derive(Clone, Debug)]
pub(super) struct Governor {
    /// Sum of the due gaps, less the sum of the actual gaps. Unit: mean gaps.
    deficit: f64,
    /// Requests over which the deficit is corrected. Unit: requests of the type.
    horizon: f64,
}

impl Governor {
    /// A governor that corrects over `horizon` requests of its type.
    pub(super) fn new(horizon: f64) -> Self {
        assert!(horizon >= 1.0, "horizon {horizon}");
        Self { deficit: 0.0, horizon }
    }

    /// The corrected gap. Unit: mean gaps.
    pub(super) fn correct(&mut self, gap: f64) -> f64 {
        let gap = gap * (1.0 + self.deficit / self.horizon).clamp(0.5, 2.0);
        self.deficit += 1.0 - gap;
        gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renewal_draws_have_their_moments() {
        for square in [0.05, 0.3, 0.9, 1.0, 1.5, 4.0] {
            let renewal = Renewal::new(square);
            let mut rng = Rng::stream(2, "test.renewal", 0);
            let (n, mut sum, mut squares) = (1_000_000, 0.0, 0.0);
            for _ in 0..n {
                let gap = renewal.draw(&mut rng);
                sum += gap;
                squares += gap * gap;
            }
            let mean = sum / f64::from(n);
            let variation = squares / f64::from(n) / (mean * mean) - 1.0;
            assert!((mean - 1.0).abs() < 0.01, "{square}: {mean}");
            assert!((variation / square - 1.0).abs() < 0.03, "{square}: {variation}");
        }
    }

    #[test]
    fn a_top_block_keeps_the_mean_and_has_its_mean_square() {
        for (bias, levels, leaf) in [(0.75, 9, 0), (0.631, 10, 3), (0.5, 4, 0), (0.9, 0, 2)] {
            let mut cascade = Cascade::new(bias, levels, leaf, 77);
            let period = cascade.period();
            for _ in 0..5 {
                let factors: Vec<f64> = (0..period).map(|_| cascade.next()).collect();
                let mean = factors.iter().sum::<f64>() / period as f64;
                let square = factors.iter().map(|f| f * f).sum::<f64>() / period as f64;
                let expected = Cascade::mean_square(bias, levels);
                assert!((mean - 1.0).abs() < 1e-9, "{mean}");
                assert!((square / expected - 1.0).abs() < 1e-9, "{square} {expected}");
            }
        }
    }

    #[test]
    fn successive_top_blocks_differ() {
        let mut cascade = Cascade::new(0.7, 6, 0, 3);
        let mut block = || (0..64).map(|_| cascade.next()).collect::<Vec<_>>();
        let (first, second) = (block(), block());
        assert_ne!(first, second);
    }

    #[test]
    fn a_governor_pays_back() {
        let mut governor = Governor::new(100.0);
        let sum: f64 = (0..100_000).map(|_| governor.correct(0.9)).sum();
        assert!((sum / 1e5 - 1.0).abs() < 1e-3, "{sum}");
    }
}
