//! The pending events, earliest first; events of the same time in the order in which they were
//! scheduled.

use crate::time::Time;

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    time: u64,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    #[inline]
    fn before(&self, other: &Self) -> bool {
        (self.time, self.sequence) < (other.time, other.sequence)
    }
}

/// A four-way heap over `(time, sequence)`: fewer levels than a binary heap, and the four children
/// of a node share a cache line or two.
///
/// Invariant: events leave in order of time, ties in order of scheduling, whatever the platform.
#[derive(Debug)]
pub struct EventQueue<E> {
    heap: Vec<Entry<E>>,
    sequence: u64,
    now: Time,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Copy> EventQueue<E> {
    /// An empty queue at time zero.
    #[must_use]
    pub fn new() -> Self {
        Self { heap: Vec::with_capacity(1024), sequence: 0, now: Time::ZERO }
    }

    /// The time of the last event that left the queue.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// True if nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Schedules `event` at `time`, which must not lie in the past.
    #[inline]
    pub fn schedule(&mut self, time: Time, event: E) {
        assert!(time >= self.now, "an event may not be scheduled in the past");
        let entry = Entry { time: time.0, sequence: self.sequence, event };
        self.sequence += 1;
        let mut hole = self.heap.len();
        self.heap.push(entry);
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if !entry.before(&self.heap[parent]) {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = entry;
    }

    /// Takes the earliest event and moves the clock to its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let last = self.heap.pop()?;
        let Some(&top) = self.heap.first() else {
            self.now = Time(last.time);
            return Some((self.now, last.event));
        };
        let len = self.heap.len();
        let mut hole = 0;
        loop {
            let first = 4 * hole + 1;
            if first >= len {
                break;
            }
            let children = &self.heap[first..len.min(first + 4)];
            let mut best = 0;
            for child in 1..children.len() {
                if children[child].before(&children[best]) {
                    best = child;
                }
            }
            if !children[best].before(&last) {
                break;
            }
            self.heap[hole] = children[best];
            hole = first + best;
        }
        self.heap[hole] = last;
        debug_assert!(top.time >= self.now.0, "time runs back");
        self.now = Time(top.time);
        Some((self.now, top.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn order_is_that_of_a_stable_sort() {
        let mut rng = Rng::stream(3, "queue", 0);
        let mut queue = EventQueue::new();
        let mut expected: Vec<(u64, u32)> = Vec::new();
        for id in 0..5_000_u32 {
            let time = rng.below(700);
            queue.schedule(Time(time), id);
            expected.push((time, id));
        }
        expected.sort_by_key(|&(time, _)| time);
        let got: Vec<(u64, u32)> =
            std::iter::from_fn(|| queue.pop()).map(|(t, id)| (t.0, id)).collect();
        assert_eq!(got, expected);
        assert!(queue.is_empty());
    }

    #[test]
    fn interleaved_schedule_and_pop_never_runs_back() {
        let mut rng = Rng::stream(4, "queue", 0);
        let mut queue = EventQueue::new();
        queue.schedule(Time(0), 0_u32);
        let mut popped = 0;
        let mut last = (Time::ZERO, 0);
        while let Some((time, id)) = queue.pop() {
            assert!(time >= last.0);
            assert!(time > last.0 || id >= last.1, "ties leave in order of scheduling");
            last = (time, id);
            popped += 1;
            if popped < 10_000 {
                for _ in 0..=rng.below(2) {
                    queue.schedule(time + Time(rng.below(50)), queue.sequence as u32);
                }
            }
            if queue.len() > 300 {
                break;
            }
        }
        assert!(popped > 100);
    }

    #[test]
    #[should_panic(expected = "past")]
    fn the_past_is_refused() {
        let mut queue = EventQueue::new();
        queue.schedule(Time(10), ());
        queue.pop();
        queue.schedule(Time(9), ());
    }
}
