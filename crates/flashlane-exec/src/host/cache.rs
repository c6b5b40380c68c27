//! The page cache: the pages of files that are in memory, and those that the drive does not have
//! yet. It knows no contents.

use std::collections::{BTreeMap, BTreeSet};

use flashlane::Time;

/// A page of a file: number of the file, number of the page.
pub(crate) type Key = (u32, u64);

/// A page in memory.
#[derive(Clone, Debug)]
struct Page {
    /// Time of its last use; larger is later.
    stamp: u64,
    /// Time since which the drive has older data.
    dirty_since: Option<Time>,
    /// The request that is reading the page.
    loading: Option<u32>,
    /// The request that is writing the page.
    writing: Option<u32>,
}

/// State of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Not in memory.
    Absent,
    /// This request is reading it.
    Loading(u32),
    /// In memory.
    Present,
}

/// The pages in memory. Invariants: `clean` holds the pages that may be dropped at once; `dirty`
/// holds those that may be written at once, and `ages` holds these by age.
#[derive(Debug)]
pub(crate) struct Cache {
    pages: BTreeMap<Key, Page>,
    clean: BTreeMap<u64, Key>,
    dirty: BTreeSet<Key>,
    ages: BTreeSet<(Time, Key)>,
    /// Number of pages that are being written.
    writing: usize,
    capacity: usize,
    stamp: u64,
}

impl Cache {
    /// An empty cache. Unit: pages.
    pub(crate) fn new(capacity: usize) -> Self {
        let (pages, clean, dirty, ages) = Default::default();
        Self { pages, clean, dirty, ages, writing: 0, capacity, stamp: 0 }
    }

    /// Pages that the drive does not have yet.
    pub(crate) fn unwritten(&self) -> usize {
        self.dirty.len() + self.writing
    }

    /// Dirty pages that are not being written.
    pub(crate) fn dirty(&self) -> usize {
        self.dirty.len()
    }

    /// The page that has been dirty for the longest time and is not being written.
    pub(crate) fn oldest(&self) -> Option<(Time, Key)> {
        self.ages.first().copied()
    }

    /// The first dirty page after another one, wrapping at the end.
    pub(crate) fn dirty_after(&self, after: Key) -> Option<Key> {
        use std::ops::Bound::{Excluded, Unbounded};
        let next = self.dirty.range((Excluded(after), Unbounded)).next();
        next.or_else(|| self.dirty.first()).copied()
    }

    /// True if this page may be written at once.
    pub(crate) fn is_dirty(&self, key: Key) -> bool {
        self.dirty.contains(&key)
    }

    /// Pages of a file, or of all files, that have been dirty since a time or longer: the pages
    /// that may be written at once, and the requests that are writing the others.
    pub(crate) fn unwritten_of(&self, file: Option<u32>, since: Time) -> (Vec<Key>, Vec<u32>) {
        let (low, high) = file.map_or((0, u32::MAX), |one| (one, one));
        let range = (low, 0)..=(high, u64::MAX);
        let old = |key: &Key| self.pages[key].dirty_since.is_some_and(|at| at <= since);
        let dirty = self.dirty.range(range.clone()).filter(|key| old(key)).copied().collect();
        let mut requests: Vec<u32> = match self.writing {
            0 => Vec::new(),
            _ => self.pages.range(range).filter_map(|(_, page)| page.writing).collect(),
        };
        requests.sort_unstable();
        requests.dedup();
        (dirty, requests)
    }

    /// State of a page.
    pub(crate) fn presence(&self, key: Key) -> Presence {
        match self.pages.get(&key) {
            None => Presence::Absent,
            Some(Page { loading: Some(request), .. }) => Presence::Loading(*request),
            Some(_) => Presence::Present,
        }
    }

    /// Notes a use of a page.
    pub(crate) fn touch(&mut self, key: Key) {
        self.change(key, |_| ());
    }

    /// Notes that a request begins to read a page.
    pub(crate) fn load(&mut self, key: Key, request: u32) {
        self.change(key, |page| page.loading = Some(request));
        self.evict();
    }

    /// Notes that a request has read a page.
    pub(crate) fn loaded(&mut self, key: Key, request: u32) {
        if self.pages.get(&key).is_some_and(|page| page.loading == Some(request)) {
            self.change(key, |page| page.loading = None);
        }
    }

    /// Marks a page as dirty.
    pub(crate) fn mark_dirty(&mut self, key: Key, now: Time) {
        self.change(key, |page| page.dirty_since = page.dirty_since.or(Some(now)));
        self.evict();
    }

    /// Notes that a request begins to write a dirty page.
    pub(crate) fn write(&mut self, key: Key, request: u32) {
        assert!(self.dirty.contains(&key), "only a dirty page is written");
        self.change(key, |page| (page.dirty_since, page.writing) = (None, Some(request)));
        self.writing += 1;
    }

    /// Notes that a request has written `pages` pages from this one on.
    pub(crate) fn written(&mut self, (file, first): Key, pages: u64, request: u32) {
        self.writing -= pages as usize;
        for page in first..first + pages {
            let key = (file, page);
            if self.pages.get(&key).is_some_and(|page| page.writing == Some(request)) {
                self.change(key, |page| page.writing = None);
            }
        }
        self.evict();
    }

    /// Forgets the pages of a file from `first` to `end`, dirty or not.
    pub(crate) fn forget(&mut self, file: u32, first: u64, end: u64) {
        let keys: Vec<Key> =
            self.pages.range((file, first)..(file, end)).map(|one| *one.0).collect();
        for key in keys {
            self.remove(key);
        }
    }

    /// Changes a page, adding it if it is absent, and updates the sets that it belongs to.
    fn change(&mut self, key: Key, change: impl FnOnce(&mut Page)) {
        self.stamp += 1;
        let mut page = self.remove(key).unwrap_or(Page {
            stamp: 0,
            dirty_since: None,
            loading: None,
            writing: None,
        });
        page.stamp = self.stamp;
        change(&mut page);
        match (page.dirty_since, page.loading, page.writing) {
            (None, None, None) => drop(self.clean.insert(page.stamp, key)),
            (Some(since), _, None) => {
                self.dirty.insert(key);
                self.ages.insert((since, key));
            }
            _ => {}
        }
        self.pages.insert(key, page);
    }

    fn remove(&mut self, key: Key) -> Option<Page> {
        let page = self.pages.remove(&key)?;
        self.clean.remove(&page.stamp);
        if let Some(since) = page.dirty_since
            && self.dirty.remove(&key)
        {
            assert!(self.ages.remove(&(since, key)), "every dirty page has an age");
        }
        Some(page)
    }

    /// Drops clean pages, least recently used first, while there are too many. Dirty pages and
    /// pages under way stay, so the cache may exceed its capacity for a while.
    fn evict(&mut self) {
        while self.pages.len() > self.capacity {
            let Some((_, key)) = self.clean.pop_first() else { break };
            assert!(self.pages.remove(&key).is_some(), "a clean page is in memory");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_clean_page_goes() {
        let mut cache = Cache::new(2);
        for page in 0..2 {
            cache.load((1, page), 7);
            cache.loaded((1, page), 7);
        }
        cache.touch((1, 0));
        cache.mark_dirty((1, 5), Time(3));
        assert_eq!(cache.presence((1, 1)), Presence::Absent);
        assert_eq!(cache.presence((1, 0)), Presence::Present);
        cache.mark_dirty((1, 6), Time(4));
        cache.mark_dirty((1, 7), Time(5));
        assert_eq!((cache.pages.len(), cache.unwritten()), (3, 3), "dirty pages stay");
    }

    #[test]
    fn a_page_that_changes_while_it_is_written_is_dirty_afterwards() {
        let mut cache = Cache::new(10);
        cache.mark_dirty((1, 0), Time(1));
        cache.write((1, 0), 9);
        cache.mark_dirty((1, 0), Time(2));
        assert_eq!((cache.dirty(), cache.unwritten()), (0, 1));
        assert_eq!(cache.unwritten_of(Some(1), Time(5)), (vec![], vec![9]));
        cache.written((1, 0), 1, 9);
        assert_eq!((cache.dirty(), cache.oldest()), (1, Some((Time(2), (1, 0)))));
        cache.forget(1, 0, 1);
        assert_eq!((cache.unwritten(), cache.oldest()), (0, None));
    }
}
