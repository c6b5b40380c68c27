//! Sets of queues.

/// Bits of a word.
const BITS: usize = 64;
/// Queues of a set.
const QUEUES: usize = 1 << 16;

/// A set of submission queues, by number. Range: 0 to 65,535.
///
/// The first 64 queues are a word. The others are a tree of three levels, so that the next member
/// of many queues is found in a few steps, however few of them are members. Memory: 32 B, and an
/// eighth of a byte for each queue up to the highest that was a member, if that is above 63.
#[derive(Clone, Debug, Default)]
pub struct QueueSet {
    /// The first 64 queues: most drives have no others.
    first: u64,
    /// The groups whose `used` is not 0, one bit each.
    groups: u32,
    /// The others, by groups of 64 words.
    more: Vec<Group>,
}

/// 4,096 queues.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    /// Words that are not 0, one bit each.
    used: u64,
    /// Word 0 of the first group stays 0: it is [`QueueSet::first`].
    words: Box<[u64; BITS]>,
}

impl Default for Group {
    fn default() -> Self {
        Self { used: 0, words: Box::new([0; BITS]) }
    }
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
        assert!(queue < QUEUES, "a drive has at most {QUEUES} queues");
        let (at, bit) = (queue / BITS, queue % BITS);
        let (group, at) = (at / BITS, at % BITS);
        if group >= self.more.len() {
            if !member {
                return;
            }
            self.more.resize_with(group + 1, Group::default);
        }
        let here = &mut self.more[group];
        let word = here.words[at] & !(1 << bit) | u64::from(member) << bit;
        here.words[at] = word;
        here.used = here.used & !(1 << at) | u64::from(word != 0) << at;
        self.groups = self.groups & !(1 << group) | u32::from(here.used != 0) << group;
    }

    /// A word by its number.
    fn word(&self, at: usize) -> u64 {
        if at == 0 {
            return self.first;
        }
        self.more.get(at / BITS).map_or(0, |group| group.words[at % BITS])
    }

    /// Words of a group that may not be 0, one bit each.
    fn words(&self, group: usize) -> u64 {
        self.more.get(group).map_or(0, |one| one.used) | u64::from(group == 0)
    }

    /// True if the set has no queue.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.groups == 0
    }

    /// True if the set has the queue.
    #[inline(always)]
    #[must_use]
    pub fn contains(&self, queue: usize) -> bool {
        if queue < BITS {
            return self.first >> queue & 1 != 0;
        }
        self.word(queue / BITS) >> (queue % BITS) & 1 != 0
    }

    /// True if some queue is in both sets.
    #[inline(always)]
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        if self.first & other.first != 0 {
            return true;
        }
        self.groups & other.groups != 0 && self.first_from(other, 1).is_some()
    }

    /// The next queue that is in both sets: the first with a number above `queue`, or else the
    /// first of all.
    #[inline(always)]
    #[must_use]
    pub fn next_of_both(&self, other: &Self, queue: usize) -> Option<usize> {
        if self.groups > 0 {
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
        let (here, bit) = (queue / BITS, queue % BITS);
        let above = self.word(here) & other.word(here) & (u64::MAX << bit << 1);
        if above != 0 {
            return Some(here * BITS + above.trailing_zeros() as usize);
        }
        self.first_from(other, here + 1).or_else(|| self.first_from(other, 0))
    }

    /// The first queue that is in both sets, from a word on.
    fn first_from(&self, other: &Self, word: usize) -> Option<usize> {
        let (group, at) = (word / BITS, word % BITS);
        if group >= QUEUES / BITS / BITS {
            return None;
        }
        let found = self.first_of_group(other, group, u64::MAX << at);
        let groups = u64::from(self.groups & other.groups) & (u64::MAX << group << 1);
        found.or_else(|| places(groups).find_map(|at| self.first_of_group(other, at, u64::MAX)))
    }

    /// The first queue that is in both sets, in the words of a group that `allowed` names.
    fn first_of_group(&self, other: &Self, group: usize, allowed: u64) -> Option<usize> {
        let both = self.words(group) & other.words(group) & allowed;
        places(both).find_map(|at| {
            let at = group * BITS + at;
            let word = self.word(at) & other.word(at);
            (word != 0).then(|| at * BITS + word.trailing_zeros() as usize)
        })
    }

    /// The next queue of the set: the first with a number above `queue`, or else the first of all.
    #[inline]
    #[must_use]
    pub fn next(&self, queue: usize) -> Option<usize> {
        self.next_of_both(self, queue)
    }

    /// Calls `found` with every queue of this set that the other one lacks, in order.
    #[inline]
    pub fn each_without(&self, other: &Self, mut found: impl FnMut(usize)) {
        places(self.first & !other.first).for_each(&mut found);
        for group in places(u64::from(self.groups)) {
            let here = &self.more[group];
            for at in places(here.used) {
                let word = here.words[at] & !other.word(group * BITS + at);
                places(word).for_each(|bit| found((group * BITS + at) * BITS + bit));
            }
        }
    }

    /// The queues in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let words = 0..(self.more.len() * BITS).max(1);
        words.flat_map(|at| places(self.word(at)).map(move |bit| at * BITS + bit))
    }
}

/// Sets are equal if they have the same queues.
impl PartialEq for QueueSet {
    fn eq(&self, other: &Self) -> bool {
        self.groups == other.groups && self.iter().eq(other.iter())
    }
}

impl Eq for QueueSet {}

impl FromIterator<usize> for QueueSet {
    fn from_iter<I: IntoIterator<Item = usize>>(queues: I) -> Self {
        let mut set = Self::default();
        queues.into_iter().for_each(|queue| set.set(queue, true));
        set
    }
}

/// The positions of the set bits.
#[inline(always)]
fn places(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (at < u64::BITS).then_some(at as usize)
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
        for queues in [1, 3, 64, 65, 128, 1024, 4096, 4160, 5000, 65_536] {
            let (mut sets, mut plain) =
                ([(); 2].map(|()| QueueSet::default()), [(); 2].map(|()| BTreeSet::new()));
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
                let mut without = BTreeSet::new();
                sets[0].each_without(&sets[1], |queue| assert!(without.insert(queue)));
                assert_eq!(without, &plain[0] - &plain[1]);
            }
            assert!(sets[0].iter().eq(plain[0].iter().copied()));
            assert_eq!(plain[0].iter().copied().collect::<QueueSet>(), sets[0]);
        }
    }
}
