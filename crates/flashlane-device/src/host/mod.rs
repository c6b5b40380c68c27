//! Stage 2 of 8: the host's side of the drive. Keeps the requests that have not arrived yet, the
//! submission queues of each flow ([`queues`]) with the requests that wait for room in them, and
//! the counts of submitted and completed requests. A limit of rates may hold requests back
//! ([`limits`]).
//!
//! The host does not know how its requests reach the drive. The driver sends doorbells, and tells
//! the host which entries the device has fetched and completed.
//!
//! Invariants: a submission queue holds at most `queue_depth - 1` entries, and further requests
//! wait in a software queue in order of arrival; every generated request completes exactly once.

pub mod counts;
mod limits;
pub(crate) mod queues;

use flashlane_engine::{Array, Slab, Time};
use flashlane_units::{FlowId, QueueId, RequestId, RequestOp, SubmissionId};

use crate::interface::config::InterfaceConfig;
use crate::layout::SECTOR_BYTES;
use crate::request::{Planned, Request};
use counts::{ByteCounts, RequestCounts};
use limits::HostLimits;
use queues::{Gathered, HostQueues};

/// Simulated time without a completion after which a flow with work outstanding counts as starved.
pub(crate) const STARVATION: Time = Time::from_s(20);

/// Requests that a caller from outside may have outstanding at once. The tenants of a run have a
/// bound of their own.
const OUTSTANDING_MAX: usize = 1 << 24;

/// The host's counts of a flow.
#[derive(Clone)]
pub struct HostFlow {
    /// The first of its queue pairs, and their number.
    first_queue: QueueId,
    queue_pairs: u16,
    submitted: u64,
    done: Done,
    last_completion: Time,
    /// True if the flow had no completion for so long that a run does not wait for it.
    starved: bool,
}

impl HostFlow {
    /// A flow without requests.
    fn new(first_queue: QueueId, queue_pairs: u16) -> Self {
        Self {
            first_queue,
            queue_pairs,
            submitted: 0,
            done: Done::default(),
            last_completion: Time::ZERO,
            starved: false,
        }
    }

    /// True if the flow once had no completion for longer than [`STARVATION`], while others had
    /// some.
    pub(crate) fn has_starved(&self) -> bool {
        self.starved
    }

    /// Requests that entered the host so far.
    pub fn submitted(&self) -> u64 {
        self.submitted
    }

    /// Requests that completed, counted or not, and their data.
    pub(crate) fn done(&self) -> &Done {
        &self.done
    }

    /// Requests that completed, counted or not.
    pub fn completed(&self) -> u64 {
        self.done.requests().all()
    }

    /// Requests that entered the host and are not complete.
    pub fn outstanding(&self) -> u64 {
        self.submitted - self.completed()
    }
}

/// Kinds of requests.
const OPERATIONS: usize = RequestOp::ALL.len();

/// Requests of a flow that completed, counted or not, by operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    requests: [u64; OPERATIONS],
    sectors: [u64; OPERATIONS],
}

impl Done {
    #[inline(always)]
    fn add(&mut self, request: &Request) {
        let op = request.op as usize;
        self.requests[op] += 1;
        self.sectors[op] += u64::from(request.sectors);
    }

    /// Requests by operation.
    pub(crate) fn requests(&self) -> RequestCounts {
        let [read, write, trim, flush, ref zones @ ..] = self.requests;
        RequestCounts { read, write, trim, flush, zone: zones.iter().sum() }
    }

    /// Bytes read and written.
    pub(crate) fn bytes(&self) -> ByteCounts {
        let [read, write, ..] = self.sectors.map(|sectors| sectors * SECTOR_BYTES);
        ByteCounts { read, write }
    }
}

/// A request that enters the host at its arrival.
#[derive(Clone, Copy, Debug, Default)]
pub struct Submission {
    /// The flow that submits it.
    pub flow: FlowId,
    /// What it asks for.
    pub planned: Planned,
    /// The submitter's own name of the request.
    pub cookie: u64,
}

/// The host.
#[derive(Clone)]
pub(crate) struct Host {
    flows: Array<FlowId, HostFlow>,
    queues: HostQueues,
    /// Limits of rates, if some are in the host.
    limits: Option<Box<HostLimits>>,
    /// Requests that have not arrived yet.
    upcoming: Slab<SubmissionId, Submission>,
    /// Most requests outstanding: [`OUTSTANDING_MAX`], unless the submitter sets another bound.
    outstanding_max: usize,
}

impl Host {
    /// Empty queues. `queue_pairs`: by flow.
    pub(crate) fn new(config: &InterfaceConfig, queue_pairs: &[u16]) -> Self {
        let mut count = 0;
        let flow = |&pairs: &u16| {
            assert!(pairs > 0, "a flow has a queue pair");
            let first = QueueId::at(count);
            count += usize::from(pairs);
            HostFlow::new(first, pairs)
        };
        Self {
            flows: queue_pairs.iter().map(flow).collect(),
            queues: HostQueues::new(config, count),
            limits: None,
            upcoming: Slab::new(),
            outstanding_max: OUTSTANDING_MAX,
        }
    }

    /// The flows, in their order.
    pub(crate) fn flows(&self) -> std::slice::Iter<'_, HostFlow> {
        self.flows.iter()
    }

    /// Keeps a request until its arrival. Returns the handle of the submission.
    pub(crate) fn plan(&mut self, submission: Submission) -> SubmissionId {
        self.upcoming.insert(submission)
    }

    /// The flow of a request that has not arrived yet.
    #[inline]
    pub(crate) fn flow_of(&self, submission: SubmissionId) -> FlowId {
        self.upcoming[submission].flow
    }

    /// Takes the request of a submission that arrives.
    #[inline]
    pub(crate) fn arrive(&mut self, submission: SubmissionId) -> Submission {
        let arrived = self.upcoming[submission];
        self.upcoming.remove(submission);
        arrived
    }

    /// Requests that have not arrived yet.
    pub(crate) fn upcoming(&self) -> usize {
        self.upcoming.len()
    }

    /// True if no request may be added to `outstanding` ones.
    #[inline]
    pub(crate) fn is_full(&self, outstanding: usize) -> bool {
        outstanding >= self.outstanding_max
    }

    /// Sets the most requests that may be outstanding.
    pub(crate) fn limit_outstanding(&mut self, outstanding_max: usize) {
        self.outstanding_max = outstanding_max;
    }

    /// Shrinks queues to their current size.
    pub(crate) fn fit(&mut self) {
        self.queues.fit();
        if let Some(limits) = &mut self.limits {
            limits.fit();
        }
    }

    /// The queue pair with a number inside of a flow.
    #[inline(always)]
    pub(crate) fn queue_of(&self, flow: FlowId, number: u16) -> QueueId {
        let host = &self.flows[flow];
        assert!(number < host.queue_pairs, "a flow keeps to its queue pairs");
        host.first_queue.plus(number)
    }

    /// The queue pairs of a flow.
    pub(crate) fn queues_of(&self, flow: FlowId) -> impl Iterator<Item = QueueId> {
        let HostFlow { first_queue, queue_pairs, .. } = self.flows[flow];
        (0..queue_pairs).map(move |number| first_queue.plus(number))
    }

    /// Requests that wait behind a submission queue.
    pub(crate) fn behind_queue(&self, queue: QueueId) -> u64 {
        self.queues.behind(queue)
    }

    /// Entries that were written to each submission queue so far.
    pub(crate) fn entries(&self) -> impl Iterator<Item = u64> {
        self.queues.entries()
    }

    /// True if a doorbell may announce several entries.
    #[inline(always)]
    pub(crate) fn gathers(&self) -> bool {
        self.queues.gathers()
    }

    /// Counts an entry that was written towards the next doorbell of its queue.
    pub(crate) fn gather(&mut self, queue: QueueId, now: Time) -> Gathered {
        self.queues.gather(queue, now)
    }

    /// Takes the entries that no doorbell has announced, if the first of them has waited for long
    /// enough.
    pub(crate) fn take_due(&mut self, queue: QueueId, now: Time) -> Option<u16> {
        self.queues.take_due(queue, now)
    }

    /// Checks the entries that no doorbell has announced.
    pub(crate) fn audit_doorbells(&self, now: Time) {
        self.queues.audit(now);
    }

    /// Counts a request of the flow on a SATA drive, where the host has no queue for it.
    #[inline(always)]
    pub(crate) fn enter(&mut self, flow: FlowId) {
        self.flows[flow].submitted += 1;
    }

    /// Puts a request of the flow into a submission queue. True: it has an entry. False: the queue
    /// is full, and the request waits behind it.
    #[inline(always)]
    pub(crate) fn enter_queue(&mut self, flow: FlowId, queue: QueueId, id: RequestId) -> bool {
        self.flows[flow].submitted += 1;
        self.queues.enter(queue, id)
    }

    /// Notes that the device has fetched the first `fetched` entries of the queue. If there is room
    /// now, the oldest waiting request gets an entry, and is returned.
    #[inline(always)]
    pub(crate) fn next_entry(&mut self, queue: QueueId, fetched: u64) -> Option<RequestId> {
        self.queues.next_entry(queue, fetched)
    }

    /// Counts a completed request.
    #[inline(always)]
    pub(crate) fn complete(&mut self, request: &Request, now: Time) {
        let host = &mut self.flows[request.flow];
        host.done.add(request);
        host.last_completion = now;
    }

    /// True if the flow is known to starve.
    pub(crate) fn is_starved(&self, flow: FlowId) -> bool {
        self.flows[flow].starved
    }

    /// True if some flow is known to starve.
    pub(crate) fn some_starve(&self) -> bool {
        self.flows.iter().any(HostFlow::has_starved)
    }

    /// Notes that a flow starves.
    pub(crate) fn note_starved(&mut self, flow: FlowId) {
        self.flows[flow].starved = true;
    }

    /// True if some request has completed at `since` or later.
    pub(crate) fn completed_since(&self, since: Time) -> bool {
        let mut done = self.flows.iter().filter(|flow| flow.completed() > 0);
        done.any(|flow| flow.last_completion >= since)
    }

    /// The flows that have requests outstanding, and no completion for longer than [`STARVATION`].
    /// Such a flow starves if its requests have waited as long: see [`has_starved`].
    pub(crate) fn idle_flows(&self, now: Time) -> impl Iterator<Item = FlowId> {
        let idle =
            move |flow: &HostFlow| flow.outstanding() > 0 && has_starved(flow.last_completion, now);
        (0..)
            .map(FlowId::new)
            .zip(&self.flows)
            .filter(move |(_, flow)| idle(flow))
            .map(|(index, _)| index)
    }

    /// Checks what must hold between two events. `outstanding`: requests in the system.
    pub(crate) fn audit(&self, outstanding: usize) {
        if let Some(limits) = &self.limits {
            limits.audit();
        }
        for flow in &self.flows {
            assert!(flow.completed() <= flow.submitted, "a request completes once");
        }
        let known: u64 = self.flows.iter().map(HostFlow::outstanding).sum();
        assert_eq!(known, outstanding as u64, "outstanding requests are counted");
    }

    /// Checks what must hold at the end of a run.
    pub(crate) fn audit_end(&self) {
        for (index, flow) in self.flows.iter().enumerate() {
            assert_eq!(flow.submitted, flow.completed(), "every request of flow {index} completed");
        }
    }
}

/// True if a request that has waited since a time has waited for too long.
pub fn has_starved(since: Time, now: Time) -> bool {
    now.saturating_sub(since) > STARVATION
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(flows: usize) -> Host {
        let config = InterfaceConfig { queue_depth: 4, ..InterfaceConfig::default() };
        Host::new(&config, &vec![1; flows])
    }

    fn enter(host: &mut Host, flow: u16, id: RequestId) -> bool {
        let queue = host.queue_of(FlowId::new(flow), 0);
        host.enter_queue(FlowId::new(flow), queue, id)
    }

    fn request(flow: FlowId) -> Request {
        Request { flow, op: RequestOp::Read, sectors: 8, ..Request::default() }
    }

    #[test]
    fn queue_pairs_are_numbered_flow_by_flow() {
        let host = Host::new(&InterfaceConfig::default(), &[2, 1, 65_000]);
        let numbers = |flow| host.queues_of(FlowId::new(flow)).map(QueueId::get);
        assert!(numbers(0).eq([0, 1]) && numbers(1).eq([2]) && numbers(2).eq(3..65_003));
        assert_eq!(host.queue_of(FlowId::new(2), 64_999), QueueId::new(65_002));
        assert_eq!(host.entries().count(), 65_003);
    }

    #[test]
    fn requests_are_counted_from_entry_to_completion() {
        let mut host = host(1);
        host.enter(FlowId::new(0));
        enter(&mut host, 0, RequestId::new(1));
        host.complete(&request(FlowId::new(0)), Time(5));
        host.audit(1);
        let flow = host.flows().next().expect("a flow");
        assert_eq!((flow.submitted(), flow.completed(), flow.outstanding()), (2, 1, 1));
        assert_eq!(flow.done().requests().read, 1);
        assert_eq!(flow.done().bytes(), ByteCounts { read: 8 * SECTOR_BYTES, write: 0 });
        host.complete(&request(FlowId::new(0)), Time(6));
        host.audit_end();
    }

    #[test]
    fn a_flow_is_idle_with_work_outstanding_and_no_completion_for_long() {
        let mut host = host(3);
        enter(&mut host, 1, RequestId::new(0));
        enter(&mut host, 2, RequestId::new(1));
        enter(&mut host, 2, RequestId::new(2));
        let idle = |host: &Host, now: Time| -> Vec<u16> {
            host.idle_flows(now).map(FlowId::get).collect()
        };
        assert_eq!(idle(&host, STARVATION), [0; 0]);
        let late = STARVATION + Time(1);
        assert_eq!(idle(&host, late), [1, 2], "flow 0 has nothing outstanding");
        host.complete(&request(FlowId::new(2)), Time(1));
        assert_eq!(idle(&host, late), [1]);
        assert_eq!(idle(&host, late + Time(1)), [1, 2]);
        host.complete(&request(FlowId::new(1)), late);
        assert_eq!(idle(&host, late + late), [2]);
        assert!(host.completed_since(late) && !host.completed_since(late + Time(1)));
    }

    #[test]
    fn requests_that_have_not_arrived_are_kept() {
        let mut host = host(1);
        let submission = host.plan(Submission { cookie: 9, ..Submission::default() });
        assert_eq!(host.upcoming(), 1);
        assert_eq!(host.arrive(submission).cookie, 9);
        assert_eq!(host.upcoming(), 0);
        host.limit_outstanding(3);
        assert!(!host.is_full(2));
        assert!(host.is_full(3));
    }
}
