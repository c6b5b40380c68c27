//! Request sizes of a clone: a few modes, tilted to a mean.

use flashlane_engine::Rng;

use crate::size::Alias;

/// Draws per deck of [`Strata`].
const DECK: usize = 1024;

/// Uniform numbers that fill `0..1` evenly: each run of 1024 draws has exactly one in each 1024th,
/// in random order. The mean of a rare type's sizes then settles within thousands of requests, not
/// millions.
#[derive(Clone, Debug)]
struct Strata {
    rng: Rng,
    deck: Box<[u16; DECK]>,
    next: usize,
}

impl Strata {
    fn new(rng: Rng) -> Self {
        Self { rng, deck: Box::new(std::array::from_fn(|i| i as u16)), next: 0 }
    }

    fn draw(&mut self) -> f64 {
        // Fisher and Yates, one step a draw.
        let other = self.next + self.rng.below((DECK - self.next) as u64) as usize;
        self.deck.swap(self.next, other);
        let stratum = f64::from(self.deck[self.next]);
        self.next = (self.next + 1) % DECK;
        (stratum + self.rng.unit()) / DECK as f64
    }
}

/// Sizes drawn from modes with an exact mean.
#[derive(Clone, Debug)]
pub(super) struct SizeMix {
    alias: Alias<u32>,
    strata: Strata,
}

impl SizeMix {
    /// Modes in KiB with weights, tilted to `mean_kib`, which lies between the extreme modes.
    pub(super) fn new(modes: &[(f64, f64)], mean_kib: f64, rng: Rng) -> Self {
        let points: Vec<(u32, f64)> = tilt(modes, mean_kib)
            .into_iter()
            .map(|(kib, weight)| ((kib * 2.0).round() as u32, weight))
            .collect();
        Self { alias: Alias::new(&points), strata: Strata::new(rng) }
    }

    /// The next size. Unit: sectors.
    pub(super) fn draw(&mut self) -> u32 {
        self.alias.at(self.strata.draw())
    }
}

/// Multiplies each weight by `exp(t * size)` with the `t` that gives the mean. This mix is closest
/// to the measured weights, by relative entropy, among all mixes with that mean.
fn tilt(modes: &[(f64, f64)], mean: f64) -> Vec<(f64, f64)> {
    let largest = modes.iter().fold(0.0_f64, |max, mode| max.max(mode.0));
    let smallest = modes.iter().fold(largest, |min, mode| min.min(mode.0));
    assert!(smallest <= mean && mean <= largest, "mean {mean} outside {smallest}..={largest}");
    let tilted = |t: f64| -> Vec<(f64, f64)> {
        // Counts from the end that the tilt favours, so that no power overflows.
        let anchor = if t > 0.0 { largest } else { smallest };
        modes.iter().map(|&(size, w)| (size, w * libm::exp(t * (size - anchor)))).collect()
    };
    let mean_of = |points: &[(f64, f64)]| {
        points.iter().map(|p| p.0 * p.1).sum::<f64>() / points.iter().map(|p| p.1).sum::<f64>()
    };
    let (mut low, mut high) = (-50.0, 50.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if mean_of(&tilted(middle)) < mean { low = middle } else { high = middle }
    }
    tilted((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilted_mix_has_its_mean_after_one_deck() {
        let modes = [(0.5, 0.2), (4.0, 0.5), (64.0, 0.3)];
        for mean in [0.6, 2.3, 10.0, 60.0] {
            let mut mix = SizeMix::new(&modes, mean, Rng::stream(1, "test.mix", 0));
            for _ in 0..3 {
                let sum: f64 = (0..DECK).map(|_| f64::from(mix.draw()) / 2.0).sum();
                let found = sum / DECK as f64;
                assert!((found / mean - 1.0).abs() < 0.03, "{mean}: {found}");
            }
        }
    }

    #[test]
    fn a_mean_that_fits_leaves_the_weights_alone() {
        let modes = [(8.0, 0.75), (16.0, 0.25)];
        let weights = tilt(&modes, 10.0);
        let share = weights[0].1 / (weights[0].1 + weights[1].1);
        assert!((share - 0.75).abs() < 1e-9, "{share}");
    }
}
