//! The PCIe link: two directions, each a first-come-first-served server.
//!
//! A direction is only the time at which it becomes free: sending reserves it and tells when the
//! message is over. What the device asks of the host's memory is answered when the request has arrived
//! there; that is no event: whoever uses the direction next, or looks for the answer, sees to those
//! that were due before. Source: MQSim (FAST'18) section 4; packet overheads of PCIe 3.0.

pub(crate) mod config;

use flashlane_engine::{EventQueue, Ring, Sequence, Time};

use crate::compat::CompatConfig;
use crate::event::Event;
use crate::layout::SECTOR_BYTES;
use crate::link::config::LinkConfig;
use flashlane_units::ByteSize;

/// Payload of a doorbell. Unit: bytes.
const DOORBELL_BYTES: u64 = 2;
/// Payload of a read request: the address. Unit: bytes.
const READ_REQUEST_BYTES: u64 = 4;

/// Largest request whose time is looked up instead of computed. Unit: sectors.
const SECTORS_KNOWN: u64 = 1024;

/// One direction of the link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lane {
    free_at: Time,
}

impl Lane {
    /// Sends a message of `duration` that is ready at `ready`; returns when it has arrived.
    #[inline]
    pub(crate) fn send(&mut self, ready: Time, duration: u64) -> Time {
        self.free_at = self.free_at.max(ready) + Time(duration);
        self.free_at
    }
}

/// A request of the device for something in the host's memory, on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Ask {
    arrives: Time,
    /// Its place among the events of that time.
    place: Sequence,
    request: u32,
}

/// Such a request that goes behind a completion. With this the host sends doorbells, which may be in the
/// way of the answer: when that is over is worth a guess only then.
#[derive(Clone, Copy, Debug, Default)]
struct Postponed {
    completion: Time,
    arrives: Time,
    request: u32,
    /// Of the answer. Unit: picoseconds.
    duration: u64,
}

/// Both directions and the durations of every kind of message.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Host to device.
    pub(crate) down: Lane,
    /// Device to host.
    pub(crate) up: Lane,
    /// Requests for host memory that are not answered, in order of arrival.
    asks: Ring<Ask>,
    /// When the first of them arrives; the end of time without one.
    first_ask: Time,
    /// The answers to all of them are over at this time or later.
    answered: Time,
    /// When the host sees the last completion that was sent.
    completion: Time,
    postponed: Ring<Postponed>,
    payload: u64,
    overhead: u64,
    lanes: u64,
    lane_rate: u64,
    truncated: bool,
    /// Time of a message with the data of so many sectors, for the sizes that most requests have.
    by_sectors: Vec<u64>,
    /// A doorbell write.
    pub(crate) doorbell: u64,
    /// A request for host memory.
    read_request: u64,
    /// A submission queue entry.
    pub(crate) submission: u64,
    /// A completion queue entry.
    completion_entry: u64,
}

impl Link {
    /// Derives the message times from the configuration.
    pub(crate) fn new(
        link: &LinkConfig,
        (submission_entry, completion_entry): (ByteSize, ByteSize),
        compat: &CompatConfig,
    ) -> Self {
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
        let entry = if compat.padded_sqe { 72 } else { submission_entry.0 };
        made.by_sectors = (0..=SECTORS_KNOWN).map(|n| made.data(n * SECTOR_BYTES)).collect();
        made.doorbell = made.data(DOORBELL_BYTES);
        made.read_request = made.data(READ_REQUEST_BYTES);
        made.submission = made.data(entry);
        made.completion_entry = made.data(completion_entry.0);
        made
    }

    /// Has queues use no more memory than they need now.
    pub(super) fn fit(&mut self) {
        self.asks.fit();
        self.postponed.fit();
    }

    /// The device asks for something of a host request in host memory. Returns the earliest end of the
    /// answer, which takes `duration`; `None` if the request goes behind a completion: see
    /// [`Link::next_postponed`].
    #[inline]
    pub(crate) fn ask(
        &mut self,
        now: Time,
        place: Sequence,
        request: u32,
        duration: u64,
    ) -> Option<Time> {
        let arrives = self.up.send(now, self.read_request);
        self.first_ask = self.first_ask.min(arrives);
        self.asks.push_back(Ask { arrives, place, request });
        let completion = self.completion;
        // Guesses are made in order: each builds on the one before.
        if completion > now || !self.postponed.is_empty() {
            self.postponed.push_back(Postponed { completion, arrives, request, duration });
            return None;
        }
        Some(self.answer_at_least(arrives, duration))
    }

    /// The earliest end of an answer.
    #[inline]
    fn answer_at_least(&mut self, arrives: Time, duration: u64) -> Time {
        self.answered = arrives.max(self.answered).max(self.down.free_at) + Time(duration);
        self.answered
    }

    /// Some request went behind a completion.
    #[inline]
    pub(crate) fn any_postponed(&self) -> bool {
        !self.postponed.is_empty()
    }

    /// The oldest request that went behind a completion which the host has seen: the host request, and the
    /// earliest end of the answer.
    #[inline]
    pub(crate) fn next_postponed(&mut self, now: Time) -> Option<(u32, Time)> {
        let &Postponed { completion, arrives, request, duration } = self.postponed.front()?;
        (completion <= now).then(|| {
            self.postponed.pop_front();
            (request, self.answer_at_least(arrives, duration))
        })
    }

    /// Sends a completion entry; returns when the host sees it.
    #[inline]
    pub(crate) fn send_completion(&mut self, now: Time) -> Time {
        self.completion = self.up.send(now, self.completion_entry);
        self.completion
    }

    /// A request for host memory may have arrived.
    #[inline]
    pub(crate) fn may_be_asked(&self, now: Time) -> bool {
        self.first_ask <= now
    }

    /// Takes the oldest request for host memory that has arrived: when, and the host request.
    pub(crate) fn next_asked(&mut self, queue: &EventQueue<Event>) -> Option<(Time, u32)> {
        if !self.may_be_asked(queue.now()) {
            return None;
        }
        let &Ask { arrives, place, request } = self.asks.front().expect("one arrives then");
        if !queue.has_passed(arrives, place) {
            return None;
        }
        self.asks.pop_front();
        self.first_ask = self.asks.front().map_or(Time::MAX, |ask| ask.arrives);
        Some((arrives, request))
    }

    /// Time on the link of what it takes to get a command, and the data of a write of so many sectors. Unit:
    /// picoseconds.
    pub(crate) fn fetch_work(&self, written: Option<u32>) -> u64 {
        let data = written.map_or(0, |sectors| self.read_request + self.sectors(sectors));
        self.read_request + self.submission + data
    }

    /// Time on the link of a completion, and of the data of a read of so many sectors. Unit: picoseconds.
    pub(crate) fn completion_work(&self, read: Option<u32>) -> u64 {
        read.map_or(0, |sectors| self.sectors(sectors)) + self.completion_entry
    }

    /// Time on the link of a message with the data of so many sectors. Unit: picoseconds.
    #[inline]
    pub(crate) fn sectors(&self, sectors: u32) -> u64 {
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
    use flashlane_units::{Bandwidth, ByteSize};

    fn link(compat: &CompatConfig) -> Link {
        Link::new(&LinkConfig::default(), (ByteSize(64), ByteSize(16)), compat)
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
}
