//! The cached mapping table: entries in order of use, changed ones also by translation page.

use flashlane_engine::{DenseMap, NONE};

/// An entry. Links are places in the table.
#[derive(Clone, Copy, Debug)]
struct Entry {
    lpa: u32,
    page: u32,
    newer: u32,
    older: u32,
    /// Neighbours among the changed entries of the translation page.
    dirty_next: u32,
    dirty_previous: u32,
    flow: u16,
    dirty: bool,
}

/// What was evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evicted {
    pub(super) page: u32,
    pub(super) flow: u16,
    pub(super) dirty: bool,
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Cmt {
    entries: Vec<Entry>,
    free: Vec<u32>,
    index: DenseMap,
    /// First changed entry by translation page.
    dirty: DenseMap,
    newest: u32,
    oldest: u32,
    capacity: u32,
}

impl Cmt {
    /// An empty table. `capacity` counts entries, 1 at least.
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            index: DenseMap::default(),
            dirty: DenseMap::default(),
            newest: NONE,
            oldest: NONE,
            capacity,
        }
    }

    pub(super) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// An entry can be added without evicting one.
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

    /// Marks an entry as just used; false if it is not in the table.
    pub(super) fn touch(&mut self, lpa: u32) -> bool {
        let Some(at) = self.index.get(lpa) else { return false };
        if self.newest != at {
            self.unlink(at);
            self.link_newest(at);
        }
        true
    }

    /// Adds an entry; there must be room and it must be new.
    pub(super) fn insert(&mut self, lpa: u32, page: u32, flow: u16, dirty: bool) {
        assert!(self.has_room(), "an entry is added where there is room");
        let entry = Entry {
            lpa,
            page,
            newer: NONE,
            older: NONE,
            dirty_next: NONE,
            dirty_previous: NONE,
            flow,
            dirty: false,
        };
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
        let before = self.index.insert(lpa, at);
        assert!(before.is_none(), "an entry is in the table once");
        self.link_newest(at);
        if dirty {
            self.set_dirty(lpa);
        }
    }

    /// Marks an entry as changed.
    pub(super) fn set_dirty(&mut self, lpa: u32) {
        let at = self.index.get(lpa).expect("the entry is in the table");
        if self.entries[at as usize].dirty {
            return;
        }
        let page = self.entries[at as usize].page;
        let head = self.dirty.insert(page, at).unwrap_or(NONE);
        let entry = &mut self.entries[at as usize];
        entry.dirty = true;
        (entry.dirty_previous, entry.dirty_next) = (NONE, head);
        if head != NONE {
            self.entries[head as usize].dirty_previous = at;
        }
    }

    /// Takes the least recently used entry out.
    pub(super) fn evict(&mut self) -> Evicted {
        let at = self.oldest;
        assert_ne!(at, NONE, "a full table has an oldest entry");
        let entry = self.entries[at as usize];
        if entry.dirty {
            if entry.dirty_next != NONE {
                self.entries[entry.dirty_next as usize].dirty_previous = entry.dirty_previous;
            }
            match (entry.dirty_previous, entry.dirty_next) {
                (NONE, NONE) => {
                    self.dirty.remove(entry.page);
                }
                (NONE, next) => {
                    self.dirty.insert(entry.page, next);
                }
                (previous, next) => self.entries[previous as usize].dirty_next = next,
            }
        }
        self.unlink(at);
        self.index.remove(entry.lpa);
        self.free.push(at);
        Evicted { page: entry.page, flow: entry.flow, dirty: entry.dirty }
    }

    /// Every changed entry of a translation page counts as unchanged from now on.
    pub(super) fn clean_page(&mut self, page: u32) {
        let mut at = self.dirty.remove(page).unwrap_or(NONE);
        while at != NONE {
            let entry = &mut self.entries[at as usize];
            entry.dirty = false;
            at = entry.dirty_next;
        }
    }

    /// Checks links and counts.
    pub(super) fn audit(&self) {
        let (mut at, mut count) = (self.newest, 0);
        while at != NONE {
            let entry = &self.entries[at as usize];
            assert_eq!(self.index.get(entry.lpa), Some(at), "index and list agree");
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
        let mut cmt = Cmt::new(3);
        for lpa in 0..3 {
            cmt.insert(lpa, 0, 0, false);
        }
        assert!(!cmt.has_room());
        assert!(cmt.touch(0));
        cmt.evict();
        assert!(!cmt.touch(1), "1 was the oldest");
        assert!(cmt.touch(2));
        cmt.audit();
    }

    #[test]
    fn a_write_back_cleans_its_whole_page() {
        let mut cmt = Cmt::new(4);
        for lpa in 0..4 {
            cmt.insert(lpa, lpa / 2, 1, true);
        }
        let first = cmt.evict();
        assert_eq!(first, Evicted { page: 0, flow: 1, dirty: true });
        cmt.clean_page(0);
        assert!(!cmt.evict().dirty, "cleaned together with the first");
        assert!(cmt.evict().dirty, "another page");
        cmt.audit();
    }
}
