//! The pending events, earliest first; events of the same time in the order in which they were
//! scheduled.

use crate::time::Time;

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    /// Time above sequence: one comparison without a branch orders both.
    key: u128,
    event: E,
}

impl<E> Entry<E> {
    #[inline]
    fn new(time: Time, sequence: u64, event: E) -> Self {
        Self { key: u128::from(time.0) << 64 | u128::from(sequence), event }
    }

    #[inline]
    fn time(&self) -> Time {
        Time((self.key >> 64) as u64)
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
        let entry = Entry::new(time, self.sequence, event);
        self.sequence += 1;
        let mut hole = self.heap.len();
        self.heap.push(entry);
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if entry.key >= self.heap[parent].key {
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
            self.now = last.time();
            return Some((self.now, last.event));
        };
        let len = self.heap.len();
        let mut hole = 0;
        loop {
            let first = 4 * hole + 1;
            let best = match self.heap.get(first..first + 4) {
                Some([a, b, c, d]) => {
                    let (left, left_key) = if b.key < a.key { (1, b.key) } else { (0, a.key) };
                    let (right, right_key) = if d.key < c.key { (3, d.key) } else { (2, c.key) };
                    first + if right_key < left_key { right } else { left }
                }
                _ if first >= len => break,
                _ => (first..len).min_by_key(|&child| self.heap[child].key).expect("a child"),
            };
            if self.heap[best].key >= last.key {
                break;
            }
            self.heap[hole] = self.heap[best];
            hole = best;
        }
        self.heap[hole] = last;
        debug_assert!(top.time() >= self.now, "time runs back");
        self.now = top.time();
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
