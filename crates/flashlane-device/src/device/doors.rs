//! What a caller may ask the drive between two events, and what it may set.

use std::slice::Iter;

use flashlane_engine::Time;

use super::Device;
use crate::ftl::moving::IsolationSummary;
use crate::host::HostFlow;
use crate::interface::limits::RateLimit;
use crate::layout::{Geometry, Layout};
use crate::scheduler::overhead::SchedulerOverhead;

impl Device {
    /// The time of the last event; 0 before the first one.
    #[inline(always)]
    pub fn now(&self) -> Time {
        self.context.now
    }

    /// The time of the next event before the end of simulated time, if there is one.
    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        self.context.events.next_time()
    }

    /// True if no event is left, not even one after the end of simulated time.
    pub fn is_over(&self) -> bool {
        self.context.events.is_empty()
    }

    /// Checks the queue of events.
    pub fn audit_events(&self) {
        self.context.events.audit();
    }

    /// Number of requests that have arrived and are not complete.
    #[inline]
    pub fn outstanding(&self) -> usize {
        self.context.requests.len()
    }

    /// Number of requests that were submitted for a later time.
    pub fn upcoming(&self) -> usize {
        self.host.upcoming()
    }

    /// True if no request may be added to `outstanding` ones.
    pub fn is_full(&self, outstanding: usize) -> bool {
        self.host.is_full(outstanding)
    }

    /// Sets the most requests that may be outstanding.
    pub fn limit_outstanding(&mut self, outstanding_max: usize) {
        self.host.limit_outstanding(outstanding_max);
    }

    /// Limits the rates of flows. The drive must be idle.
    pub fn limit_rates(&mut self, limits: &[RateLimit]) {
        let flows = self.layout.flows.len();
        self.interface.nvme_mut().limit(limits, flows);
        self.host.limit_rates(limits);
    }

    /// Sets the weights of the flows' queue pairs, in their order. The drive must be idle.
    pub fn weigh_queues(&mut self, weights: &[u32]) {
        self.interface.nvme_mut().weigh(weights);
    }

    /// No event after this time may be handled while another event is handled.
    #[inline]
    pub fn set_horizon(&mut self, horizon: Time) {
        self.horizon = horizon;
    }

    /// The host's counts of each flow.
    pub fn flows(&self) -> Iter<'_, HostFlow> {
        self.host.flows()
    }

    /// True if some flow had no completion for so long that a run does not wait for it.
    pub fn some_starve(&self) -> bool {
        self.host.some_starve()
    }

    /// The sizes of the flash.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The spaces of the flows.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The pools of chips of each flow, where isolation moves them.
    pub fn sets_summary(&self) -> Option<IsolationSummary> {
        self.ftl.sets_summary()
    }

    /// The work of the scheduling policy, if the policy counts it. `room`: transactions that the
    /// DRAM of the drive has room for.
    pub fn scheduler_overhead(&self, room: u64) -> Option<SchedulerOverhead> {
        self.scheduler.overhead(room)
    }

    /// Bytes of the page table, and of the side table of partly written pages.
    pub fn table_bytes(&self) -> (u64, u64) {
        self.ftl.table_bytes()
    }

    /// Sectors of a page that hold data, on flash or in the data cache: bit 0 is the first sector.
    pub fn held(&mut self, flow: flashlane_units::FlowId, lpa: flashlane_units::Lpa) -> u64 {
        self.ftl.held(lpa) | self.cache.held(flow, lpa)
    }

    /// Begins the longest queues, and the most units that waited for others, anew.
    pub fn forget_longest_queues(&mut self) {
        self.scheduler.forget_longest();
        self.ask_ftl(|ftl, _| ftl.forget_most_waiting());
    }
}
