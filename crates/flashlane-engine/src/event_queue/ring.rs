//! A lane: events in order in a ring.

use super::{Entry, Key};

/// Later events that a new one may have to move aside; beyond it goes to the heap.
const MOVED_MAX: usize = 16;

/// Events, the earliest first. Invariant: the length of `places` is a power of two.
#[derive(Debug)]
pub(super) struct Ring<E> {
    places: Vec<Entry<E>>,
    /// Events taken and events put in so far; both wrap.
    head: usize,
    tail: usize,
}

impl<E: Copy> Ring<E> {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), head: 0, tail: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// Puts an event behind all others; false if it has to go before one, or if there is no room.
    #[inline(always)]
    pub(super) fn append(&mut self, entry: Entry<E>) -> bool {
        let len = self.tail.wrapping_sub(self.head);
        let mask = self.places.len().wrapping_sub(1);
        if len == self.places.len()
            || len > 0 && self.places[self.tail.wrapping_sub(1) & mask].key > entry.key
        {
            return false;
        }
        self.places[self.tail & mask] = entry;
        self.tail = self.tail.wrapping_add(1);
        true
    }

    /// Puts an event in its place; false if that is too far from the end.
    pub(super) fn insert(&mut self, entry: Entry<E>) -> bool {
        let len = self.tail.wrapping_sub(self.head);
        if len == self.places.len() {
            self.grow(entry);
        }
        let mask = self.places.len() - 1;
        let tail = self.tail;
        if len > MOVED_MAX && self.places[tail.wrapping_sub(MOVED_MAX + 1) & mask].key > entry.key {
            return false;
        }
        let mut place = tail;
        while place != self.head {
            let before = self.places[place.wrapping_sub(1) & mask];
            if before.key < entry.key {
                break;
            }
            self.places[place & mask] = before;
            place = place.wrapping_sub(1);
        }
        self.places[place & mask] = entry;
        self.tail = tail.wrapping_add(1);
        true
    }

    /// Takes the first event of a lane that has one; also gives the key of the next one.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> (E, Option<Key>) {
        let mask = self.places.len() - 1;
        let event = self.places[self.head & mask].event;
        self.head = self.head.wrapping_add(1);
        (event, (self.head != self.tail).then(|| self.places[self.head & mask].key))
    }

    /// Doubles the room. `fill` is what new places hold until they are used.
    #[cold]
    fn grow(&mut self, fill: Entry<E>) {
        let len = self.places.len();
        let mut places = Vec::with_capacity((2 * len).max(64));
        places.extend((0..len).map(|at| self.places[self.head.wrapping_add(at) & (len - 1)]));
        places.resize((2 * len).max(64), fill);
        self.places = places;
        (self.head, self.tail) = (0, len);
    }
}
