//! Blocks that get their state without being written.

use flashlane_units::{BlockId, FlowId, PlaneId};

use super::{BlockState, Blocks, Stream};

impl Blocks {
    /// Leaves out the pages of an open block before `page`. No program of the block may be under
    /// way.
    pub(crate) fn skip_to(&mut self, block: BlockId, page: u32) {
        let page = self.stripes.as_ref().map_or(page, |stripes| stripes.whole_stripes(page));
        let open = &mut self.blocks[block];
        assert!(open.quiet(), "pages are left out between programs");
        (open.allocated, open.issued, open.programmed) = (page, page, page);
        self.settle(block);
    }

    /// Takes a block for preconditioning and closes it at once with all pages programmed. Where
    /// frontiers are open from the start, it is that of the frontier, which takes the next one.
    pub fn precondition_block(&mut self, plane: PlaneId, flow: FlowId, stream: Stream) -> BlockId {
        let next = self.take_block(plane, flow, stream);
        let frontier = self.frontier_at(plane, flow, stream);
        let open = self.frontiers[frontier];
        let block = match self.eager_frontiers && open != BlockId::NONE {
            true => std::mem::replace(&mut self.frontiers[frontier], next),
            false => next,
        };
        let pages = self.pages_per_block.get();
        let closed = &mut self.blocks[block];
        closed.state = BlockState::Full;
        (closed.allocated, closed.issued, closed.programmed) = (pages, pages, pages);
        self.settle(block);
        block
    }

    /// Notes that preconditioning filled `count` more blocks of a plane.
    pub fn blocks_filled(&mut self, plane: PlaneId, count: u32) {
        self.planes[plane].filled += count;
    }
}
