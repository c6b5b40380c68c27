//! First-in-first-out lists threaded through the values of a slab: no allocation, removal anywhere.

use crate::handle::Handle;
use crate::slab::Slab;

/// A value with room for the links of one list.
pub trait Linked<H: Handle> {
    /// Handles of the previous and the next value; [`Handle::NONE`] at the ends.
    fn links(&mut self) -> (&mut H, &mut H);
    /// Handle of the next value.
    fn next(&self) -> H;
}

/// A doubly linked list of slab values. A value is in one list at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List<H> {
    head: H,
    tail: H,
    len: u32,
}

impl<H: Handle> Default for List<H> {
    fn default() -> Self {
        Self { head: H::NONE, tail: H::NONE, len: 0 }
    }
}

impl<H: Handle> List<H> {
    /// Handle of the oldest value, or [`Handle::NONE`].
    #[inline]
    #[must_use]
    pub fn head(&self) -> H {
        self.head
    }

    /// Number of values.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// True if the list has no value.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a value.
    #[inline]
    pub fn push_back<T: Linked<H>>(&mut self, id: H, slab: &mut Slab<H, T>) {
        let tail = self.tail;
        let (previous, next) = slab[id].links();
        *previous = tail;
        *next = H::NONE;
        if tail == H::NONE {
            self.head = id;
        } else {
            *slab[tail].links().1 = id;
        }
        self.tail = id;
        self.len += 1;
    }

    /// Puts a value before all others.
    #[inline]
    pub fn push_front<T: Linked<H>>(&mut self, id: H, slab: &mut Slab<H, T>) {
        let head = self.head;
        let (previous, next) = slab[id].links();
        *previous = H::NONE;
        *next = head;
        if head == H::NONE {
            self.tail = id;
        } else {
            *slab[head].links().0 = id;
        }
        self.head = id;
        self.len += 1;
    }

    /// Takes a value out, wherever it is.
    ///
    /// # Panics
    /// If the value is in another list or in none, which shows by a missing neighbour away from the
    /// ends of this list.
    #[inline]
    pub fn remove<T: Linked<H>>(&mut self, id: H, slab: &mut Slab<H, T>) {
        let (previous, next) = slab[id].links();
        let (previous, next) = (*previous, *next);
        if previous == H::NONE {
            assert!(self.head == id, "a value is removed from the list that it is in");
            self.head = next;
        } else {
            *slab[previous].links().1 = next;
        }
        if next == H::NONE {
            assert!(self.tail == id, "a value is removed from the list that it is in");
            self.tail = previous;
        } else {
            *slab[next].links().0 = previous;
        }
        self.len -= 1;
    }

    /// Takes the oldest value, or returns [`Handle::NONE`].
    #[inline]
    pub fn pop_front<T: Linked<H>>(&mut self, slab: &mut Slab<H, T>) -> H {
        let id = self.head;
        if id == H::NONE {
            return H::NONE;
        }
        self.head = slab[id].next();
        if self.head == H::NONE {
            self.tail = H::NONE;
        } else {
            *slab[self.head].links().0 = H::NONE;
        }
        self.len -= 1;
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::test_id::Id;

    #[derive(Clone, Default)]
    struct Node(Id, Id);

    impl Linked<Id> for Node {
        fn links(&mut self) -> (&mut Id, &mut Id) {
            (&mut self.0, &mut self.1)
        }
        fn next(&self) -> Id {
            self.1
        }
    }

    #[test]
    fn removal_keeps_order() {
        let mut slab = Slab::new();
        let ids: Vec<Id> = (0..5).map(|_| slab.insert(Node(Id::NONE, Id::NONE))).collect();
        let mut list = List::default();
        for &id in &ids {
            list.push_back(id, &mut slab);
        }
        list.remove(ids[2], &mut slab);
        list.remove(ids[0], &mut slab);
        list.remove(ids[4], &mut slab);
        assert_eq!(list.len(), 2);
        assert_eq!(list.pop_front(&mut slab), ids[1]);
        assert_eq!(list.pop_front(&mut slab), ids[3]);
        assert_eq!(list.pop_front(&mut slab), Id::NONE);
        assert!(list.is_empty());
    }

    #[test]
    #[should_panic(expected = "the list that it is in")]
    fn a_value_of_another_list_panics() {
        let mut slab = Slab::new();
        let [mut one, mut two] = [List::default(); 2];
        one.push_back(slab.insert(Node(Id::NONE, Id::NONE)), &mut slab);
        let other = slab.insert(Node(Id::NONE, Id::NONE));
        two.push_back(other, &mut slab);
        one.remove(other, &mut slab);
    }

    #[test]
    #[should_panic(expected = "the list that it is in")]
    fn a_value_of_no_list_panics() {
        let mut slab = Slab::new();
        let alone = slab.insert(Node(Id::NONE, Id::NONE));
        List::default().remove(alone, &mut slab);
    }

    #[test]
    #[should_panic(expected = "its value does not live")]
    fn a_list_notices_that_a_value_of_it_was_removed() {
        let mut slab = Slab::new();
        let mut list = List::default();
        let ids = [(); 2].map(|()| slab.insert(Node(Id::NONE, Id::NONE)));
        ids.into_iter().for_each(|id| list.push_back(id, &mut slab));
        slab.remove(ids[0]);
        slab.insert(Node(Id::NONE, Id::NONE));
        list.pop_front(&mut slab);
    }
}
