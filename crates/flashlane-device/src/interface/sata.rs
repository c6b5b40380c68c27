//! SATA with native command queuing: a host bus adapter, one tagged queue for all flows, one
//! half-duplex link.
//!
//! The adapter takes commands of all flows one after the other, in the order in which the host
//! makes them, and completions likewise. A command needs a tag from its start until the host has
//! seen its completion; commands without a tag wait in their order. With `compat.sata_over_pcie`
//! and `compat.sata_tags_freed_on_fetch` the drive is that of the released MQSim. Invariant: at
//! most `interface.sata.tags` commands have a tag. Source: Serial ATA specification, native command
//! queuing; MQSim (FAST'18) section 4.1.

use std::collections::{BTreeSet, VecDeque};

use flashlane_engine::{EventQueue, Time};

use super::config::InterfaceConfig;
use crate::compat::CompatConfig;
use crate::context::Context;
use crate::event::Event;
use crate::layout::SECTOR_BYTES;
use crate::link::Lane;
use crate::request::HostWork;
use flashlane_units::{RequestId, RequestOp};

/// Frames (FIS) by type. Unit: bytes.
const REGISTER: u64 = 20;
const DMA_SETUP: u64 = 28;
const DMA_ACTIVATE: u64 = 4;
const DATA_HEADER: u64 = 4;
const SET_DEVICE_BITS: u64 = 8;

/// Adapter, tags and link.
#[derive(Clone, Debug)]
pub(crate) struct Sata {
    /// Times at which the adapter is free for the next command, and for the next completion.
    submissions: Lane,
    completions: Lane,
    adapter_time: u64,
    /// Commands that wait for a tag, oldest first.
    waiting: VecDeque<RequestId>,
    tags: u64,
    /// Commands that got a tag, commands that began in the device, and commands whose tag is free
    /// again. All are counted from the start of the run.
    issued: u64,
    begun: u64,
    freed: u64,
    /// The link, which works in one direction at a time.
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

    /// True if commands and completions cross a PCIe link, and not the link of this stage.
    pub(crate) fn is_over_pcie(&self) -> bool {
        self.over_pcie
    }

    /// The host makes a command. The adapter takes it after the earlier ones.
    pub(crate) fn submit(&mut self, now: Time, events: &mut EventQueue<Event>, id: RequestId) {
        let ready = self.submissions.send(now, self.adapter_time);
        events.schedule(ready, Event::AdapterSubmitted { request: id });
    }

    /// The adapter has passed a command on, which needs a tag now.
    pub(crate) fn queue(&mut self, id: RequestId) {
        self.waiting.push_back(id);
    }

    /// Gives a tag to the oldest waiting command, if one is free.
    pub(crate) fn next_tagged(&mut self) -> Option<RequestId> {
        if self.tags_taken() >= self.tags {
            return None;
        }
        let id = self.waiting.pop_front()?;
        self.issued += 1;
        Some(id)
    }

    /// Sends a command to the drive. Returns its start and its arrival.
    pub(crate) fn send_command(&mut self, now: Time) -> (Time, Time) {
        let command = self.frames(1, REGISTER);
        let arrival = self.link.send(now, command);
        (arrival - Time(command), arrival)
    }

    /// A command reaches the drive, which accepts it and asks for the data of a write. Returns the
    /// time when all of it is there.
    pub(super) fn accept(&mut self, now: Time, op: RequestOp, sectors: u32) -> Time {
        let accepted = self.frames(1, REGISTER);
        self.link.send(now, accepted);
        if op == RequestOp::Write {
            let data = self.write_data(u64::from(sectors) * SECTOR_BYTES);
            self.link.send(now, data)
        } else {
            now
        }
    }

    /// The device work of a command is done: data, then the completion, go to the adapter.
    pub(crate) fn serve(&mut self, cx: &mut Context, id: RequestId) {
        let request = &cx.requests[id];
        if request.op == RequestOp::Read {
            let data = self.read_data(u64::from(request.sectors) * SECTOR_BYTES);
            self.link.send(cx.now, data);
        }
        let bits = self.frames(1, SET_DEVICE_BITS);
        let seen = self.link.send(cx.now, bits);
        cx.events.schedule(seen, Event::Completion { request: id });
    }

    /// A completion reaches the adapter, which handles it after the earlier ones.
    pub(crate) fn complete(&mut self, now: Time, events: &mut EventQueue<Event>, id: RequestId) {
        let done = self.completions.send(now, self.adapter_time);
        events.schedule(done, Event::AdapterCompleted { request: id });
    }

    /// The host sees a completion: the tag is free for the next command. `reported`: the commands
    /// that had begun when the completion was sent.
    pub(crate) fn free_tag(&mut self, reported: u64) {
        self.freed = if self.freed_on_fetch { reported } else { self.freed + 1 };
    }

    /// Commands that have begun in the drive.
    pub(crate) fn begun(&self) -> u64 {
        self.begun
    }

    /// A command is there. Over PCIe, this is its entry; otherwise its firmware is over.
    pub(super) fn begin(&mut self) {
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
    pub(crate) fn queued(&self) -> BTreeSet<RequestId> {
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

    /// Set-up and data of a write. The set-up activates the first data frame; each further frame
    /// waits for an activation.
    fn write_data(&self, bytes: u64) -> u64 {
        let frames = bytes.div_ceil(self.payload);
        let activations = frames.saturating_sub(1);
        let headers = DMA_SETUP + activations * DMA_ACTIVATE + frames * DATA_HEADER;
        self.frames(1 + frames + activations, headers + bytes)
    }

    /// Time that a request itself needs outside of cache, flash and firmware. `over_pcie`: its time
    /// on a PCIe link, if it crosses one.
    pub(super) fn work(&self, op: RequestOp, sectors: u32, over_pcie: HostWork) -> HostWork {
        let mut work = if self.over_pcie { over_pcie } else { self.link_work(op, sectors) };
        work.host = self.adapter_time;
        work.transfer_out += self.adapter_time;
        work
    }

    /// The part of this time on the link of this stage.
    fn link_work(&self, op: RequestOp, sectors: u32) -> HostWork {
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        let mut work = HostWork { transfer_in: self.frames(1, REGISTER), ..HostWork::default() };
        if op == RequestOp::Write {
            work.transfer_in += self.frames(1, REGISTER) + self.write_data(bytes);
        }
        let data = if op == RequestOp::Read { self.read_data(bytes) } else { 0 };
        work.transfer_out = data + self.frames(1, SET_DEVICE_BITS);
        work
    }

    /// Checks what must hold between two events. `outstanding`: requests in the system.
    pub(crate) fn audit(&self, outstanding: usize) {
        assert!(self.freed <= self.issued, "a tag is freed once");
        if !self.freed_on_fetch {
            assert!(self.tags_taken() <= self.tags, "tags are not given out twice");
            let known = self.tags_taken() + self.waiting.len() as u64;
            assert!(known <= outstanding as u64, "a tag or a place in the queue per request");
        }
    }

    /// Checks what must hold when every request is complete.
    pub(crate) fn audit_end(&self) {
        assert!(self.waiting.is_empty(), "no command waits for a tag");
        assert!(self.freed_on_fetch || self.tags_taken() == 0, "every tag is freed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;

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

    fn sata(compat: &CompatConfig) -> Sata {
        let mut config = InterfaceConfig::default();
        config.sata.tags = 2;
        Sata::new(&config, compat)
    }

    #[test]
    fn a_command_keeps_its_tag_until_the_host_has_seen_its_completion() {
        let mut sata = sata(&CompatConfig::default());
        (4..8).for_each(|id| sata.queue(RequestId::new(id)));
        assert_eq!(
            (sata.next_tagged(), sata.next_tagged()),
            (Some(RequestId::new(4)), Some(RequestId::new(5)))
        );
        assert_eq!(sata.next_tagged(), None);
        assert_eq!((sata.tags_taken(), sata.waiting()), (2, 2));
        assert_eq!(sata.queued(), [6, 7].map(RequestId::new).into());
        sata.begin();
        assert_eq!(sata.next_tagged(), None, "a command that begins keeps its tag");
        sata.free_tag(sata.begun);
        assert_eq!((sata.next_tagged(), sata.next_tagged()), (Some(RequestId::new(6)), None));
        sata.audit(3);
    }

    #[test]
    fn the_released_mqsim_frees_tags_of_commands_that_began() {
        let compat = CompatConfig { sata_tags_freed_on_fetch: true, ..CompatConfig::default() };
        let config = InterfaceConfig { queue_depth: 3, ..InterfaceConfig::default() };
        let mut sata = Sata::new(&config, &compat);
        (4..8).for_each(|id| sata.queue(RequestId::new(id)));
        assert_eq!(
            [(); 3].map(|()| sata.next_tagged()),
            [Some(RequestId::new(4)), Some(RequestId::new(5)), None]
        );
        sata.begin();
        sata.begin();
        assert_eq!(sata.next_tagged(), None, "the host sees no completion");
        sata.free_tag(sata.begun);
        assert_eq!(
            [(); 3].map(|()| sata.next_tagged()),
            [Some(RequestId::new(6)), Some(RequestId::new(7)), None]
        );
    }

    #[test]
    fn the_adapter_takes_one_command_at_a_time_and_one_completion() {
        let (mut sata, mut events) = (sata(&CompatConfig::default()), EventQueue::new());
        let time = Time(sata.adapter_time);
        sata.submit(Time::ZERO, &mut events, RequestId::new(1));
        sata.submit(Time::ZERO, &mut events, RequestId::new(2));
        sata.complete(Time(1), &mut events, RequestId::new(3));
        let request = |id| Event::AdapterSubmitted { request: id };
        assert_eq!(events.pop(), Some((time, request(RequestId::new(1)))));
        let completed = Event::AdapterCompleted { request: RequestId::new(3) };
        assert_eq!(events.pop(), Some((time + Time(1), completed)));
        assert_eq!(events.pop(), Some((time + time, request(RequestId::new(2)))));
    }

    #[test]
    fn the_link_goes_one_way_at_a_time() {
        let (mut sata, events) = (sata(&CompatConfig::default()), EventQueue::new());
        let command = sata.frames(1, REGISTER);
        assert_eq!(sata.send_command(Time(7)), (Time(7), Time(7 + command)));
        assert_eq!(sata.send_command(Time(8)), (Time(7 + command), Time(7 + 2 * command)));
        // The drive accepts the first command, and gets the data of a write; a read is there at
        // once.
        let data = sata.write_data(4096);
        let received = Time(7 + 3 * command + data);
        assert_eq!(sata.accept(Time(7 + command), RequestOp::Write, 8), received);
        assert_eq!(sata.accept(received, RequestOp::Read, 8), received);
        let bits = sata.frames(1, SET_DEVICE_BITS);
        let mut cx = Context { now: received, events, ..Context::new() };
        let read = Request { op: RequestOp::Read, sectors: 8, ..Request::default() };
        let id = cx.requests.insert(read);
        sata.serve(&mut cx, id);
        let seen = received + Time(command + sata.read_data(4096) + bits);
        assert_eq!(cx.events.pop(), Some((seen, Event::Completion { request: id })));
    }
}
