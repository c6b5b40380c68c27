//! NVMe: queue pairs of the flows, doorbells, fetch by arbitration, completion queues.
//!
//! Invariants: a queue has at most QueueFetchSize commands in the device; entries of one queue are
//! fetched in order; a completion is sent only with room in the completion queue. If the buffers of
//! reads are bounded, no command is fetched while they are full.
//! Source: MQSim (FAST'18) sections 4.1 and 6.1; NVMe base specification.

use flashlane_engine::{Array, EventQueue, Time};
use flashlane_units::{QueueId, RequestId};

use super::arbitration::{self, Arbiter, QueueSet};
use super::config::{CostModel, InterfaceConfig, InterfaceKind};
use super::device_queue::DeviceQueue;
use super::fitted::fitted;
use super::limits::{LimitPlace, Limits, Passing, RateLimit};
use super::read_buffer::ReadBuffer;
use crate::compat::CompatConfig;
use crate::event::Event;
use crate::request::{Request, Requests};

/// Doorbells of completions that are handled together. Their number matters only where a completion
/// queue seems full.
const SETTLED_TOGETHER: usize = 32;

/// The queue pairs of all flows.
#[derive(Clone)]
pub(crate) struct Nvme {
    queues: Array<QueueId, DeviceQueue>,
    arbiter: Box<dyn Arbiter>,
    /// Limits of rates, if there are any.
    limits: Option<Box<Limits>>,
    /// True if commands are not all alike before the fetch: rates are limited, or costs differ.
    weighs: bool,
    /// Queues that may be fetched from.
    ready: QueueSet,
    queue_fetch_size: u32,
    fetch_ahead: u32,
    /// Commands between fetch and the end of firmware time.
    before_firmware: u32,
    /// Buffers for the data of reads, if they are bounded.
    read_buffer: Option<ReadBuffer>,
    /// Usable entries of a completion queue.
    completion_places: u32,
    /// The queue pair with which the next call of [`Nvme::fit`] begins.
    next_fit: usize,
}

impl Nvme {
    /// Idle queues. `classes`: by queue pair.
    pub(super) fn new(config: &InterfaceConfig, compat: &CompatConfig, classes: &[u8]) -> Self {
        let queues = classes.len();
        let pair = DeviceQueue::new(config.queue_fetch_size);
        let instant = compat.zero_firmware_time;
        let nvme = config.kind == InterfaceKind::Nvme;
        Self {
            queues: Array::of(pair, queues),
            arbiter: arbitration::build(&config.arbitration, classes),
            limits: None,
            weighs: config.cost != CostModel::Commands,
            ready: QueueSet::default(),
            queue_fetch_size: config.queue_fetch_size,
            fetch_ahead: if instant { u32::MAX } else { config.fetch_ahead },
            before_firmware: 0,
            read_buffer: config.read_buffer.filter(|_| nvme).map(ReadBuffer::new),
            completion_places: config.queue_depth - 1,
            next_fit: 0,
        }
    }

    /// Shrinks queues to their current size: some of them in each call.
    pub(super) fn fit(&mut self) {
        for pair in fitted(&mut self.queues, &mut self.next_fit) {
            pair.submission.fit();
            pair.held.fit();
            pair.acknowledgements.fit();
        }
    }

    /// Changes a queue pair, and updates whether it may be fetched from.
    #[inline(always)]
    fn update<R>(&mut self, queue: QueueId, change: impl FnOnce(&mut DeviceQueue) -> R) -> R {
        let pair = &mut self.queues[queue];
        let changed = change(pair);
        let ready = pair.announced > 0 && pair.in_device < pair.fetch_limit;
        self.ready.set(queue.index(), ready);
        changed
    }

    /// Adds a submission entry that the host wrote.
    #[inline(always)]
    pub(crate) fn submit(&mut self, queue: QueueId, id: RequestId) {
        self.queues[queue].submission.push_back(id);
    }

    /// A doorbell announces further entries.
    #[inline]
    pub(crate) fn on_doorbell(&mut self, queue: QueueId, entries: u16) {
        debug_assert!(
            (self.queues[queue].announced as usize) < self.queues[queue].submission.len(),
            "a doorbell announces an entry"
        );
        self.update(queue, |pair| pair.announced += u32::from(entries));
    }

    /// True if some queue may be fetched from and there is room before the firmware.
    #[inline(always)]
    pub(crate) fn any_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Takes the request whose entry is fetched next, in the order of arbitration, if there is room
    /// before the firmware.
    #[inline]
    pub(crate) fn next_fetch(&mut self) -> Option<RequestId> {
        if self.ready.is_empty() || !self.has_room() {
            return None;
        }
        let queue = QueueId::at(self.arbiter.next(&self.ready).expect("a queue is ready"));
        Some(self.take(queue))
    }

    /// True if there is room before the firmware, and for data of reads.
    #[inline(always)]
    fn has_room(&self) -> bool {
        self.before_firmware < self.fetch_ahead
            && self.read_buffer.as_ref().is_none_or(ReadBuffer::has_room)
    }

    /// True if the buffers for the data of reads are bounded ([`Nvme::read_buffer`]).
    #[inline(always)]
    pub(crate) fn buffers_reads(&self) -> bool {
        self.read_buffer.is_some()
    }

    /// The buffers for the data of reads, which must be bounded.
    #[cold]
    pub(crate) fn read_buffer(&mut self) -> &mut ReadBuffer {
        self.read_buffer.as_mut().expect("buffers are bounded")
    }

    /// Takes the oldest entry of a queue.
    #[inline(always)]
    fn take(&mut self, queue: QueueId) -> RequestId {
        self.before_firmware += 1;
        self.update(queue, |pair| {
            pair.announced -= 1;
            pair.in_device += 1;
            pair.submission.pop_front().expect("announced entries exist")
        })
    }

    /// Limits the rates of flows.
    pub(crate) fn limit(&mut self, limits: &[RateLimit], flows: usize) {
        self.limits = Limits::new(limits, flows, LimitPlace::Device).map(Box::new);
        self.weighs |= self.limits.is_some();
    }

    /// True if rates are limited.
    pub(crate) fn is_limited(&self) -> bool {
        self.limits.is_some()
    }

    /// Tells the arbiter the weights of the queues.
    pub(crate) fn weigh(&mut self, weights: &[u32]) {
        assert_eq!(weights.len(), self.queues.len(), "each queue has a weight");
        self.arbiter.weigh(weights);
    }

    /// True if rates are limited or costs differ, so that [`Nvme::next_weighed`] takes the place of
    /// [`Nvme::next_fetch`].
    #[inline(always)]
    pub(crate) fn weighs(&self) -> bool {
        self.weighs
    }

    /// As [`Nvme::next_fetch`], where rates are limited or costs differ. A queue whose oldest entry
    /// has to wait for a limit is held back until then, and the others go on. The turn that it had
    /// is lost, unless turns are charged by their cost. Also returns whether the entry was held
    /// back.
    #[cold]
    pub(crate) fn next_weighed(
        &mut self,
        now: Time,
        events: &mut EventQueue<Event>,
        requests: &Requests,
        cost: impl Fn(&Request) -> u64,
    ) -> Option<(RequestId, bool)> {
        while !self.ready.is_empty() && self.has_room() {
            let queue = QueueId::at(self.arbiter.next(&self.ready).expect("a queue is ready"));
            let head = *self.queues[queue].submission.front().expect("announced entries exist");
            let request = &requests[head];
            let cost = cost(request);
            let Request { flow, op, sectors, .. } = *request;
            let command = Passing { flow, op, sectors, cost };
            let limits = self.limits.as_mut();
            let passes = limits.is_none_or(|limits| limits.pass(now, events, queue, command));
            self.arbiter.charge(queue.index(), if passes { cost } else { 0 });
            if passes {
                let was_held = std::mem::take(&mut self.queues[queue].held_back);
                return Some((self.take(queue), was_held));
            }
            self.update(queue, |pair| (pair.fetch_limit, pair.held_back) = (0, true));
        }
        None
    }

    /// The queue that has waited longest for a limit of rates may go.
    pub(crate) fn release(&mut self, limit: u16) {
        let queue = self.limits.as_mut().expect("rates are limited").turn(limit);
        let all = self.queue_fetch_size;
        self.update(queue, |pair| {
            assert_eq!(pair.fetch_limit, 0, "a limit held the queue back");
            pair.fetch_limit = all;
        });
    }

    /// The firmware of a command of the queue is over.
    #[inline]
    pub(super) fn begin(&mut self, queue: QueueId) {
        debug_assert!(self.before_firmware > 0, "the firmware takes a command that was fetched");
        self.before_firmware -= 1;
        self.queues[queue].arrived += 1;
    }

    /// Entries of a queue that have arrived in the device.
    #[inline(always)]
    pub(super) fn arrived(&self, queue: QueueId) -> u64 {
        self.queues[queue].arrived
    }

    /// The device work of a command of the queue is done. True: its completion has a place in the
    /// completion queue. False: the caller must hold it back ([`Nvme::hold`]).
    #[inline(always)]
    pub(crate) fn serve(&mut self, now: Time, queue: QueueId) -> bool {
        let places = self.completion_places;
        self.update(queue, |pair| {
            debug_assert!(pair.in_device > 0, "queue {queue} has a command in the device");
            pair.in_device -= 1;
            if pair.unacknowledged >= places || pair.acknowledgements.len() >= SETTLED_TOGETHER {
                pair.settle(now);
            }
            let has_place = pair.unacknowledged < places;
            pair.unacknowledged += u32::from(has_place);
            has_place
        })
    }

    /// Holds a completion back until there is room in the completion queue.
    pub(crate) fn hold(&mut self, events: &mut EventQueue<Event>, queue: QueueId, id: RequestId) {
        debug_assert!(
            self.queues[queue].unacknowledged >= self.completion_places,
            "a completion is held back only where there is no room"
        );
        let pair = &mut self.queues[queue];
        pair.held.push_back(id);
        if let Some(&at) = pair.acknowledgements.front() {
            events.schedule(at, Event::CompletionRoom { queue });
        }
    }

    /// The host consumed a completion entry; its doorbell arrives at `at`. Returns the number of
    /// entries of the queue that have arrived in the device by now.
    #[inline]
    pub(crate) fn acknowledge(
        &mut self,
        events: &mut EventQueue<Event>,
        queue: QueueId,
        at: Time,
    ) -> u64 {
        let pair = &mut self.queues[queue];
        pair.acknowledgements.push_back(at);
        debug_assert!(
            pair.acknowledgements.len() <= pair.unacknowledged as usize,
            "the host consumes an entry once"
        );
        if !pair.held.is_empty() {
            events.schedule(at, Event::CompletionRoom { queue });
        }
        pair.arrived
    }

    /// Takes the oldest completion of the queue that was held back, if there is room for it now.
    /// Its place in the completion queue is taken.
    pub(crate) fn next_held(&mut self, now: Time, queue: QueueId) -> Option<RequestId> {
        let places = self.completion_places;
        let pair = &mut self.queues[queue];
        pair.settle(now);
        if pair.unacknowledged >= places {
            return None;
        }
        let id = pair.held.pop_front()?;
        pair.unacknowledged += 1;
        Some(id)
    }

    /// Commands of a queue inside the device, for messages.
    pub(crate) fn in_device(&self, queue: QueueId) -> u32 {
        self.queues[queue].in_device
    }

    /// Requests of a queue from their submission entry until the host sees their completion.
    pub(crate) fn under_way(&self, queue: QueueId) -> u64 {
        let pair = &self.queues[queue];
        let unseen = u64::from(pair.unacknowledged) - pair.acknowledgements.len() as u64;
        let held = pair.held.len() as u64;
        pair.submission.len() as u64 + u64::from(pair.in_device) + held + unseen
    }

    /// Checks the counts, with `--check`. `entries`: entries written to each submission queue so
    /// far.
    pub(crate) fn audit(&self, entries: impl Iterator<Item = u64>) {
        let (mut before_firmware, mut in_device) = (0, 0);
        for (queue, (pair, entries)) in self.queues.iter().zip(entries).enumerate() {
            let waiting = pair.submission.len() as u64;
            assert!(u64::from(pair.announced) <= waiting, "a doorbell announces an entry");
            assert!(pair.in_device <= self.queue_fetch_size, "a queue keeps its fetch size");
            let places = self.completion_places;
            assert!(pair.unacknowledged <= places, "a completion queue keeps its depth");
            let acknowledged = pair.acknowledgements.len();
            assert!(acknowledged <= pair.unacknowledged as usize, "a place is freed once");
            let ready = pair.announced > 0 && pair.in_device < pair.fetch_limit;
            assert_eq!(self.ready.contains(queue), ready, "queues to fetch from are known");
            let fetched = entries.checked_sub(waiting).expect("entries are fetched once");
            before_firmware += fetched.checked_sub(pair.arrived).expect("an entry arrives once");
            in_device += pair.in_device;
        }
        // No arbiter idles while a command waits that may be fetched.
        assert!(
            !self.has_room() || self.ready.is_empty(),
            "a command is fetched as soon as it may be"
        );
        if let Some(limits) = &self.limits {
            let held = self.queues.iter().enumerate().filter(|(_, pair)| pair.fetch_limit == 0);
            limits.audit(held.map(|(queue, _)| queue).collect());
        }
        assert_eq!(
            before_firmware,
            u64::from(self.before_firmware),
            "commands before the firmware are counted"
        );
        assert!(
            self.before_firmware <= in_device,
            "a command before the firmware is in the device"
        );
    }

    /// Checks what must hold when no event is left.
    pub(crate) fn audit_end(&self) {
        assert_eq!(self.before_firmware, 0, "the firmware sees every command");
        for pair in &self.queues {
            let announced = pair.announced as usize;
            assert_eq!(announced, pair.submission.len(), "every entry is announced");
            assert!(pair.held.is_empty(), "no completion is held back for ever");
            let acknowledged = pair.acknowledgements.len();
            assert_eq!(pair.unacknowledged as usize, acknowledged, "every completion arrives");
            let full = pair.in_device == self.queue_fetch_size || !self.has_room();
            assert!(announced == 0 || full, "an announced entry is fetched");
        }
    }

    /// Checks that the data of every read was sent.
    pub(crate) fn audit_sent(&self) {
        assert!(self.read_buffer.as_ref().is_none_or(ReadBuffer::is_empty), "all data is sent");
    }

    /// True if a queue has as many commands in the device as it may have.
    pub(crate) fn is_full(&self, queue: QueueId) -> bool {
        self.queues[queue].in_device == self.queue_fetch_size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbitration::Arbitration;
    use flashlane_units::ByteSize;

    fn nvme(config: &InterfaceConfig, queues: usize) -> Nvme {
        Nvme::new(config, &CompatConfig::default(), &vec![0; queues])
    }

    /// Submits and announces entries.
    fn announce(nvme: &mut Nvme, queue: QueueId, ids: &[RequestId]) {
        for &id in ids {
            nvme.submit(queue, id);
            nvme.on_doorbell(queue, 1);
        }
    }

    fn fetch_all(nvme: &mut Nvme) -> Vec<u32> {
        std::iter::from_fn(|| nvme.next_fetch().map(RequestId::get)).collect()
    }

    #[test]
    fn entries_of_a_queue_are_fetched_in_order_and_queues_in_turn() {
        let config = InterfaceConfig {
            arbitration: Arbitration::by_name("round-robin").expect("registered"),
            ..InterfaceConfig::default()
        };
        let mut nvme = nvme(&config, 3);
        nvme.submit(QueueId::new(1), RequestId::new(90));
        assert!(!nvme.any_ready(), "no doorbell has arrived");
        announce(
            &mut nvme,
            QueueId::new(0),
            &[RequestId::new(1), RequestId::new(2), RequestId::new(3)],
        );
        announce(&mut nvme, QueueId::new(2), &[RequestId::new(7), RequestId::new(8)]);
        assert_eq!(fetch_all(&mut nvme), [1, 7, 2, 8, 3]);
        nvme.on_doorbell(QueueId::new(1), 1);
        assert_eq!(fetch_all(&mut nvme), [90]);
        assert!(!nvme.any_ready());
    }

    #[test]
    fn no_command_is_fetched_while_the_buffers_of_reads_are_full() {
        let config =
            InterfaceConfig { read_buffer: Some(ByteSize(8192)), ..InterfaceConfig::default() };
        let mut nvme = nvme(&config, 1);
        announce(&mut nvme, QueueId::new(0), &[RequestId::new(1), RequestId::new(2)]);
        assert!(nvme.buffers_reads());
        assert_eq!(nvme.next_fetch(), Some(RequestId::new(1)));
        nvme.read_buffer().take(24);
        assert_eq!(nvme.next_fetch(), None, "one read may exceed the buffers, and fills them");
        nvme.read_buffer().send(24);
        assert_eq!(fetch_all(&mut nvme), [2]);
    }

    #[test]
    fn a_queue_has_at_most_so_many_commands_in_the_device() {
        let config = InterfaceConfig { queue_fetch_size: 2, ..InterfaceConfig::default() };
        let mut nvme = nvme(&config, 1);
        announce(
            &mut nvme,
            QueueId::new(0),
            &[RequestId::new(1), RequestId::new(2), RequestId::new(3), RequestId::new(4)],
        );
        assert_eq!(fetch_all(&mut nvme), [1, 2]);
        assert!(nvme.is_full(QueueId::new(0)) && !nvme.any_ready());
        nvme.begin(QueueId::new(0));
        assert_eq!(nvme.next_fetch(), None, "it is in the device until it is served");
        assert!(nvme.serve(Time(1), QueueId::new(0)));
        assert_eq!(nvme.in_device(QueueId::new(0)), 1);
        assert_eq!(fetch_all(&mut nvme), [3]);
    }

    #[test]
    #[should_panic(expected = "a command is fetched as soon as it may be")]
    fn an_idle_arbiter_is_a_fault_while_a_command_waits() {
        let mut nvme = nvme(&InterfaceConfig::default(), 1);
        announce(&mut nvme, QueueId::new(0), &[RequestId::new(1)]);
        nvme.audit(std::iter::once(1));
    }

    #[test]
    fn fetching_stops_with_so_many_commands_before_the_firmware() {
        let config = InterfaceConfig { fetch_ahead: 3, ..InterfaceConfig::default() };
        let mut nvme = nvme(&config, 2);
        announce(
            &mut nvme,
            QueueId::new(0),
            &[
                RequestId::new(1),
                RequestId::new(2),
                RequestId::new(3),
                RequestId::new(4),
                RequestId::new(5),
            ],
        );
        assert_eq!(fetch_all(&mut nvme), [1, 2, 3]);
        assert!(nvme.any_ready());
        nvme.begin(QueueId::new(0));
        assert_eq!(fetch_all(&mut nvme), [4]);
    }

    #[test]
    fn completions_are_held_back_until_the_completion_queue_has_room() {
        let config = InterfaceConfig { queue_depth: 3, ..InterfaceConfig::default() };
        let (mut nvme, mut events) = (nvme(&config, 1), EventQueue::new());
        announce(
            &mut nvme,
            QueueId::new(0),
            &[RequestId::new(1), RequestId::new(2), RequestId::new(3), RequestId::new(4)],
        );
        fetch_all(&mut nvme);
        // The completion queue has two places, so the third and the fourth wait.
        assert!(nvme.serve(Time(10), QueueId::new(0)));
        assert!(nvme.serve(Time(10), QueueId::new(0)));
        for id in [3, 4] {
            assert!(!nvme.serve(Time(10), QueueId::new(0)));
            nvme.hold(&mut events, QueueId::new(0), RequestId::new(id));
        }
        assert!(events.is_empty(), "no doorbell is on its way");
        assert_eq!(nvme.acknowledge(&mut events, QueueId::new(0), Time(50)), 0, "none has begun");
        assert_eq!(
            events.pop(),
            Some((Time(50), Event::CompletionRoom { queue: QueueId::new(0) }))
        );
        assert_eq!(nvme.next_held(Time(49), QueueId::new(0)), None, "the doorbell has not arrived");
        assert_eq!(nvme.next_held(Time(50), QueueId::new(0)), Some(RequestId::new(3)));
        assert_eq!(nvme.next_held(Time(50), QueueId::new(0)), None);
        nvme.acknowledge(&mut events, QueueId::new(0), Time(60));
        nvme.acknowledge(&mut events, QueueId::new(0), Time(70));
        assert_eq!(nvme.next_held(Time(70), QueueId::new(0)), Some(RequestId::new(4)));
        assert_eq!(
            nvme.next_held(Time(70), QueueId::new(0)),
            None,
            "there is room, and none waits"
        );
    }

    #[test]
    fn a_completion_that_is_held_is_looked_at_when_the_next_doorbell_arrives() {
        let config = InterfaceConfig { queue_depth: 2, ..InterfaceConfig::default() };
        let (mut nvme, mut events) = (nvme(&config, 1), EventQueue::new());
        announce(&mut nvme, QueueId::new(0), &[RequestId::new(1), RequestId::new(2)]);
        fetch_all(&mut nvme);
        nvme.begin(QueueId::new(0));
        assert!(nvme.serve(Time(10), QueueId::new(0)));
        assert_eq!(nvme.acknowledge(&mut events, QueueId::new(0), Time(30)), 1, "one has begun");
        assert!(events.is_empty(), "none is held");
        assert!(!nvme.serve(Time(20), QueueId::new(0)));
        nvme.hold(&mut events, QueueId::new(0), RequestId::new(2));
        assert_eq!(
            events.pop(),
            Some((Time(30), Event::CompletionRoom { queue: QueueId::new(0) }))
        );
        assert_eq!(nvme.next_held(Time(30), QueueId::new(0)), Some(RequestId::new(2)));
    }
}
