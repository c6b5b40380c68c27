//! A lane: events in order in a ring.

use super::{Entry, Key};

/// Later events that a new one may have to move aside; beyond it goes to the heap.
const MOVED_MAX: usize = 16;

/// Events, the earliest first.
///
/// Invariants: the length of `places` is a power of two; behind the last event is a place whose key is
/// `end`; before the first one is a key that is not later than that of any event to come.
#[derive(Debug)]
pub(super) struct Ring<E> {
    places: Vec<Entry<E>>,
    /// Events taken and events put in so far; both wrap.
    head: usize,
    tail: usize,
    /// What stands for the key of a next event where there is none.
    end: Key,
}

impl<E: Copy> Ring<E> {
    pub(super) fn new(end: Key) -> Self {
        Self { places: Vec::new(), head: 0, tail: 0, end }
    }

    pub(super) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// True if another event needs more room.
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.len() + 1 >= self.places.len()
    }

    /// Puts an event behind all others; false if it has to go before one, or if there is no room. It may not
    /// go before one that was taken.
    #[inline(always)]
    pub(super) fn append(&mut self, entry: Entry<E>) -> bool {
        let mask = self.places.len().wrapping_sub(1);
        if self.is_full() || self.places[self.tail.wrapping_sub(1) & mask].key > entry.key {
            return false;
        }
        self.places[self.tail & mask] = entry;
        self.tail = self.tail.wrapping_add(1);
        self.places[self.tail & mask].key = self.end;
        true
    }

    /// Puts an event in its place; false if that is too far from the end.
    pub(super) fn insert(&mut self, entry: Entry<E>) -> bool {
        if self.is_full() {
            self.grow(entry.event);
        }
        let mask = self.places.len() - 1;
        let tail = self.tail;
        if self.len() > MOVED_MAX
            && self.places[tail.wrapping_sub(MOVED_MAX + 1) & mask].key > entry.key
        {
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
        self.places[self.tail & mask].key = self.end;
        true
    }

    /// Takes the first event of a lane that has one; also gives the key of the next one.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> (E, Key) {
        let mask = self.places.len() - 1;
        let event = self.places[self.head & mask].event;
        self.head = self.head.wrapping_add(1);
        (event, self.places[self.head & mask].key)
    }

    /// Doubles the room. `fill` is what new places hold until they are used.
    #[cold]
    fn grow(&mut self, fill: E) {
        let room = self.places.len();
        let len = self.len();
        let mut places = Vec::with_capacity((2 * room).max(64));
        places.extend((0..len).map(|at| self.places[self.head.wrapping_add(at) & (room - 1)]));
        let past = Key { time: 0, sequence: 0 };
        places.resize((2 * room).max(64), Entry { key: past, event: fill });
        places[len].key = self.end;
        self.places = places;
        (self.head, self.tail) = (0, len);
    }
}
