//! Questions that policies from outside may ask of blocks, beside those that all policies may ask.

use flashlane_units::{BlockId, FlowId, PlaneId};

use super::{BlockState, Blocks};

impl Blocks {
    /// Share of the flow among all valid pages; 0 on an empty drive.
    pub(crate) fn valid_share(&self, flow: FlowId) -> f64 {
        let all: u64 = self.valid.iter().sum();
        self.valid[flow.index()] as f64 / all.max(1) as f64
    }

    /// Free blocks of a plane, including the reserve for collection.
    #[must_use]
    pub fn free_blocks(&self, plane: PlaneId) -> u32 {
        self.planes[plane].free
    }

    /// Programs that wait for a plane or run on it.
    #[must_use]
    pub fn programs(&self, plane: PlaneId) -> u32 {
        self.planes[plane].programs
    }

    /// Blocks of a plane in collection, up to their erase.
    #[must_use]
    pub fn collections(&self, plane: PlaneId) -> u32 {
        self.planes[plane].jobs
    }

    /// Valid pages of a block.
    #[must_use]
    pub fn valid_pages(&self, block: BlockId) -> u32 {
        self.block(block).valid
    }

    /// The block of a plane, counted inside the plane, that may be collected and has the fewest
    /// valid pages; the first of several. `None` if no block has an invalid page.
    #[must_use]
    pub fn emptiest(&self, plane: PlaneId) -> Option<u32> {
        let first = self.first_block(plane);
        let count = self.of_plane(plane).len() as u32;
        (0..count)
            .map(|at| (self.valid_pages(first.plus(at)), at))
            .filter(|&(valid, at)| {
                valid < self.pages_per_block() && self.may_be_collected(first.plus(at))
            })
            .min()
            .map(|(_, at)| at)
    }

    /// The flow that owns the data of a full or open block.
    #[must_use]
    pub fn owner(&self, block: BlockId) -> Option<FlowId> {
        let block = self.block(block);
        let holds = block.state != BlockState::Free && block.stream.is_data();
        (holds && block.flow != FlowId::NONE).then_some(block.flow)
    }

    /// True if the block may be collected: it is full, every program is done, and it is not in
    /// collection.
    #[must_use]
    pub fn may_be_collected(&self, block: BlockId) -> bool {
        let block = self.block(block);
        block.state == BlockState::Full && block.quiet()
    }
}
