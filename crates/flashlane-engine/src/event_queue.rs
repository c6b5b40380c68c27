//! The pending events, earliest first; events of the same time in the order in which they were
//! scheduled.
//!
//! Most kinds of event are scheduled almost in order of their times: messages on a link end one
//! after the other, and array reads all take equally long. Kinds that are scheduled about equally
//! far ahead share a lane. A lane is a sorted ring, and an event is added quickly at or near its
//! end. All other events are in a heap. The earliest event is the earliest head of all lanes. There
//! are few lanes, because each look compares all of them.

mod heap;
mod lane;

use std::cmp::Ordering;
use std::hint::select_unpredictable;

use crate::time::Time;
use heap::Heap;
use lane::Lane;

/// Number of lanes of a queue, including the heap.
pub const LANES: usize = 5;
/// The lane of events without an order: the heap.
pub const UNORDERED: usize = LANES - 1;
/// A kind of event. Kinds that are scheduled almost in order of time share a lane with similar
/// kinds.
pub trait Laned: Copy + Default {
    /// The lane of the event, below [`LANES`]. It affects only speed, never the order.
    fn lane(&self) -> usize;
}

/// The place of an event among those of the same time. It is reserved before the event is
/// scheduled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sequence(u64);

/// Place of an event in the order: time, then sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    time: u64,
    sequence: u64,
}

impl Key {
    /// The order as one number, which is compared in two steps without a branch.
    #[inline]
    fn rank(self) -> u128 {
        u128::from(self.time) << 64 | u128::from(self.sequence)
    }
}

impl PartialOrd for Key {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
    #[inline]
    fn lt(&self, other: &Self) -> bool {
        self.rank() < other.rank()
    }
    #[inline]
    fn le(&self, other: &Self) -> bool {
        self.rank() <= other.rank()
    }
    #[inline]
    fn gt(&self, other: &Self) -> bool {
        self.rank() > other.rank()
    }
    #[inline]
    fn ge(&self, other: &Self) -> bool {
        self.rank() >= other.rank()
    }
}

impl Ord for Key {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    key: Key,
    event: E,
}

impl<E: Default> Entry<E> {
    /// Stands for a place that never held an event: not later than any.
    fn past() -> Self {
        Self { key: Key { time: 0, sequence: 0 }, event: E::default() }
    }
}

/// The earliest event of a queue: its time, and where it waits. Good until the queue changes.
///
/// An event may be any number to the compiler. Whoever handles events looks here whether there is
/// one, which is faster than to look at the event itself.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    time: u64,
    lane: usize,
}

impl Due {
    /// The time of the event.
    #[inline(always)]
    #[must_use]
    pub fn time(self) -> Time {
        Time(self.time)
    }
}

/// The head of an empty lane: later than all others, and different for each lane.
const fn never(lane: usize) -> Key {
    Key { time: u64::MAX - lane as u64, sequence: 0 }
}

/// Events from this time on never leave the queue, and larger times mark empty lanes.
const END: u64 = Time::END.0;
const _: () =
    assert!(END < never(LANES - 1).time, "an empty lane is later than any event that may leave");

/// The queue.
///
/// Invariant: events leave in order of time, ties in order of scheduling (or of the reservation of
/// their place), on every platform and in any lanes.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    lanes: [Lane<E>; UNORDERED],
    heap: Heap<E>,
    /// Key of the first event of every lane, or [`never`] for an empty lane: times and sequences.
    times: [u64; LANES],
    sequences: [u64; LANES],
    sequence: u64,
    /// Key of the last event that left; its time is the clock.
    last: Key,
}

impl<E: Laned> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Laned> EventQueue<E> {
    /// An empty queue at time zero.
    #[must_use]
    pub fn new() -> Self {
        Self {
            lanes: std::array::from_fn(|lane| Lane::new(never(lane))),
            heap: Heap::new(),
            times: std::array::from_fn(|lane| never(lane).time),
            sequences: [0; LANES],
            sequence: 0,
            last: Key { time: 0, sequence: 0 },
        }
    }

    /// The time of the last event that left the queue.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Time {
        Time(self.last.time)
    }

    /// The time of the event that leaves next. `None` if no event is left before [`Time::END`].
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        let first = self.earliest();
        (first < END).then_some(Time(first))
    }

    /// The time of the first event; if there is none, that of an empty lane.
    #[inline(always)]
    fn earliest(&self) -> u64 {
        let [a, b, c, d, e] = self.times;
        a.min(b).min(c.min(d)).min(e)
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lanes.iter().map(Lane::len).sum::<usize>() + self.heap.len()
    }

    /// True if no event is pending, not even one after the end of simulated time.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks that every lane is in order and that its head is known, so that no event is
    /// overlooked.
    pub fn audit(&self) {
        let lanes = self.lanes.iter().map(Lane::audit);
        let heads = lanes.chain([self.heap.audit().unwrap_or(never(UNORDERED))]);
        for (lane, head) in heads.enumerate() {
            let known = Key { time: self.times[lane], sequence: self.sequences[lane] };
            // Events that never leave count as none.
            let both_never = known.time >= END && head.time >= END;
            assert!(
                known == head || both_never,
                "the head of a lane is known: {known:?}, {head:?}"
            );
            assert!(head >= self.last, "no event is in the past");
        }
    }

    /// Shrinks the lanes to their current size, so that they stay in the processor's cache.
    pub fn fit(&mut self) {
        self.lanes.iter_mut().for_each(Lane::fit);
    }

    /// Reserves a place in the order of scheduling, for an event that may be scheduled later.
    #[inline]
    pub fn reserve(&mut self) -> Sequence {
        let sequence = Sequence(self.sequence);
        self.sequence += 1;
        sequence
    }

    /// True if an event of that time and place would have left the queue by now.
    #[inline]
    #[must_use]
    pub fn has_passed(&self, time: Time, Sequence(sequence): Sequence) -> bool {
        Key { time: time.0, sequence } <= self.last
    }

    /// True if an event of that time and reserved place comes before all pending events. It then
    /// need not be scheduled: it counts as having left the queue, and the clock moves to its time.
    #[inline(always)]
    pub fn passes(&mut self, time: Time, Sequence(sequence): Sequence) -> bool {
        assert!(time.0 >= self.last.time, "an event may not be scheduled in the past");
        // At equal times it may be the later event, so the lanes are compared.
        let passes = time.0 < self.earliest().min(END);
        if passes {
            self.last = Key { time: time.0, sequence };
        }
        passes
    }

    /// Schedules `event` at `time`, which must not lie in the past. An event at or after
    /// [`Time::END`] never leaves the queue: [`EventQueue::pop`] does not return it, but
    /// [`EventQueue::len`] counts it.
    #[inline(always)]
    pub fn schedule(&mut self, time: Time, event: E) {
        let sequence = self.reserve();
        self.schedule_at(time, sequence, event);
    }

    /// Schedules `event` at `time` in a reserved place. No event behind that place may have left
    /// the queue.
    #[inline(always)]
    pub fn schedule_at(&mut self, time: Time, Sequence(sequence): Sequence, event: E) {
        assert!(time.0 >= self.last.time, "an event may not be scheduled in the past");
        let lane = event.lane();
        let entry = Entry { key: Key { time: time.0, sequence }, event };
        if lane == UNORDERED || !self.lanes[lane].append(entry) {
            self.insert(lane, entry);
            return;
        }
        // The only event of a lane is its head. A branch on this would often be mispredicted.
        let (first, other) = (self.times[lane], self.sequences[lane]);
        self.times[lane] = first.min(time.0);
        self.sequences[lane] = select_unpredictable(first >= END, sequence, other);
    }

    /// Puts an event before others of its lane, or into the heap.
    fn insert(&mut self, mut lane: usize, entry: Entry<E>) {
        if lane == UNORDERED || !self.lanes[lane].insert(entry) {
            lane = UNORDERED;
            self.heap.push(entry);
        }
        if entry.key < (Key { time: self.times[lane], sequence: self.sequences[lane] }) {
            self.set_head(lane, entry.key);
        }
    }

    #[inline]
    fn set_head(&mut self, lane: usize, key: Key) {
        self.times[lane] = key.time;
        self.sequences[lane] = key.sequence;
    }

    /// The one of two lanes with the earlier head.
    #[inline(always)]
    fn earlier(&self, a: (u64, usize), b: (u64, usize)) -> (u64, usize) {
        if a.0 == b.0 {
            return if self.sequences[b.1] < self.sequences[a.1] { b } else { a };
        }
        let first = b.0 < a.0;
        (select_unpredictable(first, b.0, a.0), select_unpredictable(first, b.1, a.1))
    }

    /// Takes the earliest event and moves the clock to its time. `None` if no event is left before
    /// [`Time::END`].
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let due = self.due()?;
        Some((due.time(), self.take(due)))
    }

    /// The earliest event, to be taken. `None` if no event is left before [`Time::END`].
    #[inline(always)]
    #[must_use]
    pub fn due(&self) -> Option<Due> {
        let head = |lane: usize| (self.times[lane], lane);
        let pair = |lane: usize| self.earlier(head(lane), head(lane + 1));
        let (time, lane) = self.earlier(self.earlier(pair(0), pair(2)), head(UNORDERED));
        (time < END).then_some(Due { time, lane })
    }

    /// Takes the earliest event and moves the clock to its time.
    #[inline(always)]
    pub fn take(&mut self, Due { time, lane }: Due) -> E {
        debug_assert_eq!(time, self.earliest(), "the earliest event is taken");
        debug_assert!(time >= self.last.time, "time runs back");
        self.last = Key { time, sequence: self.sequences[lane] };
        let (event, next) = if lane == UNORDERED {
            let (event, next) = self.heap.pop();
            (event, next.unwrap_or(never(lane)))
        } else {
            self.lanes[lane].pop()
        };
        self.set_head(lane, next);
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// An event that names its lane.
    #[derive(Clone, Copy, Debug, Default)]
    struct In(usize, u32);

    impl Laned for In {
        fn lane(&self) -> usize {
            self.0
        }
    }

    #[test]
    fn order_is_that_of_a_stable_sort_whatever_the_lanes() {
        for lanes in 1..=LANES as u64 {
            let mut rng = Rng::stream(lanes, "queue", 0);
            let mut queue = EventQueue::new();
            let mut expected: Vec<(u64, u32)> = Vec::new();
            let events = crate::steps(5_000);
            for id in 0..events as u32 {
                let time = rng.below(700);
                queue.schedule(Time(time), In(rng.below(lanes) as usize, id));
                expected.push((time, id));
            }
            assert_eq!(queue.len(), events);
            expected.sort_by_key(|&(time, _)| time);
            assert_eq!(queue.next_time().map(|time| time.0), expected.first().map(|first| first.0));
            let got: Vec<(u64, u32)> =
                std::iter::from_fn(|| queue.pop()).map(|(t, e)| (t.0, e.1)).collect();
            assert_eq!(got, expected);
            assert!(queue.is_empty());
        }
    }

    #[test]
    fn lanes_in_order_and_out_of_it_agree_with_the_heap() {
        // Lane 0 in order, lane 1 almost, lane 2 far from it; then the same events all in the heap.
        let mut rng = Rng::stream(4, "queue", 0);
        let (mut laned, mut plain) = (EventQueue::new(), EventQueue::new());
        let mut pending = 0;
        for id in 0..crate::steps(60_000) as u32 {
            if pending < 200 && rng.below(100) < 55 {
                let lane = rng.below(3) as usize;
                let ahead = [1_000, 990 + rng.below(20), rng.below(3_000)][lane];
                let at = laned.now() + Time(ahead);
                laned.schedule(at, In(lane, id));
                plain.schedule(at, In(UNORDERED, id));
                pending += 1;
            } else {
                if rng.below(500) == 0 {
                    laned.fit();
                    laned.audit();
                    plain.audit();
                }
                let (got, expected) = (laned.pop(), plain.pop());
                assert_eq!(got.map(|(t, e)| (t, e.1)), expected.map(|(t, e)| (t, e.1)));
                pending -= usize::from(got.is_some());
            }
        }
    }

    #[test]
    fn a_reserved_place_is_kept() {
        for lane in [0, UNORDERED] {
            let mut queue = EventQueue::new();
            queue.schedule(Time(5), In(lane, 0));
            let place = queue.reserve();
            queue.schedule(Time(5), In(lane, 2));
            queue.schedule(Time(4), In(lane, 3));
            queue.schedule_at(Time(5), place, In(lane, 1));
            let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|(_, e)| e.1).collect();
            assert_eq!(order, [3, 0, 1, 2]);
            assert!(queue.has_passed(Time(5), place) && !queue.has_passed(Time(6), place));
            assert!({
                let later = queue.reserve();
                !queue.has_passed(Time(5), later)
            });
        }
    }

    #[test]
    fn what_comes_first_needs_no_lane() {
        let mut queue = EventQueue::new();
        let place = queue.reserve();
        queue.schedule(Time(5), In(1, 0));
        assert!(!queue.passes(Time(6), place) && !queue.passes(Time(5), place));
        assert_eq!(queue.now(), Time(0));
        assert!(queue.passes(Time(4), place));
        assert!(queue.now() == Time(4) && queue.has_passed(Time(4), place));
        assert_eq!(queue.pop().map(|(t, e)| (t.0, e.1)), Some((5, 0)));
        let place = queue.reserve();
        assert!(queue.passes(Time(9), place), "nothing else is left");
    }

    #[test]
    fn events_beyond_the_end_of_time_never_leave() {
        let late = [Time::END, Time::END + Time(1), Time(u64::MAX - 1), Time::MAX, Time::MAX];
        for lane in [0, 1, UNORDERED] {
            let mut queue = EventQueue::new();
            for (id, &time) in (0..).zip(&late) {
                queue.schedule(time, In(lane, id));
            }
            // Events before the end leave in order, whatever waits behind them.
            queue.schedule(Time(Time::END.0 - 1), In(lane, 10));
            queue.schedule(Time(7), In(lane, 11));
            queue.schedule(Time::MAX, In(lane, 12));
            queue.audit();
            assert!(!queue.is_empty());
            assert_eq!(queue.pop().map(|(t, e)| (t, e.1)), Some((Time(7), 11)));
            assert_eq!(queue.pop().map(|(t, e)| (t.0, e.1)), Some((Time::END.0 - 1, 10)));
            assert_eq!(queue.pop().map(|(t, e)| (t, e.1)), None);
            assert_eq!((queue.len(), queue.is_empty()), (late.len() + 1, false));
            let place = queue.reserve();
            queue.audit();
            assert!(!queue.passes(Time::END, place) && !queue.passes(Time::MAX, place));
        }
    }

    #[test]
    #[should_panic(expected = "past")]
    fn the_past_is_refused() {
        let mut queue = EventQueue::new();
        queue.schedule(Time(10), In(0, 0));
        queue.pop();
        queue.schedule(Time(9), In(0, 0));
    }
}
