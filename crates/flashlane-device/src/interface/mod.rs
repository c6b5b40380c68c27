//! Stage 3 of 8: the host interface of the device. Gives commands firmware time, and keeps the
//! state of the protocol.
//!
//! The protocol decides how commands come in and completions go out: `nvme` with a queue pair per
//! flow, or `sata` with one tagged queue for all flows. The driver sends everything that crosses
//! the PCIe link. Source: MQSim (FAST'18) section 4.1.

pub mod arbitration;
pub mod config;
pub mod costs;
mod device_queue;
mod firmware;
pub(crate) mod fitted;
pub mod limits;
pub(crate) mod nvme;
pub mod processors;
mod read_buffer;
pub(crate) mod sata;
pub mod zones;

use flashlane_engine::{EventQueue, Sequence, Time};

use crate::compat::CompatConfig;
use crate::context::Context;
use crate::event::Event;
use crate::request::{HostWork, Request};
use config::{InterfaceConfig, InterfaceKind};
use firmware::Firmware;
use flashlane_units::{QueueId, RequestId, RequestOp};
use nvme::Nvme;
use processors::{OwnWork, PageSpace, ProcessorReading};
use sata::Sata;

/// The host interface.
#[derive(Clone)]
pub(crate) struct Interface {
    nvme: Nvme,
    /// The SATA interface, which takes the place of NVMe.
    sata: Option<Box<Sata>>,
    firmware: Firmware,
    /// With `compat.truncated_link_time`: a read that arrives with other events is begun last.
    begins_last: bool,
}

impl Interface {
    /// Idle queues. `classes`: by queue pair.
    pub(crate) fn new(
        config: &InterfaceConfig,
        compat: &CompatConfig,
        classes: &[u8],
        space: PageSpace,
    ) -> Self {
        let sata = config.kind == InterfaceKind::Sata;
        Self {
            nvme: Nvme::new(config, compat, classes),
            sata: sata.then(|| Box::new(Sata::new(config, compat))),
            firmware: Firmware::new(config, compat, space),
            begins_last: compat.truncated_link_time,
        }
    }

    /// The queue pairs.
    #[inline(always)]
    pub(crate) fn nvme(&self) -> &Nvme {
        &self.nvme
    }

    /// The queue pairs.
    #[inline(always)]
    pub(crate) fn nvme_mut(&mut self) -> &mut Nvme {
        &mut self.nvme
    }

    /// True for a SATA drive.
    #[inline(always)]
    pub(crate) fn is_sata(&self) -> bool {
        self.sata.is_some()
    }

    /// Adapter, tags and link, if this is a SATA drive.
    pub(crate) fn sata(&self) -> Option<&Sata> {
        self.sata.as_deref()
    }

    /// Adapter, tags and link of a drive that must be a SATA drive.
    pub(crate) fn sata_mut(&mut self) -> &mut Sata {
        self.sata.as_mut().expect("a SATA drive")
    }

    /// Shrinks the queues to their current size.
    pub(crate) fn fit(&mut self) {
        self.nvme.fit();
    }

    /// True if the processors are modelled, so that [`Interface::work_own`] has an effect.
    #[inline(always)]
    pub(crate) fn has_processors(&self) -> bool {
        self.firmware.is_modelled()
    }

    /// Runs firmware for the drive's own work. Returns its time. Unit: picoseconds.
    pub(crate) fn work_own(&mut self, now: Time, work: OwnWork) -> u64 {
        self.firmware.run_own(now, work)
    }

    /// Firmware time of the command that was received last, with a model of the processors. Unit:
    /// picoseconds.
    pub(crate) fn last_firmware(&self) -> u64 {
        self.firmware.last()
    }

    /// Work of the processors so far, if they are modelled.
    pub(crate) fn processors_done(&self) -> ProcessorReading {
        self.firmware.done()
    }

    /// Time that a request itself needs outside of cache and flash. `over_pcie`: its time on a PCIe
    /// link, if it crosses one.
    pub(crate) fn work(&self, op: RequestOp, sectors: u32, over_pcie: HostWork) -> HostWork {
        let work = match &self.sata {
            Some(sata) => sata.work(op, sectors, over_pcie),
            None => over_pcie,
        };
        HostWork { firmware: self.firmware.time_of(op, sectors), ..work }
    }

    /// The answer of host memory for a request arrives at `earliest` or later. Schedules a look at
    /// the request at that time, or when its firmware could be done.
    #[inline(always)]
    pub(crate) fn expect(
        &self,
        events: &mut EventQueue<Event>,
        id: RequestId,
        request: &Request,
        earliest: Time,
    ) {
        let (place, op) = (request.place, request.op);
        if op == RequestOp::Write && request.received != Time::MAX {
            events.schedule_at(earliest, place, Event::WriteEntry { request: id });
        } else {
            let begin = self.firmware.at_least(earliest, request);
            events.schedule_at(begin, place, Event::Begin { request: id });
        }
    }

    /// The answer of host memory for a request has arrived at `received`. Its firmware runs when
    /// the command, and the data of a write, are there.
    #[inline]
    pub(crate) fn receive(&mut self, request: &mut Request, received: Time) {
        let data_is_missing = request.op == RequestOp::Write && request.received != Time::MAX;
        request.received = received;
        if !data_is_missing {
            request.begun = self.firmware.run(received, request);
        }
    }

    /// A command reaches a SATA drive, which accepts it and asks for the data of a write. Then its
    /// firmware runs.
    pub(crate) fn accept(&mut self, cx: &mut Context, id: RequestId) {
        let request = &mut cx.requests[id];
        request.received = self.sata_mut().accept(cx.now, request.op, request.sectors);
        let begin = self.firmware.run(request.received, request);
        cx.events.schedule(begin, Event::Begin { request: id });
    }

    /// The entry of a write has arrived, and its data is asked for.
    pub(crate) fn write_entry_arrived(&mut self) {
        if let Some(sata) = &mut self.sata {
            sata.begin();
        }
    }

    /// Entries of a queue that have arrived in the device, counted from the start of the run. SATA
    /// has one queue for all.
    #[inline(always)]
    pub(crate) fn arrived(&self, queue: QueueId) -> u64 {
        match &self.sata {
            None => self.nvme.arrived(queue),
            Some(sata) => sata.begun(),
        }
    }

    /// True if a command is looked at again: it was delayed, or it is a read that arrives at the
    /// time of other events. Its place among them is the last. In the released MQSim a message gets
    /// its place when it is sent, which is later than the begin of whatever takes long.
    #[cold]
    fn waits(
        now: Time,
        events: &mut EventQueue<Event>,
        id: RequestId,
        request: &mut Request,
    ) -> bool {
        let again = Event::Begin { request: id };
        if request.begun > now {
            events.schedule_at(request.begun, request.place, again);
            return true;
        }
        // The place of a fetch is never the first: the arrival of the request was before it.
        let place = std::mem::take(&mut request.place);
        let first = place != Sequence::default() && request.op == RequestOp::Read;
        let waits = first && events.next_time() == Some(now);
        if waits {
            events.schedule(now, again);
        }
        waits
    }

    /// The firmware of a command is over, and the command begins. False: it was delayed, and is
    /// looked at again when its firmware is over.
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        now: Time,
        events: &mut EventQueue<Event>,
        id: RequestId,
        request: &mut Request,
    ) -> bool {
        if (self.begins_last || request.begun > now) && Self::waits(now, events, id, request) {
            return false;
        }
        match &mut self.sata {
            None => {
                assert!(request.begun == now, "a command begins when its firmware is over");
                self.nvme.begin(request.queue);
            }
            Some(sata) => {
                request.begun = now;
                // Over PCIe, the entry of a write was there before its data.
                if !(sata.is_over_pcie() && request.op == RequestOp::Write) {
                    sata.begin();
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::{QueueId, Span};

    fn space() -> PageSpace {
        PageSpace { sectors_per_page: 8, first_lpas: vec![0] }
    }

    fn interface() -> Interface {
        let config = InterfaceConfig {
            firmware_time: Span(100),
            write_firmware_time: Some(Span(40)),
            ..InterfaceConfig::default()
        };
        Interface::new(&config, &CompatConfig::default(), &[0], space())
    }

    fn request(op: RequestOp) -> Request {
        Request { op, sectors: 8, ..Request::default() }
    }

    /// A request whose entry has been asked for.
    fn asked(op: RequestOp, events: &mut EventQueue<Event>) -> Request {
        Request { place: events.reserve(), ..request(op) }
    }

    #[test]
    fn a_read_is_looked_at_when_its_firmware_could_be_done_and_begins_when_it_is() {
        let (mut interface, mut events) = (interface(), EventQueue::new());
        let mut read = asked(RequestOp::Read, &mut events);
        interface.nvme_mut().submit(QueueId::new(0), RequestId::new(5));
        interface.nvme_mut().on_doorbell(QueueId::new(0), 1);
        assert_eq!(interface.nvme_mut().next_fetch(), Some(RequestId::new(5)));
        interface.expect(&mut events, RequestId::new(5), &read, Time(10));
        // The entry was delayed.
        interface.receive(&mut read, Time(30));
        assert_eq!((read.received, read.begun), (Time(30), Time(130)));
        assert_eq!(events.pop(), Some((Time(110), Event::Begin { request: RequestId::new(5) })));
        assert!(!interface.begin(Time(110), &mut events, RequestId::new(5), &mut read));
        assert_eq!(events.pop(), Some((Time(130), Event::Begin { request: RequestId::new(5) })));
        assert!(interface.begin(Time(130), &mut events, RequestId::new(5), &mut read));
        assert_eq!(read.begun, Time(130));
        assert_eq!(events.pop(), None);
    }

    #[test]
    fn with_mqsims_link_a_read_begins_after_what_happens_at_the_same_time() {
        let compat = CompatConfig { truncated_link_time: true, ..CompatConfig::default() };
        let mut interface = Interface::new(&InterfaceConfig::default(), &compat, &[0], space());
        let mut events = EventQueue::new();
        let (early, late) = (RequestId::new(5), RequestId::new(6));
        // The arrival of the request.
        events.reserve();
        let mut read = asked(RequestOp::Read, &mut events);
        interface.nvme_mut().submit(QueueId::new(0), early);
        interface.nvme_mut().on_doorbell(QueueId::new(0), 1);
        assert_eq!(interface.nvme_mut().next_fetch(), Some(early));
        interface.expect(&mut events, early, &read, Time(10));
        interface.receive(&mut read, Time(10));
        let (now, other) = (read.begun, Event::Begin { request: late });
        // Scheduled after the command was asked for.
        events.schedule(now, other);
        assert_eq!(events.pop(), Some((now, Event::Begin { request: early })));
        assert!(!interface.begin(now, &mut events, early, &mut read));
        assert_eq!(events.pop(), Some((now, other)));
        events.schedule(now, other);
        assert_eq!(events.pop(), Some((now, Event::Begin { request: early })));
        assert!(interface.begin(now, &mut events, early, &mut read), "it waits once");
    }

    #[test]
    fn firmware_of_a_write_waits_for_its_data() {
        let (mut interface, mut events) = (interface(), EventQueue::new());
        let mut write = asked(RequestOp::Write, &mut events);
        interface.expect(&mut events, RequestId::new(5), &write, Time(10));
        assert_eq!(
            events.pop(),
            Some((Time(10), Event::WriteEntry { request: RequestId::new(5) }))
        );
        interface.receive(&mut write, Time(10));
        assert_eq!((write.received, write.begun), (Time(10), Time::ZERO), "the data is missing");
        // The driver asks for the data.
        (write.received, write.place) = (Time::MAX, events.reserve());
        interface.expect(&mut events, RequestId::new(5), &write, Time(20));
        assert_eq!(events.pop(), Some((Time(60), Event::Begin { request: RequestId::new(5) })));
        interface.receive(&mut write, Time(20));
        assert_eq!((write.received, write.begun), (Time(20), Time(60)));
    }

    #[test]
    fn work_is_that_of_the_link_and_the_firmware() {
        let over_pcie =
            HostWork { submission: 1, transfer_in: 2, transfer_out: 3, ..HostWork::default() };
        let work = interface().work(RequestOp::Write, 8, over_pcie);
        let of = |work: HostWork| {
            [work.host, work.submission, work.transfer_in, work.firmware, work.transfer_out]
        };
        assert_eq!(of(work), [0, 1, 2, 40, 3]);
        let config = InterfaceConfig { kind: InterfaceKind::Sata, ..InterfaceConfig::default() };
        let adapter = config.sata.adapter_time.0;
        let compat = CompatConfig { sata_over_pcie: true, ..CompatConfig::default() };
        let sata = Interface::new(&config, &compat, &[0], space());
        let work = sata.work(RequestOp::Write, 8, over_pcie);
        assert_eq!(of(work), [adapter, 1, 2, 1_000_000, 3 + adapter]);
    }
}
