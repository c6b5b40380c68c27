//! Blocks of unequal popularity: zipf, pareto and normal.
//!
//! fio seeds these draws by the name of the file; here the popularity of every block is fio's, and
//! the draws are our own.

use flashlane_engine::Rng;

use super::plan::Spread;
use crate::config::FioSkew;
use crate::zipf::Zipf;

/// Ranks are scattered over the blocks by this multiplier (Knuth's, as fio 3.33 does).
const SCATTER: u64 = 0x61C8_8646_80B5_83EB;
/// Most ranks of a Zipf distribution.
const RANKS_MAX: u64 = 1 << 40;

/// A distribution over blocks.
#[derive(Clone, Debug)]
pub(super) struct Skew {
    ranks: Ranks,
    /// Block of the first rank.
    center: u64,
    count: u64,
    rng: Rng,
}

#[derive(Clone, Debug)]
enum Ranks {
    Zipf(Zipf),
    /// Rank at most `count * u^power`.
    Pareto {
        power: f64,
    },
    /// Deviation. Unit: blocks.
    Normal {
        deviation: f64,
    },
}

impl Skew {
    /// `None` if all blocks are equally likely, or zones decide.
    pub(super) fn new(spread: &Spread, count: u64, seed: u64) -> Option<Self> {
        let mut rng = Rng::stream(seed, "workload.fio.skew", 0);
        let drawn = |skew: &FioSkew, rng: &mut Rng| match skew.center {
            Some(center) => ((count as f64 * center) as u64).min(count - 1),
            None => rng.below(count),
        };
        let (ranks, center) = match spread {
            Spread::Zipf(skew) => {
                let ranks = Zipf::new(count.min(RANKS_MAX), skew.parameter);
                (Ranks::Zipf(ranks), drawn(skew, &mut rng))
            }
            Spread::Pareto(skew) => {
                let power = libm::log(skew.parameter) / libm::log(1.0 - skew.parameter);
                (Ranks::Pareto { power }, drawn(skew, &mut rng))
            }
            Spread::Normal(skew) => {
                let deviation = count as f64 * skew.parameter / 100.0;
                let center = skew.center.unwrap_or(0.5);
                (Ranks::Normal { deviation }, ((count as f64 * center) as u64).min(count - 1))
            }
            Spread::Random | Spread::Zoned(_) => return None,
        };
        Some(Self { ranks, center, count, rng })
    }

    /// The next block.
    pub(super) fn draw(&mut self) -> u64 {
        let (count, rng) = (self.count, &mut self.rng);
        let rank = match &self.ranks {
            Ranks::Zipf(zipf) => zipf.draw(rng),
            Ranks::Pareto { power } => {
                let rank = (count as f64 - 1.0) * libm::pow(rng.unit(), *power);
                rank as u64
            }
            Ranks::Normal { deviation } => {
                // Ranks lie on both sides of the first one.
                let rank = libm::round(deviation * rng.normal()) as i64;
                rank.rem_euclid(count.min(i64::MAX as u64) as i64) as u64
            }
        };
        ((rank.wrapping_mul(SCATTER) % count) + self.center) % count
    }
}
