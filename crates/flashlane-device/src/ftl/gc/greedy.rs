//! Greedy: the block with the fewest valid pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_engine::Rng;

use super::{PlaneView, SteadyState, VictimPolicy, mean_field};
use flashlane_units::PolicyDoc;

/// Parameters of greedy (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GreedyConfig {}

impl PolicyDoc for GreedyConfig {
    const SUMMARY: &'static str = "the full block of the plane with the fewest valid pages";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3; Bux and Iliadis 2010";
}

/// The policy.
#[derive(Clone)]
pub(super) struct Greedy;

impl VictimPolicy for Greedy {
    fn select(&mut self, plane: &PlaneView<'_>, _: &mut Rng) -> Option<u32> {
        plane.emptiest()
    }

    fn compares_all(&self) -> bool {
        true
    }

    fn steady_state(&self, rho: f64, pages_per_block: u32, _: u32) -> Option<SteadyState> {
        Some(mean_field::greedy(rho, pages_per_block))
    }
}
