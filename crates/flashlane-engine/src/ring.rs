//! A queue in a ring of places.

use crate::places::{Places, places_for};

/// Values that leave in the order in which they came. Its memory grows with the longest queue so
/// far.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    places: Places<T>,
    /// Numbers of values that left and that came so far; both wrap.
    head: usize,
    tail: usize,
}

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy + Default> Ring<T> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self { places: Places::one(T::default()), head: 0, tail: 0 }
    }

    /// Number of values.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// True if there is no value.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Puts a value behind all others.
    #[inline(always)]
    pub fn push_back(&mut self, value: T) {
        if self.len() == self.places.len() {
            self.rearrange(self.places.more());
        }
        *self.places.at_mut(self.tail) = value;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Moves the values to a ring of `places` places.
    #[cold]
    #[inline(never)]
    fn rearrange(&mut self, places: usize) {
        let len = self.len();
        self.places.gather(self.head, places, T::default());
        (self.head, self.tail) = (0, len);
    }

    /// Shrinks the queue to its current size, with some room to grow. A queue visits all its places
    /// in turn, so one that was long once would take more of the processor's cache than necessary.
    pub fn fit(&mut self) {
        let few = places_for(self.len());
        if few < self.places.len() {
            self.rearrange(few);
        }
    }

    /// Takes the oldest value.
    #[inline(always)]
    pub fn pop_front(&mut self) -> Option<T> {
        let &value = self.front()?;
        self.head = self.head.wrapping_add(1);
        Some(value)
    }

    /// The oldest value.
    #[inline(always)]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        (!self.is_empty()).then(|| self.places.at(self.head))
    }

    /// The oldest value, for writing.
    #[inline(always)]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        (!self.is_empty()).then(|| self.places.at_mut(self.head))
    }

    /// The value with `position` values ahead of it.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, position: usize) -> Option<&T> {
        (position < self.len()).then(|| self.places.at(self.head.wrapping_add(position)))
    }

    /// The values, the oldest first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).map(|position| self.places.at(self.head.wrapping_add(position)))
    }

    /// Puts a value behind all values for which `goes_first` is true; they are checked from the
    /// last one on.
    #[inline(always)]
    pub fn insert_behind(&mut self, value: T, goes_first: impl Fn(&T) -> bool) {
        self.push_back(value);
        let mut at = self.tail.wrapping_sub(1);
        while at != self.head && !goes_first(self.places.at(at.wrapping_sub(1))) {
            *self.places.at_mut(at) = *self.places.at(at.wrapping_sub(1));
            at = at.wrapping_sub(1);
        }
        *self.places.at_mut(at) = value;
    }

    /// Removes the value with `position` values ahead of it.
    pub fn remove(&mut self, position: usize) -> Option<T> {
        let &value = self.get(position)?;
        // The values ahead of it move up.
        for at in (0..position).rev() {
            let at = self.head.wrapping_add(at);
            *self.places.at_mut(at.wrapping_add(1)) = *self.places.at(at);
        }
        self.head = self.head.wrapping_add(1);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::VecDeque;

    #[test]
    fn behaves_like_the_queue_of_the_library() {
        let mut rng = Rng::stream(1, "ring", 0);
        let (mut ring, mut model) = (Ring::new(), VecDeque::new());
        let steps = crate::steps(40_000) as u64;
        for step in 0..steps {
            let long = (step * 20 / steps).is_multiple_of(2);
            match rng.below(if long { 6 } else { 9 }) {
                0..=3 => {
                    ring.push_back(step);
                    model.push_back(step);
                }
                4 => {
                    let position = rng.below(1 + model.len() as u64 * 2) as usize;
                    assert_eq!(ring.get(position), model.get(position));
                    assert_eq!(ring.remove(position), model.remove(position));
                }
                _ => assert_eq!(ring.pop_front(), model.pop_front()),
            }
            assert_eq!((ring.len(), ring.is_empty()), (model.len(), model.is_empty()));
            assert_eq!(ring.front(), model.front());
            assert_eq!(ring.front_mut().copied(), model.front().copied());
            if step % 900 == 0 {
                ring.fit();
                assert!(ring.places.len() <= (8 * ring.len()).max(places_for(0)));
            }
            if step % 100 == 0 {
                assert!(ring.iter().eq(&model));
            }
        }
    }

    #[test]
    fn what_is_inserted_goes_behind_its_like() {
        let mut rng = Rng::stream(2, "ring", 0);
        let (mut ring, mut model) = (Ring::new(), Vec::new());
        for step in 0..300 {
            let value = (rng.below(20), step);
            ring.insert_behind(value, |other: &(u64, u64)| other.0 <= value.0);
            model.push(value);
        }
        model.sort();
        assert!(ring.iter().eq(&model));
    }
}
