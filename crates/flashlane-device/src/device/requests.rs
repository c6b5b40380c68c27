//! The life of a request outside of queues and links: it arrives, its device work begins and ends,
//! and the host sees its completion.

use flashlane_engine::{Sequence, Time};
use flashlane_units::{FlowId, RequestId, RequestOp};

use super::Device;
use crate::event::Event;
use crate::host::Submission;
use crate::request::{Chain, Marks, Planned, Request, RequestPlace};

impl Device {
    /// Schedules the arrival of a request at `at`, which must not be in the past.
    pub fn submit_at(&mut self, at: Time, submission: Submission) {
        assert!(at >= self.context.now, "a request does not arrive in the past");
        let submission = self.host.plan(submission);
        self.context.events.schedule(at, Event::Arrival { submission });
    }

    /// Enters the request that arrives. `counted`: it belongs to the measured ones.
    #[inline]
    pub fn enter(&mut self, counted: bool) {
        let Submission { flow, planned, cookie } = self.host.arrive(self.arriving);
        if self.host.is_full(self.context.requests.len()) {
            let why = format!("the drive cannot keep up with the load, flow {flow} the latest");
            let error = self.stuck(&why);
            self.fail(error);
        } else {
            self.submit(flow, &planned, None, cookie, counted);
        }
    }

    /// Enters a request into the host: into the submission queue or behind it.
    ///
    /// `upcoming`: the first sector of the next request of the flow, if it is known. `counted`: the
    /// request belongs to the measured ones.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub fn submit(
        &mut self,
        flow: FlowId,
        planned: &Planned,
        upcoming: Option<u64>,
        cookie: u64,
        counted: bool,
    ) {
        if self.zones.is_some() {
            return self.submit_to_zone(flow, *planned, upcoming, cookie, counted);
        }
        self.submit_admitted::<false>(flow, planned, upcoming, cookie, counted);
    }

    /// Enters a request that keeps the rules of the drive, as [`Device::submit`] does. `ZONED`: the
    /// drive has zones.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(super) fn submit_admitted<const ZONED: bool>(
        &mut self,
        flow: FlowId,
        planned: &Planned,
        upcoming: Option<u64>,
        cookie: u64,
        counted: bool,
    ) {
        let now = self.context.now;
        self.leave_idle();
        let queue = self.host.queue_of(flow, planned.queue);
        let id = self.context.requests.insert(Request {
            flow,
            queue,
            op: planned.op,
            marks: Marks::new(counted, planned.directive),
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
        if ZONED {
            self.note_zone_request(id);
        }
        if self.looks_up() {
            self.prefetch_upcoming(flow, upcoming.unwrap_or(planned.sector));
        }
        if self.interface.is_sata() {
            self.host.enter(flow);
            let before = self.layout.flows[flow.index()].in_stream.map_or(0, |start| start.sectors);
            self.context.requests[id].sector += u64::from(before);
            self.interface.sata_mut().submit(now, &mut self.context.events, id);
        } else if self.host.holds_back() {
            self.submit_limited(flow, queue, id);
        } else if self.host.enter_queue(flow, queue, id) {
            self.announce(id, queue);
        }
    }

    /// True if it helps to know the next request of a flow when one is entered.
    #[inline(always)]
    pub fn looks_up(&self) -> bool {
        self.ftl.looks_up()
    }

    /// Prefetches the mapping and the cache record of a request's page. The mapping is looked up as
    /// soon as the firmware is over, and memory takes longer than that. Therefore the page of the
    /// next request is prefetched, if that request is known.
    #[inline]
    fn prefetch_upcoming(&self, flow: FlowId, sector: u64) {
        let lpa = self.layout.flows[flow.index()].lpa(self.page_sectors.divide_long(sector));
        self.cache.prefetch(flow, lpa);
        self.ftl.prefetch(flow, lpa);
    }

    /// The firmware of a command is over: cuts the command into page transactions.
    pub(super) fn on_begin(&mut self, id: RequestId) {
        self.answer();
        let request = &mut self.context.requests[id];
        if !self.interface.begin(self.context.now, &mut self.context.events, id, request) {
            return;
        }
        debug_assert_eq!(request.pending, 0, "a command begins once");
        // Keeps the request pending until all parts are handed out, so that no part ends it early.
        request.pending = 1;
        let Request { flow, op, sector, sectors, .. } = *request;
        if self.attended {
            self.attend_begin(id);
        }
        match op {
            RequestOp::Read => self.read_pages(id, flow, sector, sectors),
            RequestOp::Write => self.write_pages(id),
            RequestOp::Trim => self.trim_pages(id),
            RequestOp::Flush => self.flush(id),
            _ => self.manage_zone(id),
        }
        if self.attended {
            self.release_pages();
        }
        let request = &mut self.context.requests[id];
        if request.pending > 1 {
            request.pending -= 1;
        } else {
            self.part_done(id, &Chain::default());
        }
        self.fetch();
    }

    /// Ends one part of the device work of a request. The chain of the part that ends last counts.
    pub(crate) fn part_done(&mut self, id: RequestId, chain: &Chain) {
        self.end_part(id, chain);
    }

    /// [`Device::part_done`], inlined for hot callers.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(crate) fn end_part(&mut self, id: RequestId, chain: &Chain) {
        let now = self.context.now;
        let request = &mut self.context.requests[id];
        if request.end_part(now, chain) {
            let (queue, op, sectors) = (request.queue, request.op, request.sectors);
            if self.interface.is_sata() {
                self.sata_served(id, op, sectors);
            } else {
                self.send_read_data(op, sectors);
                self.nvme_served(id, queue);
            }
        }
    }

    /// The host sees a completion. Returns the flow of the request.
    #[inline(always)]
    pub(super) fn retire(&mut self, id: RequestId) -> FlowId {
        self.completed = id;
        let request = &self.context.requests[id];
        let flow = request.flow;
        debug_assert_eq!(request.pending, 0, "all parts of a complete request are over");
        self.host.complete(request, self.context.now);
        if self.observer.is_some() {
            self.observe_completion(id);
        }
        flow
    }

    /// The request that is complete.
    #[inline(always)]
    pub fn completed(&self) -> &Request {
        &self.context.requests[self.completed]
    }

    /// Where the complete request is.
    pub fn completed_place(&self) -> RequestPlace {
        let Request { flow, sector, .. } = *self.completed();
        let in_stream = self.layout.flows[flow.index()].in_stream;
        let before = in_stream.map_or(0, |start| u64::from(start.sectors));
        RequestPlace { sector: sector - before, pages: self.page_count(self.completed) }
    }

    /// Lets the complete request go.
    #[inline(always)]
    pub fn forget(&mut self) {
        self.context.requests.remove(self.completed);
        self.look_for_idle();
    }
}
