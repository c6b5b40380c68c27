//! Queue pairs over PCIe: the host writes an entry and rings a doorbell, the device fetches the
//! entry and the data of a write from host memory, and sends data and completion back.
//!
//! Everything that crosses the link goes through this file. Host memory answers requests that have
//! arrived before anything else goes down the link (`answer`).

use flashlane_engine::{Array, Sequence, Time};

use super::Device;
use super::reading::TransactionTimes;
use crate::config::DeviceConfig;
use crate::context::Context;
use crate::event::{Event, Up};
use crate::host::queues::Gathered;
use crate::interface::config::InterfaceConfig;
use crate::interface::costs::Costs;
use crate::layout::{Geometry, Layout};
use crate::link::QueueEntries;
use crate::request::Request;
use flashlane_units::{FlowId, QueueId, RequestId, RequestOp, Span};

/// A submission doorbell on its way to the device, with its place in the order of events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ringing {
    arrives: Time,
    place: Sequence,
    queue: QueueId,
    /// Entries that it announces.
    entries: u16,
}

/// The sizes of the queue entries of a device.
pub(super) fn entry_sizes(interface: &InterfaceConfig) -> QueueEntries {
    QueueEntries { submission: interface.submission_entry, completion: interface.completion_entry }
}

/// The costs of commands. The times of the data sheet are means over the types of pages.
pub(super) fn costs(device: &DeviceConfig, geometry: Geometry) -> Costs {
    let mean = |times: &[Span]| {
        let sum: u64 = times.iter().map(|time| time.0).sum();
        sum / (times.len() as u64).max(1)
    };
    let nominal = [mean(&device.flash.read_time), mean(&device.flash.program_time)];
    Costs::new(device.interface.cost, geometry.sectors_per_page, nominal)
}

/// The cost of a command, by the times that its flow's pages took so far.
pub(super) fn cost_of(
    costs: &Costs,
    layout: &Layout,
    times: &Array<FlowId, [TransactionTimes; 2]>,
    request: &Request,
) -> u64 {
    let phase = layout.flows[request.flow.index()].page_phase;
    costs.of(request, phase, |kind| times[request.flow][kind].mean())
}

impl Device {
    /// Rings the doorbell for an entry that has just been written, or leaves it to a later doorbell
    /// of the queue.
    #[inline(always)]
    pub(super) fn announce(&mut self, id: RequestId, queue: QueueId) {
        self.interface.nvme_mut().submit(queue, id);
        if self.host.gathers() {
            self.gather(queue);
        } else {
            self.ring_for(queue, 1);
        }
    }

    /// Counts an entry towards the next doorbell of its queue, and rings if enough have gathered.
    #[inline(never)]
    fn gather(&mut self, queue: QueueId) {
        match self.host.gather(queue, self.context.now) {
            Gathered::Rings(entries) => self.ring_for(queue, entries),
            Gathered::WaitsUntil(due) => {
                self.context.events.schedule(due, Event::DoorbellDue { queue });
            }
            Gathered::Waits => {}
        }
    }

    /// The first entry behind the last doorbell of the queue may have waited for long enough.
    #[cold]
    pub(super) fn on_doorbell_due(&mut self, queue: QueueId) {
        if let Some(entries) = self.host.take_due(queue, self.context.now) {
            self.ring_for(queue, entries);
            self.schedule_ringing();
        }
    }

    /// Writes the doorbell of a queue for entries that the device has not heard of.
    #[inline(always)]
    fn ring_for(&mut self, queue: QueueId, entries: u16) {
        let arrives = self.send_doorbell();
        debug_assert!(arrives >= self.context.now, "a doorbell does not arrive early");
        let place = self.context.events.reserve();
        if let Some(before) = self.ringing.replace(Ringing { arrives, place, queue, entries }) {
            self.schedule_doorbell(before);
        }
    }

    #[inline(always)]
    fn schedule_doorbell(&mut self, Ringing { arrives, place, queue, entries }: Ringing) {
        self.context.events.schedule_at(arrives, place, Event::Doorbell { queue, entries });
    }

    /// Handles the doorbell of the current event. Nearly always the doorbell is the next event, and
    /// then it need not go through the queue.
    #[inline(always)]
    pub fn ring(&mut self) {
        let Some(ringing) = self.ringing.take() else { return };
        self.dispatch_offered();
        debug_assert!(ringing.arrives >= self.context.now, "a doorbell rings once");
        if ringing.arrives <= self.horizon
            && self.context.events.passes(ringing.arrives, ringing.place)
        {
            self.context.now = ringing.arrives;
            self.on_doorbell(ringing.queue, ringing.entries);
        } else {
            self.schedule_doorbell(ringing);
        }
    }

    /// Schedules the doorbell of requests that were submitted before the first event.
    pub fn schedule_ringing(&mut self) {
        if let Some(last) = self.ringing.take() {
            self.schedule_doorbell(last);
        }
    }

    /// A doorbell announces entries.
    #[inline(always)]
    pub(super) fn on_doorbell(&mut self, queue: QueueId, entries: u16) {
        self.interface.nvme_mut().on_doorbell(queue, entries);
        self.fetch();
    }

    /// Fetches entries in the order of arbitration, while there is room before the firmware.
    #[inline(always)]
    pub(super) fn fetch(&mut self) {
        if self.interface.nvme().any_ready() {
            self.fetch_ready();
        }
    }

    fn fetch_ready(&mut self) {
        if self.interface.nvme().weighs() {
            return self.fetch_weighed();
        }
        while let Some(id) = self.interface.nvme_mut().next_fetch() {
            self.buffer_read(id);
            if self.observer.is_some() {
                self.observe_fetch(id);
            }
            self.fetch_entry(id);
        }
    }

    /// Fetches entries by their costs, whose flows keep to their limits of rates.
    #[cold]
    fn fetch_weighed(&mut self) {
        loop {
            let Context { now, events, requests, .. } = &mut self.context;
            let (costs, times, layout) = (&self.costs, &self.transaction_times, &self.layout);
            let cost = |request: &Request| cost_of(costs, layout, times, request);
            let next = self.interface.nvme_mut().next_weighed(*now, events, requests, cost);
            let Some((id, was_held)) = next else { return };
            self.buffer_read(id);
            if self.observer.is_some() {
                self.observe_fetch(id);
            }
            if let Some(observer) = self.observer.as_mut().filter(|_| was_held) {
                observer.held_back(id, None);
            }
            self.fetch_entry(id);
        }
    }

    /// A command was fetched: the data of a read takes buffers, if these are bounded.
    #[inline(always)]
    fn buffer_read(&mut self, id: RequestId) {
        if self.interface.nvme().buffers_reads() {
            let Request { op, sectors, .. } = self.context.requests[id];
            if op == RequestOp::Read {
                self.interface.nvme_mut().read_buffer().take(sectors);
            }
        }
    }

    /// A limit of rates lets the next command pass that waits for it.
    #[cold]
    pub(super) fn on_limit_room(&mut self, limit: u16) {
        self.interface.nvme_mut().release(limit);
        self.fetch();
    }

    /// Reads one submission entry over the link.
    #[inline(always)]
    pub(super) fn fetch_entry(&mut self, id: RequestId) {
        let now = self.context.now;
        let place = self.context.events.reserve();
        let request = &mut self.context.requests[id];
        debug_assert_eq!(request.pending, 0, "a command is fetched before its pages");
        (request.fetched, request.place) = (now, place);
        if let Some(entry) = self.link.ask_entry(now, place, id) {
            self.interface.expect(&mut self.context.events, id, request, entry);
        }
    }

    /// The entry of a write has arrived, unless it is delayed. Fetches the data of the write.
    pub(super) fn on_write_entry(&mut self, id: RequestId) {
        self.answer();
        let request = &mut self.context.requests[id];
        assert_eq!(request.op, RequestOp::Write, "only writes have data in host memory");
        if request.received > self.context.now {
            let (received, place) = (request.received, request.place);
            self.context.events.schedule_at(received, place, Event::WriteEntry { request: id });
            return;
        }
        self.interface.write_entry_arrived();
        let place = self.context.events.reserve();
        (request.received, request.place) = (Time::MAX, place);
        if let Some(received) = self.link.ask_data(self.context.now, place, id, request.sectors) {
            self.interface.expect(&mut self.context.events, id, request, received);
        }
    }

    /// Answers the device's requests that have arrived in host memory.
    #[inline]
    pub(super) fn answer(&mut self) {
        if self.link.may_answer(self.context.now) {
            self.answer_all();
        }
    }

    fn answer_all(&mut self) {
        while let Some((id, received)) =
            self.link.next_answer(self.context.now, &self.context.events)
        {
            self.interface.receive(&mut self.context.requests[id], received);
            if self.interface.has_processors() {
                self.observe_firmware(id);
            }
        }
    }

    /// The host has seen a completion: estimates the answers to the requests behind it.
    #[inline]
    pub(super) fn expect_postponed(&mut self) {
        if self.link.any_postponed() {
            self.expect_all_postponed();
        }
    }

    fn expect_all_postponed(&mut self) {
        while let Some((id, earliest)) = self.link.next_postponed(self.context.now) {
            self.interface.expect(
                &mut self.context.events,
                id,
                &self.context.requests[id],
                earliest,
            );
        }
    }

    /// Sends a doorbell of the host over the link. Returns its arrival.
    #[inline]
    pub(super) fn send_doorbell(&mut self) -> Time {
        self.answer();
        self.link.send_doorbell(self.context.now)
    }

    /// The device work of a command is done: sends data, then the completion, to the host.
    #[inline(always)]
    pub(super) fn nvme_served(&mut self, id: RequestId, queue: QueueId) {
        let has_place = self.interface.nvme_mut().serve(self.context.now, queue);
        self.fetch();
        if has_place {
            self.send_completion(id);
        } else {
            self.interface.nvme_mut().hold(&mut self.context.events, queue, id);
        }
    }

    /// Sends the data of a read over the link.
    #[inline]
    pub(super) fn send_read_data(&mut self, op: RequestOp, sectors: u32) {
        if op == RequestOp::Read {
            self.link.send_data(self.context.now, sectors);
            if self.interface.nvme().buffers_reads() {
                self.interface.nvme_mut().read_buffer().send(sectors);
            }
        }
    }

    /// Sends a completion entry over the link.
    #[inline(always)]
    pub(super) fn send_completion(&mut self, id: RequestId) {
        let request = &mut self.context.requests[id];
        debug_assert_eq!(request.pending, 0, "all parts are over");
        request.report(self.interface.arrived(request.queue));
        let seen = self.link.send_completion(self.context.now);
        self.context.events.schedule(seen, Event::Completion { request: id });
    }

    /// Sends completions that were held back, as far as there is room.
    pub(super) fn on_completion_room(&mut self, queue: QueueId) {
        while let Some(id) = self.interface.nvme_mut().next_held(self.context.now, queue) {
            if self.observer.is_some() {
                self.observe_held(id);
            }
            self.send_completion(id);
        }
    }

    /// A completion entry is in host memory. The host acknowledges it, and writes the entries for
    /// which there is room now.
    #[inline(always)]
    pub(super) fn on_completion(&mut self, id: RequestId) -> Up {
        if self.interface.is_sata() {
            self.on_sata_completion(id);
            return Up::Nothing;
        }
        let queue = self.context.requests[id].queue;
        let flow = self.retire(id);
        let acknowledged = self.send_doorbell();
        let nvme = self.interface.nvme_mut();
        let arrived = nvme.acknowledge(&mut self.context.events, queue, acknowledged);
        let arrived = self.completed().reported(arrived);
        while let Some(next) = self.host.next_entry(queue, arrived) {
            self.context.requests[next].enqueued = self.context.now;
            self.announce(next, queue);
        }
        Up::Completed { flow }
    }

    /// Reactions of the host to a completion are over.
    #[inline(always)]
    pub fn completion_over(&mut self) {
        self.expect_postponed();
        self.ring();
    }
}
