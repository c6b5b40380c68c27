//! Limits of rates: token buckets that a command passes before the device fetches it, or before the
//! host writes its entry.
//!
//! A bucket is kept as the time at which its debt is paid (the generic cell rate algorithm of ATM,
//! ITU-T I.371). A command that needs `c` of a rate moves this time by `c / rate`. It may pass
//! while the time is at most `burst` ahead. So in any window of length `w` a flow gets at most
//! `rate * (w + burst)` and one command more. Commands that wait for a limit pass in the order in
//! which they came.

use std::collections::VecDeque;

use flashlane_engine::{EventQueue, Time};
use flashlane_units::{FlowId, QueueId, RequestOp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::costs::COST_UNIT;
use crate::event::Event;

/// Where a limit holds commands back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitPlace {
    /// In the submission queue: the device does not fetch the command yet. Commands behind it wait
    /// with it.
    #[default]
    Device,
    /// In the host, as a storage layer does: the command has no entry in a submission queue yet.
    Host,
}

impl LimitPlace {
    /// True if this is [`LimitPlace::Device`].
    #[must_use]
    pub fn is_device(&self) -> bool {
        *self == Self::Device
    }
}

/// A limit for some flows together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// The flows that share it.
    pub flows: Vec<FlowId>,
    /// True if reads count.
    pub reads: bool,
    /// True if writes count. Trims and flushes count where both do.
    pub writes: bool,
    /// Cost of a plain command. Unit: picoseconds of the bucket.
    pub per_command: u64,
    /// Cost of a sector. Unit: picoseconds of the bucket.
    pub per_sector: u64,
    /// How far the bucket may be in debt when a command passes. Unit: picoseconds.
    pub burst: u64,
    /// Where commands are held back.
    pub place: LimitPlace,
}

impl RateLimit {
    fn counts(&self, op: RequestOp) -> bool {
        match op {
            RequestOp::Read => self.reads,
            RequestOp::Write => self.writes,
            // A zone is not reset or finished before the writes that came earlier.
            _ if op.manages_zone() => self.writes,
            _ => self.reads && self.writes,
        }
    }

    fn cost(&self, command: Passing) -> u64 {
        let Passing { op, sectors, cost, .. } = command;
        let moves_data = matches!(op, RequestOp::Read | RequestOp::Write);
        let data = if moves_data { self.per_sector.saturating_mul(u64::from(sectors)) } else { 0 };
        if cost == COST_UNIT || self.per_command == 0 {
            return self.per_command.saturating_add(data);
        }
        let weighed = u128::from(self.per_command) * u128::from(cost);
        let weighed = weighed.div_ceil(u128::from(COST_UNIT));
        u64::try_from(weighed).unwrap_or(u64::MAX).saturating_add(data)
    }
}

/// A command that wants to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passing {
    pub(crate) flow: FlowId,
    pub(crate) op: RequestOp,
    pub(crate) sectors: u32,
    /// By the model of costs; a plain command has [`COST_UNIT`].
    pub(crate) cost: u64,
}

/// A limit at work. Either nobody waits, or an event is ahead at which the first one that waits may
/// go, or a queue may go and has not gone yet.
#[derive(Clone, Debug)]
struct Bucket {
    limit: RateLimit,
    /// The time at which the debt is paid. Unit: picoseconds.
    paid: u64,
    /// Queues whose oldest command waits for this limit, in the order in which they came.
    waiting: VecDeque<QueueId>,
    /// The queue that may go before all others.
    first: Option<QueueId>,
}

impl Bucket {
    /// The time from which on a command passes.
    fn free_at(&self) -> Time {
        Time(self.paid.saturating_sub(self.limit.burst))
    }

    /// True if a command of a queue has to wait.
    fn holds(&self, now: Time, queue: QueueId) -> bool {
        let others = self.first.is_some() || !self.waiting.is_empty();
        self.free_at() > now || (others && self.first != Some(queue))
    }
}

/// The limits of one place at work. Where they are in the host, the requests of a flow form a
/// queue, with the number of the flow.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    buckets: Vec<Bucket>,
    /// The limits of each flow.
    of_flow: Vec<Vec<u16>>,
    place: LimitPlace,
}

impl Limits {
    /// Full buckets, of the limits of a place. `None` without one.
    pub(crate) fn new(limits: &[RateLimit], flows: usize, place: LimitPlace) -> Option<Self> {
        let mut of_flow = vec![Vec::new(); flows];
        let here: Vec<&RateLimit> = limits.iter().filter(|limit| limit.place == place).collect();
        for (index, limit) in here.iter().enumerate() {
            for flow in &limit.flows {
                of_flow[flow.index()].push(u16::try_from(index).expect("some thousands at most"));
            }
        }
        let bucket = |limit: &&RateLimit| Bucket {
            limit: (*limit).clone(),
            paid: 0,
            waiting: VecDeque::new(),
            first: None,
        };
        let buckets = here.iter().map(bucket).collect();
        (!here.is_empty()).then_some(Self { buckets, of_flow, place })
    }

    /// True if a flow has a limit.
    pub(crate) fn has(&self, flow: FlowId) -> bool {
        !self.of_flow[flow.index()].is_empty()
    }

    /// Lets the oldest command of a queue pass, and charges it to all limits that count it. False:
    /// it waits for one of them, whose event comes when it may be its turn.
    pub(crate) fn pass(
        &mut self,
        now: Time,
        events: &mut EventQueue<Event>,
        queue: QueueId,
        command: Passing,
    ) -> bool {
        let Self { buckets, of_flow, place } = self;
        let room = |limit| match place {
            LimitPlace::Device => Event::LimitRoom { limit },
            LimitPlace::Host => Event::HostLimitRoom { limit },
        };
        let Passing { flow, op, .. } = command;
        let holds = |index: &u16| {
            let bucket = &buckets[usize::from(*index)];
            bucket.limit.counts(op) && bucket.holds(now, queue)
        };
        let held = of_flow[flow.index()].iter().copied().filter(holds);
        let latest = held.max_by_key(|index| buckets[usize::from(*index)].free_at());
        if let Some(index) = latest {
            let bucket = &mut buckets[usize::from(index)];
            let alone = bucket.waiting.is_empty() && bucket.first.is_none();
            bucket.waiting.push_back(queue);
            if alone {
                let at = bucket.free_at();
                assert!(at > now, "a limit holds nobody back without a reason");
                events.schedule(at, room(index));
            }
        }
        for &index in &of_flow[flow.index()] {
            let bucket = &mut buckets[usize::from(index)];
            if latest.is_none() && bucket.limit.counts(op) {
                let cost = bucket.limit.cost(command);
                bucket.paid = bucket.paid.max(now.0).saturating_add(cost);
            }
            if bucket.first == Some(queue) {
                bucket.first = None;
                if !bucket.waiting.is_empty() {
                    let at = bucket.free_at().max(now);
                    events.schedule(at, room(index));
                }
            }
        }
        latest.is_none()
    }

    /// The queue that has waited longest for a limit may go before all others.
    pub(crate) fn turn(&mut self, limit: u16) -> QueueId {
        let bucket = &mut self.buckets[usize::from(limit)];
        assert!(bucket.first.is_none(), "one queue at a time goes first");
        let queue = bucket.waiting.pop_front().expect("a queue waits for the limit");
        bucket.first = Some(queue);
        queue
    }

    /// Checks, with `--check`, that the queues that are held back are those that wait for a limit.
    pub(crate) fn audit(&self, mut held: Vec<usize>) {
        let waiting = self.buckets.iter().flat_map(|bucket| &bucket.waiting);
        let mut waiting: Vec<usize> = waiting.map(|queue| queue.index()).collect();
        waiting.sort_unstable();
        held.sort_unstable();
        assert_eq!(waiting, held, "a queue that is held back waits for one limit");
    }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
