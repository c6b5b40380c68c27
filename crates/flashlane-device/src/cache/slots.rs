//! Cache slots: one page each, in order of use.

use flashlane_engine::{DenseMap, NONE, prefetch};
use flashlane_units::{FlowId, Lpa};

/// Slots, from the least recently used end on, that are searched for one that may leave.
const VICTIM_SCAN: u32 = 64;

/// State of a cached page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotState {
    /// Equal to the page on flash.
    Clean,
    /// Changed since it was written to flash.
    Dirty,
    /// A write-back of this version is under way.
    WriteBack,
}

/// A cached page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    lpa: Lpa,
    newer: u32,
    older: u32,
    /// Counts writes, so that a write-back can tell whether the page has changed since.
    version: u32,
    /// Sectors that the slot holds.
    mask: u64,
    flow: FlowId,
    state: SlotState,
}

impl Slot {
    pub(super) fn lpa(&self) -> Lpa {
        self.lpa
    }

    pub(super) fn state(&self) -> SlotState {
        self.state
    }

    pub(super) fn flow(&self) -> FlowId {
        self.flow
    }

    pub(super) fn mask(&self) -> u64 {
        self.mask
    }

    pub(super) fn version(&self) -> u32 {
        self.version
    }
}

/// All slots.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
    index: DenseMap,
    newest: u32,
    oldest: u32,
    capacity: u32,
    version: u32,
    /// True if versions are set from outside, one for each request that writes, and if the end of a
    /// write-back is a use of its page.
    by_request: bool,
    /// Changed pages of each flow.
    dirty: Vec<u32>,
}

impl Slots {
    /// No page cached.
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            index: DenseMap::default(),
            newest: NONE,
            oldest: NONE,
            capacity,
            version: 0,
            by_request: false,
            dirty: Vec::new(),
        }
    }

    /// Sets the version of all writes until the next call.
    pub(super) fn set_version(&mut self, version: u32) {
        (self.version, self.by_request) = (version, true);
    }

    /// Counts a page of a flow that becomes changed.
    #[inline]
    fn count_dirty(&mut self, flow: FlowId) {
        if self.dirty.len() <= flow.index() {
            self.dirty.resize(flow.index() + 1, 0);
        }
        self.dirty[flow.index()] += 1;
    }

    /// Number of pages that fit.
    pub(super) fn capacity(&self) -> u32 {
        self.capacity
    }

    pub(super) fn has_room(&self) -> bool {
        (self.index.len() as u32) < self.capacity
    }

    pub(super) fn contains(&self, lpa: Lpa) -> bool {
        self.index.get(lpa.get()).is_some()
    }

    /// True if the page is cached and changed, so that a write to it merges.
    pub(super) fn is_dirty(&self, lpa: Lpa) -> bool {
        let at = self.index.get(lpa.get());
        at.is_some_and(|at| self.slots[at as usize].state == SlotState::Dirty)
    }

    /// Prefetches the place of a page.
    #[inline]
    pub(super) fn prefetch(&self, lpa: Lpa) {
        self.index.prefetch(lpa.get());
    }

    fn unlink(&mut self, at: u32) {
        let Slot { newer, older, .. } = self.slots[at as usize];
        match newer {
            NONE => self.newest = older,
            _ => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.slots[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, at: u32) {
        let newest = self.newest;
        let slot = &mut self.slots[at as usize];
        (slot.newer, slot.older) = (NONE, newest);
        match newest {
            NONE => self.oldest = at,
            _ => self.slots[newest as usize].newer = at,
        }
        self.newest = at;
    }

    fn use_now(&mut self, at: u32) {
        if self.newest != at {
            self.unlink(at);
            self.link_newest(at);
        }
    }

    /// Sectors of a page that are cached; marks the page as just used.
    pub(super) fn lookup(&mut self, lpa: Lpa) -> (u32, u64) {
        let Some(at) = self.index.get(lpa.get()) else { return (NONE, 0) };
        self.use_now(at);
        (at, self.slots[at as usize].mask)
    }

    /// Number of cached pages.
    pub(super) fn len(&self) -> u64 {
        self.index.len() as u64
    }

    fn insert(&mut self, lpa: Lpa, flow: FlowId, mask: u64, state: SlotState) -> u32 {
        assert!(self.has_room(), "a page is added where there is room");
        let slot = Slot { lpa, newer: NONE, older: NONE, version: self.version, mask, flow, state };
        let at = match self.free.pop() {
            Some(at) => {
                self.slots[at as usize] = slot;
                at
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        self.index.insert(lpa.get(), at);
        self.link_newest(at);
        at
    }

    /// Stores host data for a page: merged, changed, and just used. Returns the slot, and the
    /// earlier state if the page was cached.
    pub(super) fn write(&mut self, lpa: Lpa, flow: FlowId, mask: u64) -> (u32, Option<SlotState>) {
        self.version = self.version.wrapping_add(u32::from(!self.by_request));
        let Some(at) = self.index.get(lpa.get()) else {
            self.count_dirty(flow);
            return (self.insert(lpa, flow, mask, SlotState::Dirty), None);
        };
        self.use_now(at);
        let slot = &mut self.slots[at as usize];
        slot.mask |= mask;
        slot.version = self.version;
        let (owner, before) = (slot.flow, std::mem::replace(&mut slot.state, SlotState::Dirty));
        if before != SlotState::Dirty {
            self.count_dirty(owner);
        }
        (at, Some(before))
    }

    /// Stores data from flash for a page, which must be cached or have room. Changed sectors stay
    /// as they are. Returns the slot.
    pub(super) fn fill(&mut self, lpa: Lpa, flow: FlowId, mask: u64) -> u32 {
        match self.index.get(lpa.get()) {
            Some(at) => {
                self.use_now(at);
                self.slots[at as usize].mask |= mask;
                at
            }
            None => self.insert(lpa, flow, mask, SlotState::Clean),
        }
    }

    /// A write goes past the cache: updates the cached sectors of the page.
    pub(super) fn refresh(&mut self, lpa: Lpa, mask: u64) {
        if let Some(at) = self.index.get(lpa.get()) {
            self.slots[at as usize].mask |= mask;
        }
    }

    /// Removes trimmed sectors; a page without sectors is removed.
    pub(super) fn trim(&mut self, lpa: Lpa, mask: u64) {
        let Some(at) = self.index.get(lpa.get()) else { return };
        let slot = &mut self.slots[at as usize];
        slot.mask &= !mask;
        if slot.mask == 0 {
            self.remove(lpa);
        }
    }

    /// The page that leaves next: the least recently used page that is not on its way to flash.
    /// With `any`, the least recently used page in any state.
    pub(super) fn victim(&self, any: bool) -> Option<Slot> {
        let mut at = self.oldest;
        for _ in 0..VICTIM_SCAN {
            let slot = self.slots.get(at as usize)?;
            if any || slot.state != SlotState::WriteBack {
                return Some(*slot);
            }
            at = slot.newer;
        }
        None
    }

    /// Removes a page. Returns its slot.
    pub(super) fn remove(&mut self, lpa: Lpa) -> u32 {
        let at = self.index.remove(lpa.get()).expect("the page is cached");
        self.unlink(at);
        self.free.push(at);
        let Slot { flow, state, .. } = self.slots[at as usize];
        if state == SlotState::Dirty {
            let changed = &mut self.dirty[flow.index()];
            assert!(*changed > 0, "a changed page was counted");
            *changed -= 1;
        }
        // Prefetch the next victim, if this page was the oldest.
        if let Some(next) = self.slots.get(self.oldest as usize) {
            self.index.prefetch(next.lpa.get());
            prefetch(&self.slots, next.newer as usize);
        }
        at
    }

    /// Starts a write-back of the page. Returns its contents.
    pub(super) fn start_write_back(&mut self, lpa: Lpa) -> Slot {
        let at = self.index.get(lpa.get()).expect("the page is cached");
        let slot = &mut self.slots[at as usize];
        if slot.state == SlotState::Dirty {
            let changed = &mut self.dirty[slot.flow.index()];
            assert!(*changed > 0, "a changed page was counted");
            *changed -= 1;
        }
        slot.state = SlotState::WriteBack;
        *slot
    }

    /// Ends a write-back. The page is unchanged if it still has that version; it leaves with
    /// `drop`.
    pub(super) fn end_write_back(&mut self, lpa: Lpa, version: u32, drop: bool) {
        let Some(at) = self.index.get(lpa.get()) else { return };
        if self.by_request {
            self.use_now(at);
        }
        let slot = &mut self.slots[at as usize];
        if slot.version == version && (slot.state == SlotState::WriteBack || self.by_request) {
            if drop {
                self.remove(lpa);
            } else {
                slot.state = SlotState::Clean;
            }
        }
    }

    /// Changed pages of a flow, least recently used first. Looks at all pages that were used since
    /// the oldest changed page was.
    pub(super) fn dirty_pages(&self, flow: FlowId) -> Vec<Lpa> {
        let count = self.dirty.get(flow.index()).map_or(0, |&count| count as usize);
        let mut pages = Vec::with_capacity(count);
        let mut at = self.newest;
        while pages.len() < count {
            let slot = self.slots[at as usize];
            if slot.flow == flow && slot.state == SlotState::Dirty {
                pages.push(slot.lpa);
            }
            at = slot.older;
        }
        pages.reverse();
        pages
    }

    /// Checks links and counts. `owner`: the flow that must own all pages, in a partition.
    pub(super) fn audit(&self, owner: Option<FlowId>) {
        let (mut at, mut count) = (self.newest, 0);
        let mut dirty = vec![0; self.dirty.len()];
        while let Some(slot) = self.slots.get(at as usize) {
            assert_eq!(self.index.get(slot.lpa.get()), Some(at), "index and list agree");
            if slot.state == SlotState::Dirty {
                dirty[slot.flow.index()] += 1;
            }
            assert_ne!(slot.mask, 0, "a cached page holds something");
            assert!(
                owner.is_none_or(|flow| flow == slot.flow),
                "a partition holds its flow's pages"
            );
            count += 1;
            at = slot.older;
        }
        assert_eq!(count, self.index.len(), "every slot is in the list once");
        assert!(count <= self.capacity as usize, "the cache keeps its capacity");
        assert_eq!(dirty, self.dirty, "changed pages are counted by flow");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Slots {
        fn peek(&self, lpa: Lpa) -> SlotState {
            self.slots[self.index.get(lpa.get()).expect("the page is cached") as usize].state
        }
    }

    #[test]
    fn a_page_leaves_when_it_is_on_flash_if_told_so() {
        let mut slots = Slots::new(2);
        slots.write(Lpa::new(1), FlowId::new(0), 0b1);
        let version = slots.start_write_back(Lpa::new(1)).version;
        slots.end_write_back(Lpa::new(1), version, true);
        assert!(!slots.contains(Lpa::new(1)));
    }

    #[test]
    fn writes_merge_and_the_oldest_leaves() {
        let mut slots = Slots::new(2);
        assert_eq!(slots.write(Lpa::new(1), FlowId::new(0), 0b01).1, None);
        assert_eq!(slots.write(Lpa::new(1), FlowId::new(0), 0b10).1, Some(SlotState::Dirty));
        slots.fill(Lpa::new(2), FlowId::new(0), 0b1);
        assert_eq!(slots.lookup(Lpa::new(1)).1, 0b11);
        assert!(!slots.has_room());
        assert_eq!(slots.victim(false).map(|slot| slot.lpa), Some(Lpa::new(2)));
        assert_eq!(slots.start_write_back(Lpa::new(1)).mask, 0b11);
        slots.remove(Lpa::new(2));
        assert!(slots.victim(false).is_none(), "a page on its way to flash stays");
        assert_eq!(slots.victim(true).map(|slot| slot.lpa), Some(Lpa::new(1)), "or does not");
        slots.audit(Some(FlowId::new(0)));
    }

    #[test]
    fn with_versions_by_request_a_page_leaves_unless_another_request_wrote_it() {
        let mut slots = Slots::new(3);
        slots.set_version(7);
        slots.write(Lpa::new(1), FlowId::new(0), 0b01);
        let version = slots.start_write_back(Lpa::new(1)).version;
        slots.write(Lpa::new(1), FlowId::new(0), 0b10);
        slots.write(Lpa::new(2), FlowId::new(0), 0b01);
        let other = slots.start_write_back(Lpa::new(2)).version;
        slots.set_version(8);
        slots.write(Lpa::new(2), FlowId::new(0), 0b01);
        slots.write(Lpa::new(3), FlowId::new(0), 0b01);
        slots.end_write_back(Lpa::new(1), version, true);
        assert!(!slots.contains(Lpa::new(1)), "the other part is of the same request");
        slots.end_write_back(Lpa::new(2), other, true);
        assert_eq!(slots.peek(Lpa::new(2)), SlotState::Dirty);
        assert_eq!(slots.victim(true).map(|slot| slot.lpa), Some(Lpa::new(3)), "2 was used");
        slots.audit(Some(FlowId::new(0)));
    }

    #[test]
    fn a_write_back_does_not_clean_newer_data() {
        let mut slots = Slots::new(2);
        slots.write(Lpa::new(1), FlowId::new(0), 0b01);
        let first = slots.start_write_back(Lpa::new(1)).version;
        slots.write(Lpa::new(1), FlowId::new(0), 0b10);
        slots.end_write_back(Lpa::new(1), first, false);
        assert_eq!(slots.peek(Lpa::new(1)), SlotState::Dirty);
        assert_eq!(slots.dirty_pages(FlowId::new(0)), [Lpa::new(1)]);
        let second = slots.start_write_back(Lpa::new(1)).version;
        slots.end_write_back(Lpa::new(1), second, false);
        assert_eq!(slots.peek(Lpa::new(1)), SlotState::Clean);
        slots.trim(Lpa::new(1), 0b11);
        assert!(!slots.contains(Lpa::new(1)));
    }
}
