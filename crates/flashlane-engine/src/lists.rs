//! First-in-first-out lists of slab values, one for each key that has any.

use std::marker::PhantomData;

use crate::dense_map::DenseMap;
use crate::handle::Handle;
use crate::list::Linked;
use crate::slab::Slab;

/// Lists by key, threaded through the values of a slab. Every step takes constant time, whatever
/// the numbers of values and keys. Memory grows with the largest number of keys that had values at
/// once.
///
/// It is for values that wait for something with a number, if only few of very many numbers have
/// values. A value is in one list at a time. The first value of a list knows the last one as its
/// previous value.
#[derive(Clone, Debug)]
pub struct Lists<H> {
    /// The first value of each key that has any.
    first: DenseMap,
    /// The type of the handles in the map.
    handles: PhantomData<H>,
}

impl<H> Default for Lists<H> {
    fn default() -> Self {
        Self { first: DenseMap::default(), handles: PhantomData }
    }
}

impl<H: Handle> Lists<H> {
    /// True if no key has a value.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Appends a value to the list of a key, which is below `u32::MAX`.
    pub fn push_back<T: Linked<H>>(&mut self, key: u32, id: H, slab: &mut Slab<H, T>) {
        let Some(first) = self.first.get(key).map(H::new) else {
            self.first.insert(key, id.get());
            let (previous, next) = slab[id].links();
            (*previous, *next) = (id, H::NONE);
            return;
        };
        let last = std::mem::replace(slab[first].links().0, id);
        *slab[last].links().1 = id;
        let (previous, next) = slab[id].links();
        (*previous, *next) = (last, H::NONE);
    }

    /// Takes the oldest value of a key, or returns [`Handle::NONE`].
    pub fn pop_front<T: Linked<H>>(&mut self, key: u32, slab: &mut Slab<H, T>) -> H {
        let Some(first) = self.first.get(key).map(H::new) else { return H::NONE };
        let (previous, next) = slab[first].links();
        let (last, second) = (*previous, *next);
        if second == H::NONE {
            self.first.remove(key);
        } else {
            self.first.insert(key, second.get());
            *slab[second].links().0 = last;
        }
        first
    }

    /// Ends the list of a key and returns its oldest value, or [`Handle::NONE`]. The values keep
    /// their links to the next one.
    #[must_use]
    pub fn take(&mut self, key: u32) -> H {
        self.first.remove(key).map_or(H::NONE, H::new)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use super::*;
    use crate::Rng;
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
    fn lists_agree_with_a_map_of_queues() {
        let mut rng = Rng::stream(1, "lists", 0);
        let (mut slab, mut lists) = (Slab::new(), Lists::default());
        let mut model: BTreeMap<u32, VecDeque<Id>> = BTreeMap::new();
        for _ in 0..crate::steps(20_000) {
            let key = rng.below(8) as u32;
            let queue = model.entry(key).or_default();
            match rng.below(16) {
                0..9 => {
                    let id = slab.insert(Node::default());
                    lists.push_back(key, id, &mut slab);
                    queue.push_back(id);
                }
                9..15 => {
                    let id = lists.pop_front(key, &mut slab);
                    assert_eq!(id, queue.pop_front().unwrap_or(Id::NONE));
                    if id != Id::NONE {
                        slab.remove(id);
                    }
                }
                _ => {
                    let mut id = lists.take(key);
                    for expected in queue.drain(..) {
                        assert_eq!(id, expected);
                        id = slab[id].next();
                        slab.remove(expected);
                    }
                    assert_eq!(id, Id::NONE);
                }
            }
            assert_eq!(lists.is_empty(), model.values().all(VecDeque::is_empty));
        }
    }
}
