//! First in, first out: the block that was filled first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_engine::Rng;

use super::{PlaneView, SteadyState, VictimPolicy, mean_field};
use flashlane_units::PolicyDoc;

/// Parameters of first in, first out (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FifoConfig {}

impl PolicyDoc for FifoConfig {
    const SUMMARY: &'static str =
        "the block of the plane that was filled first and has an invalid page";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3; Desnoyers 2012 (LRU cleaning)";
}

/// The policy.
#[derive(Clone)]
pub(super) struct Fifo;

impl VictimPolicy for Fifo {
    fn select(&mut self, plane: &PlaneView<'_>, _: &mut Rng) -> Option<u32> {
        let candidates = (0..plane.len()).filter(|&block| plane.gain(block).is_some());
        // The first of the oldest.
        candidates
            .reduce(|best, block| if plane.age(block) > plane.age(best) { block } else { best })
    }

    fn takes_turns(&self) -> bool {
        true
    }

    fn steady_state(&self, rho: f64, pages_per_block: u32, _: u32) -> Option<SteadyState> {
        Some(mean_field::fifo(rho, pages_per_block))
    }
}
