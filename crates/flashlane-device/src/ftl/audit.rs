//! The state of the translation layer, checked with `--check`.

use flashlane_engine::{Array, Time};
use flashlane_units::{ChipId, FlowId, Lpa, Ppa};

use super::Ftl;
use super::blocks::BlockState;
use crate::layout::Layout;
use crate::transaction::{Op, Place, Source, Transactions};

impl Ftl {
    /// Checks everything that must hold between two events.
    pub(crate) fn audit(&self, now: Time, layout: &Layout, transactions: &Transactions) {
        self.audit_tables(layout);
        self.audit_work(transactions);
        self.audit_chips(transactions);
        self.audit_pacing();
        self.audit_slc_cache();
        self.audit_errors(now);
        self.audit_units(transactions);
        assert!(self.outcomes.is_empty(), "what happened is handed on");
    }

    /// Checks the page tables, the blocks, the cached mapping and the jobs of collection.
    pub(super) fn audit_tables(&self, layout: &Layout) {
        self.audit_pages(layout);
        self.audit_mapping();
        self.audit_separation();
        self.audit_placement();
        self.audit_hybrid();
        if let Some(sets) = &self.sets {
            sets.audit(&self.blocks);
        }
    }

    /// L2P and P2L agree; valid counters equal what the tables say; blocks add up.
    fn audit_pages(&self, layout: &Layout) {
        if self.layer.in_place() {
            let used = self.blocks.planes.iter().filter(|plane| plane.programs > 0).count();
            assert_eq!(used, 0, "memory that is written in place has no blocks in use");
            return;
        }
        let pages = &self.pages;
        for lpa in Lpa::first(pages.logical_pages()) {
            let ppa = pages.ppa(lpa);
            if ppa != Ppa::NONE {
                assert_eq!(pages.lpa(ppa), lpa, "L2P and P2L agree on logical page {lpa}");
            }
        }
        self.audit_held_pages();
        let blocks = &self.blocks;
        for (index, space) in (0..).map(FlowId::new).zip(&layout.flows) {
            let mut own = vec![self.sets.is_some(); layout.geometry.planes() as usize];
            space.planes(layout.geometry).for_each(|plane| own[plane.index()] = true);
            for lpa in (0..space.pages).map(|page| space.lpa(page)) {
                let ppa = pages.ppa(lpa);
                if ppa != Ppa::NONE {
                    let block = blocks.block_of(ppa);
                    let owner = blocks.owner_of(block, lpa);
                    assert_eq!(owner, index, "block {block} has one tenant");
                    let plane = blocks.plane_of_page(ppa);
                    assert!(own[plane.index()], "flow {index} keeps off plane {plane}");
                }
            }
        }
        for plane in blocks.planes.numbers() {
            blocks.audit(plane, |block| {
                blocks.pages_of(block).filter(|&ppa| pages.lpa(ppa) != Lpa::NONE).count() as u32
            });
        }
    }

    /// Checks that P2L agrees with L2P, or with the directory of translation pages, for every
    /// physical page that holds something.
    fn audit_held_pages(&self) {
        let blocks = &self.blocks;
        for block in blocks.numbers().filter(|&block| blocks.block(block).valid > 0) {
            let is_data = blocks.block(block).stream.is_data();
            for ppa in blocks.pages_of(block) {
                let held = self.pages.lpa(ppa);
                if held != Lpa::NONE && is_data {
                    assert_eq!(self.pages.ppa(held), ppa, "P2L and L2P agree on page {ppa}");
                } else if held != Lpa::NONE {
                    let table = self.table();
                    assert_eq!(table.on_flash(held.get()), ppa, "P2L and directory agree on {ppa}");
                }
            }
        }
    }

    /// Checks the counts of blocks and planes against the transactions under way.
    fn audit_work(&self, transactions: &Transactions) {
        if self.layer.in_place() {
            return;
        }
        let mut programs = vec![0; self.blocks.count()];
        let mut reads = vec![0; self.blocks.count()];
        let mut merges = 0;
        for (_, tr) in transactions.iter() {
            let placed = matches!(
                tr.place,
                Place::Filling | Place::Riding | Place::NextPass | Place::Queue | Place::Die
            );
            if tr.op == Op::Program && placed {
                let empty = self.empty_units_of(tr, transactions);
                programs[self.blocks.block_of(tr.ppa).index()] += 1 + empty;
            }
            if tr.holds_block {
                reads[self.blocks.block_of(tr.ppa).index()] += 1;
            }
            merges += usize::from(tr.place == Place::Merge && tr.source != Source::Mapping);
        }
        for (id, (&programs, reads)) in self.blocks.numbers().zip(programs.iter().zip(reads)) {
            let block = self.blocks.block(id);
            let unfinished = block.allocated - block.programmed;
            assert_eq!(unfinished, programs, "programs of block {id} are under way");
            assert_eq!(block.reads, reads, "reads of block {id} are counted");
            let used = block.state != BlockState::Free || reads == 0;
            assert!(used, "free block {id} is not read");
        }
        let of_plane = programs.chunks(programs.len() / self.blocks.planes.len());
        for (plane, programs) in self.blocks.planes.iter().zip(of_plane) {
            let under_way: u32 = programs.iter().sum();
            assert_eq!(plane.programs, under_way, "programs of a plane are counted");
        }
        assert_eq!(self.partial.len(), merges, "pages whose old data is read are known");
        self.audit_jobs(transactions);
    }

    /// Checks the counts of chips against those of their planes.
    fn audit_chips(&self, transactions: &Transactions) {
        if self.layer.in_place() {
            return;
        }
        let mut urgent: Array<ChipId, u32> = Array::of(0, self.urgent_planes.len());
        for (plane, state) in self.blocks.planes.numbered() {
            let planes = self.blocks.planes_of_pool(plane);
            planes.for_each(|plane| urgent[self.chip_of(plane)] += u32::from(state.urgent));
        }
        let unerased = self.unerased_of_chips(transactions);
        for ((chip, &urgent), unerased) in urgent.numbered().zip(unerased) {
            assert_eq!(self.urgent_planes[chip], urgent, "urgent planes of chip {chip}");
            assert_eq!(self.unerased[chip], unerased, "awaited erases of chip {chip}");
        }
    }
}
