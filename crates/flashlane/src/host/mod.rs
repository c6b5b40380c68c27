//! Stage 2 of 8: the host. Receives requests from `workload`; writes them to the submission queue of
//! their flow and rings the doorbell over the link; sees completions.
//!
//! Invariants: a submission queue holds at most `queue_depth - 1` entries, further requests wait in
//! a software queue in order of arrival; every generated request completes exactly once.

pub(crate) mod counts;

use std::collections::BTreeSet;

use flashlane_engine::{Array, NONE, Ring, Sequence, Time};

use crate::compat::CompatConfig;
use crate::error::Error;
use crate::event::Event;
use crate::interface::config::InterfaceConfig;
use crate::layout::SECTOR_BYTES;
use crate::link::Link;
use crate::link::config::LinkConfig;
use crate::request::{Chain, Request};
use crate::ssd::Ssd;
use crate::workload::config::OnEnd;
use crate::workload::{Planned, RequestSource};
use counts::{ByteCounts, RequestCounts};

/// Simulated time without a completion after which a flow with work outstanding counts as starved.
const STARVATION: Time = Time::from_s(20);

/// Requests that may be outstanding at once. With more, a load that the drive cannot keep up with would fill the
/// memory before it ends.
const OUTSTANDING_MAX: usize = 1 << 24;

/// The host's side of a flow.
pub(crate) struct HostFlow {
    pub(crate) source: Option<Box<dyn RequestSource>>,
    /// A completion makes the next request at once.
    closed_loop: bool,
    /// A completion makes the next request after this time; 0 in flows that do not pause.
    think_time: Time,
    /// Requests that wait for room in the submission queue.
    backlog: Ring<u32>,
    /// Open loop: the next request.
    planned: Option<Planned>,
    /// Entries written and entries known to be fetched.
    tail: u64,
    head: u64,
    repeat: bool,
    /// The first pass is over.
    pub(crate) passed: bool,
    /// Generates no more.
    pub(crate) stopped: bool,
    pub(crate) generated: u64,
    pub(crate) done: Done,
    last_completion: Time,
}

impl HostFlow {
    /// A flow without a source stays silent.
    fn new(source: Option<Box<dyn RequestSource>>, repeat: bool) -> Self {
        let think_time = source.as_ref().map_or(Time::ZERO, |source| source.think_time());
        Self {
            passed: source.as_ref().is_none_or(|source| source.endless()),
            stopped: source.is_none(),
            closed_loop: source
                .as_ref()
                .is_some_and(|s| s.closed_loop().is_some() && think_time == Time::ZERO),
            think_time,
            source,
            backlog: Ring::new(),
            planned: None,
            tail: 0,
            head: 0,
            repeat,
            generated: 0,
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
    /// Its requests do not wait for completions.
    pub(crate) fn is_open_loop(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.closed_loop().is_none())
    }

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

/// The host.
pub(crate) struct Host {
    pub(crate) link: Link,
    /// The last doorbell of the current event, which is not scheduled yet.
    ringing: Option<Ringing>,
    pub(crate) flows: Array<HostFlow>,
    queue_depth: u64,
    /// From then on, the pass of a closed loop may have lasted twice as long as it should.
    overdue: Time,
    /// [`OUTSTANDING_MAX`] but in tests.
    pub(crate) outstanding_max: usize,
    /// The released MQSim starts its flows in this order.
    last_flow_first: bool,
}

impl Host {
    /// Flows without a source stay silent. `ends`: what each flow does at the end of its first pass.
    pub(crate) fn new(
        link: &LinkConfig,
        interface: &InterfaceConfig,
        compat: &CompatConfig,
        ends: impl ExactSizeIterator<Item = Option<OnEnd>>,
        sources: Vec<Option<Box<dyn RequestSource>>>,
    ) -> Self {
        let several = ends.len() > 1;
        let flows = ends
            .zip(sources)
            .map(|(end, source)| {
                let repeat = end.map_or(several, |end| end == OnEnd::Repeat);
                HostFlow::new(source, repeat)
            })
            .collect();
        let entries = (interface.submission_entry, interface.completion_entry);
        Self {
            link: Link::new(link, entries, compat),
            ringing: None,
            flows,
            queue_depth: u64::from(interface.queue_depth),
            overdue: Time::ZERO,
            outstanding_max: OUTSTANDING_MAX,
            last_flow_first: compat.random_generators,
        }
    }
}

impl Host {
    /// Has queues use no more memory than they need now.
    pub(crate) fn fit(&mut self) {
        self.link.fit();
        self.flows.iter_mut().for_each(|flow| flow.backlog.fit());
    }
}

impl Ssd {
    /// Flows whose requests come without waiting for completions.
    pub(crate) fn open_loops(&self) -> Vec<bool> {
        self.host.flows.iter().map(|flow| flow.source.is_some() && !flow.closed_loop).collect()
    }

    /// First requests of every flow.
    pub(crate) fn start_flows(&mut self) {
        let flows = self.host.flows.len() as u16;
        for turn in 0..flows {
            let flow = if self.host.last_flow_first { flows - 1 - turn } else { turn };
            let Some(source) = &self.host.flows[flow as usize].source else { continue };
            match source.closed_loop() {
                Some(depth) => {
                    for _ in 0..depth {
                        if !self.generate(flow) {
                            break;
                        }
                    }
                }
                None => self.plan_arrival(flow),
            }
        }
        if let Some(last) = self.host.ringing.take() {
            self.schedule_doorbell(last);
        }
    }

    /// Asks a source for its next request; handles the end of a pass. `None`: the flow is silent.
    #[inline(always)]
    fn next_request(&mut self, flow: u16) -> Option<Planned> {
        let now = self.now;
        // A pass without a single request would start over for ever.
        for _ in 0..2 {
            let host = &mut self.host.flows[flow as usize];
            if host.stopped {
                return None;
            }
            let source = host.source.as_mut().expect("a running flow has a source");
            match source.next(now) {
                Ok(Some(planned)) => return Some(planned),
                Ok(None) => {
                    let first = !host.passed;
                    host.passed = true;
                    if first {
                        self.pass_ended(flow);
                    }
                    let host = &mut self.host.flows[flow as usize];
                    let window = &self.recorder.window;
                    let repeat = host.repeat || window.is_until_steady();
                    if !repeat || window.generation_over(now) {
                        host.stopped = true;
                        return None;
                    }
                    let source = host.source.as_mut().expect("a running flow has a source");
                    if let Err(error) = source.restart(now) {
                        self.fail(error);
                        return None;
                    }
                }
                Err(error) => {
                    self.fail(error);
                    self.host.flows[flow as usize].stopped = true;
                    return None;
                }
            }
        }
        self.host.flows[flow as usize].stopped = true;
        None
    }

    /// Closed loop: generates a request now. False if the flow has ended.
    #[inline(always)]
    fn generate(&mut self, flow: u16) -> bool {
        if self.generation_is_over() {
            return false;
        }
        let Some(planned) = self.next_request(flow) else { return false };
        self.submit(flow, &planned);
        true
    }

    /// Open loop: schedules the next arrival.
    fn plan_arrival(&mut self, flow: u16) {
        if self.now >= self.host.overdue {
            self.end_overdue_passes();
        }
        if self.generation_is_over() {
            return;
        }
        let Some(planned) = self.next_request(flow) else { return };
        self.host.flows[flow as usize].planned = Some(planned);
        let at = planned.arrival.max(self.now);
        self.queue.schedule(at, Event::Arrival { flow });
    }

    /// Everything that counts has completed, or the load goes on for longer than it may.
    #[inline(always)]
    fn generation_is_over(&mut self) -> bool {
        if !self.recorder.window.generation_over(self.now) {
            return false;
        }
        for flow in &mut self.host.flows {
            flow.stopped = true;
        }
        true
    }

    /// A flow has ended its first pass; the window may close.
    fn pass_ended(&mut self, flow: u16) {
        let repeat = self.host.flows[flow as usize].repeat;
        let all = self.host.flows.iter().all(|f| f.passed);
        let load_goes_on = all && self.host.flows.iter().any(|f| f.repeat);
        if all {
            self.recorder.window.passes_ended(self.now);
        }
        if all || !repeat {
            let drains = !self.host.flows[flow as usize].is_open_loop();
            self.recorder.window.close(self.now, load_goes_on || !all, drains);
        }
    }

    /// Ends the first pass of every closed loop whose time was over as long ago as it lasts. A closed loop notes
    /// that its time is over when a request of it completes. Where a load that the drive cannot keep up with stands
    /// before that request, the other flows would wait for the closed loop, and the load would never end.
    #[cold]
    fn end_overdue_passes(&mut self) {
        self.host.overdue = Time::MAX;
        for flow in 0..self.host.flows.len() as u16 {
            let host = &mut self.host.flows[flow as usize];
            let limit = host.source.as_ref().and_then(|source| source.time_limit());
            let Some(limit) = limit.filter(|_| !host.passed) else { continue };
            let at = Time(limit.0.saturating_mul(2));
            if self.now < at {
                self.host.overdue = self.host.overdue.min(at);
                continue;
            }
            host.passed = true;
            host.stopped = !host.repeat;
            self.pass_ended(flow);
        }
    }

    /// An open-loop flow generates a request.
    pub(crate) fn on_arrival(&mut self, flow: u16) {
        if self.requests.len() >= self.host.outstanding_max {
            let why = format!("the drive cannot keep up with the load, flow {flow} the latest");
            let error = self.stuck(&why);
            self.fail(error);
            return;
        }
        let planned = self.host.flows[flow as usize].planned.take().expect("an arrival is planned");
        self.submit(flow, &planned);
        self.plan_arrival(flow);
        self.ring();
    }

    /// A request enters the host: into the submission queue or behind it.
    #[inline(always)]
    fn submit(&mut self, flow: u16, planned: &Planned) {
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
        });
        if self.ftl.looks_up() {
            self.prefetch_upcoming(flow, planned.sector);
        }
        let depth = self.host.queue_depth;
        let host = &mut self.host.flows[flow as usize];
        host.generated += 1;
        if self.interface.sata.is_some() {
            self.sata_submit(id);
        } else if host.backlog.is_empty() && host.tail - host.head < depth - 1 {
            self.enqueue(id);
        } else {
            host.backlog.push_back(id);
        }
    }

    /// Asks for what is kept of the page of a request. A mapping is looked up as soon as the firmware is done:
    /// memory takes longer, so it is asked for a request ahead where that is known.
    #[inline]
    fn prefetch_upcoming(&self, flow: u16, sector: u64) {
        let source = self.host.flows[flow as usize].source.as_ref();
        let upcoming = source.and_then(|source| source.upcoming()).unwrap_or(sector);
        let first_lpa = self.layout.flows[flow as usize].first_lpa;
        let lpa = (first_lpa + self.page_sectors.divide_long(upcoming)) as u32;
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
        self.interface.nvme.submission[flow as usize].push_back(id);
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
    fn ring(&mut self) {
        let Some(ringing) = self.host.ringing.take() else { return };
        self.dispatch_offered();
        if self.queue.passes(ringing.arrives, ringing.place) {
            self.now = ringing.arrives;
            self.on_doorbell(ringing.flow);
        } else {
            self.schedule_doorbell(ringing);
        }
    }

    /// A completion entry is in host memory.
    pub(crate) fn on_completion(&mut self, id: u32) {
        if self.interface.sata.is_some() {
            self.expect_postponed();
            self.sata_completion(id);
            return;
        }
        let flow = self.retire(id);
        let acknowledged = self.send_down(self.host.link.doorbell);
        self.completion_acknowledged(flow, acknowledged);
        let arrived = self.entries_arrived(flow);
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
        self.next_in_loop(flow);
        self.expect_postponed();
        self.ring();
    }

    /// The host sees a completion: the request is over. Returns its flow.
    #[inline(always)]
    pub(crate) fn retire(&mut self, id: u32) -> u16 {
        let now = self.now;
        let request = &self.requests[id];
        let flow = request.flow;
        self.recorder.request_completed(request, now);
        if self.observer.is_some() {
            self.observe_completion(id);
        }
        if self.completions.is_some() {
            self.keep_completion(id);
        }
        let host = &mut self.host.flows[flow as usize];
        host.done.add(&self.requests[id]);
        host.last_completion = now;
        self.requests.remove(id);
        flow
    }

    /// A request of the flow is over: a closed loop generates the next one.
    #[inline(always)]
    pub(crate) fn next_in_loop(&mut self, flow: u16) {
        let host = &self.host.flows[flow as usize];
        if host.closed_loop {
            self.generate(flow);
        } else if host.think_time > Time::ZERO {
            self.queue.schedule(self.now + host.think_time, Event::Thought { flow });
        }
    }

    /// The pause after a completion is over.
    pub(crate) fn on_thought(&mut self, flow: u16) {
        self.generate(flow);
        self.ring();
    }

    /// Share of the work that is done, as far as it is known.
    pub(crate) fn progress(&self) -> f64 {
        if let Some(watch) = &self.recorder.watch {
            return watch.progress();
        }
        self.host
            .flows
            .iter()
            .filter_map(|f| {
                f.source.as_ref().map(|s| if f.passed { 1.0 } else { s.progress(self.now) })
            })
            .fold(1.0, f64::min)
    }

    /// Fails where a flow gets nothing done although the device works on.
    pub(crate) fn check_starvation(&self) -> Result<(), Error> {
        for (index, flow) in self.host.flows.iter().enumerate() {
            let outstanding = flow.generated - flow.completed();
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

    /// The queue hands out no more events: fails where some are left that come after the end of simulated time,
    /// unless the load that was asked for is over and complete.
    pub(crate) fn check_end_of_time(&mut self) -> Result<(), Error> {
        if self.queue.is_empty() {
            return Ok(());
        }
        self.end_passes_in_pauses();
        let stopped = self.host.flows.iter().all(|flow| flow.stopped);
        let over = stopped || self.recorder.window.generation_over(Time::MAX);
        if over && self.requests.is_empty() {
            return Ok(());
        }
        let flows = (0..).zip(self.host.flows.iter());
        let next = flows.filter_map(|(index, flow): (usize, _)| {
            let planned = flow.planned.map(|planned| planned.arrival);
            let pauses = !flow.stopped && flow.think_time > Time::ZERO;
            (planned.is_some() || pauses).then_some(index.to_string())
        });
        let silent: Vec<String> = next.collect();
        let mut why = "simulated time ends after 213 days (2^64 ps)".to_owned();
        if !silent.is_empty() {
            why += ", before the next request of flow ";
            why += &silent.join(", ");
        }
        Err(self.stuck(&why))
    }

    /// Flows that pause beyond the end of simulated time may have no request left: their pass is over.
    fn end_passes_in_pauses(&mut self) {
        for flow in 0..self.host.flows.len() as u16 {
            let host = &mut self.host.flows[flow as usize];
            if host.stopped || host.think_time == Time::ZERO {
                continue;
            }
            let source = host.source.as_mut().expect("a running flow has a source");
            if !matches!(source.next(Time::END), Ok(None)) {
                continue;
            }
            host.stopped = !host.repeat;
            if !std::mem::replace(&mut host.passed, true) {
                self.pass_ended(flow);
            }
        }
    }

    /// The error that says which requests cannot finish, and what they wait for.
    pub(crate) fn stuck(&self, why: &str) -> Error {
        let mut lines = vec![format!(
            "the device cannot finish the work at {}: {why}; {} of {} requests are outstanding",
            self.now,
            self.requests.len(),
            self.host.flows.iter().map(|f| f.generated).sum::<u64>()
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
                flow.generated,
                flow.completed(),
                self.interface.nvme.in_device(index)
            ));
        }
        Error::Stuck(lines.join("\n"))
    }
}
