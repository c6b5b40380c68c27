//! Write frontiers: the open block of each plane, flow and stream, whose pages are allocated in
//! order.

use flashlane_units::{BlockId, FlowId, PlaneId, Ppa};

use super::{BlockState, Blocks, Stream};

impl Blocks {
    /// Place of a frontier in the table.
    #[inline]
    pub(super) fn frontier_at(&self, plane: PlaneId, flow: FlowId, stream: Stream) -> usize {
        let flow = u32::from(flow.get()) & self.own_frontiers;
        (plane.get() * self.flows + flow) as usize * self.streams + stream.number()
    }

    /// Adds the streams of placement handles. The drive is empty.
    pub(in crate::ftl) fn keep_handles(&mut self, handles: u8, persistent: bool) {
        assert!(self.frontiers.iter().all(|&block| block == BlockId::NONE), "no frontier is open");
        self.streams = Stream::count(handles, persistent);
        let frontiers = self.planes.len() * self.flows as usize * self.streams;
        self.frontiers = vec![BlockId::NONE; frontiers];
    }

    /// Pages that a block has left for data behind its first `allocated` ones.
    pub(in crate::ftl) fn room_behind(&self, allocated: u32) -> u32 {
        let (slots, data) = (u64::from(self.slots()), u64::from(self.data_pages));
        // Where stripes have parity, it has an equal share of every part of a block.
        (u64::from(self.slots() - allocated) * data / slots) as u32
    }

    /// Allocates the next page of a frontier. `None` where that needs a free block and only the
    /// reserve is left. `privileged` allocations are for collection and may take the reserve.
    pub fn allocate(
        &mut self,
        plane: PlaneId,
        flow: FlowId,
        stream: Stream,
        privileged: bool,
    ) -> Option<Ppa> {
        let at = self.frontier_at(plane, flow, stream);
        let mut block = self.frontiers[at];
        if block == BlockId::NONE {
            let reserve = if privileged { 0 } else { self.host_reserve(plane) };
            // The SLC cache has looked before whether there is a block for it.
            if self.planes[plane].free <= reserve && stream != Stream::SLC {
                return None;
            }
            block = self.take_block(plane, flow, stream);
            self.frontiers[at] = block;
        }
        let ppa = self.take_page(block);
        let open = &mut self.blocks[block];
        if open.state == BlockState::Full {
            self.frontiers[at] = BlockId::NONE;
            let filled = &mut self.planes[plane].filled;
            open.filled = *filled;
            *filled = filled.wrapping_add(1);
            let reserve = if privileged { 0 } else { self.host_reserve(plane) };
            let at_once = self.eager_frontiers || self.handles_stay_open && stream.is_of_handle();
            if at_once && self.planes[plane].free > reserve {
                self.frontiers[at] = self.take_block(plane, flow, stream);
            }
        }
        self.count_held(block, 1);
        Some(ppa)
    }

    /// Allocates as [`allocate`](Self::allocate) does; the page counts as programmed.
    #[inline]
    pub(crate) fn allocate_at_once(
        &mut self,
        plane: PlaneId,
        flow: FlowId,
        stream: Stream,
        privileged: bool,
    ) -> Option<Ppa> {
        let ppa = self.allocate(plane, flow, stream, privileged)?;
        self.written_at_once(ppa);
        Some(ppa)
    }

    /// Allocates at most `most` pages in a row in the block of a frontier; they count as
    /// programmed. Returns the first page and the number of pages.
    #[inline]
    pub(crate) fn allocate_run(
        &mut self,
        plane: PlaneId,
        flow: FlowId,
        stream: Stream,
        privileged: bool,
        most: u32,
    ) -> Option<(Ppa, u32)> {
        let first = self.allocate_at_once(plane, flow, stream, privileged)?;
        let block = self.block_of(first);
        if self.stripes.is_some() || self.frontiers[self.frontier_at(plane, flow, stream)] != block
        {
            return Some((first, 1));
        }
        // The page that fills the block is allocated by itself.
        let pages = self.pages_per_block.get();
        let open = &mut self.blocks[block];
        let more = (most - 1).min(pages - 1 - open.allocated);
        open.allocated += more;
        open.issued += more;
        open.programmed += more;
        open.valid += more;
        self.valid[open.flow.index()] += u64::from(more);
        self.count_held(block, more as i32);
        Some((first, 1 + more))
    }

    /// A page that was just allocated counts as programmed: nothing is sent to the die for it.
    pub fn written_at_once(&mut self, ppa: Ppa) {
        if self.stripes.is_some() {
            self.programmed_at_once(ppa);
            return;
        }
        let block = self.block_of(ppa);
        let block = &mut self.blocks[block];
        block.issued += 1;
        block.programmed += 1;
    }

    /// Opens the frontiers of a flow on a plane before anything is written, and from now on
    /// replaces full ones at once. Order: the released MQSim.
    pub(crate) fn open_frontiers(&mut self, plane: PlaneId, flow: FlowId) {
        self.eager_frontiers = true;
        self.planes[plane].turns.add_flow();
        for stream in [Stream::HOST, Stream::MAPPING, Stream::GC] {
            let at = self.frontier_at(plane, flow, stream);
            self.frontiers[at] = self.take_block(plane, flow, stream);
        }
    }

    /// Opens the block of a handle on a plane where it has none, and from now on replaces it at
    /// once when it is full.
    pub(in crate::ftl) fn open_for_handle(&mut self, plane: PlaneId, stream: Stream) {
        assert!(stream.is_of_handle(), "{stream:?} is no stream of a handle");
        self.handles_stay_open = true;
        let at = self.frontier_at(plane, FlowId::new(0), stream);
        if self.frontiers[at] == BlockId::NONE && self.planes[plane].free > self.host_reserve(plane)
        {
            self.frontiers[at] = self.take_block(plane, FlowId::new(0), stream);
        }
    }

    /// Puts the block of a frontier that holds nothing back into the pool. The next write takes
    /// another one.
    pub fn close_empty_frontier(&mut self, plane: PlaneId, flow: FlowId, stream: Stream) {
        let at = self.frontier_at(plane, flow, stream);
        let block = self.frontiers[at];
        if block != BlockId::NONE && self.blocks[block].allocated == 0 {
            self.frontiers[at] = BlockId::NONE;
            self.put_empty_block(block);
        }
    }

    /// True if every allocated page of a frontier was sent to the die.
    pub(crate) fn in_step(&self, plane: PlaneId, flow: FlowId, stream: Stream) -> bool {
        let block = self.frontiers[self.frontier_at(plane, flow, stream)];
        block == BlockId::NONE || {
            let open = &self.blocks[block];
            open.issued == open.allocated
        }
    }

    /// Index, inside its block, of the next page of a frontier.
    pub(crate) fn next_page(&self, plane: PlaneId, flow: FlowId, stream: Stream) -> u32 {
        let block = self.frontiers[self.frontier_at(plane, flow, stream)];
        if block == BlockId::NONE { 0 } else { self.blocks[block].allocated }
    }

    /// The open block of a frontier, or `NONE`.
    pub(in crate::ftl) fn frontier(&self, plane: PlaneId, flow: FlowId, stream: Stream) -> BlockId {
        self.frontiers[self.frontier_at(plane, flow, stream)]
    }

    /// True if the flow could write to the plane now.
    #[must_use]
    pub fn has_room(&self, plane: PlaneId, flow: FlowId) -> bool {
        self.has_room_in(plane, flow, self.host_stream)
    }

    /// True if a page of the stream could go to the plane now, without the reserve.
    pub(crate) fn has_room_in(&self, plane: PlaneId, flow: FlowId, stream: Stream) -> bool {
        self.frontiers[self.frontier_at(plane, flow, stream)] != BlockId::NONE
            || self.planes[plane].free > self.host_reserve(plane)
    }

    /// Sets the stream of pages of the host of which nothing is known. The drive is empty.
    pub(in crate::ftl) fn set_host_stream(&mut self, stream: Stream) {
        assert!(self.frontiers.iter().all(|&block| block == BlockId::NONE), "no frontier is open");
        self.host_stream = stream;
    }

    /// The stream of pages of the host of which nothing is known.
    #[must_use]
    pub fn host_stream(&self) -> Stream {
        self.host_stream
    }

    /// True if a block is not in the pool.
    pub(in crate::ftl) fn is_used(&self, block: BlockId) -> bool {
        self.blocks[block].state != BlockState::Free
    }

    /// True if the host may take a page of the frontier that it shares with collection. An open
    /// block is no room by itself: each block in collection may still need as many pages as a
    /// block has, so the reserve has to be whole.
    pub(in crate::ftl) fn shared_has_room(&self, plane: PlaneId, flow: FlowId) -> bool {
        let (free, reserve) = (self.planes[plane].free, self.host_reserve(plane));
        free > reserve || free == reserve && self.is_open(plane, flow, Stream::SHARED)
    }

    /// Closes those frontiers of a flow that have no program under way, where data of another flow
    /// comes to the plane: their empty pages count as written and invalid, so that collection may
    /// take the blocks. The frontier for pages moved inside the plane stays open: collection may
    /// need it, and would close and open it again and again.
    pub(crate) fn close_frontiers(&mut self, plane: PlaneId, flow: FlowId) {
        for stream in [Stream::HOST, Stream::RELOCATED] {
            let at = self.frontier_at(plane, flow, stream);
            let block = self.frontiers[at];
            if block == BlockId::NONE || !self.blocks[block].quiet() {
                continue;
            }
            self.frontiers[at] = BlockId::NONE;
            let pages = self.pages_per_block.get();
            let filled = &mut self.planes[plane].filled;
            let closed = &mut self.blocks[block];
            closed.state = BlockState::Full;
            (closed.allocated, closed.issued, closed.programmed) = (pages, pages, pages);
            closed.filled = *filled;
            *filled = filled.wrapping_add(1);
            self.full.filled(block, closed.valid);
        }
    }

    /// Takes the block of a frontier away, before it is full. Nothing is written to it any more.
    pub(in crate::ftl) fn detach(&mut self, plane: PlaneId, stream: Stream) -> Option<BlockId> {
        let at = self.frontier_at(plane, FlowId::new(0), stream);
        let block = std::mem::replace(&mut self.frontiers[at], BlockId::NONE);
        (block != BlockId::NONE).then_some(block)
    }

    /// Closes a block that was taken from its frontier: its empty pages count as written and
    /// invalid. False if a program of it is under way; then nothing changes.
    pub(in crate::ftl) fn close_detached(&mut self, block: BlockId) -> bool {
        if !self.blocks[block].quiet() {
            return false;
        }
        let plane = self.plane_of(block);
        self.skip_to(block, self.pages_per_block.get());
        let filled = &mut self.planes[plane].filled;
        let closed = &mut self.blocks[block];
        (closed.state, closed.filled) = (BlockState::Full, *filled);
        *filled = filled.wrapping_add(1);
        self.full.filled(block, closed.valid);
        true
    }

    /// Opens a frontier for preconditioning. The pages before `page` count as written and invalid.
    pub fn precondition_frontier(
        &mut self,
        plane: PlaneId,
        flow: FlowId,
        stream: Stream,
        page: u32,
    ) {
        let block = self.take_block(plane, flow, stream);
        self.skip_to(block, page);
        let at = self.frontier_at(plane, flow, stream);
        self.frontiers[at] = block;
    }
}
