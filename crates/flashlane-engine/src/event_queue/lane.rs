//! A lane: a ring of events in order.

use super::{Entry, Key};
use crate::places::{Places, places_for};

/// Most events that a new event moves aside; if there are more, the new event goes to the heap.
const MOVED_MAX: usize = 16;

/// Events, the earliest first.
///
/// Invariants: the place behind the last event has the key `end`; the place before the first event
/// has a key that is not later than any future event.
#[derive(Clone, Debug)]
pub(super) struct Lane<E> {
    places: Places<Entry<E>>,
    /// Numbers of events taken and of events put in so far; both wrap.
    head: usize,
    tail: usize,
    /// Key that stands for the next event of an empty lane.
    end: Key,
}

impl<E: Copy + Default> Lane<E> {
    pub(super) fn new(end: Key) -> Self {
        Self { places: Places::one(Entry::past()), head: 0, tail: 0, end }
    }

    pub(super) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// True if there is no room for another event.
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.len() + 1 >= self.places.len()
    }

    /// Puts an event behind all others. False if it belongs before another event, or if there is no
    /// room. It must not belong before an event that was taken.
    #[inline(always)]
    pub(super) fn append(&mut self, entry: Entry<E>) -> bool {
        if self.is_full() || self.places.at(self.tail.wrapping_sub(1)).key > entry.key {
            return false;
        }
        *self.places.at_mut(self.tail) = entry;
        self.tail = self.tail.wrapping_add(1);
        self.places.at_mut(self.tail).key = self.end;
        true
    }

    /// Puts an event in its place. False if that is too far from the end.
    pub(super) fn insert(&mut self, entry: Entry<E>) -> bool {
        if self.is_full() {
            self.rearrange(self.places.more());
        }
        let tail = self.tail;
        if self.len() > MOVED_MAX
            && self.places.at(tail.wrapping_sub(MOVED_MAX + 1)).key > entry.key
        {
            return false;
        }
        let mut place = tail;
        while place != self.head {
            let before = *self.places.at(place.wrapping_sub(1));
            if before.key < entry.key {
                break;
            }
            *self.places.at_mut(place) = before;
            place = place.wrapping_sub(1);
        }
        *self.places.at_mut(place) = entry;
        self.tail = tail.wrapping_add(1);
        self.places.at_mut(self.tail).key = self.end;
        true
    }

    /// Takes the first event of a lane that is not empty. Also returns the key of the next event.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> (E, Key) {
        let event = self.places.at(self.head).event;
        self.head = self.head.wrapping_add(1);
        (event, self.places.at(self.head).key)
    }

    /// Checks the order of the events. Returns the key of the first event, or `end`.
    pub(super) fn audit(&self) -> Key {
        let key = |at: usize| self.places.at(self.head.wrapping_add(at)).key;
        for at in 1..self.len() {
            assert!(key(at - 1) < key(at), "the events of a lane are in order");
        }
        if self.len() == 0 {
            return self.end;
        }
        assert!(key(self.len()) == self.end, "the end of a lane is marked");
        key(0)
    }

    /// Moves the events to a ring of `places` places.
    #[cold]
    #[inline(never)]
    fn rearrange(&mut self, places: usize) {
        let len = self.len();
        self.places.gather(self.head, places, Entry::past());
        (self.head, self.tail) = (0, len);
        *self.places.at_mut(places - 1) = Entry::past();
        self.places.at_mut(len).key = self.end;
    }

    /// Shrinks the lane to its current size, with some room to grow.
    pub(super) fn fit(&mut self) {
        let few = places_for(self.len());
        if few < self.places.len() {
            self.rearrange(few);
        }
    }
}
