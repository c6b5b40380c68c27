//! The page-level mapping table: translation pages on flash and a cache of their entries in DRAM.
//!
//! The truth is in [`PageTables`](super::pages::PageTables); this stage decides what looking it up
//! costs. A miss reads the translation page, unless nobody ever wrote it or it is just being
//! written back. Changed entries are written back when they are evicted: all changed entries of the
//! same translation page together, merged with the old page on flash.
//! Source: MQSim (FAST'18) section 4.2.2, after DFTL (ASPLOS'09).

mod cmt;

use flashlane_engine::{DenseMap, NONE};

use crate::config::DeviceConfig;
use crate::layout::Layout;
use crate::ssd::Ssd;
use crate::transaction::{Op, Place, Source};
use cmt::Cmt;

/// Sizes of entries, which follow from the geometry. Source: the released MQSim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntrySizes {
    /// Entry of the cached mapping table. Unit: bytes.
    pub(crate) cmt: u64,
    /// Mappings of one translation page.
    pub(crate) per_page: u64,
}

impl EntrySizes {
    /// For a device of `physical_pages` pages of `sectors_per_page` sectors.
    pub(crate) fn new(physical_pages: u64, sectors_per_page: u32) -> Self {
        let address_bits = u64::from(64 - (physical_pages.max(2) - 1).leading_zeros());
        let sectors = u64::from(sectors_per_page);
        let page = sectors * crate::layout::SECTOR_BYTES;
        Self {
            cmt: (2 * address_bits + sectors).div_ceil(8),
            per_page: page / (address_bits + sectors).div_ceil(8),
        }
    }
}

/// Translation pages and the cache of their entries.
#[derive(Clone)]
pub(crate) struct MappingTable {
    cmt: Cmt,
    per_page: u64,
    /// Physical page of each translation page, plus one; 0 where it was never written.
    directory: Vec<u32>,
    /// First translation page and first logical page of each flow.
    flows: Vec<(u32, u64)>,
    /// Translation pages being read, to the position of their list of waiting transactions.
    reading: DenseMap,
    waiting: Vec<Vec<u32>>,
    free_lists: Vec<u32>,
    /// Translation pages being written back: twice the number of write-backs, plus one while the
    /// last of them has no place on flash yet.
    departing: DenseMap,
    pub(crate) writebacks: u64,
}

impl MappingTable {
    /// An empty cache, nothing on flash.
    pub(crate) fn new(device: &DeviceConfig, layout: &Layout) -> Self {
        let sizes = EntrySizes::new(layout.geometry.pages(), layout.geometry.sectors_per_page);
        let mut flows = Vec::new();
        let mut pages = 0;
        for flow in &layout.flows {
            flows.push((pages as u32, flow.first_lpa));
            pages += flow.pages.div_ceil(sizes.per_page);
        }
        let entries = (device.ftl.mapping.cmt_capacity.0 / sizes.cmt).max(1) as u32;
        Self {
            cmt: Cmt::new(entries),
            per_page: sizes.per_page,
            directory: vec![0; pages as usize],
            flows,
            reading: DenseMap::default(),
            waiting: Vec::new(),
            free_lists: Vec::new(),
            departing: DenseMap::default(),
            writebacks: 0,
        }
    }

    /// Translation page of a logical page.
    #[inline]
    fn page_of(&self, flow: u16, lpa: u32) -> u32 {
        let (first_page, first_lpa) = self.flows[flow as usize];
        first_page + ((u64::from(lpa) - first_lpa) / self.per_page) as u32
    }

    /// Translation pages of a flow.
    pub(crate) fn pages_of(&self, flow: u16, layout: &Layout) -> std::ops::Range<u32> {
        let first = self.flows[flow as usize].0;
        let count = layout.flows[flow as usize].pages.div_ceil(self.per_page) as u32;
        first..first + count
    }

    /// Physical page of a translation page, or `NONE`.
    #[inline]
    fn on_flash(&self, page: u32) -> u32 {
        self.directory[page as usize].wrapping_sub(1)
    }

    /// Records where a translation page is.
    pub(crate) fn set_on_flash(&mut self, page: u32, ppa: u32) {
        self.directory[page as usize] = ppa + 1;
    }

    /// Adds an unchanged entry while there is room; false when the cache is full.
    pub(crate) fn warm(&mut self, flow: u16, lpa: u32) -> bool {
        let page = self.page_of(flow, lpa);
        if !self.cmt.has_room() {
            return false;
        }
        if !self.cmt.touch(lpa) {
            self.cmt.insert(lpa, page, flow, false);
        }
        true
    }

    /// Entries that the cache holds at most.
    pub(crate) fn capacity(&self) -> u32 {
        self.cmt.capacity()
    }

    /// The list of transactions that wait for a translation page, emptied.
    fn take_waiting(&mut self, page: u32) -> Vec<u32> {
        let at = self.reading.remove(page).expect("a page being read has a list");
        self.free_lists.push(at);
        std::mem::take(&mut self.waiting[at as usize])
    }

    /// Starts a list for a translation page being read.
    fn start_waiting(&mut self, page: u32, id: u32) {
        let at = self.free_lists.pop().unwrap_or_else(|| {
            self.waiting.push(Vec::new());
            self.waiting.len() as u32 - 1
        });
        self.waiting[at as usize].push(id);
        self.reading.insert(page, at);
    }
}

impl Ssd {
    /// Looks up the mapping of a transaction's logical page; the transaction goes on now or when
    /// its translation page has arrived.
    pub(crate) fn translate(&mut self, id: u32) {
        if self.ftl.in_place {
            self.access_in_place(id);
            return;
        }
        let (flow, lpa) = (self.transactions[id].flow, self.transactions[id].lpa);
        let record = &mut self.recorder.flows[flow as usize];
        let Some(table) = &mut self.ftl.mapping else {
            record.cmt_hits += 1;
            self.translated(id);
            return;
        };
        if table.cmt.touch(lpa) {
            record.cmt_hits += 1;
            self.translated(id);
            return;
        }
        record.cmt_misses += 1;
        let page = table.page_of(flow, lpa);
        let known = table.on_flash(page) == NONE || table.departing.get(page).is_some();
        if known {
            self.cache_entry(flow, lpa, page, false);
            self.translated(id);
        } else if let Some(at) = table.reading.get(page) {
            table.waiting[at as usize].push(id);
            self.transactions[id].place = Place::Translation;
        } else {
            table.start_waiting(page, id);
            self.transactions[id].place = Place::Translation;
            self.read_translation_page(flow, page, NONE);
        }
    }

    /// Reads a translation page, for misses or (with a dependent write) to merge it.
    fn read_translation_page(&mut self, flow: u16, page: u32, dependent: u32) {
        let id = self.new_transaction(Source::Mapping, Op::Read, flow, page);
        let ppa = self.ftl.mapping.as_ref().expect("translation pages exist").on_flash(page);
        let plane = self.ftl.blocks.plane_of(self.ftl.blocks.block_of(ppa));
        let mask = self.ftl.pages.full_mask();
        let tr = &mut self.transactions[id];
        tr.ppa = ppa;
        tr.plane = plane;
        tr.mask = mask;
        tr.dependent = dependent;
        tr.merging = dependent != NONE;
        self.read_physical(id);
    }

    /// A translation page is in the controller.
    pub(crate) fn mapping_read_done(&mut self, id: u32) {
        self.release_block(id);
        let tr = self.transactions[id];
        self.transactions.remove(id);
        if tr.merging {
            self.place_write(tr.dependent);
            return;
        }
        let table = self.ftl.mapping.as_mut().expect("translation pages exist");
        let mut waiting = table.take_waiting(tr.lpa);
        // Reads first: somebody waits for them. Sorted before any goes on, for some end at once.
        waiting.sort_by_key(|&waiter| self.transactions[waiter].op != Op::Read);
        for waiter in waiting {
            let (flow, lpa) = (self.transactions[waiter].flow, self.transactions[waiter].lpa);
            self.cache_entry(flow, lpa, tr.lpa, false);
            self.translated(waiter);
        }
    }

    /// Puts an entry into the cache; evicts the least recently used one if it is full.
    fn cache_entry(&mut self, flow: u16, lpa: u32, page: u32, dirty: bool) {
        let table = self.ftl.mapping.as_mut().expect("translation pages exist");
        if table.cmt.touch(lpa) {
            if dirty {
                table.cmt.set_dirty(lpa);
            }
            return;
        }
        if !table.cmt.has_room() {
            let victim = table.cmt.evict();
            if victim.dirty {
                self.write_back_page(victim.flow, victim.page);
            }
        }
        let table = self.ftl.mapping.as_mut().expect("translation pages exist");
        table.cmt.insert(lpa, page, flow, dirty);
    }

    /// The mapping of a page changed: its entry is marked, or enters the cache marked.
    pub(crate) fn mapping_changed(&mut self, flow: u16, lpa: u32) {
        let Some(table) = &self.ftl.mapping else { return };
        let page = table.page_of(flow, lpa);
        self.cache_entry(flow, lpa, page, true);
    }

    /// Writes a translation page back, with all of its changed entries.
    fn write_back_page(&mut self, flow: u16, page: u32) {
        let table = self.ftl.mapping.as_mut().expect("translation pages exist");
        table.cmt.clean_page(page);
        let departing = table.departing.get(page).unwrap_or(0);
        if departing % 2 == 1 {
            // It joins the write-back that still waits for the old page or for a free block.
            return;
        }
        table.writebacks += 1;
        table.departing.insert(page, departing + 3);
        let exists = table.on_flash(page) != NONE;
        let write = self.new_transaction(Source::Mapping, Op::Program, flow, page);
        let mask = self.ftl.pages.full_mask();
        self.transactions[write].mask = mask;
        if exists {
            self.transactions[write].place = Place::Merge;
            self.read_translation_page(flow, page, write);
        } else {
            self.place_write(write);
        }
    }

    /// A write-back has its place: what changes from now on needs another one.
    pub(crate) fn write_back_placed(&mut self, page: u32) {
        let table = self.ftl.mapping.as_mut().expect("translation pages exist");
        let departing = table.departing.get(page).expect("the page is being written back");
        assert_eq!(departing % 2, 1, "one write-back at a time waits for its place");
        table.departing.insert(page, departing - 1);
    }

    /// Points the directory at a translation page's new place.
    pub(crate) fn bind_translation_page(&mut self, page: u32, ppa: u32) {
        let table = self.ftl.mapping.as_mut().expect("translation pages exist");
        let old = table.on_flash(page);
        table.set_on_flash(page, ppa);
        self.ftl.pages.set_lpa(ppa, page);
        if old != NONE {
            self.invalidate(old);
        }
    }

    /// A translation page is on flash.
    pub(crate) fn mapping_program_done(&mut self, id: u32) {
        self.page_programmed(id);
        let tr = self.transactions[id];
        self.transactions.remove(id);
        self.recorder.flows[tr.flow as usize].other_programs += 1;
        let table = self.ftl.mapping.as_mut().expect("translation pages exist");
        let departing = table.departing.get(tr.lpa).expect("the page was being written back");
        if departing == 2 {
            table.departing.remove(tr.lpa);
        } else {
            table.departing.insert(tr.lpa, departing - 2);
        }
    }

    /// Checks the directory against the page tables.
    pub(crate) fn audit_mapping(&self) {
        let Some(table) = &self.ftl.mapping else { return };
        for page in 0..table.directory.len() as u32 {
            let ppa = table.on_flash(page);
            if ppa != NONE {
                assert_eq!(self.ftl.pages.lpa(ppa), page, "directory and P2L agree on {page}");
            }
        }
        table.cmt.audit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_sizes_are_those_of_the_reference_device() {
        // 8 x 4 x 2 x 2 planes x 2048 blocks x 256 pages of 8 KiB: 9 B per entry, 1365 per page.
        let sizes = EntrySizes::new(8 * 4 * 2 * 2 * 2048 * 256, 16);
        assert_eq!(sizes, EntrySizes { cmt: 9, per_page: 1365 });
        assert_eq!((2 << 20) / sizes.cmt, 233_016);
    }
}
