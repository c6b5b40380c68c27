//! Random victims among the blocks with something to gain.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_engine::Rng;

use super::random::draw;
use super::{PlaneView, SteadyState, VictimPolicy, mean_field};
use flashlane_units::PolicyDoc;

/// Parameters of random-plus (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomPlusConfig {}

impl PolicyDoc for RandomPlusConfig {
    const SUMMARY: &'static str = "a random full block of the plane with an invalid page";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3, RANDOM_P; Van Houdt 2013";
}

/// The policy.
#[derive(Clone)]
pub(super) struct RandomPlus;

impl VictimPolicy for RandomPlus {
    fn select(&mut self, plane: &PlaneView<'_>, rng: &mut Rng) -> Option<u32> {
        draw(plane, rng, |block| plane.gain(block).is_some())
    }

    fn released_choices(&self, _: u32) -> Option<u32> {
        None
    }

    fn steady_state(&self, rho: f64, pages_per_block: u32, _: u32) -> Option<SteadyState> {
        let state = mean_field::random(rho, pages_per_block, pages_per_block - 1)
            .expect("any mean is possible where only wholly valid blocks are no candidates");
        Some(state)
    }
}
