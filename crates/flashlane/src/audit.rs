//! The full check of the model's state (`--check`). Every violation is a fault of the simulator.

use flashlane_engine::NONE;

use crate::device::Device;
use crate::ftl::Ftl;
use crate::layout::Layout;
use crate::scheduler::policy::Policy;
use crate::transaction::Place;

impl Device {
    /// Checks everything that must hold between two events.
    pub(crate) fn audit(&self) {
        self.ftl.audit_pages(&self.layout);
        self.ftl.audit_mapping();
        self.audit_hybrid();
        self.cache.audit(&self.transactions);
        if let Some(sets) = &self.ftl.sets {
            sets.audit(&self.ftl.blocks);
        }
        let queued =
            self.transactions.iter().filter(|(_, tr)| tr.place == Place::Queue).count() as u32;
        let waiting: u32 =
            (0..self.geometry.dies()).map(|die| self.scheduler.policy.waiting(die)).sum();
        assert_eq!(queued, waiting, "every queued transaction is in one queue");
        self.audit_policy();
        self.flash.audit_wanted();
        let running = self.transactions.iter().filter(|(_, tr)| tr.place == Place::Die).count();
        assert_eq!(
            running,
            self.flash.on_dies(&self.transactions),
            "every running transaction is on one die"
        );
        self.host.audit(self.requests.len());
        if let Some(sata) = self.interface.sata() {
            sata.audit(self.requests.len());
        }
    }

    /// Checks what must hold when nothing is left to do.
    pub(crate) fn audit_end(&self) {
        self.host.audit_end();
        if let Some((_, tr)) = self.transactions.iter().next() {
            let left = self.transactions.len();
            panic!("{left} transactions are left behind, the first of them: {tr:?}");
        }
        self.cache.audit_end();
    }
}

impl Ftl {
    /// L2P and P2L agree; valid counters equal what the tables say; blocks add up.
    pub(crate) fn audit_pages(&self, layout: &Layout) {
        if self.in_place {
            let used = self.blocks.planes.iter().filter(|plane| plane.programs > 0).count();
            assert_eq!(used, 0, "memory that is written in place has no blocks in use");
            return;
        }
        let pages = &self.pages;
        for lpa in 0..pages.logical_pages() {
            let ppa = pages.ppa(lpa);
            if ppa != NONE {
                assert_eq!(pages.lpa(ppa), lpa, "L2P and P2L agree on logical page {lpa}");
            }
        }
        let blocks = &self.blocks;
        for (index, space) in (0..).zip(&layout.flows) {
            let mut own = vec![self.sets.is_some(); layout.geometry.planes() as usize];
            space.planes(layout.geometry).for_each(|plane| own[plane as usize] = true);
            for lpa in space.first_lpa..space.first_lpa + space.pages {
                let ppa = pages.ppa(lpa as u32);
                if ppa != NONE {
                    let block = blocks.block_of(ppa);
                    assert_eq!(blocks.block(block).flow, index, "block {block} has one tenant");
                    let plane = blocks.plane_of(block);
                    assert!(own[plane as usize], "flow {index} keeps off plane {plane}");
                }
            }
        }
        for plane in 0..layout.geometry.planes() {
            blocks.audit(plane, |block| {
                let first = blocks.first_page(block);
                let range = first..first + blocks.pages_per_block();
                range.filter(|&ppa| pages.lpa(ppa) != NONE).count() as u16
            });
        }
    }
}
