//! Stage 3 of 8: the NVMe host interface. Receives doorbells from `host`; fetches commands by
//! arbitration, gives them firmware time and cuts them into page transactions for `cache` and
//! `ftl`; sends data and completions back over the link.
//!
//! Invariants: a queue has at most QueueFetchSize commands in the device; entries of one queue are
//! fetched in order; a completion is sent only with room in the completion queue.
//! Source: MQSim (FAST'18) sections 4.1 and 6.1; NVMe base specification.

pub mod arbitration;

use std::collections::VecDeque;

use flashlane_engine::Time;

use crate::config::{DeviceConfig, WorkloadConfig};
use crate::event::Event;
use crate::layout::SECTOR_BYTES;
use crate::request::Chain;
use crate::ssd::Ssd;
use crate::workload::RequestOp;
use arbitration::Arbiter;

/// The device's side of a queue pair.
#[derive(Clone, Debug)]
struct DeviceQueue {
    /// Entries announced by doorbells and not fetched yet.
    announced: u32,
    /// Commands between the start of their fetch and the end of their service.
    in_device: u32,
    /// Served commands that wait for room in the completion queue.
    held: VecDeque<u32>,
    /// Completion entries sent whose place is not known to be free again.
    unacknowledged: u32,
    /// When the doorbells arrive that free places of the completion queue.
    acknowledgements: VecDeque<Time>,
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

/// The host interface.
pub(crate) struct Interface {
    queues: Vec<DeviceQueue>,
    /// Submission entries in host memory, oldest first, by flow.
    pub(crate) submission: Vec<VecDeque<u32>>,
    arbiter: Box<dyn Arbiter>,
    queue_fetch_size: u32,
    fetch_ahead: u32,
    /// Commands between fetch and the end of firmware time.
    before_firmware: u32,
    firmware_time: u64,
    /// When each firmware server is free.
    servers: Vec<Time>,
    /// Usable entries of a completion queue.
    completion_places: u32,
}

impl Interface {
    /// Idle queues.
    pub(crate) fn new(device: &DeviceConfig, workload: &WorkloadConfig) -> Self {
        let config = &device.interface;
        let flows = workload.flows.len();
        let queue = DeviceQueue {
            announced: 0,
            in_device: 0,
            held: VecDeque::new(),
            unacknowledged: 0,
            acknowledgements: VecDeque::new(),
            arrived: 0,
        };
        let classes: Vec<u8> = workload.flows.iter().map(|f| f.priority as u8).collect();
        let instant = device.compat.zero_firmware_time;
        Self {
            queues: vec![queue; flows],
            submission: vec![VecDeque::new(); flows],
            arbiter: arbitration::build(&config.arbitration, &classes),
            queue_fetch_size: config.queue_fetch_size,
            fetch_ahead: if instant { u32::MAX } else { config.fetch_ahead },
            before_firmware: 0,
            firmware_time: if instant { 0 } else { config.firmware_time.0 },
            servers: vec![Time::ZERO; config.firmware_servers as usize],
            completion_places: config.queue_depth - 1,
        }
    }

    /// A command is due at `ready`; returns when its firmware time is over.
    fn firmware(&mut self, ready: Time) -> Time {
        if self.firmware_time == 0 {
            return ready;
        }
        let server = self.servers.iter_mut().min().expect("there is a server");
        *server = ready.max(*server) + Time(self.firmware_time);
        *server
    }

    /// A queue may be fetched from.
    fn eligible(&self, flow: usize) -> bool {
        let queue = &self.queues[flow];
        queue.announced > 0 && queue.in_device < self.queue_fetch_size
    }

    /// Commands of a flow inside the device, for messages.
    pub(crate) fn in_device(&self, flow: usize) -> u32 {
        self.queues[flow].in_device
    }
}

impl Ssd {
    /// A doorbell announces one more entry.
    pub(crate) fn on_doorbell(&mut self, flow: u16) {
        self.interface.queues[flow as usize].announced += 1;
        let interface = &mut self.interface;
        interface.arbiter.ready(flow as usize, interface.eligible(flow as usize));
        self.fetch();
    }

    /// Fetches entries while there is room before the firmware, in the order of arbitration.
    fn fetch(&mut self) {
        while self.interface.before_firmware < self.interface.fetch_ahead {
            let interface = &mut self.interface;
            let Some(flow) = interface.arbiter.next() else { return };
            let queue = &mut interface.queues[flow];
            queue.announced -= 1;
            queue.in_device += 1;
            interface.before_firmware += 1;
            interface.arbiter.ready(flow, interface.eligible(flow));
            let id = interface.submission[flow].pop_front().expect("announced entries exist");
            self.fetch_entry(id);
        }
    }

    /// Reads one submission entry over the link.
    fn fetch_entry(&mut self, id: u32) {
        let now = self.now;
        let link = &mut self.host.link;
        let asked = link.up.send(now, link.read_request);
        self.requests[id].fetched = now;
        self.queue.schedule(asked, Event::EntryRequested { request: id });
    }

    /// The host's memory answers a fetch.
    pub(crate) fn on_entry_requested(&mut self, id: u32) {
        let now = self.now;
        let link = &mut self.host.link;
        let entry = link.down.send(now, link.submission);
        let request = &mut self.requests[id];
        if request.op == RequestOp::Write {
            self.queue.schedule(entry, Event::WriteEntry { request: id });
        } else {
            request.received = entry;
            let begin = self.interface.firmware(entry);
            self.queue.schedule(begin, Event::Begin { request: id });
        }
    }

    /// The entry of a write has arrived: its data is fetched.
    pub(crate) fn on_write_entry(&mut self, id: u32) {
        let link = &mut self.host.link;
        let asked = link.up.send(self.now, link.read_request);
        self.queue.schedule(asked, Event::DataRequested { request: id });
    }

    /// The host's memory answers a fetch of write data.
    pub(crate) fn on_data_requested(&mut self, id: u32) {
        let now = self.now;
        let request = &mut self.requests[id];
        let link = &mut self.host.link;
        let data = link.data(u64::from(request.sectors) * SECTOR_BYTES);
        request.received = link.down.send(now, data);
        let begin = self.interface.firmware(request.received);
        self.queue.schedule(begin, Event::Begin { request: id });
    }

    /// Firmware is done: the command is cut into page transactions.
    pub(crate) fn on_begin(&mut self, id: u32) {
        let now = self.now;
        let request = &mut self.requests[id];
        request.begun = now;
        // Work is pending until the last piece is handed out, so that none ends the request early.
        request.pending = 1;
        let (flow, op) = (request.flow, request.op);
        self.interface.before_firmware -= 1;
        self.interface.queues[flow as usize].arrived += 1;
        match op {
            RequestOp::Read => self.read_pages(id),
            RequestOp::Write => self.write_pages(id),
            RequestOp::Trim => self.trim_pages(id),
            RequestOp::Flush => self.flush(id),
        }
        self.part_done(id, Chain::default());
        self.fetch();
    }

    /// One part of the device work of a request is done; the chain that ends last counts.
    pub(crate) fn part_done(&mut self, id: u32, chain: Chain) {
        let now = self.now;
        let request = &mut self.requests[id];
        assert!(request.pending > 0, "a part ends once");
        request.pending -= 1;
        let span = (now - request.begun).0;
        if chain.total() == span {
            request.chain = chain;
        }
        if request.pending == 0 {
            assert_eq!(request.chain.total(), span, "the last part spans the device work");
            request.served = now;
            self.served(id);
        }
    }

    /// The device work of a request is done: data, then the completion, go to the host.
    fn served(&mut self, id: u32) {
        let now = self.now;
        let request = &self.requests[id];
        let flow = request.flow as usize;
        if request.op == RequestOp::Read {
            let data = self.host.link.data(u64::from(request.sectors) * SECTOR_BYTES);
            self.host.link.up.send(now, data);
        }
        let interface = &mut self.interface;
        interface.queues[flow].in_device -= 1;
        interface.arbiter.ready(flow, interface.eligible(flow));
        self.fetch();
        let places = self.interface.completion_places;
        let queue = &mut self.interface.queues[flow];
        queue.settle(now);
        if queue.unacknowledged < places {
            self.send_completion(id);
        } else {
            queue.held.push_back(id);
            if let Some(&at) = queue.acknowledgements.front() {
                self.queue.schedule(at, Event::CompletionRoom { flow: flow as u16 });
            }
        }
    }

    /// Sends a completion entry; there is room for it.
    fn send_completion(&mut self, id: u32) {
        let flow = self.requests[id].flow as usize;
        self.interface.queues[flow].unacknowledged += 1;
        let link = &mut self.host.link;
        let seen = link.up.send(self.now, link.completion);
        self.queue.schedule(seen, Event::Completion { request: id });
    }

    /// The host consumed a completion entry; its doorbell arrives at `at`.
    pub(crate) fn completion_acknowledged(&mut self, flow: u16, at: Time) {
        let queue = &mut self.interface.queues[flow as usize];
        queue.acknowledgements.push_back(at);
        if !queue.held.is_empty() {
            self.queue.schedule(at, Event::CompletionRoom { flow });
        }
    }

    /// Held completions go out as far as there is room.
    pub(crate) fn on_completion_room(&mut self, flow: u16) {
        let now = self.now;
        let places = self.interface.completion_places;
        let queue = &mut self.interface.queues[flow as usize];
        queue.settle(now);
        while self.interface.queues[flow as usize].unacknowledged < places {
            let Some(id) = self.interface.queues[flow as usize].held.pop_front() else { return };
            self.send_completion(id);
        }
    }

    /// Entries of a flow that have arrived in the device, as completions report it to the host.
    pub(crate) fn entries_arrived(&self, flow: u16) -> u64 {
        self.interface.queues[flow as usize].arrived
    }
}
