//! SATA with native command queuing: a host bus adapter, one tagged queue for all flows, one
//! half-duplex link.
//!
//! The adapter takes commands of all flows one after the other, in the order in which the host makes
//! them, and completions likewise. A command needs a tag from its start until the host has seen its
//! completion; commands without one wait in their order. With `compat.sata_over_pcie` and
//! `compat.sata_tags_freed_on_fetch` the drive is that of the released MQSim.
//! Invariant: at most `interface.sata.tags` commands have a tag.
//! Source: Serial ATA specification, native command queuing; MQSim (FAST'18) section 4.1.

use std::collections::{BTreeSet, VecDeque};

use flashlane_engine::Time;

use crate::compat::CompatConfig;
use crate::device::Device;
use crate::event::{Event, Up};
use crate::interface::config::InterfaceConfig;
use crate::layout::SECTOR_BYTES;
use crate::link::{Lane, Link};
use crate::request::{HostWork, Request};
use flashlane_units::RequestOp;

/// Frames (FIS) by type. Unit: bytes.
const REGISTER: u64 = 20;
const DMA_SETUP: u64 = 28;
const DMA_ACTIVATE: u64 = 4;
const DATA_HEADER: u64 = 4;
const SET_DEVICE_BITS: u64 = 8;

/// Adapter, tags and link.
#[derive(Clone, Debug)]
pub(crate) struct Sata {
    /// When the adapter is free for the next command, and for the next completion.
    submissions: Lane,
    completions: Lane,
    adapter_time: u64,
    /// Commands that wait for a tag, oldest first.
    waiting: VecDeque<u32>,
    tags: u64,
    /// Commands that got a tag, that began in the device, and whose tag is free again. Counted from
    /// the start of the run.
    issued: u64,
    begun: u64,
    freed: u64,
    /// One direction at a time.
    link: Lane,
    link_rate: u64,
    payload: u64,
    overhead: u64,
    over_pcie: bool,
    freed_on_fetch: bool,
}

impl Sata {
    /// An idle drive.
    pub(super) fn new(interface: &InterfaceConfig, compat: &CompatConfig) -> Self {
        let config = &interface.sata;
        let ring = u64::from(interface.queue_depth) - 1;
        let freed_on_fetch = compat.sata_tags_freed_on_fetch;
        Self {
            submissions: Lane::default(),
            completions: Lane::default(),
            adapter_time: config.adapter_time.0,
            waiting: VecDeque::new(),
            tags: if freed_on_fetch { ring } else { u64::from(config.tags) },
            issued: 0,
            begun: 0,
            freed: 0,
            link: Lane::default(),
            link_rate: config.link_rate.0,
            payload: config.frame_payload.0,
            overhead: config.frame_overhead.0,
            over_pcie: compat.sata_over_pcie,
            freed_on_fetch,
        }
    }

    /// Firmware is done with a command.
    pub(super) fn begun(&mut self) {
        self.begun += 1;
    }

    /// Tags in use, for messages and audits.
    pub(crate) fn tags_taken(&self) -> u64 {
        self.issued - self.freed
    }

    /// Commands that wait for a tag.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The commands that wait for a tag.
    pub(crate) fn queued(&self) -> BTreeSet<u32> {
        self.waiting.iter().copied().collect()
    }

    /// Time on the link of frames with `bytes` in all. Unit: picoseconds.
    fn frames(&self, count: u64, bytes: u64) -> u64 {
        let wire = u128::from(bytes + count * self.overhead);
        (wire * 1_000_000_000_000 / u128::from(self.link_rate)) as u64
    }

    /// Set-up and data of a read.
    fn read_data(&self, bytes: u64) -> u64 {
        let frames = bytes.div_ceil(self.payload);
        self.frames(1 + frames, DMA_SETUP + frames * DATA_HEADER + bytes)
    }

    /// Set-up and data of a write. The set-up activates the first data frame, each further one waits
    /// for an activation.
    fn write_data(&self, bytes: u64) -> u64 {
        let frames = bytes.div_ceil(self.payload);
        let activations = frames.saturating_sub(1);
        let headers = DMA_SETUP + activations * DMA_ACTIVATE + frames * DATA_HEADER;
        self.frames(1 + frames + activations, headers + bytes)
    }

    /// What a request works outside of cache, flash and firmware.
    pub(crate) fn work(&self, op: RequestOp, sectors: u32, link: &Link) -> HostWork {
        let (write, read) = (op == RequestOp::Write, op == RequestOp::Read);
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        let mut work = HostWork { host: self.adapter_time, ..HostWork::default() };
        if self.over_pcie {
            work.submission = link.doorbell;
            work.transfer_in = link.fetch_work(write.then_some(sectors));
            work.transfer_out = link.completion_work(read.then_some(sectors));
        } else {
            work.transfer_in = self.frames(1, REGISTER);
            if write {
                work.transfer_in += self.frames(1, REGISTER) + self.write_data(bytes);
            }
            let data = if read { self.read_data(bytes) } else { 0 };
            work.transfer_out = data + self.frames(1, SET_DEVICE_BITS);
        }
        work.transfer_out += self.adapter_time;
        work
    }

    /// Checks what must hold between two events; `outstanding` requests are in the system.
    pub(crate) fn audit(&self, outstanding: usize) {
        assert!(self.freed <= self.issued, "a tag is freed once");
        if !self.freed_on_fetch {
            assert!(self.tags_taken() <= self.tags, "tags are not given out twice");
            let known = self.tags_taken() + self.waiting.len() as u64;
            assert!(known <= outstanding as u64, "a tag or a place in the queue per request");
        }
    }
}

impl Device {
    fn sata(&mut self) -> &mut Sata {
        self.interface.sata.as_mut().expect("a SATA drive")
    }

    /// The host makes a command: the adapter takes it when it is through with those before.
    pub(crate) fn sata_submit(&mut self, id: u32) {
        let now = self.now;
        let sata = self.sata();
        let ready = sata.submissions.send(now, sata.adapter_time);
        self.queue.schedule(ready, Event::AdapterSubmitted { request: id });
    }

    /// The adapter is through with a command, which needs a tag now.
    pub(crate) fn on_adapter_submitted(&mut self, id: u32) {
        self.sata().waiting.push_back(id);
        self.issue_commands();
    }

    /// Sends waiting commands to the drive while there are tags.
    fn issue_commands(&mut self) {
        let now = self.now;
        loop {
            let sata = self.sata();
            if sata.issued - sata.freed >= sata.tags {
                return;
            }
            let Some(id) = sata.waiting.pop_front() else { return };
            sata.issued += 1;
            let arrival = if sata.over_pcie {
                self.send_down(self.host.link.doorbell)
            } else {
                let command = sata.frames(1, REGISTER);
                let arrival = sata.link.send(now, command);
                self.requests[id].fetched = arrival - Time(command);
                arrival
            };
            self.requests[id].enqueued = now;
            self.queue.schedule(arrival, Event::SataCommand { request: id });
        }
    }

    /// A command reaches the drive, which accepts it and asks for the data of a write.
    pub(crate) fn on_sata_command(&mut self, id: u32) {
        let now = self.now;
        let sata = self.interface.sata.as_mut().expect("a SATA drive");
        if sata.over_pcie {
            self.fetch_entry(id);
            return;
        }
        let request = &mut self.requests[id];
        let accepted = sata.frames(1, REGISTER);
        sata.link.send(now, accepted);
        request.received = if request.op == RequestOp::Write {
            let data = sata.write_data(u64::from(request.sectors) * SECTOR_BYTES);
            sata.link.send(now, data)
        } else {
            now
        };
        let begin = self.interface.firmware(request.received, request.op);
        self.queue.schedule(begin, Event::Begin { request: id });
    }

    /// The device work of a command is done: data, then the completion, go to the adapter.
    pub(super) fn sata_served(&mut self, id: u32) {
        let now = self.now;
        let sata = self.interface.sata.as_mut().expect("a SATA drive");
        if sata.over_pcie {
            let Request { op, sectors, .. } = self.requests[id];
            self.send_read_data(op, sectors);
            self.send_completion(id);
            return;
        }
        let request = &self.requests[id];
        if request.op == RequestOp::Read {
            let data = sata.read_data(u64::from(request.sectors) * SECTOR_BYTES);
            sata.link.send(now, data);
        }
        let bits = sata.frames(1, SET_DEVICE_BITS);
        let seen = sata.link.send(now, bits);
        self.queue.schedule(seen, Event::Completion { request: id });
    }

    /// A completion reaches the adapter, which takes it when it is through with those before.
    pub(crate) fn sata_completion(&mut self, id: u32) {
        let now = self.now;
        let sata = self.sata();
        let done = sata.completions.send(now, sata.adapter_time);
        self.queue.schedule(done, Event::AdapterCompleted { request: id });
    }

    /// The host sees a completion: the tag is free for the next command.
    pub(crate) fn on_adapter_completed(&mut self, id: u32) -> Up {
        let flow = self.retire(id);
        if self.sata().over_pcie {
            self.send_down(self.host.link.doorbell);
        }
        let sata = self.sata();
        sata.freed = if sata.freed_on_fetch { sata.begun } else { sata.freed + 1 };
        self.issue_commands();
        Up::TagFreed { flow }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_times_match_hand_computation() {
        let sata = Sata::new(&InterfaceConfig::default(), &CompatConfig::default());
        let ps = |bytes: u64| bytes * 1_000_000_000_000 / 600_000_000;
        assert_eq!(sata.frames(1, REGISTER), ps(20 + 12));
        // Set-up and one data frame; set-up, two data frames and an activation for the second.
        assert_eq!(sata.read_data(4096), ps(28 + 4 + 4096 + 2 * 12));
        assert_eq!(sata.write_data(4096), sata.read_data(4096));
        assert_eq!(sata.write_data(16_384), ps(28 + 2 * 4 + 4 + 16_384 + 4 * 12));
    }
}
