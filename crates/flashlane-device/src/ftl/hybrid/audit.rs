//! The roles of blocks under hybrid mapping, checked with `--check`.

use flashlane_units::{BlockId, FlowId, Lpa};

use super::{Merge, Spot};
use crate::ftl::Ftl;

impl Ftl {
    /// Checks that every block has one role and every data block its own pages only.
    pub(in crate::ftl) fn audit_hybrid(&self) {
        let Some(hybrid) = self.layer.hybrid() else { return };
        let mut roles = vec![false; self.blocks.count()];
        let mut take = |block: BlockId| {
            assert!(!std::mem::replace(&mut roles[block.index()], true), "block {block}: one role");
        };
        for plane in self.blocks.planes.numbers() {
            for flow in (0..hybrid.striping.len()).map(FlowId::at) {
                let partition = hybrid.partition(plane, flow);
                assert!(partition.log.len() <= hybrid.log_blocks, "log blocks are counted");
                partition.log.iter().for_each(|&block| take(block));
                let sequential = partition.sequential.map(|s| (s.logical, s.block));
                let data =
                    (0..).zip(partition.data.iter().copied()).filter(|(_, b)| *b != BlockId::NONE);
                for (logical, block) in data.chain(sequential) {
                    take(block);
                    for offset in 0..hybrid.pages_per_block {
                        let lpa = self.pages.lpa(self.blocks.first_page(block).plus(offset));
                        if lpa != Lpa::NONE {
                            let spot = Spot { logical, offset };
                            assert_eq!(hybrid.spot(flow, lpa), spot, "a page at its place");
                        }
                    }
                }
            }
            if let Some(target) = hybrid.merges[plane].as_ref().and_then(Merge::own_target) {
                take(target);
            }
        }
    }
}
