//! Random victims.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_engine::Rng;

use super::{PlaneView, SteadyState, VictimPolicy, mean_field};
use flashlane_units::PolicyDoc;

/// Parameters of random (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomConfig {}

impl PolicyDoc for RandomConfig {
    const SUMMARY: &'static str = "any full block of the plane, even one that is wholly valid";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3; Van Houdt 2013 (random)";
}

/// Draws before the plane is searched from end to end instead.
const DRAWS: u32 = 64;

/// Blocks that are looked at before a wholly valid block is emptied.
const WITNESSES: u32 = 8;

/// A random block among those that `accepts` admits, or `None` if it admits none. If few are
/// admitted, drawing might not end; after `DRAWS` draws, the next admitted block from a random
/// place on is taken.
pub(super) fn draw(
    plane: &PlaneView<'_>,
    rng: &mut Rng,
    accepts: impl Fn(u32) -> bool,
) -> Option<u32> {
    let blocks = plane.len();
    for _ in 0..DRAWS {
        let block = rng.below(u64::from(blocks)) as u32;
        if accepts(block) {
            return Some(block);
        }
    }
    let start = rng.below(u64::from(blocks)) as u32;
    (start..blocks).chain(0..start).find(|&block| accepts(block))
}

/// The policy.
#[derive(Clone)]
pub(super) struct Random;

impl VictimPolicy for Random {
    fn select(&mut self, plane: &PlaneView<'_>, rng: &mut Rng) -> Option<u32> {
        let gains = |block| plane.gain(block).is_some();
        let block = draw(plane, rng, |block| plane.valid(block).is_some())?;
        // Emptying a wholly valid block gains nothing. Where most blocks are wholly valid, such
        // collections could follow each other without end.
        let worthwhile =
            gains(block) || (0..WITNESSES).any(|_| gains(rng.below(u64::from(plane.len())) as u32));
        if worthwhile { Some(block) } else { draw(plane, rng, gains) }
    }

    fn released_choices(&self, _: u32) -> Option<u32> {
        None
    }

    fn steady_state(&self, rho: f64, pages_per_block: u32, _: u32) -> Option<SteadyState> {
        let state = mean_field::random(rho, pages_per_block, pages_per_block)
            .expect("any mean is possible where every block is a candidate");
        Some(state)
    }
}
