//! Weighted round robin with an urgent class.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::round_robin::Ring;
use super::{Arbiter, QueueSet};
use flashlane_units::PolicyDoc;

/// Parameters of weighted round robin with urgent priority class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WeightedConfig {
    /// Commands fetched from one queue before the next queue of its class. Range: 1..=64.
    pub burst: u32,
    /// Weight of the class `high`: commands per round. Range: 1..=256.
    pub high: u32,
    /// Weight of the class `medium`. Range: 1..=256.
    pub medium: u32,
    /// Weight of the class `low`. Range: 1..=256.
    pub low: u32,
}

impl Default for WeightedConfig {
    fn default() -> Self {
        Self { burst: 1, high: 4, medium: 2, low: 1 }
    }
}

impl PolicyDoc for WeightedConfig {
    const SUMMARY: &'static str =
        "`urgent` queues first, the other classes by weight, round robin inside a class";
    const SOURCE: &'static str =
        "NVMe base specification, weighted round robin with urgent priority class";
}

/// The policy.
#[derive(Clone)]
pub(super) struct Weighted {
    /// Queues of each class.
    classes: [QueueSet; 4],
    rings: [Ring; 4],
    weights: [u32; 3],
    credits: [u32; 3],
    burst: u32,
}

impl Weighted {
    pub(super) fn new(config: &WeightedConfig, classes: &[u8]) -> Self {
        let weights = [config.high, config.medium, config.low];
        let of_class = |class: u8| {
            let queues = classes.iter().zip(0..).filter(|&(&c, _)| c == class);
            queues.map(|(_, queue)| queue).collect()
        };
        Self {
            classes: [0, 1, 2, 3].map(of_class),
            rings: [Ring::default(); 4],
            weights,
            credits: weights,
            burst: config.burst,
        }
    }

    /// The weighted class whose turn it is: the highest class that is ready and has credit. A new
    /// round starts when no ready class has any.
    fn class(&mut self, ready: &QueueSet) -> Option<usize> {
        let ready = |c: &usize| ready.meets(&self.classes[c + 1]);
        let first = (0..3).find(ready)?;
        let with_credit = (0..3).filter(ready).find(|&c| self.credits[c] > 0);
        Some(with_credit.unwrap_or_else(|| {
            self.credits = self.weights;
            first
        }))
    }
}

impl Arbiter for Weighted {
    fn next(&mut self, ready: &QueueSet) -> Option<usize> {
        if let Some(queue) = self.rings[0].next(ready, &self.classes[0], self.burst) {
            return Some(queue);
        }
        let class = self.class(ready)?;
        self.credits[class] -= 1;
        self.rings[class + 1].next(ready, &self.classes[class + 1], self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urgent_is_strict_and_the_rest_is_weighted() {
        let mut policy = Weighted::new(&WeightedConfig::default(), &[1, 2, 3, 0]);
        let (three, all) = (QueueSet::from_iter(0..3), QueueSet::from_iter(0..4));
        let mut served = [0; 4];
        for _ in 0..700 {
            served[policy.next(&three).unwrap()] += 1;
        }
        assert_eq!(served, [400, 200, 100, 0]);
        assert_eq!((0..5).filter_map(|_| policy.next(&all)).collect::<Vec<_>>(), [3; 5]);
    }
}
