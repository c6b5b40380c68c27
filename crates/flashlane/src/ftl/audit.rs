//! The state of the translation layer, checked with `--check`.

use flashlane_engine::NONE;
use flashlane_units::FlowId;

use super::{Ftl, Layer};
use crate::layout::Layout;

impl Ftl {
    /// Checks everything that must hold between two events.
    pub(crate) fn audit(&self, layout: &Layout) {
        self.audit_pages(layout);
        self.audit_mapping();
        self.audit_hybrid();
        if let Some(sets) = &self.sets {
            sets.audit(&self.blocks);
        }
        assert!(self.outcomes.is_empty(), "what happened is handed on");
    }

    /// L2P and P2L agree; valid counters equal what the tables say; blocks add up.
    pub(super) fn audit_pages(&self, layout: &Layout) {
        if matches!(self.layer, Layer::InPlace) {
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
        for (index, space) in (0..).map(FlowId::new).zip(&layout.flows) {
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
