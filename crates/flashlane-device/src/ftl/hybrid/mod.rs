//! Hybrid log-block mapping, after FAST. Data blocks are mapped as wholes; writes go to a few log
//! blocks that are mapped by page.
//!
//! On each plane a flow's pages form logical blocks, and a page lies in its data block at its own
//! offset. A write of the first page of a logical block opens the *sequential* log block, which
//! takes that logical block's pages as long as they come in order. Every other write is appended to
//! the *random* log blocks, which hold pages of any logical block. When a sequential log block is
//! full it becomes the data block (switch merge). When another sequential log block is needed
//! first, the missing pages are copied into it (partial merge). When the random log blocks are
//! full, the oldest is freed: every logical block that has a page in it is gathered in a new data
//! block (full merge). Pages are copied one after the other, inside their plane.
//!
//! Both tables are small and lie in DRAM: a look-up costs nothing. Invariants: a block has one
//! role; a data block holds valid pages of its logical block only, at their offsets. Source: Lee et
//! al., FAST: a log buffer-based FTL using fully-associative sector translation (ACM TECS 6(3),
//! 2007); MQSim (FAST'18) section 4.2.3 names hybrid mapping. Our choices: each plane and flow has
//! a FAST of its own, and the programs of a block leave in order, as flash with several bits per
//! cell needs.

mod audit;
mod merge;

use std::collections::VecDeque;

use flashlane_engine::{Array, NONE};
use flashlane_units::{BlockId, FlowId, Lpa, PlaneId, Ppa};

use super::Ftl;
use super::blocks::{Blocks, Stream};
use crate::context::Context;
use crate::layout::Layout;
use merge::Merge;

/// Blocks of a plane beyond data blocks and log blocks: one merge target, and two that are being
/// erased.
pub const SPARE_BLOCKS: u64 = 3;

/// Position of a logical page under hybrid mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot {
    /// Logical block on the plane.
    logical: u32,
    /// Page inside the logical block.
    offset: u32,
}

/// A sequential log block.
#[derive(Clone, Copy, Debug)]
struct Sequential {
    block: BlockId,
    logical: u32,
    /// The next page of the logical block that the log block takes.
    next: u32,
}

/// The blocks of a flow on a plane.
#[derive(Clone, Debug, Default)]
struct Partition {
    /// Pages of the flow that belong on the plane.
    pages: u32,
    /// Data block by logical block; `NONE` where there is none.
    data: Vec<BlockId>,
    sequential: Option<Sequential>,
    /// Random log blocks, oldest first; the last one may be open.
    log: VecDeque<BlockId>,
}

impl Partition {
    /// Pages of a logical block. The last logical block of a plane may have fewer.
    fn pages_of(&self, logical: u32, pages_per_block: u32) -> u32 {
        (self.pages - logical * pages_per_block).min(pages_per_block)
    }
}

/// The order in which a flow's pages visit its planes.
#[derive(Clone, Debug)]
struct Striping {
    first_lpa: Lpa,
    /// Number of planes.
    period: u32,
    /// By plane: its position in the order.
    position: Array<PlaneId, u32>,
}

/// The mapping of all planes.
#[derive(Clone)]
pub struct Hybrid {
    striping: Vec<Striping>,
    /// By plane and flow.
    partitions: Vec<Partition>,
    /// The merge under way, by plane.
    merges: Array<PlaneId, Option<Merge>>,
    log_blocks: usize,
    pages_per_block: u32,
    full_merges: u64,
    partial_merges: u64,
    switch_merges: u64,
}

impl Hybrid {
    /// Nothing written. `order`: planes of a flow in the order in which its pages visit them.
    pub(crate) fn new<'a>(
        log_blocks: u32,
        layout: &Layout,
        order: impl Fn(FlowId) -> &'a [PlaneId],
    ) -> Self {
        let geometry = layout.geometry;
        let planes = geometry.planes() as usize;
        let flows = layout.flows.len();
        let mut partitions = vec![Partition::default(); planes * flows];
        let mut striping = Vec::new();
        for (flow, space) in layout.flows.iter().enumerate() {
            let order = order(FlowId::at(flow));
            let mut position = Array::of(NONE, planes);
            for (index, &plane) in order.iter().enumerate() {
                position[plane] = index as u32;
                let partition = &mut partitions[plane.index() * flows + flow];
                let pages = space.pages.saturating_sub(index as u64).div_ceil(order.len() as u64);
                partition.pages = pages as u32;
                let blocks = partition.pages.div_ceil(geometry.pages_per_block);
                partition.data = vec![BlockId::NONE; blocks as usize];
            }
            let first_lpa = space.lpa(0);
            striping.push(Striping { first_lpa, period: order.len() as u32, position });
        }
        Self {
            striping,
            partitions,
            merges: Array::of(None, planes),
            log_blocks: log_blocks as usize,
            pages_per_block: geometry.pages_per_block,
            full_merges: 0,
            partial_merges: 0,
            switch_merges: 0,
        }
    }

    /// Merges so far: full, partial, switch.
    pub(super) fn merges_done(&self) -> [u64; 3] {
        [self.full_merges, self.partial_merges, self.switch_merges]
    }

    fn partition(&self, plane: PlaneId, flow: FlowId) -> &Partition {
        &self.partitions[plane.index() * self.striping.len() + flow.index()]
    }

    fn partition_mut(&mut self, plane: PlaneId, flow: FlowId) -> &mut Partition {
        &mut self.partitions[plane.index() * self.striping.len() + flow.index()]
    }

    /// Position of a logical page on its plane.
    fn spot(&self, flow: FlowId, lpa: Lpa) -> Spot {
        let Striping { first_lpa, period, .. } = self.striping[flow.index()];
        let local = lpa.since(first_lpa) / period;
        Spot { logical: local / self.pages_per_block, offset: local % self.pages_per_block }
    }

    /// The logical page at a position on a plane.
    fn lpa(&self, plane: PlaneId, flow: FlowId, spot: Spot) -> Lpa {
        let Striping { first_lpa, period, position } = &self.striping[flow.index()];
        let local = spot.logical * self.pages_per_block + spot.offset;
        first_lpa.plus(local * period + position[plane])
    }

    /// The page that a write gets, or the merge that must come first.
    fn place(&mut self, plane: PlaneId, flow: FlowId, lpa: Lpa, blocks: &mut Blocks) -> Place {
        let spot = self.spot(flow, lpa);
        let merge = self.merges[plane];
        let (merging, log_blocks) = (merge.is_some(), self.log_blocks);
        // A logical block that a merge gathers gets no sequential log block.
        let gathered = merge.is_some_and(|merge| merge.gathers(flow, spot.logical));
        let pages_per_block = self.pages_per_block;
        let partition = self.partition_mut(plane, flow);
        // While a merge works on the plane, it may need the last free block.
        let spare = u32::from(merging);
        let has_free = blocks.planes[plane].free > spare;
        if let Some(sequential) = &mut partition.sequential
            && sequential.logical == spot.logical
            && sequential.next == spot.offset
            && !merging
        {
            sequential.next += 1;
            return Place::At(blocks.append(sequential.block));
        }
        if spot.offset == 0 && !gathered {
            if let Some(sequential) = partition.sequential {
                return Place::After(Merge::partial(
                    flow,
                    sequential.block,
                    sequential.logical,
                    sequential.next,
                ));
            }
            if !has_free {
                return Place::Wait;
            }
            let block = blocks.take_block(plane, flow, Stream::HOST);
            partition.sequential = Some(Sequential { block, logical: spot.logical, next: 1 });
            return Place::At(blocks.append(block));
        }
        if let Some(&open) = partition.log.back()
            && blocks.block(open).allocated < pages_per_block
        {
            return Place::At(blocks.append(open));
        }
        if partition.log.len() == log_blocks {
            return Place::After(Merge::full(flow, partition.log[0]));
        }
        if !has_free {
            return Place::Wait;
        }
        let block = blocks.take_block(plane, flow, Stream::HOST);
        partition.log.push_back(block);
        Place::At(blocks.append(block))
    }

    /// For preconditioning: the data block of the logical page, taken from the pool if need be, and
    /// the page's place in it.
    pub fn data_place(
        &mut self,
        plane: PlaneId,
        flow: FlowId,
        lpa: Lpa,
        blocks: &mut Blocks,
    ) -> Ppa {
        let spot = self.spot(flow, lpa);
        let data = &mut self.partition_mut(plane, flow).data[spot.logical as usize];
        if *data == BlockId::NONE {
            *data = blocks.precondition_block(plane, flow, Stream::HOST);
        }
        blocks.first_page(*data).plus(spot.offset)
    }

    /// Pages of the random log blocks of a flow on a plane. The last block is left out.
    pub fn log_pages(&self) -> u64 {
        (self.log_blocks as u64 - 1) * u64::from(self.pages_per_block)
    }

    /// For preconditioning: the next page of the random log blocks; `None` when only one of them is
    /// left to fill.
    pub fn log_place(&mut self, plane: PlaneId, flow: FlowId, blocks: &mut Blocks) -> Option<Ppa> {
        let (log_blocks, pages_per_block) = (self.log_blocks, self.pages_per_block);
        let partition = self.partition_mut(plane, flow);
        let open = match partition.log.back() {
            Some(&open) if blocks.block(open).allocated < pages_per_block => open,
            _ if partition.log.len() + 1 >= log_blocks => return None,
            _ => {
                let block = blocks.take_block(plane, flow, Stream::HOST);
                partition.log.push_back(block);
                block
            }
        };
        let ppa = blocks.append(open);
        let block = blocks.block_mut(open);
        (block.issued, block.programmed) = (block.allocated, block.allocated);
        Some(ppa)
    }
}

/// Where a write goes.
enum Place {
    /// A page.
    At(Ppa),
    /// No page until this merge is over.
    After(Merge),
    /// No page until a block is erased.
    Wait,
}

impl Ftl {
    fn hybrid(&self) -> &Hybrid {
        self.layer.hybrid().expect("mapping is hybrid")
    }

    fn hybrid_mut(&mut self) -> &mut Hybrid {
        self.layer.hybrid_mut().expect("mapping is hybrid")
    }

    /// Gives a host write its page in a log block. `None` if the write waits for a merge or an
    /// erase.
    pub(crate) fn place_in_log(&mut self, plane: PlaneId, flow: FlowId, lpa: Lpa) -> Option<Ppa> {
        let hybrid = self.layer.hybrid_mut().expect("mapping is hybrid");
        match hybrid.place(plane, flow, lpa, &mut self.blocks) {
            Place::At(ppa) => Some(ppa),
            Place::After(merge) => {
                // A plane has one merge at a time; the write tries again when the merge is over.
                hybrid.merges[plane].get_or_insert(merge);
                None
            }
            Place::Wait => None,
        }
    }

    /// After a write got its page: a full sequential log block becomes the data block.
    pub(crate) fn placed_in_log(&mut self, ctx: &mut Context, plane: PlaneId, flow: FlowId) {
        let hybrid = self.hybrid_mut();
        let pages_per_block = hybrid.pages_per_block;
        let partition = hybrid.partition_mut(plane, flow);
        let Some(Sequential { block, logical, next }) = partition.sequential else { return };
        if next < partition.pages_of(logical, pages_per_block) {
            return;
        }
        partition.sequential = None;
        let old = std::mem::replace(&mut partition.data[logical as usize], block);
        hybrid.switch_merges += 1;
        if old != BlockId::NONE {
            self.give_up(ctx, old);
        }
    }
}
