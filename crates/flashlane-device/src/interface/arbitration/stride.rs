//! Stride scheduling: shares by the weights of the flows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arbiter, QueueSet};
use crate::interface::costs::COST_UNIT;
use flashlane_units::PolicyDoc;

/// Parameters of stride scheduling (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StrideConfig {}

impl PolicyDoc for StrideConfig {
    const SUMMARY: &'static str =
        "shares by the `weight` of each flow, of commands or of what they cost (`interface.cost`)";
    const SOURCE: &'static str = "Waldspurger and Weihl, Stride Scheduling (MIT TM-528, 1995); who \
                                  was idle comes back at the virtual time, as in start-time fair \
                                  queueing (Goyal et al., SIGCOMM 1996)";
}

/// Virtual time of a part of a cost at weight 1.
const WHOLE: u128 = 1 << 32;

/// The policy. A queue with the least virtual time goes first. A command moves the time of its
/// queue by its cost over the weight.
#[derive(Clone)]
pub(super) struct Stride {
    /// Virtual time of each queue.
    passes: Vec<u128>,
    /// Virtual time of a part of a cost, by queue.
    strides: Vec<u128>,
    /// Queues by their virtual times. Some of them may not be ready any more.
    line: BinaryHeap<Reverse<(u128, u32)>>,
    /// The queues in the line, and the last one.
    known: QueueSet,
    /// The queue that had the last turn. It joins the line when its turn is charged.
    last: Option<u32>,
    /// Virtual time of the last turn.
    now: u128,
    /// Queues that became ready since the last turn; kept for its memory.
    fresh: Vec<u32>,
}

impl Stride {
    pub(super) fn new(queues: usize) -> Self {
        Self {
            passes: vec![0; queues],
            strides: vec![WHOLE; queues],
            line: BinaryHeap::new(),
            known: QueueSet::default(),
            last: None,
            now: 0,
            fresh: Vec::new(),
        }
    }

    fn join(&mut self, queue: u32) {
        self.line.push(Reverse((self.passes[queue as usize], queue)));
    }
}

impl Arbiter for Stride {
    fn next(&mut self, ready: &QueueSet) -> Option<usize> {
        if let Some(last) = self.last.take() {
            self.join(last);
        }
        let mut fresh = std::mem::take(&mut self.fresh);
        ready.each_without(&self.known, |queue| fresh.push(queue as u32));
        for queue in fresh.drain(..) {
            let pass = &mut self.passes[queue as usize];
            *pass = self.now.max(*pass);
            self.known.set(queue as usize, true);
            self.join(queue);
        }
        self.fresh = fresh;
        while let Some(Reverse((pass, queue))) = self.line.pop() {
            let at = queue as usize;
            if ready.contains(at) {
                self.now = pass;
                self.passes[at] = pass + u128::from(COST_UNIT) * self.strides[at];
                self.last = Some(queue);
                return Some(at);
            }
            self.known.set(at, false);
        }
        None
    }

    fn weigh(&mut self, weights: &[u32]) {
        assert_eq!(weights.len(), self.strides.len(), "each queue has a weight");
        self.strides = weights.iter().map(|&weight| WHOLE / u128::from(weight.max(1))).collect();
    }

    fn charge(&mut self, queue: usize, cost: u64) {
        assert_eq!(self.last, Some(queue as u32), "the last turn is charged");
        self.passes[queue] = self.now + u128::from(cost) * self.strides[queue];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What queues get in some turns, by cost, if each command of a queue costs the same.
    fn shares(weights: &[u32], costs: &[u64], turns: usize) -> Vec<u64> {
        let mut policy = Stride::new(weights.len());
        policy.weigh(weights);
        let ready: QueueSet = (0..weights.len()).collect();
        let mut got = vec![0; weights.len()];
        for _ in 0..turns {
            let queue = policy.next(&ready).expect("queues are ready");
            policy.charge(queue, costs[queue] * COST_UNIT);
            got[queue] += costs[queue];
        }
        got
    }

    #[test]
    fn shares_of_the_cost_are_as_the_weights() {
        assert_eq!(shares(&[1, 2, 4], &[1, 1, 1], 700), [100, 200, 400]);
        let got = shares(&[1, 2, 4], &[16, 1, 3], 10_000);
        for (queue, weight) in [1.0, 2.0, 4.0].into_iter().enumerate() {
            let share = got[queue] as f64 / got.iter().sum::<u64>() as f64;
            assert!((share / (weight / 7.0) - 1.0).abs() < 0.01, "{got:?}");
        }
    }

    #[test]
    fn who_was_idle_has_saved_nothing_and_lost_nothing() {
        let mut policy = Stride::new(3);
        policy.weigh(&[1, 1, 8]);
        let (two, one) = (QueueSet::from_iter([0, 1]), QueueSet::from_iter([0]));
        for _ in 0..1000 {
            assert_eq!(policy.next(&one), Some(0));
        }
        let turns: Vec<usize> = (0..6).filter_map(|_| policy.next(&two)).collect();
        assert_eq!(turns.iter().filter(|&&queue| queue == 1).count(), 3, "{turns:?}");
        // A turn that was not used costs nothing.
        let queue = policy.next(&two).expect("queues are ready");
        policy.charge(queue, 0);
        assert_eq!(policy.next(&two), Some(queue));
    }
}
