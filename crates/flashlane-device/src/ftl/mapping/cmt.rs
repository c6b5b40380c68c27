//! The cached mapping table: entries in order of use.
//!
//! A write-back of a translation page writes all changed entries of that page. There is no list of
//! them: each entry keeps the epoch of its page in which it changed, and a write-back starts a new
//! epoch.

use std::ops::Range;

use flashlane_engine::{DenseMap, NONE, prefetch};
use flashlane_units::{FlowId, Lpa};

/// The epoch of entries that have not changed.
const NEVER: u32 = 0;

/// An entry. Its links are positions in the table.
#[derive(Clone, Copy, Debug)]
struct Entry {
    lpa: Lpa,
    page: u32,
    newer: u32,
    older: u32,
    /// The epoch of the translation page in which it changed last, or [`NEVER`].
    changed: u32,
    flow: FlowId,
    /// The entry's translation page is being read: the place is taken, but the mapping is not known
    /// yet.
    awaited: bool,
}

/// An evicted entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    pub(crate) lpa: Lpa,
    pub(crate) page: u32,
    pub(crate) flow: FlowId,
    pub(crate) dirty: bool,
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Cmt {
    entries: Vec<Entry>,
    free: Vec<u32>,
    index: DenseMap,
    /// First translation page whose entries this table may hold.
    first_page: u32,
    /// The epoch of each translation page from `first_page` on; every write-back adds one.
    epochs: Vec<u32>,
    newest: u32,
    oldest: u32,
    capacity: u32,
}

impl Cmt {
    /// An empty table for entries of some translation pages. `capacity` counts entries, at least 1.
    pub(super) fn new(capacity: u32, pages: Range<u32>) -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            index: DenseMap::default(),
            first_page: pages.start,
            epochs: vec![NEVER + 1; pages.len()],
            newest: NONE,
            oldest: NONE,
            capacity,
        }
    }

    pub(super) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Entries in the table.
    pub(super) fn len(&self) -> u32 {
        self.index.len() as u32
    }

    /// True if an entry can be added without an eviction.
    pub(super) fn has_room(&self) -> bool {
        (self.index.len() as u32) < self.capacity
    }

    fn unlink(&mut self, at: u32) {
        let Entry { newer, older, .. } = self.entries[at as usize];
        match newer {
            NONE => self.newest = older,
            _ => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.entries[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, at: u32) {
        let newest = self.newest;
        let entry = &mut self.entries[at as usize];
        (entry.newer, entry.older) = (NONE, newest);
        match newest {
            NONE => self.oldest = at,
            _ => self.entries[newest as usize].newer = at,
        }
        self.newest = at;
    }

    /// Marks a known entry as just used; false if the entry is missing or not known yet.
    pub(super) fn touch(&mut self, lpa: Lpa) -> bool {
        let Some(at) = self.index.get(lpa.get()) else { return false };
        if self.entries[at as usize].awaited {
            return false;
        }
        self.use_now(at);
        true
    }

    /// Prefetches the place of an entry and the epoch of its page.
    #[inline]
    pub(super) fn prefetch(&self, lpa: Lpa, page: u32) {
        self.index.prefetch(lpa.get());
        prefetch(&self.epochs, (page - self.first_page) as usize);
    }

    /// True if the entry has a place, whether it is known or not.
    pub(super) fn contains(&self, lpa: Lpa) -> bool {
        self.index.get(lpa.get()).is_some()
    }

    /// Takes a place for an entry whose translation page is being read; there must be room.
    pub(super) fn reserve(&mut self, lpa: Lpa, page: u32, flow: FlowId) {
        self.insert(lpa, page, flow, false);
        self.entries[self.newest as usize].awaited = true;
    }

    /// Marks an entry as known and just used, and as changed if `dirty`; false if it is not in the
    /// table.
    pub(super) fn settle(&mut self, lpa: Lpa, dirty: bool) -> bool {
        let Some(at) = self.index.get(lpa.get()) else { return false };
        self.entries[at as usize].awaited = false;
        self.use_now(at);
        if dirty {
            self.change(at);
        }
        true
    }

    fn use_now(&mut self, at: u32) {
        if self.newest != at {
            self.unlink(at);
            self.link_newest(at);
        }
    }

    /// Adds an entry; there must be room and it must be new.
    pub(super) fn insert(&mut self, lpa: Lpa, page: u32, flow: FlowId, dirty: bool) {
        assert!(self.has_room(), "an entry is added where there is room");
        let entry =
            Entry { lpa, page, newer: NONE, older: NONE, changed: NEVER, flow, awaited: false };
        let at = match self.free.pop() {
            Some(at) => {
                self.entries[at as usize] = entry;
                at
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        let before = self.index.insert(lpa.get(), at);
        assert!(before.is_none(), "an entry is in the table once");
        self.link_newest(at);
        if dirty {
            self.change(at);
        }
    }

    /// The epoch of a translation page.
    fn epoch(&self, page: u32) -> u32 {
        self.epochs[(page - self.first_page) as usize]
    }

    /// Marks the entry at a place as changed.
    fn change(&mut self, at: u32) {
        let epoch = self.epoch(self.entries[at as usize].page);
        self.entries[at as usize].changed = epoch;
    }

    /// True if the entry has changed since the last write-back of its page.
    fn is_dirty(&self, entry: &Entry) -> bool {
        entry.changed != NEVER && entry.changed == self.epoch(entry.page)
    }

    /// Removes the least recently used entry whose page is not being read; `None` if all are being
    /// read.
    pub(super) fn evict(&mut self) -> Option<Evicted> {
        let mut at = self.oldest;
        while self.entries.get(at as usize)?.awaited {
            at = self.entries[at as usize].newer;
        }
        let entry = self.entries[at as usize];
        let dirty = self.is_dirty(&entry);
        self.unlink(at);
        self.index.remove(entry.lpa.get());
        self.free.push(at);
        // Prefetch the next victim, which is now the oldest entry.
        if let Some(next) = self.entries.get(self.oldest as usize) {
            self.index.prefetch(next.lpa.get());
            prefetch(&self.entries, next.newer as usize);
        }
        Some(Evicted { lpa: entry.lpa, page: entry.page, flow: entry.flow, dirty })
    }

    /// Whether the entry of a page has changed; `None` if it is not known.
    pub(super) fn changed(&self, lpa: Lpa) -> Option<bool> {
        let entry = &self.entries[self.index.get(lpa.get())? as usize];
        (!entry.awaited).then(|| self.is_dirty(entry))
    }

    /// Marks every changed entry of a translation page as unchanged.
    pub(super) fn clean_page(&mut self, page: u32) {
        let epoch = &mut self.epochs[(page - self.first_page) as usize];
        *epoch = epoch.checked_add(1).expect("fewer than four billion write-backs of a page");
    }

    /// Checks links and counts. `owner`: the flow that must own every entry, in a table of one
    /// flow.
    pub(super) fn audit(&self, owner: Option<FlowId>) {
        let (mut at, mut count) = (self.newest, 0);
        while at != NONE {
            let entry = &self.entries[at as usize];
            assert_eq!(self.index.get(entry.lpa.get()), Some(at), "index and list agree");
            assert!(owner.is_none_or(|flow| flow == entry.flow), "a part holds its flow's entries");
            assert!(entry.changed <= self.epoch(entry.page), "nothing changed in an epoch to come");
            count += 1;
            at = entry.older;
        }
        assert_eq!(count, self.index.len(), "every entry is in the list once");
        assert!(count <= self.capacity as usize, "the table keeps its capacity");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_recently_used_goes_first() {
        let mut cmt = Cmt::new(3, 0..1);
        for lpa in 0..3 {
            cmt.insert(Lpa::new(lpa), 0, FlowId::new(0), false);
        }
        assert!(!cmt.has_room());
        assert!(cmt.touch(Lpa::new(0)));
        assert!(cmt.evict().is_some());
        assert!(!cmt.touch(Lpa::new(1)), "1 was the oldest");
        assert!(cmt.touch(Lpa::new(2)));
        cmt.audit(None);
    }

    #[test]
    fn awaited_entries_keep_their_place() {
        let mut cmt = Cmt::new(2, 0..1);
        cmt.reserve(Lpa::new(7), 0, FlowId::new(0));
        cmt.insert(Lpa::new(8), 0, FlowId::new(0), false);
        assert!(
            !cmt.touch(Lpa::new(7)) && cmt.contains(Lpa::new(7)),
            "its page is still being read"
        );
        assert!(cmt.evict().is_some());
        assert!(!cmt.contains(Lpa::new(8)), "the older one is awaited");
        assert!(cmt.evict().is_none());
        assert!(cmt.settle(Lpa::new(7), false) && cmt.touch(Lpa::new(7)));
        assert!(cmt.evict().is_some());
    }

    #[test]
    fn entries_change_until_their_page_is_written_back() {
        let mut cmt = Cmt::new(4, 10..12);
        for lpa in 0..4 {
            cmt.insert(Lpa::new(lpa), 10 + lpa / 3, FlowId::new(0), lpa != 1);
        }
        let changed = |cmt: &Cmt| [0, 1, 2, 3].map(|lpa| cmt.changed(Lpa::new(lpa)));
        assert_eq!(changed(&cmt), [true, false, true, true].map(Some));
        cmt.clean_page(10);
        assert_eq!(
            changed(&cmt),
            [false, false, false, true].map(Some),
            "another page has its own"
        );
        assert!(
            cmt.settle(Lpa::new(2), true) && cmt.settle(Lpa::new(3), true),
            "one anew, one still"
        );
        assert_eq!(changed(&cmt), [false, false, true, true].map(Some));
        cmt.audit(None);
        let left: Vec<_> = std::iter::from_fn(|| cmt.evict()).map(|e| (e.lpa, e.dirty)).collect();
        assert_eq!(
            left,
            [(0, false), (1, false), (2, true), (3, true)]
                .map(|(lpa, changed)| (Lpa::new(lpa), changed))
        );
        cmt.reserve(Lpa::new(7), 10, FlowId::new(0));
        assert_eq!(
            (cmt.changed(Lpa::new(7)), cmt.changed(Lpa::new(8))),
            (None, None),
            "awaited, and not there"
        );
    }

    #[test]
    fn a_write_back_cleans_its_whole_page() {
        let mut cmt = Cmt::new(4, 0..2);
        for lpa in 0..4 {
            cmt.insert(Lpa::new(lpa), lpa / 2, FlowId::new(1), true);
        }
        let first = cmt.evict().unwrap();
        assert_eq!(first, Evicted { lpa: Lpa::new(0), page: 0, flow: FlowId::new(1), dirty: true });
        cmt.clean_page(0);
        assert!(!cmt.evict().unwrap().dirty, "cleaned together with the first");
        assert!(cmt.evict().unwrap().dirty, "another page");
        cmt.audit(None);
    }
}
