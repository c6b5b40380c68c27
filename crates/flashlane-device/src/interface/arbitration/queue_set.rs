//! Sets of queues.

/// Bits of a word.
const BITS: usize = 64;
/// Words of a set, with a bit for each of up to 1,024 queues.
const WORDS: usize = 16;

/// A set of submission queues, by number. Range: 0 to 1023.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueSet {
    /// The first 64 queues: most drives have no others.
    first: u64,
    /// The others, from word 1.
    more: [u64; WORDS - 1],
    /// Words of `more` that are not 0, one bit each.
    used: u32,
}

impl QueueSet {
    /// Adds a queue, or removes it.
    ///
    /// # Panics
    ///
    /// If the number is beyond that of any drive.
    #[inline(always)]
    pub fn set(&mut self, queue: usize, member: bool) {
        if queue < BITS {
            self.first = self.first & !(1 << queue) | u64::from(member) << queue;
        } else {
            self.set_more(queue, member);
        }
    }

    /// [`QueueSet::set`] beyond the first word.
    #[inline(never)]
    fn set_more(&mut self, queue: usize, member: bool) {
        let (at, bit) = (queue / BITS, queue % BITS);
        let word = self.more[at - 1] & !(1 << bit) | u64::from(member) << bit;
        self.more[at - 1] = word;
        self.used = self.used & !(1 << at) | u32::from(word != 0) << at;
    }

    /// A word by its number.
    fn word(&self, at: usize) -> u64 {
        if at == 0 { self.first } else { self.more[at - 1] }
    }

    /// Words that may not be 0, one bit each.
    fn words(&self) -> u32 {
        self.used | 1
    }

    /// True if the set has no queue.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.used == 0
    }

    /// True if the set has the queue.
    #[inline(always)]
    #[must_use]
    pub fn contains(&self, queue: usize) -> bool {
        if queue < BITS {
            return self.first >> queue & 1 != 0;
        }
        queue < BITS * WORDS && self.word(queue / BITS) >> (queue % BITS) & 1 != 0
    }

    /// True if some queue is in both sets.
    #[inline(always)]
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let more = || places(self.used & other.used).any(|at| self.word(at) & other.word(at) != 0);
        self.first & other.first != 0 || more()
    }

    /// The next queue that is in both sets: the first with a number above `queue`, or else the
    /// first of all.
    #[inline(always)]
    #[must_use]
    pub fn next_of_both(&self, other: &Self, queue: usize) -> Option<usize> {
        if self.used > 0 {
            return self.next_of_many(other, queue);
        }
        let both = self.first & other.first;
        let above = if queue < BITS { both & (u64::MAX << queue << 1) } else { 0 };
        let from = if above == 0 { both } else { above };
        (from != 0).then_some(from.trailing_zeros() as usize)
    }

    /// [`QueueSet::next_of_both`] beyond the first word.
    #[inline(never)]
    fn next_of_many(&self, other: &Self, queue: usize) -> Option<usize> {
        let word = |at: usize| self.word(at) & other.word(at);
        let both = self.words() & other.words();
        let (here, bit) = (queue / BITS % WORDS, queue % BITS);
        let above = word(here) & (u64::MAX << bit << 1);
        if above != 0 {
            return Some(here * BITS + above.trailing_zeros() as usize);
        }
        let later = both & (u32::MAX << here << 1);
        let found = places(later).chain(places(both)).find(|&at| word(at) != 0);
        found.map(|at| at * BITS + word(at).trailing_zeros() as usize)
    }

    /// The next queue of the set: the first with a number above `queue`, or else the first of all.
    #[inline]
    #[must_use]
    pub fn next(&self, queue: usize) -> Option<usize> {
        self.next_of_both(self, queue)
    }

    /// The queues in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        (0..WORDS * BITS).filter(|&queue| self.contains(queue))
    }
}

impl FromIterator<usize> for QueueSet {
    fn from_iter<I: IntoIterator<Item = usize>>(queues: I) -> Self {
        let mut set = Self::default();
        queues.into_iter().for_each(|queue| set.set(queue, true));
        set
    }
}

/// The positions of the set bits.
#[inline(always)]
fn places(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (at < u32::BITS).then_some(at as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_engine::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn it_is_a_set_of_numbers() {
        let mut random = Rng::stream(1, "queue set", 0);
        for queues in [1, 3, 64, 65, 128, 1024] {
            let (mut sets, mut plain) =
                ([QueueSet::default(); 2], [BTreeSet::new(), BTreeSet::new()]);
            for _ in 0..2000 {
                let (which, queue) = (random.below(2) as usize, random.below(queues) as usize);
                let member = random.below(3) == 0;
                sets[which].set(queue, member);
                if member {
                    plain[which].insert(queue)
                } else {
                    plain[which].remove(&queue)
                };
                assert_eq!(sets[which].contains(queue), member);
                assert_eq!(sets[which].is_empty(), plain[which].is_empty());
                let both: BTreeSet<usize> = &plain[0] & &plain[1];
                assert_eq!(sets[0].meets(&sets[1]), !both.is_empty());
                let from = random.below(queues) as usize;
                let next = |of: &BTreeSet<usize>| of.range(from + 1..).chain(of).next().copied();
                assert_eq!(sets[0].next_of_both(&sets[1], from), next(&both));
                assert_eq!(sets[0].next(from), next(&plain[0]));
            }
            assert!(sets[0].iter().eq(plain[0].iter().copied()));
            assert_eq!(plain[0].iter().copied().collect::<QueueSet>(), sets[0]);
        }
    }
}
