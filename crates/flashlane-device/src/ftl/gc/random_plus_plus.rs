//! Random victims among the blocks that are not too full.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_engine::Rng;

use super::random::draw;
use super::{PlaneView, SteadyState, VictimPolicy, greedy, mean_field};
use flashlane_units::PolicyDoc;
use flashlane_units::Ratio;

/// Parameters of random-plus-plus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomPlusPlusConfig {
    /// Valid share of a victim at most. 0 for the average of the full blocks of the plane.
    /// Range: 0..=1.
    pub max_valid: Ratio,
}

impl Default for RandomPlusPlusConfig {
    fn default() -> Self {
        Self { max_valid: Ratio(0.0) }
    }
}

impl PolicyDoc for RandomPlusPlusConfig {
    const SUMMARY: &'static str = "a random full block of the plane with at most `max_valid` of \
        its pages valid; where there is none, the one with the fewest";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3, RANDOM_PP; Van Houdt 2013";
}

/// The policy.
#[derive(Clone)]
pub(super) struct RandomPlusPlus {
    max_valid: f64,
}

impl RandomPlusPlus {
    pub(super) fn new(config: &RandomPlusPlusConfig) -> Self {
        Self { max_valid: config.max_valid.0 }
    }

    /// Most valid pages of a victim. `mean`: valid pages of a full block on average.
    fn most(&self, mean: f64, pages_per_block: u32) -> u32 {
        let pages = f64::from(pages_per_block);
        let most = if self.max_valid == 0.0 { mean } else { self.max_valid * pages };
        // The tiny term keeps exact products from falling below their integer.
        ((most + 1e-9) as u32).min(pages_per_block - 1)
    }
}

impl VictimPolicy for RandomPlusPlus {
    fn select(&mut self, plane: &PlaneView<'_>, rng: &mut Rng) -> Option<u32> {
        let full = (0..plane.len()).filter_map(|block| plane.valid(block));
        let (count, sum) = full.fold((0_u64, 0_u64), |(n, sum), v| (n + 1, sum + u64::from(v)));
        let mean = sum as f64 / count.max(1) as f64;
        let most = self.most(mean, plane.pages_per_block());
        draw(plane, rng, |block| plane.valid(block).is_some_and(|valid| valid <= most))
            .or_else(|| greedy::Greedy.select(plane, rng))
    }

    fn steady_state(&self, rho: f64, pages_per_block: u32, _: u32) -> Option<SteadyState> {
        let most = self.most(rho * f64::from(pages_per_block), pages_per_block);
        let state = mean_field::random(rho, pages_per_block, most)
            // No block gets that empty: the policy then takes the block with the fewest valid
            // pages, as greedy does.
            .unwrap_or_else(|| mean_field::greedy(rho, pages_per_block));
        Some(state)
    }
}
