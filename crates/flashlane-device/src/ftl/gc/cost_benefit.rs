//! Cost-benefit: space gained and age of the data against the cost of moving it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_engine::Rng;

use super::{PlaneView, SteadyState, VictimPolicy, mean_field};
use flashlane_units::PolicyDoc;

/// Parameters of cost-benefit (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CostBenefitConfig {}

impl PolicyDoc for CostBenefitConfig {
    const SUMMARY: &'static str = "the largest age * (1 - u) / 2u, with u the valid share of the \
        block and its age counted in blocks filled since";
    const SOURCE: &'static str =
        "Kawaguchi, Nishioka and Motoda 1995; Rosenblum and Ousterhout 1992";
}

/// The policy.
#[derive(Clone)]
pub(super) struct CostBenefit;

/// `age (1 - u) / 2u` of a block; infinite where nothing needs to move.
fn score(plane: &PlaneView<'_>, block: u32, gain: u32) -> f64 {
    let valid = plane.pages_per_block() - gain;
    // A block that was filled last is not worthless: its age is one at least.
    f64::from(plane.age(block).max(1)) * f64::from(gain) / (2.0 * f64::from(valid))
}

impl VictimPolicy for CostBenefit {
    fn select(&mut self, plane: &PlaneView<'_>, _: &mut Rng) -> Option<u32> {
        let (mut best, mut best_score) = (None, 0.0);
        for block in 0..plane.len() {
            if let Some(gain) = plane.gain(block) {
                let score = score(plane, block, gain);
                if score > best_score {
                    (best, best_score) = (Some(block), score);
                }
            }
        }
        best
    }

    fn steady_state(&self, rho: f64, pages_per_block: u32, _: u32) -> Option<SteadyState> {
        Some(mean_field::cost_benefit(rho, pages_per_block))
    }
}
