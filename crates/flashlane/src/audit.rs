//! The full check of the model's state (`--check`). Every violation is a fault of the simulator.

use flashlane_engine::NONE;

use crate::device::Device;
use crate::ftl::Ftl;
use crate::host::HostFlow;
use crate::layout::Layout;
use crate::scheduler::policy::Policy;
use crate::transaction::Place;

impl Device {
    /// Checks everything that must hold between two events.
    pub(crate) fn audit(&self) {
        self.queue.audit();
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
        self.audit_scheduler();
        self.flash.audit(self.now, &self.transactions);
        let running = self.transactions.iter().filter(|(_, tr)| tr.place == Place::Die).count();
        assert_eq!(
            running,
            self.flash.on_dies(&self.transactions),
            "every running transaction is on one die"
        );
        self.ftl.audit_work(&self.transactions);
        self.ftl.audit_chips(&self.transactions, |plane| {
            self.flash.chip_of(self.flash.die_of(plane)) as usize
        });
        self.host.audit(self.requests.len());
        self.audit_queue_pairs();
        if let Some(sata) = self.interface.sata() {
            sata.audit(self.requests.len());
        }
    }

    /// Every request of an NVMe drive is behind its submission queue, or between its entry and its completion.
    fn audit_queue_pairs(&self) {
        if self.interface.is_sata() {
            return;
        }
        let nvme = self.interface.nvme();
        for (index, flow) in self.host.flows().enumerate() {
            let known = flow.behind_queue() + nvme.under_way(index);
            assert_eq!(known, flow.outstanding(), "every request of flow {index} is somewhere");
        }
        nvme.audit(self.host.flows().map(HostFlow::entries));
    }

    /// Checks what must hold when no event is left, but requests are: they wait for what will never come. This is no
    /// fault only where they wait for free blocks.
    pub(crate) fn audit_stuck(&self) {
        self.interface.nvme().audit_end();
        self.flash.audit_stuck();
        let awaits_flash = |id: u32| self.transactions.iter().any(|(_, tr)| tr.request == id);
        self.cache.audit_stuck(&self.requests, awaits_flash);
    }

    /// Checks what must hold when nothing is left to do.
    pub(crate) fn audit_end(&self) {
        self.host.audit_end();
        self.interface.nvme().audit_end();
        if let Some(sata) = self.interface.sata() {
            sata.audit_end();
        }
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
        self.audit_held_pages();
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
