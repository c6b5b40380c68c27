//! NVMe: a queue pair per flow, doorbells, fetch by arbitration, completion queues.
//!
//! Invariants: a queue has at most QueueFetchSize commands in the device; entries of one queue are
//! fetched in order; a completion is sent only with room in the completion queue.
//! Source: MQSim (FAST'18) sections 4.1 and 6.1; NVMe base specification.

use flashlane_engine::{Array, EventQueue, Ring, Time};
use flashlane_units::{FlowId, RequestId};

use super::arbitration::{self, Arbiter, QueueSet};
use super::config::InterfaceConfig;
use crate::compat::CompatConfig;
use crate::event::Event;

/// Doorbells of completions that are handled together. Their number matters only where a completion
/// queue seems full.
const SETTLED_TOGETHER: usize = 32;

/// The device's side of a queue pair, and the entries that it has to fetch.
#[derive(Clone, Debug)]
struct DeviceQueue {
    /// Submission entries in host memory, oldest first.
    submission: Ring<RequestId>,
    /// Entries announced by doorbells and not fetched yet.
    announced: u32,
    /// Commands between the start of their fetch and the end of their service.
    in_device: u32,
    /// Served commands that wait for room in the completion queue.
    held: Ring<RequestId>,
    /// Completion entries that were sent and whose places are not known to be free again; some may
    /// be free already.
    unacknowledged: u32,
    /// Arrival times of the doorbells that free places of the completion queue.
    acknowledgements: Ring<Time>,
    /// Entries that have arrived; every completion reports this number to the host.
    arrived: u64,
}

impl DeviceQueue {
    /// Frees those places of the completion queue whose doorbells have arrived.
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
    queues: Array<FlowId, DeviceQueue>,
    arbiter: Box<dyn Arbiter>,
    /// Queues that may be fetched from.
    ready: QueueSet,
    queue_fetch_size: u32,
    fetch_ahead: u32,
    /// Commands between fetch and the end of firmware time.
    before_firmware: u32,
    /// Usable entries of a completion queue.
    completion_places: u32,
}

impl Nvme {
    /// Idle queues. `classes`: by flow.
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
            ready: QueueSet::default(),
            queue_fetch_size: config.queue_fetch_size,
            fetch_ahead: if instant { u32::MAX } else { config.fetch_ahead },
            before_firmware: 0,
            completion_places: config.queue_depth - 1,
        }
    }

    /// Shrinks the queues to their current size.
    pub(super) fn fit(&mut self) {
        for queue in &mut self.queues {
            queue.submission.fit();
            queue.held.fit();
            queue.acknowledgements.fit();
        }
    }

    /// Changes the queue of a flow, and updates whether it may be fetched from.
    #[inline(always)]
    fn update<R>(&mut self, flow: FlowId, change: impl FnOnce(&mut DeviceQueue) -> R) -> R {
        let queue = &mut self.queues[flow];
        let changed = change(queue);
        let ready = queue.announced > 0 && queue.in_device < self.queue_fetch_size;
        self.ready.set(flow.index(), ready);
        changed
    }

    /// Adds a submission entry that the host wrote.
    #[inline(always)]
    pub(crate) fn submit(&mut self, flow: FlowId, id: RequestId) {
        self.queues[flow].submission.push_back(id);
    }

    /// A doorbell announces one more entry.
    #[inline]
    pub(crate) fn on_doorbell(&mut self, flow: FlowId) {
        debug_assert!(
            (self.queues[flow].announced as usize) < self.queues[flow].submission.len(),
            "a doorbell announces an entry"
        );
        self.update(flow, |queue| queue.announced += 1);
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
        if self.ready.is_empty() || self.before_firmware >= self.fetch_ahead {
            return None;
        }
        let flow = FlowId::at(self.arbiter.next(&self.ready).expect("a queue is ready"));
        self.before_firmware += 1;
        let id = self.update(flow, |queue| {
            queue.announced -= 1;
            queue.in_device += 1;
            queue.submission.pop_front().expect("announced entries exist")
        });
        Some(id)
    }

    /// The firmware of a command of the flow is over.
    #[inline]
    pub(super) fn begin(&mut self, flow: FlowId) {
        debug_assert!(self.before_firmware > 0, "the firmware takes a command that was fetched");
        self.before_firmware -= 1;
        self.queues[flow].arrived += 1;
    }

    /// The device work of a command of the flow is done. True: its completion has a place in the
    /// completion queue. False: the caller must hold it back ([`Nvme::hold`]).
    #[inline(always)]
    pub(crate) fn serve(&mut self, now: Time, flow: FlowId) -> bool {
        let places = self.completion_places;
        self.update(flow, |queue| {
            debug_assert!(queue.in_device > 0, "flow {flow} has a command in the device");
            queue.in_device -= 1;
            if queue.unacknowledged >= places || queue.acknowledgements.len() >= SETTLED_TOGETHER {
                queue.settle(now);
            }
            let has_place = queue.unacknowledged < places;
            queue.unacknowledged += u32::from(has_place);
            has_place
        })
    }

    /// Holds a completion back until there is room in the completion queue.
    pub(crate) fn hold(&mut self, events: &mut EventQueue<Event>, flow: FlowId, id: RequestId) {
        debug_assert!(
            self.queues[flow].unacknowledged >= self.completion_places,
            "a completion is held back only where there is no room"
        );
        let queue = &mut self.queues[flow];
        queue.held.push_back(id);
        if let Some(&at) = queue.acknowledgements.front() {
            events.schedule(at, Event::CompletionRoom { flow });
        }
    }

    /// The host consumed a completion entry; its doorbell arrives at `at`. Returns the number of
    /// entries of the flow that have arrived in the device, which the completion reports to the
    /// host.
    #[inline]
    pub(crate) fn acknowledge(
        &mut self,
        events: &mut EventQueue<Event>,
        flow: FlowId,
        at: Time,
    ) -> u64 {
        let queue = &mut self.queues[flow];
        queue.acknowledgements.push_back(at);
        debug_assert!(
            queue.acknowledgements.len() <= queue.unacknowledged as usize,
            "the host consumes an entry once"
        );
        if !queue.held.is_empty() {
            events.schedule(at, Event::CompletionRoom { flow });
        }
        queue.arrived
    }

    /// Takes the oldest completion of the flow that was held back, if there is room for it now. Its
    /// place in the completion queue is taken.
    pub(crate) fn next_held(&mut self, now: Time, flow: FlowId) -> Option<RequestId> {
        let places = self.completion_places;
        let queue = &mut self.queues[flow];
        queue.settle(now);
        if queue.unacknowledged >= places {
            return None;
        }
        let id = queue.held.pop_front()?;
        queue.unacknowledged += 1;
        Some(id)
    }

    /// Commands of a flow inside the device, for messages.
    pub(crate) fn in_device(&self, flow: FlowId) -> u32 {
        self.queues[flow].in_device
    }

    /// Requests of a flow from their submission entry until the host sees their completion.
    pub(crate) fn under_way(&self, flow: FlowId) -> u64 {
        let queue = &self.queues[flow];
        let unseen = u64::from(queue.unacknowledged) - queue.acknowledgements.len() as u64;
        let held = queue.held.len() as u64;
        queue.submission.len() as u64 + u64::from(queue.in_device) + held + unseen
    }

    /// Checks the counts, with `--check`. `entries`: entries written to each submission queue so
    /// far.
    pub(crate) fn audit(&self, entries: impl Iterator<Item = u64>) {
        let (mut before_firmware, mut in_device) = (0, 0);
        for (flow, (queue, entries)) in self.queues.iter().zip(entries).enumerate() {
            let waiting = queue.submission.len() as u64;
            assert!(u64::from(queue.announced) <= waiting, "a doorbell announces an entry");
            assert!(queue.in_device <= self.queue_fetch_size, "a queue keeps its fetch size");
            let places = self.completion_places;
            assert!(queue.unacknowledged <= places, "a completion queue keeps its depth");
            let acknowledged = queue.acknowledgements.len();
            assert!(acknowledged <= queue.unacknowledged as usize, "a place is freed once");
            let ready = queue.announced > 0 && queue.in_device < self.queue_fetch_size;
            assert_eq!(self.ready.contains(flow), ready, "queues to fetch from are known");
            let fetched = entries.checked_sub(waiting).expect("entries are fetched once");
            before_firmware += fetched.checked_sub(queue.arrived).expect("an entry arrives once");
            in_device += queue.in_device;
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
        for queue in &self.queues {
            let announced = queue.announced as usize;
            assert_eq!(announced, queue.submission.len(), "every entry is announced");
            assert!(queue.held.is_empty(), "no completion is held back for ever");
            let acknowledged = queue.acknowledgements.len();
            assert_eq!(queue.unacknowledged as usize, acknowledged, "every completion arrives");
            let full = queue.in_device == self.queue_fetch_size;
            assert!(announced == 0 || full, "an announced entry is fetched");
        }
    }

    /// True if a flow has as many commands in the device as it may have.
    pub(crate) fn is_full(&self, flow: FlowId) -> bool {
        self.queues[flow].in_device == self.queue_fetch_size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbitration::Arbitration;

    fn nvme(config: &InterfaceConfig, flows: usize) -> Nvme {
        Nvme::new(config, &CompatConfig::default(), &vec![0; flows])
    }

    /// Submits and announces entries.
    fn announce(nvme: &mut Nvme, flow: FlowId, ids: &[RequestId]) {
        for &id in ids {
            nvme.submit(flow, id);
            nvme.on_doorbell(flow);
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
        nvme.submit(FlowId::new(1), RequestId::new(90));
        assert!(!nvme.any_ready(), "no doorbell has arrived");
        announce(
            &mut nvme,
            FlowId::new(0),
            &[RequestId::new(1), RequestId::new(2), RequestId::new(3)],
        );
        announce(&mut nvme, FlowId::new(2), &[RequestId::new(7), RequestId::new(8)]);
        assert_eq!(fetch_all(&mut nvme), [1, 7, 2, 8, 3]);
        nvme.on_doorbell(FlowId::new(1));
        assert_eq!(fetch_all(&mut nvme), [90]);
        assert!(!nvme.any_ready());
    }

    #[test]
    fn a_queue_has_at_most_so_many_commands_in_the_device() {
        let config = InterfaceConfig { queue_fetch_size: 2, ..InterfaceConfig::default() };
        let mut nvme = nvme(&config, 1);
        announce(
            &mut nvme,
            FlowId::new(0),
            &[RequestId::new(1), RequestId::new(2), RequestId::new(3), RequestId::new(4)],
        );
        assert_eq!(fetch_all(&mut nvme), [1, 2]);
        assert!(nvme.is_full(FlowId::new(0)) && !nvme.any_ready());
        nvme.begin(FlowId::new(0));
        assert_eq!(nvme.next_fetch(), None, "it is in the device until it is served");
        assert!(nvme.serve(Time(1), FlowId::new(0)));
        assert_eq!(nvme.in_device(FlowId::new(0)), 1);
        assert_eq!(fetch_all(&mut nvme), [3]);
    }

    #[test]
    fn fetching_stops_with_so_many_commands_before_the_firmware() {
        let config = InterfaceConfig { fetch_ahead: 3, ..InterfaceConfig::default() };
        let mut nvme = nvme(&config, 2);
        announce(
            &mut nvme,
            FlowId::new(0),
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
        nvme.begin(FlowId::new(0));
        assert_eq!(fetch_all(&mut nvme), [4]);
    }

    #[test]
    fn completions_are_held_back_until_the_completion_queue_has_room() {
        let config = InterfaceConfig { queue_depth: 3, ..InterfaceConfig::default() };
        let (mut nvme, mut events) = (nvme(&config, 1), EventQueue::new());
        announce(
            &mut nvme,
            FlowId::new(0),
            &[RequestId::new(1), RequestId::new(2), RequestId::new(3), RequestId::new(4)],
        );
        fetch_all(&mut nvme);
        // The completion queue has two places, so the third and the fourth wait.
        assert!(nvme.serve(Time(10), FlowId::new(0)));
        assert!(nvme.serve(Time(10), FlowId::new(0)));
        for id in [3, 4] {
            assert!(!nvme.serve(Time(10), FlowId::new(0)));
            nvme.hold(&mut events, FlowId::new(0), RequestId::new(id));
        }
        assert!(events.is_empty(), "no doorbell is on its way");
        assert_eq!(nvme.acknowledge(&mut events, FlowId::new(0), Time(50)), 0, "none has begun");
        assert_eq!(events.pop(), Some((Time(50), Event::CompletionRoom { flow: FlowId::new(0) })));
        assert_eq!(nvme.next_held(Time(49), FlowId::new(0)), None, "the doorbell has not arrived");
        assert_eq!(nvme.next_held(Time(50), FlowId::new(0)), Some(RequestId::new(3)));
        assert_eq!(nvme.next_held(Time(50), FlowId::new(0)), None);
        nvme.acknowledge(&mut events, FlowId::new(0), Time(60));
        nvme.acknowledge(&mut events, FlowId::new(0), Time(70));
        assert_eq!(nvme.next_held(Time(70), FlowId::new(0)), Some(RequestId::new(4)));
        assert_eq!(nvme.next_held(Time(70), FlowId::new(0)), None, "there is room, and none waits");
    }

    #[test]
    fn a_completion_that_is_held_is_looked_at_when_the_next_doorbell_arrives() {
        let config = InterfaceConfig { queue_depth: 2, ..InterfaceConfig::default() };
        let (mut nvme, mut events) = (nvme(&config, 1), EventQueue::new());
        announce(&mut nvme, FlowId::new(0), &[RequestId::new(1), RequestId::new(2)]);
        fetch_all(&mut nvme);
        nvme.begin(FlowId::new(0));
        assert!(nvme.serve(Time(10), FlowId::new(0)));
        assert_eq!(nvme.acknowledge(&mut events, FlowId::new(0), Time(30)), 1, "one has begun");
        assert!(events.is_empty(), "none is held");
        assert!(!nvme.serve(Time(20), FlowId::new(0)));
        nvme.hold(&mut events, FlowId::new(0), RequestId::new(2));
        assert_eq!(events.pop(), Some((Time(30), Event::CompletionRoom { flow: FlowId::new(0) })));
        assert_eq!(nvme.next_held(Time(30), FlowId::new(0)), Some(RequestId::new(2)));
    }
}
