//! The host's side of the queue pairs: submission queues, the requests that wait for room in them,
//! and the entries that no doorbell has announced yet.
//!
//! Invariants: a submission queue holds at most `queue_depth - 1` entries, and further requests
//! wait in order of arrival; fewer than `doorbell_batch` entries of a queue wait for a doorbell,
//! and none longer than `doorbell_limit`.

use flashlane_engine::{Array, Ring, Time};
use flashlane_units::{QueueId, RequestId};

use crate::interface::config::InterfaceConfig;
use crate::interface::fitted::fitted;

/// The host's side of a queue pair.
#[derive(Clone)]
struct HostQueue {
    /// Requests that wait for room in the submission queue.
    backlog: Ring<RequestId>,
    /// Entries that were written, and entries that are known to be fetched.
    tail: u64,
    head: u64,
    /// Entries that no doorbell has announced.
    unannounced: u16,
    /// Time by which the host rings for them.
    due: Time,
}

/// The effect of an entry on the doorbell of its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gathered {
    /// The host rings now, for this number of entries.
    Rings(u16),
    /// The entry is the first that waits; the host rings at this time at the latest.
    WaitsUntil(Time),
    /// The entry waits with others.
    Waits,
}

/// The host's side of all queue pairs.
#[derive(Clone)]
pub(crate) struct HostQueues {
    queues: Array<QueueId, HostQueue>,
    /// Entries that a submission queue may hold.
    places: u64,
    /// Entries for which the host rings at once.
    batch: u16,
    /// Longest time for which an entry waits for others.
    limit: Time,
    /// The queue pair with which the next call of [`HostQueues::fit`] begins.
    next_fit: usize,
}

impl HostQueues {
    /// Empty queues. A submission queue has `queue_depth` entries, one of which stays free.
    pub(super) fn new(config: &InterfaceConfig, count: usize) -> Self {
        let (backlog, due) = (Ring::new(), Time::MAX);
        let queue = HostQueue { backlog, tail: 0, head: 0, unannounced: 0, due };
        let places = u64::from(config.queue_depth) - 1;
        // A queue with fewer entries than the batch would wait for the limit each time.
        let batch = u64::from(config.doorbell_batch).min(places);
        Self {
            queues: Array::of(queue, count),
            places,
            batch: u16::try_from(batch).unwrap_or(u16::MAX),
            limit: Time(config.doorbell_limit.0),
            next_fit: 0,
        }
    }

    /// Shrinks queues to their current size: some of them in each call.
    pub(super) fn fit(&mut self) {
        fitted(&mut self.queues, &mut self.next_fit).for_each(|queue| queue.backlog.fit());
    }

    /// Requests that wait behind a submission queue.
    pub(super) fn behind(&self, queue: QueueId) -> u64 {
        self.queues[queue].backlog.len() as u64
    }

    /// Entries that were written to each queue so far.
    pub(super) fn entries(&self) -> impl Iterator<Item = u64> {
        self.queues.iter().map(|queue| queue.tail)
    }

    /// Puts a request into a submission queue. True: it has an entry. False: the queue is full, and
    /// the request waits behind it.
    #[inline(always)]
    pub(super) fn enter(&mut self, queue: QueueId, id: RequestId) -> bool {
        let places = self.places;
        let host = &mut self.queues[queue];
        let fits = host.backlog.is_empty() && host.tail - host.head < places;
        if fits {
            host.tail += 1;
        } else {
            host.backlog.push_back(id);
        }
        fits
    }

    /// Notes that the device has fetched the first `fetched` entries of the queue. If there is room
    /// now, the oldest waiting request gets an entry, and is returned.
    #[inline(always)]
    pub(super) fn next_entry(&mut self, queue: QueueId, fetched: u64) -> Option<RequestId> {
        let places = self.places;
        let host = &mut self.queues[queue];
        host.head = fetched;
        if host.backlog.is_empty() || host.tail - host.head >= places {
            return None;
        }
        let next = host.backlog.pop_front().expect("requests wait");
        host.tail += 1;
        Some(next)
    }

    /// True if a doorbell may announce several entries.
    #[inline(always)]
    pub(super) fn gathers(&self) -> bool {
        self.batch > 1
    }

    /// Counts an entry that was written at `now` towards the next doorbell of its queue.
    pub(super) fn gather(&mut self, queue: QueueId, now: Time) -> Gathered {
        let host = &mut self.queues[queue];
        host.unannounced += 1;
        if host.unannounced >= self.batch {
            host.due = Time::MAX;
            return Gathered::Rings(std::mem::take(&mut host.unannounced));
        }
        if host.unannounced > 1 {
            return Gathered::Waits;
        }
        host.due = now + self.limit;
        Gathered::WaitsUntil(host.due)
    }

    /// Takes the entries that wait for a doorbell, if the first of them has waited for long enough.
    pub(super) fn take_due(&mut self, queue: QueueId, now: Time) -> Option<u16> {
        let host = &mut self.queues[queue];
        if host.due > now {
            return None;
        }
        assert!(host.due == now, "a doorbell is never later than its limit");
        assert!(host.unannounced > 0, "an entry waits for the doorbell");
        host.due = Time::MAX;
        Some(std::mem::take(&mut host.unannounced))
    }

    /// Checks the queues, with `--check`.
    pub(super) fn audit(&self, now: Time) {
        for queue in &self.queues {
            assert!(queue.head <= queue.tail, "the device fetches what was submitted");
            assert!(queue.tail - queue.head <= self.places, "a submission queue keeps its depth");
            let unannounced = queue.unannounced;
            assert!(unannounced == 0 || unannounced < self.batch, "the host rings for a batch");
            assert!(
                u64::from(unannounced) <= queue.tail - queue.head,
                "an entry is announced once"
            );
            assert_eq!(unannounced > 0, queue.due < Time::MAX, "entries that wait have a limit");
            assert!(queue.due >= now, "a doorbell is never later than its limit");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::Span;

    const FIRST: QueueId = QueueId::new(0);

    fn queues(count: usize, batch: u32) -> HostQueues {
        let config = InterfaceConfig {
            queue_depth: 4,
            doorbell_batch: batch,
            doorbell_limit: Span(100),
            ..InterfaceConfig::default()
        };
        HostQueues::new(&config, count)
    }

    #[test]
    fn a_queue_holds_one_entry_less_than_its_depth_and_the_rest_waits_in_order() {
        let mut host = queues(2, 1);
        let mut enter = |queue, id| host.enter(QueueId::new(queue), RequestId::new(id));
        assert_eq!([10, 11, 12].map(|id| enter(0, id)), [true; 3]);
        assert_eq!([13, 14].map(|id| enter(0, id)), [false; 2]);
        assert!(enter(1, 20), "queues are apart");
        assert_eq!(host.next_entry(FIRST, 0), None, "nothing has been fetched");
        assert_eq!(host.next_entry(FIRST, 1), Some(RequestId::new(13)));
        assert_eq!(host.next_entry(FIRST, 1), None);
        // There is room, but earlier requests go first.
        assert!(!host.enter(FIRST, RequestId::new(15)));
        assert_eq!(host.next_entry(FIRST, 3), Some(RequestId::new(14)));
        assert_eq!(host.next_entry(FIRST, 3), Some(RequestId::new(15)));
        assert_eq!(host.next_entry(FIRST, 3), None);
        assert!(!host.enter(FIRST, RequestId::new(16)), "three are fetched, three are not");
        assert_eq!(host.next_entry(FIRST, 6), Some(RequestId::new(16)));
        assert!(host.enter(FIRST, RequestId::new(17)), "none waits");
    }

    #[test]
    fn a_doorbell_rings_for_a_batch_or_at_its_limit() {
        let mut host = queues(1, 3);
        host.queues[FIRST].tail = 3;
        assert!(host.gathers() && !queues(1, 1).gathers());
        assert_eq!(host.gather(FIRST, Time(5)), Gathered::WaitsUntil(Time(105)));
        assert_eq!(host.gather(FIRST, Time(50)), Gathered::Waits);
        host.audit(Time(50));
        assert_eq!(host.gather(FIRST, Time(60)), Gathered::Rings(3));
        assert_eq!(host.gather(FIRST, Time(70)), Gathered::WaitsUntil(Time(170)));
        assert_eq!(host.take_due(FIRST, Time(105)), None, "the first batch has been announced");
        host.audit(Time(170));
        assert_eq!(host.take_due(FIRST, Time(170)), Some(1));
        assert_eq!(host.take_due(FIRST, Time(171)), None);
    }

    #[test]
    #[should_panic(expected = "never later than its limit")]
    fn a_late_doorbell_is_a_fault() {
        let mut host = queues(1, 3);
        host.queues[FIRST].tail = 1;
        host.gather(FIRST, Time(5));
        host.audit(Time(106));
    }

    #[test]
    fn a_batch_is_no_larger_than_the_queue() {
        let mut host = queues(1, 60_000);
        for at in [1, 2] {
            assert!(!matches!(host.gather(FIRST, Time(at)), Gathered::Rings(_)));
        }
        assert_eq!(host.gather(FIRST, Time(3)), Gathered::Rings(3));
    }
}
