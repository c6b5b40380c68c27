//! No collection: overwritten space returns at no cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_engine::Rng;

use super::{PlaneView, SteadyState, VictimPolicy, mean_field};
use flashlane_units::PolicyDoc;

/// Parameters of no collection (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NoneConfig {}

impl PolicyDoc for NoneConfig {
    const SUMMARY: &'static str = "no collection: overwritten space returns in no time, without \
        reads, programs or erases";
    const SOURCE: &'static str = "Flashlane: a drive without collection, to compare with";
}

/// The policy.
#[derive(Clone)]
pub(super) struct NoCollection;

impl VictimPolicy for NoCollection {
    /// Chooses the emptiest block, among those without reads: it is packed most easily.
    fn select(&mut self, plane: &PlaneView<'_>, _: &mut Rng) -> Option<u32> {
        let candidates = (0..plane.len()).filter(|&block| !plane.is_read(block));
        let gains = candidates.filter_map(|block| plane.gain(block).map(|gain| (gain, block)));
        gains.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, block)| block)
    }

    fn steady_state(&self, rho: f64, pages_per_block: u32, _: u32) -> Option<SteadyState> {
        let greedy = mean_field::greedy(rho, pages_per_block);
        Some(SteadyState { write_amplification: 1.0, ..greedy })
    }

    fn costs_nothing(&self) -> bool {
        true
    }
}
