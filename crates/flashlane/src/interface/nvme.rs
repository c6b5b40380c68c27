//! NVMe: a queue pair per flow, doorbells, fetch by arbitration, completion queues.
//!
//! Invariants: a queue has at most QueueFetchSize commands in the device; entries of one queue are
//! fetched in order; a completion is sent only with room in the completion queue.
//! Source: MQSim (FAST'18) sections 4.1 and 6.1; NVMe base specification.

use flashlane_engine::{Array, EventQueue, Ring, Time};

use super::Interface;
use super::arbitration::{self, Arbiter};
use super::config::InterfaceConfig;
use crate::compat::CompatConfig;
use crate::device::Device;
use crate::event::Event;
use crate::request::Request;
use flashlane_units::RequestOp;

/// Doorbells of completions that are looked through together. How many of them have arrived matters only
/// where a completion queue seems full.
const SETTLED_TOGETHER: usize = 32;

/// The device's side of a queue pair, and the entries that it is to fetch.
#[derive(Clone, Debug)]
struct DeviceQueue {
    /// Submission entries in host memory, oldest first.
    submission: Ring<u32>,
    /// Entries announced by doorbells and not fetched yet.
    announced: u32,
    /// Commands between the start of their fetch and the end of their service.
    in_device: u32,
    /// Served commands that wait for room in the completion queue.
    held: Ring<u32>,
    /// Completion entries sent whose place is not known to be free again; there may be fewer.
    unacknowledged: u32,
    /// When the doorbells arrive that free places of the completion queue.
    acknowledgements: Ring<Time>,
    /// Entries that have arrived; the host learns it with every completion.
    arrived: u64,
}

impl DeviceQueue {
    /// Places of the completion queue whose doorbell has arrived are free again.
    fn settle(&mut self, now: Time) {
        while self.acknowledgements.front().is_some_and(|&at| at <= now) {
            self.acknowledgements.pop_front();
            self.unacknowledged -= 1;
        }
    }
}

/// The queue pairs of all flows.
#[derive(Clone)]
pub(crate) struct Nvme {
    queues: Array<DeviceQueue>,
    arbiter: Box<dyn Arbiter>,
    /// Queues that may be fetched from, a bit each.
    ready: u64,
    queue_fetch_size: u32,
    fetch_ahead: u32,
    /// Commands between fetch and the end of firmware time.
    before_firmware: u32,
    /// Usable entries of a completion queue.
    completion_places: u32,
}

impl Nvme {
    /// Idle queues; `classes` by flow.
    pub(super) fn new(config: &InterfaceConfig, compat: &CompatConfig, classes: &[u8]) -> Self {
        let flows = classes.len();
        let queue = DeviceQueue {
            submission: Ring::new(),
            announced: 0,
            in_device: 0,
            held: Ring::new(),
            unacknowledged: 0,
            acknowledgements: Ring::new(),
            arrived: 0,
        };
        let instant = compat.zero_firmware_time;
        Self {
            queues: Array::of(queue, flows),
            arbiter: arbitration::build(&config.arbitration, classes),
            ready: 0,
            queue_fetch_size: config.queue_fetch_size,
            fetch_ahead: if instant { u32::MAX } else { config.fetch_ahead },
            before_firmware: 0,
            completion_places: config.queue_depth - 1,
        }
    }

    /// Has queues use no more memory than they need now.
    pub(crate) fn fit(&mut self) {
        for queue in &mut self.queues {
            queue.submission.fit();
            queue.held.fit();
            queue.acknowledgements.fit();
        }
    }

    /// Changes the queue of a flow, which may be fetched from then, or no longer.
    #[inline(always)]
    fn update<R>(&mut self, flow: usize, change: impl FnOnce(&mut DeviceQueue) -> R) -> R {
        let queue = &mut self.queues[flow];
        let changed = change(queue);
        let ready = queue.announced > 0 && queue.in_device < self.queue_fetch_size;
        self.ready = self.ready & !(1 << flow) | u64::from(ready) << flow;
        changed
    }

    /// The host wrote a submission entry.
    #[inline(always)]
    pub(crate) fn submitted(&mut self, flow: u16, id: u32) {
        self.queues[flow as usize].submission.push_back(id);
    }

    /// Commands of a flow inside the device, for messages.
    pub(crate) fn in_device(&self, flow: usize) -> u32 {
        self.queues[flow].in_device
    }

    /// A flow has as many commands in the device as it may.
    pub(crate) fn is_full(&self, flow: u16) -> bool {
        self.queues[flow as usize].in_device == self.queue_fetch_size
    }

    /// Firmware is done with a command of the flow.
    #[inline]
    pub(super) fn begun(&mut self, flow: u16) {
        self.before_firmware -= 1;
        self.queues[flow as usize].arrived += 1;
    }
}

/// What was asked for of a request is here at `earliest` or later: then it is looked at.
#[inline(always)]
fn expect(
    interface: &Interface,
    queue: &mut EventQueue<Event>,
    id: u32,
    request: &Request,
    earliest: Time,
) {
    let (place, op) = (request.place, request.op);
    if op == RequestOp::Write && request.received != Time::MAX {
        queue.schedule_at(earliest, place, Event::WriteEntry { request: id });
    } else {
        let begin = interface.firmware_at_least(earliest, op);
        queue.schedule_at(begin, place, Event::Begin { request: id });
    }
}

impl Device {
    /// A doorbell announces one more entry.
    pub(crate) fn on_doorbell(&mut self, flow: u16) {
        self.interface.nvme.update(flow as usize, |queue| queue.announced += 1);
        self.fetch();
    }

    /// Fetches entries while there is room before the firmware, in the order of arbitration.
    #[inline(always)]
    pub(super) fn fetch(&mut self) {
        if self.interface.nvme.ready != 0 {
            self.fetch_ready();
        }
    }

    fn fetch_ready(&mut self) {
        while self.interface.nvme.ready != 0
            && self.interface.nvme.before_firmware < self.interface.nvme.fetch_ahead
        {
            let nvme = &mut self.interface.nvme;
            let flow = nvme.arbiter.next(nvme.ready).expect("a queue is ready");
            nvme.before_firmware += 1;
            let id = nvme.update(flow, |queue| {
                queue.announced -= 1;
                queue.in_device += 1;
                queue.submission.pop_front().expect("announced entries exist")
            });
            if self.observer.is_some() {
                self.observe_fetch(id);
            }
            self.fetch_entry(id);
        }
    }

    /// Reads one submission entry over the link.
    #[inline(always)]
    pub(super) fn fetch_entry(&mut self, id: u32) {
        let now = self.now;
        let place = self.queue.reserve();
        let request = &mut self.requests[id];
        (request.fetched, request.place) = (now, place);
        let link = &mut self.host.link;
        if let Some(entry) = link.ask(now, place, id, link.submission) {
            expect(&self.interface, &mut self.queue, id, request, entry);
        }
    }

    /// The host has seen a completion: so much for the requests for host memory behind it.
    #[inline]
    pub(crate) fn expect_postponed(&mut self) {
        if self.host.link.any_postponed() {
            self.expect_all_postponed();
        }
    }

    fn expect_all_postponed(&mut self) {
        while let Some((id, earliest)) = self.host.link.next_postponed(self.now) {
            expect(&self.interface, &mut self.queue, id, &self.requests[id], earliest);
        }
    }

    /// Sends a message to the device over the PCIe link; returns when it has arrived.
    #[inline]
    pub(crate) fn send_down(&mut self, duration: u64) -> Time {
        self.answer();
        self.host.link.down.send(self.now, duration)
    }

    /// Sees to the requests of the device for host memory that have arrived there.
    #[inline]
    fn answer(&mut self) {
        if self.host.link.may_be_asked(self.now) {
            self.answer_all();
        }
    }

    /// The host's memory answers the requests of the device that have arrived, in their order.
    fn answer_all(&mut self) {
        while let Some((arrived, id)) = self.host.link.next_asked(&self.queue) {
            let link = &mut self.host.link;
            let request = &mut self.requests[id];
            if request.op == RequestOp::Write && request.received == Time::MAX {
                let data = link.sectors(request.sectors);
                request.received = link.down.send(arrived, data);
            } else {
                request.received = link.down.send(arrived, link.submission);
                if request.op == RequestOp::Write {
                    continue;
                }
            }
            request.begun = self.interface.firmware(request.received, request.op);
        }
    }

    /// The entry of a write has arrived, unless it is delayed: its data is fetched.
    pub(crate) fn on_write_entry(&mut self, id: u32) {
        self.answer();
        let request = &mut self.requests[id];
        if request.received > self.now {
            let (received, place) = (request.received, request.place);
            self.queue.schedule_at(received, place, Event::WriteEntry { request: id });
            return;
        }
        let place = self.queue.reserve();
        (request.received, request.place) = (Time::MAX, place);
        let link = &mut self.host.link;
        let data = link.sectors(request.sectors);
        if let Some(received) = link.ask(self.now, place, id, data) {
            expect(&self.interface, &mut self.queue, id, request, received);
        }
    }

    /// The request of a command if firmware is done with it; else it is looked at again when it is.
    #[inline(always)]
    pub(super) fn firmware_done(&mut self, id: u32) -> Option<&mut Request> {
        self.answer();
        let request = &mut self.requests[id];
        if request.begun > self.now {
            self.queue.schedule_at(request.begun, request.place, Event::Begin { request: id });
            return None;
        }
        Some(request)
    }

    /// The device work of a command is done: data, then the completion, go to the host.
    #[inline(always)]
    pub(super) fn nvme_served(&mut self, id: u32, flow: u16) {
        let now = self.now;
        let flow = flow as usize;
        let places = self.interface.nvme.completion_places;
        let has_place = self.interface.nvme.update(flow, |queue| {
            queue.in_device -= 1;
            if queue.unacknowledged >= places || queue.acknowledgements.len() >= SETTLED_TOGETHER {
                queue.settle(now);
            }
            let has_place = queue.unacknowledged < places;
            queue.unacknowledged += u32::from(has_place);
            has_place
        });
        self.fetch();
        if has_place {
            self.send_completion(id);
        } else {
            let queue = &mut self.interface.nvme.queues[flow];
            queue.held.push_back(id);
            if let Some(&at) = queue.acknowledgements.front() {
                self.queue.schedule(at, Event::CompletionRoom { flow: flow as u16 });
            }
        }
    }

    /// Sends the data of a read over the PCIe link.
    #[inline]
    pub(super) fn send_read_data(&mut self, op: RequestOp, sectors: u32) {
        if op == RequestOp::Read {
            let data = self.host.link.sectors(sectors);
            self.host.link.up.send(self.now, data);
        }
    }

    /// Sends a completion entry over the PCIe link.
    #[inline(always)]
    pub(super) fn send_completion(&mut self, id: u32) {
        let seen = self.host.link.send_completion(self.now);
        self.queue.schedule(seen, Event::Completion { request: id });
    }

    /// The host consumed a completion entry; its doorbell arrives at `at`. Returns the entries of the flow that have
    /// arrived in the device, as completions report it to the host.
    #[inline]
    pub(crate) fn completion_acknowledged(&mut self, flow: u16, at: Time) -> u64 {
        let queue = &mut self.interface.nvme.queues[flow as usize];
        queue.acknowledgements.push_back(at);
        if !queue.held.is_empty() {
            self.queue.schedule(at, Event::CompletionRoom { flow });
        }
        queue.arrived
    }

    /// Held completions go out as far as there is room.
    pub(crate) fn on_completion_room(&mut self, flow: u16) {
        let now = self.now;
        let places = self.interface.nvme.completion_places;
        let queue = &mut self.interface.nvme.queues[flow as usize];
        queue.settle(now);
        while self.interface.nvme.queues[flow as usize].unacknowledged < places {
            let Some(id) = self.interface.nvme.queues[flow as usize].held.pop_front() else {
                return;
            };
            self.interface.nvme.queues[flow as usize].unacknowledged += 1;
            if self.observer.is_some() {
                self.observe_held(id);
            }
            self.send_completion(id);
        }
    }
}
