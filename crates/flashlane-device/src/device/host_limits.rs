//! Limits of rates in the host: requests that may not enter their submission queue yet.

use flashlane_units::{FlowId, QueueId, RequestId};

use super::Device;
use super::queue_pairs::cost_of;
use crate::interface::limits::Passing;
use crate::request::Request;

impl Device {
    /// Enters a request where limits of rates are in the host.
    #[cold]
    pub(super) fn submit_limited(&mut self, flow: FlowId, queue: QueueId, id: RequestId) {
        self.host.enter(flow);
        let command = self.passing(id);
        let (now, events) = (self.context.now, &mut self.context.events);
        if self.host.limits_mut().pass(now, events, id, command) {
            self.queue_up(queue, id);
        }
    }

    /// A limit in the host lets the next request pass that waits for it, and those behind it in
    /// its flow as far as the limits allow it.
    #[cold]
    pub(super) fn on_host_limit_room(&mut self, limit: u16) {
        let limits = self.host.limits_mut();
        let flow = limits.turn(limit);
        assert!(limits.oldest(flow).is_some(), "whose turn it is has a request that waits");
        while let Some(id) = self.host.limits_mut().oldest(flow) {
            let command = self.passing(id);
            let (now, events) = (self.context.now, &mut self.context.events);
            if !self.host.limits_mut().pass_oldest(now, events, command) {
                break;
            }
            let request = &mut self.context.requests[id];
            assert_eq!(request.pending, 0, "a request is held back before its work begins");
            request.enqueued = now;
            let (queue, waited) = (request.queue, now - request.arrival);
            if let Some(observer) = &mut self.observer {
                observer.held_back(id, Some(waited.0));
            }
            self.queue_up(queue, id);
        }
        self.schedule_ringing();
    }

    fn passing(&self, id: RequestId) -> Passing {
        let request = &self.context.requests[id];
        let cost = cost_of(&self.costs, &self.layout, &self.transaction_times, request);
        let Request { flow, op, sectors, .. } = *request;
        Passing { flow, op, sectors, cost }
    }

    fn queue_up(&mut self, queue: QueueId, id: RequestId) {
        if self.host.queue_up(queue, id) {
            self.announce(id, queue);
        }
    }
}
