//! Round robin over all submission queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arbiter, QueueSet};
use flashlane_units::PolicyDoc;

/// Parameters of round robin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoundRobinConfig {
    /// Commands fetched from one queue before the next queue's turn. Range: 1..=64.
    pub burst: u32,
}

impl Default for RoundRobinConfig {
    fn default() -> Self {
        Self { burst: 1 }
    }
}

impl PolicyDoc for RoundRobinConfig {
    const SUMMARY: &'static str = "every queue in turn, `burst` commands each";
    const SOURCE: &'static str = "NVMe base specification, round robin arbitration";
}

/// A number above those of all queues.
const LAST: u32 = 65_535;

/// A rotating pointer over sets of ready queues. The queue at the pointer has `left` commands left
/// of its burst.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ring {
    turn: u32,
    left: u32,
}

impl Ring {
    /// The next queue in turn, out of those that are ready and of a class. Each has `burst` turns
    /// in a row.
    #[inline(always)]
    pub(super) fn next(&mut self, ready: &QueueSet, class: &QueueSet, burst: u32) -> Option<usize> {
        let turn = self.turn as usize;
        if self.left == 0 || !ready.contains(turn) || !class.contains(turn) {
            self.turn = ready.next_of_both(class, turn)? as u32;
            self.left = burst;
        }
        self.left -= 1;
        Some(self.turn as usize)
    }
}

/// The policy.
#[derive(Clone)]
pub(super) struct RoundRobin {
    ring: Ring,
    burst: u32,
}

impl RoundRobin {
    pub(super) fn new(config: &RoundRobinConfig) -> Self {
        // The pointer starts behind the last queue, so that queue 0 is served first.
        Self { ring: Ring { turn: LAST, ..Ring::default() }, burst: config.burst }
    }
}

impl Arbiter for RoundRobin {
    fn next(&mut self, ready: &QueueSet) -> Option<usize> {
        self.ring.next(ready, ready, self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_rotate() {
        let mut policy = RoundRobin::new(&RoundRobinConfig { burst: 2 });
        let ready = QueueSet::from_iter([0, 5, 65_000]);
        let order: Vec<usize> = (0..8).filter_map(|_| policy.next(&ready)).collect();
        assert_eq!(order, [0, 0, 5, 5, 65_000, 65_000, 0, 0]);
    }
}
