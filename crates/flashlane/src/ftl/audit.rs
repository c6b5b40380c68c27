//! The checks of `--check` that compare blocks, tables and jobs with the transactions under way.

use flashlane_engine::{NONE, Slab};

use super::Ftl;
use super::blocks::BlockState;
use crate::transaction::{Op, Place, Source, Transaction};

impl Ftl {
    /// What a physical page holds lies there: P2L agrees with L2P, or with the directory of translation pages.
    pub(crate) fn audit_held_pages(&self) {
        let blocks = &self.blocks;
        for block in (0..blocks.count() as u32).filter(|&block| blocks.block(block).valid > 0) {
            let first = blocks.first_page(block);
            let is_data = blocks.block(block).stream.is_data();
            for ppa in first..first + blocks.pages_per_block() {
                let held = self.pages.lpa(ppa);
                if held != NONE && is_data {
                    assert_eq!(self.pages.ppa(held), ppa, "P2L and L2P agree on page {ppa}");
                } else if held != NONE {
                    let table = self.mapping.as_ref().expect("translation pages exist");
                    assert_eq!(table.on_flash(held), ppa, "P2L and directory agree on {ppa}");
                }
            }
        }
    }

    /// Counts of blocks and planes are those of the transactions under way.
    pub(crate) fn audit_work(&self, transactions: &Slab<Transaction>) {
        if self.in_place {
            return;
        }
        let mut programs = vec![0; self.blocks.count()];
        let mut reads = vec![0; self.blocks.count()];
        let mut merges = 0;
        for (_, tr) in transactions.iter() {
            if tr.op == Op::Program && matches!(tr.place, Place::Queue | Place::Die) {
                programs[self.blocks.block_of(tr.ppa) as usize] += 1;
            }
            if tr.holds_block {
                reads[self.blocks.block_of(tr.ppa) as usize] += 1;
            }
            merges += usize::from(tr.place == Place::Merge && tr.source != Source::Mapping);
        }
        for (id, (&programs, reads)) in (0..).zip(programs.iter().zip(reads)) {
            let block = self.blocks.block(id);
            let unfinished = block.allocated - block.programmed;
            assert_eq!(unfinished, programs, "programs of block {id} are under way");
            assert_eq!(block.reads, reads, "reads of block {id} are counted");
            let used = block.state != BlockState::Free || reads == 0;
            assert!(used, "free block {id} is not read");
        }
        let of_plane = programs.chunks(programs.len() / self.blocks.planes.len());
        for (plane, programs) in self.blocks.planes.iter().zip(of_plane) {
            let under_way: u32 = programs.iter().map(|&count| u32::from(count)).sum();
            assert_eq!(plane.programs, under_way, "programs of a plane are counted");
        }
        assert_eq!(self.merging.len(), merges, "pages whose old data is read are known");
        self.audit_jobs(transactions);
    }

    /// Counts of chips are those of their planes.
    pub(crate) fn audit_chips(
        &self,
        transactions: &Slab<Transaction>,
        chip_of: impl Fn(u32) -> usize,
    ) {
        if self.in_place {
            return;
        }
        let planes = || (0..).zip(&self.blocks.planes);
        for (chip, &urgent) in self.urgent_planes.iter().enumerate() {
            let known = planes().filter(|(plane, state)| state.urgent && chip_of(*plane) == chip);
            assert_eq!(known.count(), urgent as usize, "urgent planes of chip {chip}");
            let unerased = self.unerased_of(transactions, |plane| chip_of(plane) == chip);
            assert_eq!(self.unerased[chip] as usize, unerased, "awaited erases of chip {chip}");
        }
    }
}
