//! Round robin over all submission queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Arbiter;
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

/// A rotating pointer over sets of ready queues; the queue at the pointer has `left` commands of
/// its burst to go.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ring {
    turn: u32,
    left: u32,
}

impl Ring {
    /// The next queue in turn, `burst` times each.
    pub(super) fn next(&mut self, ready: u64, burst: u32) -> Option<usize> {
        if ready == 0 {
            return None;
        }
        if self.left == 0 || ready >> self.turn & 1 == 0 {
            let after = ready & (u64::MAX << self.turn << 1);
            let from = if after == 0 { ready } else { after };
            self.turn = from.trailing_zeros();
            self.left = burst;
        }
        self.left -= 1;
        Some(self.turn as usize)
    }
}

/// The policy. Range: up to 64 queues.
#[derive(Clone)]
pub(super) struct RoundRobin {
    ring: Ring,
    burst: u32,
}

impl RoundRobin {
    pub(super) fn new(config: &RoundRobinConfig) -> Self {
        // The pointer starts at the last place, so that queue 0 is the first one served.
        Self { ring: Ring { turn: 63, ..Ring::default() }, burst: config.burst }
    }
}

impl Arbiter for RoundRobin {
    fn next(&mut self, ready: u64) -> Option<usize> {
        self.ring.next(ready, self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_rotate() {
        let mut policy = RoundRobin::new(&RoundRobinConfig { burst: 2 });
        let ready = 1 << 0 | 1 << 5 | 1 << 63;
        let order: Vec<usize> = (0..8).filter_map(|_| policy.next(ready)).collect();
        assert_eq!(order, [0, 0, 5, 5, 63, 63, 0, 0]);
    }
}
