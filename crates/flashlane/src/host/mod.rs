//! Stage 2 of 8: the host. Receives requests from `tenants`; writes them to the submission queue of
//! their flow and rings the doorbell over the link; sees completions.
//!
//! Invariants: a submission queue holds at most `queue_depth - 1` entries, further requests wait in
//! a software queue in order of arrival; every generated request completes exactly once.

pub(crate) mod counts;

use std::collections::BTreeSet;

use flashlane_engine::{Array, NONE, Ring, Sequence, Slab, Time};

use crate::compat::CompatConfig;
use crate::device::Device;
use crate::error::Error;
use crate::event::{Event, Up};
use crate::interface::config::InterfaceConfig;
use crate::layout::SECTOR_BYTES;
use crate::link::Link;
use crate::link::config::LinkConfig;
use crate::request::{Chain, Request};
use crate::workload::Planned;
use counts::{ByteCounts, RequestCounts};

/// Simulated time without a completion after which a flow with work outstanding counts as starved.
const STARVATION: Time = Time::from_s(20);

/// Requests that may be outstanding at once. With more, a load that the drive cannot keep up with would fill the
/// memory before it ends.
const OUTSTANDING_MAX: usize = 1 << 24;

/// The host's side of a queue pair.
#[derive(Clone)]
pub(crate) struct HostFlow {
    /// Requests that wait for room in the submission queue.
    backlog: Ring<u32>,
    /// Entries written and entries known to be fetched.
    tail: u64,
    head: u64,
    /// Requests that entered the host so far.
    pub(crate) submitted: u64,
    pub(crate) done: Done,
    last_completion: Time,
}

impl HostFlow {
    /// Empty queues.
    fn new() -> Self {
        Self {
            backlog: Ring::new(),
            tail: 0,
            head: 0,
            submitted: 0,
            done: Done::default(),
            last_completion: Time::ZERO,
        }
    }
}

/// Requests of a flow that completed, counted or not, by operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    requests: [u64; 4],
    sectors: [u64; 4],
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
        let [read, write, trim, flush] = self.requests;
        RequestCounts { read, write, trim, flush }
    }

    /// Bytes read and written.
    pub(crate) fn bytes(&self) -> ByteCounts {
        let [read, write, ..] = self.sectors.map(|sectors| sectors * SECTOR_BYTES);
        ByteCounts { read, write }
    }
}

impl HostFlow {
    /// Requests that completed, counted or not.
    pub(crate) fn completed(&self) -> u64 {
        self.done.requests().all()
    }
}

/// A submission doorbell on its way to the device, and its place among the events.
#[derive(Clone, Copy, Debug)]
struct Ringing {
    arrives: Time,
    place: Sequence,
    flow: u16,
}

/// A request that enters the host at its arrival.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Submission {
    pub(crate) flow: u16,
    pub(crate) planned: Planned,
    /// What the submitter knows the request by.
    pub(crate) cookie: u64,
}

/// The host.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) link: Link,
    /// The last doorbell of the current event, which is not scheduled yet.
    ringing: Option<Ringing>,
    pub(crate) flows: Array<HostFlow>,
    queue_depth: u64,
    /// Requests that have not arrived yet.
    upcoming: Slab<Submission>,
    /// [`OUTSTANDING_MAX`] but in tests.
    pub(crate) outstanding_max: usize,
}

impl Host {
    /// Empty queues for so many flows.
    pub(crate) fn new(
        link: &LinkConfig,
        interface: &InterfaceConfig,
        compat: &CompatConfig,
        flows: usize,
    ) -> Self {
        let entries = (interface.submission_entry, interface.completion_entry);
        Self {
            link: Link::new(link, entries, compat),
            ringing: None,
            flows: (0..flows).map(|_| HostFlow::new()).collect(),
            queue_depth: u64::from(interface.queue_depth),
            upcoming: Slab::new(),
            outstanding_max: OUTSTANDING_MAX,
        }
    }
}

impl Host {
    /// Requests that have not arrived yet.
    pub(crate) fn upcoming(&self) -> usize {
        self.upcoming.len()
    }

    /// Has queues use no more memory than they need now.
    pub(crate) fn fit(&mut self) {
        self.link.fit();
        self.flows.iter_mut().for_each(|flow| flow.backlog.fit());
    }
}

impl Device {
    /// Has a request arrive at `at`, which must not be in the past.
    pub(crate) fn submit_at(&mut self, at: Time, submission: Submission) {
        let submission = self.host.upcoming.insert(submission);
        self.queue.schedule(at, Event::Arrival { submission });
    }

    /// A request arrives. Returns its flow.
    #[inline]
    pub(crate) fn on_arrival(&mut self, submission: u32) -> u16 {
        let Submission { flow, planned, cookie } = self.host.upcoming[submission];
        self.host.upcoming.remove(submission);
        if self.requests.len() >= self.host.outstanding_max {
            let why = format!("the drive cannot keep up with the load, flow {flow} the latest");
            let error = self.stuck(&why);
            self.fail(error);
        } else {
            self.submit(flow, &planned, None, cookie);
        }
        flow
    }

    /// A request enters the host: into the submission queue or behind it.
    ///
    /// `upcoming`: the first sector of the next request of the flow, where that is known.
    #[inline(always)]
    pub(crate) fn submit(
        &mut self,
        flow: u16,
        planned: &Planned,
        upcoming: Option<u64>,
        cookie: u64,
    ) {
        let now = self.now;
        let window = &mut self.recorder.window;
        let counted = window.admits(now) || window.may_open() && self.open_window();
        let id = self.requests.insert(Request {
            flow,
            op: planned.op,
            counted,
            sector: planned.sector,
            sectors: planned.sectors,
            arrival: now,
            enqueued: now,
            fetched: now,
            received: now,
            begun: Time::ZERO,
            place: Sequence::default(),
            served: now,
            pending: 0,
            next_page: 0,
            chain: Chain::default(),
            cookie,
        });
        if self.ftl.looks_up() {
            self.prefetch_upcoming(flow, upcoming.unwrap_or(planned.sector));
        }
        let depth = self.host.queue_depth;
        let host = &mut self.host.flows[flow as usize];
        host.submitted += 1;
        if self.interface.sata.is_some() {
            self.sata_submit(id);
        } else if host.backlog.is_empty() && host.tail - host.head < depth - 1 {
            host.tail += 1;
            self.announce(id, flow);
        } else {
            host.backlog.push_back(id);
        }
    }

    /// Asks for what is kept of the page of a request. A mapping is looked up as soon as the firmware is done:
    /// memory takes longer, so it is asked for a request ahead where that is known.
    #[inline]
    fn prefetch_upcoming(&self, flow: u16, sector: u64) {
        let first_lpa = self.layout.flows[flow as usize].first_lpa;
        let lpa = (first_lpa + self.page_sectors.divide_long(sector)) as u32;
        self.cache.prefetch(flow, lpa);
        self.prefetch_page(flow, lpa);
    }

    /// Asks for what is kept of a logical page, which is needed soon.
    #[inline]
    pub(crate) fn prefetch_page(&self, flow: u16, lpa: u32) {
        self.ftl.pages.prefetch(lpa);
        if let Some(mapping) = &self.ftl.mapping {
            mapping.prefetch(flow, lpa);
        }
    }

    /// Writes an entry and rings the doorbell.
    #[inline(always)]
    fn enqueue(&mut self, id: u32) {
        let now = self.now;
        let request = &mut self.requests[id];
        request.enqueued = now;
        let flow = request.flow;
        self.host.flows[flow as usize].tail += 1;
        self.announce(id, flow);
    }

    /// Rings the doorbell for an entry that was written now.
    #[inline(always)]
    fn announce(&mut self, id: u32, flow: u16) {
        self.interface.nvme.submitted(flow, id);
        let arrives = self.send_down(self.host.link.doorbell);
        let place = self.queue.reserve();
        if let Some(before) = self.host.ringing.replace(Ringing { arrives, place, flow }) {
            self.schedule_doorbell(before);
        }
    }

    #[inline(always)]
    fn schedule_doorbell(&mut self, Ringing { arrives, place, flow }: Ringing) {
        self.queue.schedule_at(arrives, place, Event::Doorbell { flow });
    }

    /// An event is over but for the doorbell that it set off. Nearly always that comes next: then it need not go
    /// through the queue.
    #[inline(always)]
    pub(crate) fn ring(&mut self) {
        let Some(ringing) = self.host.ringing.take() else { return };
        self.dispatch_offered();
        if ringing.arrives <= self.horizon && self.queue.passes(ringing.arrives, ringing.place) {
            self.now = ringing.arrives;
            self.on_doorbell(ringing.flow);
        } else {
            self.schedule_doorbell(ringing);
        }
    }

    /// Schedules the doorbell of what was submitted before the first event.
    pub(crate) fn schedule_ringing(&mut self) {
        if let Some(last) = self.host.ringing.take() {
            self.schedule_doorbell(last);
        }
    }

    /// A completion entry is in host memory.
    #[inline(always)]
    pub(crate) fn on_completion(&mut self, id: u32) -> Up {
        if self.interface.sata.is_some() {
            self.expect_postponed();
            self.sata_completion(id);
            return Up::Nothing;
        }
        let flow = self.retire(id);
        let acknowledged = self.send_down(self.host.link.doorbell);
        let arrived = self.completion_acknowledged(flow, acknowledged);
        let depth = self.host.queue_depth;
        loop {
            let host = &mut self.host.flows[flow as usize];
            host.head = arrived;
            if host.backlog.is_empty() || host.tail - host.head >= depth - 1 {
                break;
            }
            let next = host.backlog.pop_front().expect("requests wait");
            self.enqueue(next);
        }
        Up::Completed { flow }
    }

    /// The host has reacted to a completion.
    #[inline(always)]
    pub(crate) fn completion_over(&mut self) {
        self.expect_postponed();
        self.ring();
    }

    /// The host sees a completion: the request is over. Returns its flow.
    #[inline(always)]
    pub(crate) fn retire(&mut self, id: u32) -> u16 {
        let now = self.now;
        let request = &self.requests[id];
        let flow = request.flow;
        let host = &mut self.host.flows[flow as usize];
        host.done.add(request);
        host.last_completion = now;
        self.recorder.request_completed(request, now);
        if self.observer.is_some() {
            self.observe_completion(id);
        }
        if self.completions.is_some() {
            self.keep_completion(id);
        }
        self.requests.remove(id);
        flow
    }

    /// Fails where a flow gets nothing done although the device works on.
    pub(crate) fn check_starvation(&self) -> Result<(), Error> {
        for (index, flow) in self.host.flows.iter().enumerate() {
            let outstanding = flow.submitted - flow.completed();
            if outstanding > 0 && self.now.saturating_sub(flow.last_completion) > STARVATION {
                let sata = self.interface.sata.as_deref();
                let queued = sata.map_or_else(BTreeSet::new, |sata| sata.queued());
                // SATA has one queue for all flows. A command in it waits for those before it, however long that takes.
                let oldest = self
                    .requests
                    .iter()
                    .filter(|&(id, r)| usize::from(r.flow) == index && !queued.contains(&id))
                    .map(|(_, r)| if sata.is_some() { r.enqueued } else { r.arrival })
                    .min();
                if oldest.is_some_and(|t| self.now.saturating_sub(t) > STARVATION) {
                    return Err(self.stuck(&format!(
                        "flow {index} has had no completion for {} s of simulated time while the \
                         device works for others",
                        STARVATION.0 / 1_000_000_000_000
                    )));
                }
            }
        }
        Ok(())
    }

    /// The error that says which requests cannot finish, and what they wait for.
    pub(crate) fn stuck(&self, why: &str) -> Error {
        let mut lines = vec![format!(
            "the device cannot finish the work at {}: {why}; {} of {} requests are outstanding",
            self.now,
            self.requests.len(),
            self.host.flows.iter().map(|f| f.submitted).sum::<u64>()
        )];
        for (id, request) in self.requests.iter().take(8) {
            let waits = self.transactions.iter().find(|(_, tr)| tr.request == id);
            let place = waits.map_or_else(
                || "in the host interface or the cache".to_owned(),
                |(_, tr)| {
                    let plane = if tr.plane == NONE { "-".into() } else { tr.plane.to_string() };
                    format!(
                        "{:?} {:?} of page {} at {:?}, plane {plane}",
                        tr.source, tr.op, tr.lpa, tr.place
                    )
                },
            );
            lines.push(format!(
                "  flow {} {:?} sector {} + {}, arrived {}: {place}",
                request.flow, request.op, request.sector, request.sectors, request.arrival
            ));
        }
        if let Some(sata) = &self.interface.sata {
            let (taken, waiting) = (sata.tags_taken(), sata.waiting());
            lines.push(format!("  {taken} tags in use, {waiting} commands wait for one"));
        }
        for (index, flow) in self.host.flows.iter().enumerate() {
            lines.push(format!(
                "  flow {index}: {} generated, {} completed, {} in the device",
                flow.submitted,
                flow.completed(),
                self.interface.nvme.in_device(index)
            ));
        }
        Error::Stuck(lines.join("\n"))
    }
}
