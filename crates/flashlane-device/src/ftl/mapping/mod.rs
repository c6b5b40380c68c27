//! The page-level mapping table: translation pages on flash and a cache of their entries in DRAM.
//!
//! The truth is in [`PageTables`](super::pages::PageTables); this stage decides what a look-up
//! costs. A miss reads the translation page, unless that page was never written or is just being
//! written back. Changed entries are written back when they are evicted: all changed entries of the
//! same translation page together, merged with the old page on flash. Source: MQSim (FAST'18)
//! section 4.2.3, after DFTL (ASPLOS'09).

mod cmt;
mod look_up;
mod write_back;

use flashlane_engine::{DenseMap, Divisor, prefetch};

use super::Ftl;
use super::config::FtlSettings;
use crate::layout::Layout;
use crate::transaction::Op;
use cmt::Cmt;
pub(crate) use cmt::Evicted;
use flashlane_units::{FlowId, Lpa, Ppa, Sharing, TransactionId};

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

/// Differences in the released MQSim; see `CompatConfig`.
#[derive(Clone, Copy, Debug)]
struct Rules {
    reserves: bool,
    short_reads: bool,
    unprogrammed: bool,
}

/// Transactions that wait for a translation page, in the order in which they came. With
/// `compat.cmt_reserves`, one list holds all.
#[derive(Clone, Debug, Default)]
struct Waiting {
    reads: Vec<TransactionId>,
    writes: Vec<TransactionId>,
}

impl Waiting {
    fn push(&mut self, id: TransactionId, op: Op) {
        let list = if op == Op::Read { &mut self.reads } else { &mut self.writes };
        list.push(id);
    }
}

/// Translation pages and the cache of their entries.
#[derive(Clone)]
pub struct MappingTable {
    /// A single table for all flows, or one table for each flow.
    cmts: Vec<Cmt>,
    /// Entries of a translation page.
    per_page: Divisor,
    /// Differences in the released MQSim.
    rules: Rules,
    /// Physical page of each translation page, plus one; 0 where it was never written.
    directory: Vec<u32>,
    /// First translation page and first logical page of each flow.
    flows: Vec<(u32, u64)>,
    /// Translation pages that are being read, with the position of their lists of waiting
    /// transactions.
    reading: DenseMap,
    waiting: Vec<Waiting>,
    free_lists: Vec<u32>,
    /// Working memory for the changed entries of a page, kept between uses.
    changed: Vec<Lpa>,
    /// Translation pages being written back. The value is twice the number of write-backs, plus one
    /// while the last write-back has no place on flash yet.
    departing: DenseMap,
    pub(crate) writebacks: u64,
}

impl MappingTable {
    /// An empty table, and no translation page on flash.
    pub(crate) fn new(settings: FtlSettings<'_>, layout: &Layout) -> Self {
        let sizes = EntrySizes::new(layout.geometry.pages(), layout.geometry.sectors_per_page);
        let mut flows = Vec::new();
        let mut pages = 0;
        for flow in &layout.flows {
            flows.push((pages as u32, flow.first_lpa));
            pages += flow.pages.div_ceil(sizes.per_page);
        }
        let FtlSettings { config, compat, .. } = settings;
        let entries = config.mapping.cmt_capacity.0 / sizes.cmt;
        let (parts, share) = match config.mapping.sharing {
            _ if layout.is_one_stream() => (1, entries),
            Sharing::Shared if compat.cmt_per_flow => (layout.flows.len(), entries),
            Sharing::Shared => (1, entries),
            Sharing::EqualPartitioning => (layout.flows.len(), entries / layout.flows.len() as u64),
        };
        let share = share.clamp(1, u64::from(u32::MAX)) as u32;
        let end_of = |part: usize| flows.get(part + 1).map_or(pages as u32, |&(first, _)| first);
        let cmts = match parts {
            1 => vec![Cmt::new(share, 0..pages as u32)],
            _ => (0..parts).map(|part| Cmt::new(share, flows[part].0..end_of(part))).collect(),
        };
        Self {
            cmts,
            per_page: Divisor::new(sizes.per_page as u32),
            rules: Rules {
                reserves: compat.cmt_reserves,
                short_reads: compat.short_mapping_reads,
                unprogrammed: compat.unprogrammed_mapping,
            },
            directory: vec![0; pages as usize],
            flows,
            reading: DenseMap::default(),
            waiting: Vec::new(),
            free_lists: Vec::new(),
            changed: Vec::new(),
            departing: DenseMap::default(),
            writebacks: 0,
        }
    }

    /// Translation page of a logical page.
    #[inline]
    pub(crate) fn page_of(&self, flow: FlowId, lpa: Lpa) -> u32 {
        let (first_page, first_lpa) = self.flows[flow.index()];
        first_page + self.per_page.divide(lpa.get() - first_lpa as u32)
    }

    /// Translation pages of a flow.
    pub fn pages_of(&self, flow: FlowId, layout: &Layout) -> std::ops::Range<u32> {
        let first = self.flows[flow.index()].0;
        let count =
            layout.flows[flow.index()].pages.div_ceil(u64::from(self.per_page.get())) as u32;
        first..first + count
    }

    /// Translation pages of a flow, without a last page that is only partly used.
    pub fn whole_pages_of(&self, flow: FlowId, layout: &Layout) -> std::ops::Range<u32> {
        let first = self.flows[flow.index()].0;
        first..first + (layout.flows[flow.index()].pages / u64::from(self.per_page.get())) as u32
    }

    /// The flow whose entries a translation page holds.
    pub(crate) fn flow_of(&self, page: u32) -> FlowId {
        FlowId::at(self.flows.partition_point(|&(first, _)| first <= page) - 1)
    }

    /// Index of a translation page within its flow.
    pub fn index_in_flow(&self, flow: FlowId, page: u32) -> u32 {
        page - self.flows[flow.index()].0
    }

    /// The table that a flow uses.
    #[inline]
    fn cmt(&mut self, flow: FlowId) -> &mut Cmt {
        let at = self.cmt_at(flow);
        &mut self.cmts[at]
    }

    #[inline]
    fn cmt_at(&self, flow: FlowId) -> usize {
        if self.cmts.len() == 1 { 0 } else { flow.index() }
    }

    /// Prefetches the entry of a logical page.
    #[inline]
    pub fn prefetch(&self, flow: FlowId, lpa: Lpa) {
        let page = self.page_of(flow, lpa);
        self.cmts[self.cmt_at(flow)].prefetch(lpa, page);
        prefetch(&self.directory, page as usize);
    }

    /// Physical page of a translation page, or `NONE`.
    #[inline]
    pub(crate) fn on_flash(&self, page: u32) -> Ppa {
        Ppa::new(self.directory[page as usize].wrapping_sub(1))
    }

    /// Records where a translation page is.
    pub fn set_on_flash(&mut self, page: u32, ppa: Ppa) {
        self.directory[page as usize] = ppa.get() + 1;
    }

    /// Appends the places of the translation pages, for a state that is kept on disk.
    pub(crate) fn put(&self, out: &mut Vec<u32>) {
        out.extend(&self.directory);
    }

    /// Restores what [`put`](Self::put) wrote for the same number of translation pages. `None` for
    /// anything else.
    pub(crate) fn take(&mut self, from: &mut dyn Iterator<Item = u32>) -> Option<()> {
        self.directory.iter_mut().try_for_each(|place| {
            *place = from.next()?;
            Some(())
        })
    }

    /// A look-up of an entry, or a change to it, in no time. Returns the evicted entry if it was
    /// changed: its translation page goes to flash.
    pub fn recall(&mut self, flow: FlowId, lpa: Lpa, changed: bool) -> Option<Evicted> {
        let page = self.page_of(flow, lpa);
        let cmt = self.cmt(flow);
        if cmt.settle(lpa, changed) {
            return None;
        }
        let mut leaves = None;
        if !cmt.has_room() {
            leaves = cmt.evict().filter(|victim| victim.dirty);
        }
        if let Some(victim) = &leaves {
            cmt.clean_page(victim.page);
        }
        cmt.insert(lpa, page, flow, changed);
        leaves
    }

    /// True if the entry of a page is in the table.
    pub(crate) fn knows(&mut self, flow: FlowId, lpa: Lpa) -> bool {
        self.cmt(flow).contains(lpa)
    }

    /// Entries in the table.
    pub fn entries(&self) -> u64 {
        self.cmts.iter().map(|cmt| u64::from(cmt.len())).sum()
    }

    /// Entries that the table holds at most.
    pub fn capacity(&self) -> u64 {
        self.cmts.iter().map(|cmt| u64::from(cmt.capacity())).sum()
    }

    /// Takes the lists of transactions that wait for a translation page, with the position to which
    /// [`give_back`](Self::give_back) returns them.
    fn take_waiting(&mut self, page: u32) -> (u32, Waiting) {
        let at = self.reading.remove(page).expect("a page being read has lists");
        (at, std::mem::take(&mut self.waiting[at as usize]))
    }

    /// Returns the memory of the lists, for another page.
    fn give_back(&mut self, at: u32, mut lists: Waiting) {
        lists.reads.clear();
        lists.writes.clear();
        self.waiting[at as usize] = lists;
        self.free_lists.push(at);
    }

    /// Starts the lists of a translation page that is being read.
    fn start_waiting(&mut self, page: u32, id: TransactionId, op: Op) {
        let at = self.free_lists.pop().unwrap_or_else(|| {
            self.waiting.push(Waiting::default());
            self.waiting.len() as u32 - 1
        });
        self.waiting[at as usize].push(id, op);
        self.reading.insert(page, at);
    }
}

impl Ftl {
    /// Checks the directory against the page tables.
    pub(crate) fn audit_mapping(&self) {
        let Some(table) = &self.mapping else { return };
        for page in 0..table.directory.len() as u32 {
            let ppa = table.on_flash(page);
            if ppa != Ppa::NONE {
                assert_eq!(self.pages.lpa(ppa).get(), page, "directory and P2L agree on {page}");
            }
        }
        let parts = table.cmts.len();
        for (flow, cmt) in (0..).map(FlowId::new).zip(&table.cmts) {
            cmt.audit((parts > 1).then_some(flow));
        }
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
