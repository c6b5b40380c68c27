//! A heap, for events that are scheduled in no particular order.

use super::{Entry, Key};

/// A four-way heap. It has fewer levels than a binary heap, and the four children of a node share a
/// cache line or two.
#[derive(Clone, Debug)]
pub(super) struct Heap<E> {
    entries: Vec<Entry<E>>,
}

impl<E: Copy> Heap<E> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::with_capacity(64) }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Checks that no event is below a later one. Returns the key of the first event.
    pub(super) fn audit(&self) -> Option<Key> {
        for (at, entry) in self.entries.iter().enumerate().skip(1) {
            let above = self.entries[(at - 1) / 4].key;
            assert!(above < entry.key, "no event of the heap is above an earlier one");
        }
        self.entries.first().map(|first| first.key)
    }

    pub(super) fn push(&mut self, entry: Entry<E>) {
        let mut hole = self.entries.len();
        self.entries.push(entry);
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if entry.key >= self.entries[parent].key {
                break;
            }
            self.entries[hole] = self.entries[parent];
            hole = parent;
        }
        self.entries[hole] = entry;
    }

    /// Takes the first event of a heap that is not empty. Also returns the key of the next event.
    pub(super) fn pop(&mut self) -> (E, Option<Key>) {
        let last = self.entries.pop().expect("the heap has an event");
        let Some(&top) = self.entries.first() else { return (last.event, None) };
        let len = self.entries.len();
        let mut hole = 0;
        loop {
            let first = 4 * hole + 1;
            let best = match self.entries.get(first..first + 4) {
                Some([a, b, c, d]) => {
                    let (left, left_key) = if b.key < a.key { (1, b.key) } else { (0, a.key) };
                    let (right, right_key) = if d.key < c.key { (3, d.key) } else { (2, c.key) };
                    first + if right_key < left_key { right } else { left }
                }
                _ if first >= len => break,
                _ => (first..len).min_by_key(|&at| self.entries[at].key).expect("a child"),
            };
            if self.entries[best].key >= last.key {
                break;
            }
            self.entries[hole] = self.entries[best];
            hole = best;
        }
        self.entries[hole] = last;
        (top.event, Some(self.entries[0].key))
    }
}
