//! The PCIe link: two directions, each a first-come-first-served server.
//!
//! The state of a direction is the time at which it becomes free. Sending reserves the direction
//! and returns the arrival of the message. A request of the device for host memory is answered when
//! it arrives there. That arrival is no event: the next use of the direction, or the next look for
//! the answer, first handles the answers that are due ([`Link::next_answer`]). Source: MQSim
//! (FAST'18) section 4; packet overheads of PCIe 3.0.

pub(crate) mod config;

use flashlane_engine::{EventQueue, Ring, Sequence, Time};

use crate::compat::CompatConfig;
use crate::event::Event;
use crate::layout::SECTOR_BYTES;
use crate::link::config::LinkConfig;
use crate::request::HostWork;
use flashlane_units::{ByteSize, RequestId, RequestOp};

/// Payload of a doorbell. Unit: bytes.
const DOORBELL_BYTES: u64 = 2;
/// Payload of a read request: the address. Unit: bytes.
const READ_REQUEST_BYTES: u64 = 4;

/// Largest request whose transfer time is in a table instead of computed. Unit: sectors.
const SECTORS_KNOWN: u64 = 1024;

/// One direction of the link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lane {
    free_at: Time,
}

impl Lane {
    /// Sends a message of `duration` that is ready at `ready`. Returns its arrival.
    #[inline]
    pub(crate) fn send(&mut self, ready: Time, duration: u64) -> Time {
        self.free_at = self.free_at.max(ready) + Time(duration);
        self.free_at
    }
}

/// A request of the device for data in host memory that is on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Ask {
    arrives: Time,
    /// Place of the arrival among the events of that time.
    place: Sequence,
    request: RequestId,
    /// Duration of the answer on the link. Unit: picoseconds.
    duration: u64,
}

/// A request for host memory behind a completion. The host reacts to a completion with doorbells,
/// which may delay the answer. Therefore the earliest end of the answer is estimated only when the
/// host has seen the completion.
#[derive(Clone, Copy, Debug, Default)]
struct Postponed {
    completion: Time,
    arrives: Time,
    request: RequestId,
    /// Duration of the answer on the link. Unit: picoseconds.
    duration: u64,
}

/// Both directions and the durations of every kind of message.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Host to device.
    down: Lane,
    /// Device to host.
    up: Lane,
    /// Requests for host memory that are not answered yet, in order of arrival.
    asks: Ring<Ask>,
    /// Arrival of the first of them; the end of time without one.
    first_ask: Time,
    /// Earliest time at which all of them are answered.
    answered: Time,
    /// Time at which the host sees the last completion that was sent.
    completion: Time,
    postponed: Ring<Postponed>,
    payload: u64,
    overhead: u64,
    lanes: u64,
    lane_rate: u64,
    truncated: bool,
    /// Time of a message by the number of its sectors, for the sizes of most requests.
    by_sectors: Vec<u64>,
    /// A doorbell write.
    doorbell: u64,
    /// A request for host memory.
    read_request: u64,
    /// A submission queue entry.
    submission: u64,
    /// A completion queue entry.
    completion_entry: u64,
}

/// Sizes of the entries of a queue pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueEntries {
    /// A submission queue entry.
    pub(crate) submission: ByteSize,
    /// A completion queue entry.
    pub(crate) completion: ByteSize,
}

impl Link {
    /// Derives the message times from the configuration.
    pub(crate) fn new(link: &LinkConfig, entries: QueueEntries, compat: &CompatConfig) -> Self {
        let mut made = Self {
            down: Lane::default(),
            up: Lane::default(),
            asks: Ring::new(),
            first_ask: Time::MAX,
            answered: Time::ZERO,
            completion: Time::ZERO,
            postponed: Ring::new(),
            payload: link.max_payload.0,
            overhead: link.overhead(),
            lanes: u64::from(link.lanes),
            lane_rate: link.lane_rate(),
            truncated: compat.truncated_link_time,
            by_sectors: Vec::new(),
            doorbell: 0,
            read_request: 0,
            submission: 0,
            completion_entry: 0,
        };
        assert!(made.payload > 0 && made.lanes > 0 && made.lane_rate > 0, "the link has a rate");
        let entry = if compat.padded_sqe { 72 } else { entries.submission.0 };
        made.by_sectors = (0..=SECTORS_KNOWN).map(|n| made.data(n * SECTOR_BYTES)).collect();
        made.doorbell = made.data(DOORBELL_BYTES);
        made.read_request = made.data(READ_REQUEST_BYTES);
        made.submission = made.data(entry);
        made.completion_entry = made.data(entries.completion.0);
        made
    }

    /// Shrinks the queues to their current size.
    pub(crate) fn fit(&mut self) {
        self.asks.fit();
        self.postponed.fit();
    }

    /// Sends a doorbell from the host. Answers that are due go first. Returns its arrival in the
    /// device.
    #[inline]
    pub(crate) fn send_doorbell(&mut self, now: Time) -> Time {
        self.down.send(now, self.doorbell)
    }

    /// The device asks host memory for the submission entry of a request. Returns the earliest time
    /// at which the entry is in the device; `None` if the request is behind a completion: see
    /// [`Link::next_postponed`].
    #[inline(always)]
    pub(crate) fn ask_entry(
        &mut self,
        now: Time,
        place: Sequence,
        request: RequestId,
    ) -> Option<Time> {
        self.ask(now, place, request, self.submission)
    }

    /// The device asks host memory for the data of a write. Returns the earliest time at which the
    /// data is in the device; `None` if the request is behind a completion: see
    /// [`Link::next_postponed`].
    #[inline]
    pub(crate) fn ask_data(
        &mut self,
        now: Time,
        place: Sequence,
        request: RequestId,
        sectors: u32,
    ) -> Option<Time> {
        self.ask(now, place, request, self.sectors(sectors))
    }

    #[inline(always)]
    fn ask(
        &mut self,
        now: Time,
        place: Sequence,
        request: RequestId,
        duration: u64,
    ) -> Option<Time> {
        let arrives = self.up.send(now, self.read_request);
        debug_assert!(arrives >= now, "a request for host memory does not arrive early");
        self.first_ask = self.first_ask.min(arrives);
        self.asks.push_back(Ask { arrives, place, request, duration });
        let completion = self.completion;
        // Estimates are made in order, since each depends on the one before.
        if completion > now || !self.postponed.is_empty() {
            self.postponed.push_back(Postponed { completion, arrives, request, duration });
            return None;
        }
        Some(self.answer_at_least(arrives, duration))
    }

    /// The earliest end of an answer.
    #[inline]
    fn answer_at_least(&mut self, arrives: Time, duration: u64) -> Time {
        let answered = arrives.max(self.answered).max(self.down.free_at) + Time(duration);
        debug_assert!(answered >= self.answered, "answers come in order");
        self.answered = answered;
        answered
    }

    /// True if some request for host memory is behind a completion.
    #[inline]
    pub(crate) fn any_postponed(&self) -> bool {
        !self.postponed.is_empty()
    }

    /// Takes the oldest request for host memory that was behind a completion which the host has now
    /// seen. Returns its request and the earliest end of the answer.
    #[inline]
    pub(crate) fn next_postponed(&mut self, now: Time) -> Option<(RequestId, Time)> {
        let &Postponed { completion, arrives, request, duration } = self.postponed.front()?;
        (completion <= now).then(|| {
            self.postponed.pop_front();
            (request, self.answer_at_least(arrives, duration))
        })
    }

    /// Sends the data of a read.
    #[inline(always)]
    pub(crate) fn send_data(&mut self, now: Time, sectors: u32) {
        self.up.send(now, self.sectors(sectors));
    }

    /// Sends a completion entry. Returns the time at which the host sees it.
    #[inline]
    pub(crate) fn send_completion(&mut self, now: Time) -> Time {
        self.completion = self.up.send(now, self.completion_entry);
        self.completion
    }

    /// True if an answer may be due.
    #[inline]
    pub(crate) fn may_answer(&self, now: Time) -> bool {
        self.first_ask <= now
    }

    /// Answers the oldest request that has arrived in host memory. Returns the request, and the
    /// time when the answer is in the device. `None`: no unanswered request has arrived.
    pub(crate) fn next_answer(
        &mut self,
        now: Time,
        events: &EventQueue<Event>,
    ) -> Option<(RequestId, Time)> {
        if !self.may_answer(now) {
            return None;
        }
        let &Ask { arrives, place, request, duration } =
            self.asks.front().expect("one arrives then");
        if !events.has_passed(arrives, place) {
            return None;
        }
        debug_assert_eq!(arrives, self.first_ask, "the oldest request comes first");
        self.asks.pop_front();
        self.first_ask = self.asks.front().map_or(Time::MAX, |ask| ask.arrives);
        Some((request, self.down.send(arrives, duration)))
    }

    /// Time that a request itself needs on the link, from its doorbell to its completion.
    pub(crate) fn work(&self, op: RequestOp, sectors: u32) -> HostWork {
        let data_in = match op {
            RequestOp::Write => self.read_request + self.sectors(sectors),
            _ => 0,
        };
        let data_out = if op == RequestOp::Read { self.sectors(sectors) } else { 0 };
        HostWork {
            host: 0,
            submission: self.doorbell,
            transfer_in: self.read_request + self.submission + data_in,
            firmware: 0,
            transfer_out: data_out + self.completion_entry,
        }
    }

    /// Time on the link of a message with the data of `sectors` sectors. Unit: picoseconds.
    #[inline]
    fn sectors(&self, sectors: u32) -> u64 {
        match self.by_sectors.get(sectors as usize) {
            Some(&time) => time,
            None => self.data(u64::from(sectors) * SECTOR_BYTES),
        }
    }

    /// Time on the link of a message with `bytes` of payload, packet overhead included.
    /// Unit: picoseconds.
    fn data(&self, bytes: u64) -> u64 {
        let wire = bytes + bytes.div_ceil(self.payload) * self.overhead;
        if self.truncated {
            let per_lane = u128::from(wire.div_ceil(self.lanes));
            (per_lane * 1_000_000_000 / u128::from(self.lane_rate)) as u64 * 1_000
        } else {
            let rate = u128::from(self.lanes * self.lane_rate);
            (u128::from(wire) * 1_000_000_000_000 / rate) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::Bandwidth;

    fn link(compat: &CompatConfig) -> Link {
        let entries = QueueEntries { submission: ByteSize(64), completion: ByteSize(16) };
        Link::new(&LinkConfig::default(), entries, compat)
    }

    #[test]
    fn message_times_match_hand_computation() {
        let mqsim = link(&CompatConfig::mqsim());
        let ns = |t: u64| t / 1_000;
        assert_eq!(ns(mqsim.doorbell), 8);
        assert_eq!(ns(mqsim.read_request), 8);
        assert_eq!(ns(mqsim.submission), 25);
        assert_eq!(ns(mqsim.completion_entry), 11);
        assert_eq!(ns(mqsim.data(4096)), 1248);
        assert_eq!(ns(mqsim.data(16_384)), 4992);
        let exact = link(&CompatConfig::default());
        assert_eq!(exact.doorbell, 7_500);
        assert_eq!(exact.submission, 23_000);
        assert_eq!(exact.data(4096), 1_248_000);
    }

    #[test]
    fn generations_give_rate_and_overhead() {
        let of = |generation| {
            let config = LinkConfig { generation: Some(generation), ..LinkConfig::default() };
            (config.lane_rate(), config.overhead())
        };
        assert_eq!(of(3), (984_615_384, 24));
        assert_eq!(of(4), (1_969_230_769, 24));
        assert_eq!(of(5), (3_938_461_538, 24));
        assert_eq!(of(6), (7_375_000_000, 16));
        let given = LinkConfig {
            generation: Some(5),
            lane_bandwidth: Some(Bandwidth(5)),
            packet_overhead: Some(ByteSize(7)),
            ..LinkConfig::default()
        };
        assert_eq!((given.lane_rate(), given.overhead()), (5, 7));
    }

    #[test]
    fn directions_serve_in_order() {
        let mut lane = Lane::default();
        assert_eq!(lane.send(Time(100), 50), Time(150));
        assert_eq!(lane.send(Time(120), 10), Time(160));
        assert_eq!(lane.send(Time(500), 10), Time(510));
    }

    #[test]
    fn host_memory_answers_in_order_and_only_what_has_arrived() {
        let mut link = link(&CompatConfig::default());
        let mut events = EventQueue::new();
        let first = events.reserve();
        // The request for the entry takes 8 ns up, the entry 23 ns down; the data of a write
        // follows in the same direction.
        let entry = link.ask_entry(Time::ZERO, first, RequestId::new(7));
        assert_eq!(entry, Some(Time(8_000 + 23_000)));
        let second = events.reserve();
        let data = link.ask_data(Time::ZERO, second, RequestId::new(8), 8);
        assert_eq!(data, Some(Time(31_000 + 1_248_000)));

        assert!(!link.may_answer(Time(7_999)));
        assert_eq!(link.next_answer(Time(7_999), &events), None);
        // The first request for host memory has arrived; the second arrives 8 ns later.
        pass(&mut events, Time(8_000));
        assert_eq!(link.next_answer(Time(8_000), &events), Some((RequestId::new(7), Time(31_000))));
        assert_eq!(link.next_answer(Time(8_000), &events), None);
        pass(&mut events, Time(16_000));
        assert_eq!(
            link.next_answer(Time(16_000), &events),
            Some((RequestId::new(8), Time(1_279_000)))
        );
        assert!(!link.may_answer(Time::from_s(1)), "everything is answered");
    }

    #[test]
    fn an_answer_waits_for_doorbells_that_were_sent_before_it() {
        let mut link = link(&CompatConfig::default());
        let mut events = EventQueue::new();
        let place = events.reserve();
        let earliest = link.ask_entry(Time::ZERO, place, RequestId::new(1));
        assert_eq!(link.send_doorbell(Time(7_900)), Time(15_400));
        pass(&mut events, Time(8_000));
        let (_, received) = link.next_answer(Time(8_000), &events).expect("the question arrived");
        assert_eq!(received, Time(15_400 + 23_000));
        assert!(Some(received) > earliest, "the estimate was the earliest time");
    }

    #[test]
    fn a_question_behind_a_completion_waits_until_the_host_has_seen_it() {
        let mut link = link(&CompatConfig::default());
        let mut events = EventQueue::<Event>::new();
        let seen = link.send_completion(Time::ZERO);
        let place = events.reserve();
        assert_eq!(link.ask_entry(Time(1), place, RequestId::new(3)), None);
        assert!(link.any_postponed());
        assert_eq!(link.next_postponed(Time(seen.0 - 1)), None);
        assert_eq!(link.send_doorbell(seen), seen + Time(7_500));
        let asked = seen + Time(8_000);
        assert_eq!(link.next_postponed(seen), Some((RequestId::new(3), asked + Time(23_000))));
        assert!(!link.any_postponed());
    }

    #[test]
    fn the_work_of_a_request_is_the_sum_of_its_messages() {
        let link = link(&CompatConfig::default());
        let entries = 8_000 + 23_000;
        let write = link.work(RequestOp::Write, 8);
        assert_eq!(write.submission, 7_500);
        assert_eq!(write.transfer_in, entries + 8_000 + 1_248_000);
        assert_eq!(write.transfer_out, link.completion_entry);
        let read = link.work(RequestOp::Read, 8);
        assert_eq!(read.transfer_in, entries);
        assert_eq!(read.transfer_out, 1_248_000 + link.completion_entry);
        let flush = link.work(RequestOp::Flush, 8);
        assert_eq!((flush.transfer_in, flush.transfer_out), (entries, link.completion_entry));
    }

    /// Moves the clock of the events.
    fn pass(events: &mut EventQueue<Event>, to: Time) {
        events.schedule(to, Event::Alarm);
        assert_eq!(events.pop(), Some((to, Event::Alarm)));
    }
}
