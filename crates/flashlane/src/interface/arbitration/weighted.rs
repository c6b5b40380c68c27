//! Weighted round robin with an urgent class.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Arbiter;
use super::round_robin::Ring;
use crate::config::policy::PolicyDoc;

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
pub(super) struct Weighted {
    classes: Vec<u8>,
    rings: [Ring; 4],
    weights: [u32; 3],
    credits: [u32; 3],
    burst: u32,
}

impl Weighted {
    pub(super) fn new(config: &WeightedConfig, classes: &[u8]) -> Self {
        let weights = [config.high, config.medium, config.low];
        Self {
            classes: classes.to_vec(),
            rings: [Ring::default(); 4],
            weights,
            credits: weights,
            burst: config.burst,
        }
    }

    /// The weighted class whose turn it is: the highest that is ready and has credit; a new round
    /// starts when no ready class has any.
    fn class(&mut self) -> Option<usize> {
        let ready = |c: &usize| !self.rings[c + 1].is_empty();
        let first = (0..3).find(ready)?;
        let with_credit = (0..3).filter(ready).find(|&c| self.credits[c] > 0);
        Some(with_credit.unwrap_or_else(|| {
            self.credits = self.weights;
            first
        }))
    }
}

impl Arbiter for Weighted {
    fn ready(&mut self, queue: usize, ready: bool) {
        self.rings[self.classes[queue] as usize].set(queue, ready);
    }

    fn next(&mut self) -> Option<usize> {
        if let Some(queue) = self.rings[0].next(self.burst) {
            return Some(queue);
        }
        let class = self.class()?;
        self.credits[class] -= 1;
        self.rings[class + 1].next(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urgent_is_strict_and_the_rest_is_weighted() {
        let mut policy = Weighted::new(&WeightedConfig::default(), &[1, 2, 3, 0]);
        for queue in 0..3 {
            policy.ready(queue, true);
        }
        let mut served = [0; 4];
        for _ in 0..700 {
            served[policy.next().unwrap()] += 1;
        }
        assert_eq!(served, [400, 200, 100, 0]);
        policy.ready(3, true);
        assert_eq!((0..5).filter_map(|_| policy.next()).collect::<Vec<_>>(), [3; 5]);
    }
}
