//! Footprints: the part of its logical space that a flow touches, for preconditioning.

/// The part of a flow's logical space that its requests touch.
#[derive(Clone, Debug, PartialEq)]
pub enum Footprint {
    /// The whole space, every address nearly equally likely.
    Whole,
    /// Everything up to a limit, every address nearly equally likely.
    Prefix {
        /// Size of the touched part, from the start of the space. Unit: sectors of 512 B.
        sectors: u64,
    },
    /// A hot region at the start of the touched part, a cold region after it.
    HotCold {
        /// Size of the hot region. Unit: sectors.
        hot_sectors: u64,
        /// Size of both regions together. Unit: sectors.
        total_sectors: u64,
        /// Share of the requests that go to the hot region. Range: 0..=1.
        hot_traffic: f64,
    },
    /// Some pages, found by looking through the requests.
    Pages(PageSet),
    /// Everything up to a limit, in sequence.
    Streaming {
        /// Size of the touched part, from the start of the space. Unit: sectors.
        sectors: u64,
    },
}

/// A set of logical pages of one flow, one bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSet {
    words: Vec<u64>,
    pages: u64,
}

impl PageSet {
    /// One bit a page, from the lowest page on.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The empty set out of `pages` pages.
    #[must_use]
    pub fn new(pages: u64) -> Self {
        Self { words: vec![0; pages.div_ceil(64) as usize], pages }
    }

    /// Size of the universe. Unit: pages.
    #[must_use]
    pub fn universe(&self) -> u64 {
        self.pages
    }

    /// Adds the pages `first..=last`; `last` must be in the universe.
    pub fn insert_range(&mut self, first: u64, last: u64) {
        assert!(first <= last, "a range of pages runs forwards");
        assert!(last < self.pages, "page {last} of {} pages", self.pages);
        for page in first..=last {
            self.words[(page / 64) as usize] |= 1 << (page % 64);
        }
    }

    /// True if the page is in the set.
    #[must_use]
    pub fn contains(&self, page: u64) -> bool {
        self.words.get((page / 64) as usize).is_some_and(|word| word >> (page % 64) & 1 == 1)
    }

    /// Number of pages in the set.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The pages of the set in rising order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.words.iter().zip(0_u64..).flat_map(|(&word, index)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_set_holds_what_was_put_in() {
        let mut set = PageSet::new(130);
        set.insert_range(0, 0);
        set.insert_range(63, 65);
        set.insert_range(129, 129);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 65, 129]);
        assert_eq!(set.count(), 5);
        assert!(set.contains(64));
        assert!(!set.contains(62));
        assert!(!set.contains(100_000));
    }
}
