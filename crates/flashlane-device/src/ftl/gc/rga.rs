//! Randomised greedy (d-choices): the best of a few blocks drawn at random.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_engine::Rng;

use super::{PlaneView, SteadyState, VictimPolicy, mean_field};
use flashlane_units::PolicyDoc;

/// Parameters of randomised greedy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RgaConfig {
    /// Blocks drawn; 0 for floor(log2(blocks per plane)), as MQSim.
    pub choices: u32,
}

impl PolicyDoc for RgaConfig {
    const SUMMARY: &'static str =
        "the block with the fewest valid pages among `choices` random ones";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3; Li, Lee and Lui 2013 (d-choices)";
}

/// The policy.
#[derive(Clone)]
pub(super) struct Rga {
    choices: u32,
}

impl Rga {
    pub(super) fn new(config: &RgaConfig) -> Self {
        Self { choices: config.choices }
    }

    fn choices(&self, blocks: u32) -> u32 {
        if self.choices == 0 { blocks.ilog2().max(1) } else { self.choices }
    }
}

impl VictimPolicy for Rga {
    fn select(&mut self, plane: &PlaneView<'_>, rng: &mut Rng) -> Option<u32> {
        let blocks = plane.len();
        let choices = self.choices(blocks);
        let (mut best, mut best_gain, mut drawn) = (None, 0, 0);
        // Blocks that may not be collected do not count as choices. The bound ends the loop on a
        // plane that has only such blocks; the search below then decides.
        for _ in 0..16 * choices {
            let block = rng.below(u64::from(blocks)) as u32;
            if let Some(gain) = plane.gain(block) {
                drawn += 1;
                if gain > best_gain {
                    (best, best_gain) = (Some(block), gain);
                }
                if drawn == choices {
                    break;
                }
            }
        }
        best.or_else(|| super::greedy::Greedy.select(plane, rng))
    }

    fn released_choices(&self, blocks: u32) -> Option<u32> {
        Some(self.choices(blocks))
    }

    fn steady_state(
        &self,
        rho: f64,
        pages_per_block: u32,
        blocks_per_plane: u32,
    ) -> Option<SteadyState> {
        let choices = f64::from(self.choices(blocks_per_plane));
        Some(mean_field::d_choices(rho, pages_per_block, choices))
    }
}
