//! Limits of rates in the host: a request waits here before it has a place in a submission queue.
//!
//! A storage layer of a cloud limits its tenants so. The submission queue then has no command that
//! may not be fetched, and requests that the limit does not count pass those that wait in another
//! flow. The requests of a flow pass in the order in which they came.
//!
//! Invariant: the oldest request of a flow waits for exactly one limit, or no request of the flow
//! waits.

use flashlane_engine::{Array, EventQueue, Ring, Time};
use flashlane_units::{FlowId, QueueId, RequestId};

use super::Host;
use crate::event::Event;
use crate::interface::limits::{LimitPlace, Limits, Passing, RateLimit};

impl Host {
    /// Limits the rates of flows, as far as the limits are in the host.
    pub(crate) fn limit_rates(&mut self, limits: &[RateLimit]) {
        self.limits = HostLimits::new(limits, self.flows.len()).map(Box::new);
    }

    /// True if limits are in the host.
    #[inline(always)]
    pub(crate) fn holds_back(&self) -> bool {
        self.limits.is_some()
    }

    /// True if the host may hold requests of a flow back.
    pub(crate) fn limits(&self, flow: FlowId) -> bool {
        self.limits.as_ref().is_some_and(|limits| limits.has(flow))
    }

    /// The limits, which must be there.
    pub(crate) fn limits_mut(&mut self) -> &mut HostLimits {
        self.limits.as_mut().expect("limits are in the host")
    }

    /// Puts a request that has passed its limits into a submission queue, as
    /// [`Host::enter_queue`] does.
    pub(crate) fn queue_up(&mut self, queue: QueueId, id: RequestId) -> bool {
        self.queues.enter(queue, id)
    }

    /// Requests of a flow that limits hold back.
    pub(crate) fn held_back(&self, flow: FlowId) -> u64 {
        self.limits.as_ref().map_or(0, |limits| limits.held(flow))
    }
}

/// The limits, and the requests that wait for them.
#[derive(Clone)]
pub(crate) struct HostLimits {
    limits: Limits,
    /// The requests of each flow that wait, oldest first.
    waiting: Array<FlowId, Ring<RequestId>>,
}

impl HostLimits {
    /// `None` if no limit is in the host.
    pub(super) fn new(limits: &[RateLimit], flows: usize) -> Option<Self> {
        let limits = Limits::new(limits, flows, LimitPlace::Host)?;
        Some(Self { limits, waiting: Array::of(Ring::new(), flows) })
    }

    /// Lets a request pass, or keeps it until its turn comes.
    pub(crate) fn pass(
        &mut self,
        now: Time,
        events: &mut EventQueue<Event>,
        id: RequestId,
        command: Passing,
    ) -> bool {
        let passes = self.waiting[command.flow].is_empty() && self.ask(now, events, command);
        if !passes {
            self.waiting[command.flow].push_back(id);
        }
        passes
    }

    fn ask(&mut self, now: Time, events: &mut EventQueue<Event>, command: Passing) -> bool {
        self.limits.pass(now, events, QueueId::at(command.flow.index()), command)
    }

    /// The flow whose turn it is at a limit.
    pub(crate) fn turn(&mut self, limit: u16) -> FlowId {
        FlowId::at(self.limits.turn(limit).index())
    }

    /// The oldest request of a flow that waits.
    pub(crate) fn oldest(&self, flow: FlowId) -> Option<RequestId> {
        self.waiting[flow].front().copied()
    }

    /// Lets the oldest request of a flow pass, if its limits allow it.
    pub(crate) fn pass_oldest(
        &mut self,
        now: Time,
        events: &mut EventQueue<Event>,
        command: Passing,
    ) -> bool {
        let passes = self.ask(now, events, command);
        if passes {
            self.waiting[command.flow].pop_front();
        }
        passes
    }

    /// True if a flow has a limit.
    pub(super) fn has(&self, flow: FlowId) -> bool {
        self.limits.has(flow)
    }

    /// Requests of a flow that wait.
    pub(super) fn held(&self, flow: FlowId) -> u64 {
        self.waiting[flow].len() as u64
    }

    /// Checks, with `--check`, that flows with requests here wait for a limit.
    pub(super) fn audit(&self) {
        let waiting = self.waiting.iter().enumerate().filter(|(_, ring)| !ring.is_empty());
        self.limits.audit(waiting.map(|(flow, _)| flow).collect());
    }

    /// Shrinks queues to their current size.
    pub(super) fn fit(&mut self) {
        self.waiting.iter_mut().for_each(Ring::fit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::costs::COST_UNIT;
    use flashlane_units::RequestOp;

    fn command(flow: u16) -> Passing {
        let (flow, op) = (FlowId::new(flow), RequestOp::Read);
        Passing { flow, op, sectors: 8, cost: COST_UNIT }
    }

    #[test]
    fn requests_of_a_flow_pass_in_order_and_flows_take_turns() {
        let limit = RateLimit {
            flows: vec![FlowId::new(0), FlowId::new(1)],
            reads: true,
            writes: true,
            per_command: 100,
            per_sector: 0,
            burst: 0,
            place: LimitPlace::Host,
        };
        let mut host = HostLimits::new(&[limit], 3).expect("a limit");
        let mut events = EventQueue::new();
        let mut pass = |host: &mut HostLimits, id: u32, flow: u16| {
            host.pass(Time(0), &mut events, RequestId::new(id), command(flow))
        };
        assert!(pass(&mut host, 1, 0), "the bucket is full");
        assert!(!pass(&mut host, 2, 0) && !pass(&mut host, 3, 0) && !pass(&mut host, 4, 1));
        assert!(pass(&mut host, 5, 2), "a flow without a limit does not wait");
        assert_eq!((host.held(FlowId::new(0)), host.held(FlowId::new(1))), (2, 1));
        host.audit();
        let mut order = Vec::new();
        while let Some((at, event)) = events.pop() {
            let Event::HostLimitRoom { limit } = event else { panic!("another event: {event:?}") };
            let flow = host.turn(limit);
            while let Some(id) = host.oldest(flow) {
                if !host.pass_oldest(at, &mut events, command(flow.get())) {
                    break;
                }
                order.push((at.0, id.get()));
            }
        }
        assert_eq!(order, [(100, 2), (200, 4), (300, 3)]);
        host.audit();
    }

    #[test]
    fn limits_of_the_device_are_not_the_hosts() {
        assert!(HostLimits::new(&[], 2).is_none());
    }
}
