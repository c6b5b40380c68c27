//! Merges: log blocks become data blocks, page by page.

use flashlane_engine::NONE;
use flashlane_units::{BlockId, FlowId, Lpa, PlaneId, Ppa, TransactionId};

use super::{Sequential, Spot};
use crate::context::Context;
use crate::ftl::Ftl;
use crate::ftl::blocks::Stream;
use crate::ftl::gc::Job;
use crate::transaction::{Op, Source};

/// The log block that a merge frees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The oldest random log block. Each of its logical blocks moves to a new data block.
    Full { victim: BlockId },
    /// The sequential log block, which gets the rest of its pages and becomes the data block.
    Partial,
}

/// A merge under way on a plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Merge {
    flow: FlowId,
    kind: Kind,
    /// The logical block being gathered, or `NONE` before the first one.
    logical: u32,
    /// The block in which it is gathered; `NONE` while no block is needed or none is free.
    target: BlockId,
    /// The next page to look at.
    next: u32,
    /// True while a page or the last program of the target is under way.
    busy: bool,
}

impl Merge {
    /// Frees a random log block.
    pub(super) fn full(flow: FlowId, victim: BlockId) -> Self {
        let kind = Kind::Full { victim };
        Self { flow, kind, logical: NONE, target: BlockId::NONE, next: 0, busy: false }
    }

    /// Completes a sequential log block that holds the pages below `next`.
    pub(super) fn partial(flow: FlowId, block: BlockId, logical: u32, next: u32) -> Self {
        Self { flow, kind: Kind::Partial, logical, target: block, next, busy: false }
    }

    /// True while the merge gathers this logical block of the flow in a new data block.
    pub(super) fn gathers(&self, flow: FlowId, logical: u32) -> bool {
        self.kind != Kind::Partial && self.flow == flow && self.logical == logical
    }

    /// The block whose only role is to be the target of this merge.
    pub(super) fn own_target(&self) -> Option<BlockId> {
        (self.kind != Kind::Partial && self.target != BlockId::NONE).then_some(self.target)
    }
}

impl Ftl {
    /// Continues the merge of a plane until it has to wait.
    pub(crate) fn continue_merge(&mut self, ctx: &mut Context, plane: PlaneId) {
        while let Some(merge) = self.merge_of(plane) {
            if merge.busy {
                return;
            }
            if merge.logical == NONE {
                let Kind::Full { victim } = merge.kind else {
                    unreachable!("a partial merge has one")
                };
                match self.logical_block_in(merge.flow, victim) {
                    Some(logical) => {
                        self.merge_mut(plane).logical = logical;
                        self.merge_mut(plane).next = 0;
                    }
                    None => self.end_full_merge(ctx, plane, victim),
                }
            } else if !self.copy_next(ctx, plane, merge) {
                return;
            }
        }
    }

    fn merge_of(&self, plane: PlaneId) -> Option<Merge> {
        self.hybrid().merges[plane]
    }

    fn merge_mut(&mut self, plane: PlaneId) -> &mut Merge {
        let hybrid = self.hybrid_mut();
        hybrid.merges[plane].as_mut().expect("a merge is under way")
    }

    /// The logical block of the first valid page of a log block.
    fn logical_block_in(&self, flow: FlowId, block: BlockId) -> Option<u32> {
        let hybrid = self.hybrid();
        self.blocks
            .pages_of(block)
            .map(|ppa| self.pages.lpa(ppa))
            .find(|&lpa| lpa != Lpa::NONE)
            .map(|lpa| hybrid.spot(flow, lpa).logical)
    }

    /// Starts to copy the next valid page of the logical block; after the last page, ends the
    /// logical block. False where the merge has to wait.
    fn copy_next(&mut self, ctx: &mut Context, plane: PlaneId, merge: Merge) -> bool {
        let hybrid = self.hybrid();
        let pages =
            hybrid.partition(plane, merge.flow).pages_of(merge.logical, hybrid.pages_per_block);
        let mut offset = merge.next;
        let found = loop {
            if offset == pages {
                break None;
            }
            let lpa = hybrid.lpa(plane, merge.flow, Spot { logical: merge.logical, offset });
            if self.pages.ppa(lpa) != Ppa::NONE {
                break Some(lpa);
            }
            offset += 1;
        };
        self.merge_mut(plane).next = offset;
        let Some(lpa) = found else {
            self.end_logical_block(ctx, plane);
            return true;
        };
        if merge.target == BlockId::NONE {
            if self.blocks.planes[plane].free == 0 {
                return false;
            }
            let target = self.blocks.take_block(plane, merge.flow, Stream::GC);
            self.merge_mut(plane).target = target;
        }
        let target = self.merge_mut(plane).target;
        // Leaves out the empty pages before this one, which needs all programs to be over.
        let block = self.blocks.block(target);
        if block.allocated < offset {
            if !block.quiet() {
                return false;
            }
            self.blocks.skip_to(target, offset);
        }
        self.merge_mut(plane).busy = true;
        let id = self.new_transaction(ctx, Source::Gc, Op::Read, merge.flow, lpa);
        let mask = self.pages.full_mask();
        let tr = &mut ctx.transactions[id];
        (tr.ppa, tr.plane) = (self.pages.ppa(lpa), plane);
        tr.set_part(mask, self.pages.sectors_in(mask));
        self.read_physical(ctx, id);
        false
    }

    /// A page to copy is in the controller; it is copied unless the host has written it again.
    pub(crate) fn merge_read_done(&mut self, ctx: &mut Context, id: TransactionId) {
        let now = ctx.now;
        let tr = ctx.transactions[id];
        let plane = tr.plane;
        if self.pages.lpa(tr.ppa) != tr.lpa {
            self.merge_read_cancelled(ctx, id);
            return;
        }
        self.release_block(ctx, id);
        let target = self.merge_mut(plane).target;
        self.merge_mut(plane).next += 1;
        let ppa = self.blocks.append(target);
        self.invalidate(ctx, tr.ppa);
        self.pages.place(tr.lpa, ppa);
        self.gc_moves += 1;
        self.blocks.planes[plane].programs += 1;
        let write = &mut ctx.transactions[id];
        (write.op, write.ppa, write.mark) = (Op::Program, ppa, now);
        self.schedule(ctx, id);
    }

    /// The page has another place now, so the merge looks for its page again.
    pub(crate) fn merge_read_cancelled(&mut self, ctx: &mut Context, id: TransactionId) {
        self.release_block(ctx, id);
        let plane = ctx.transactions[id].plane;
        ctx.transactions.remove(id);
        self.merge_mut(plane).busy = false;
        self.continue_merge(ctx, plane);
    }

    /// A copied page is on flash.
    pub(crate) fn merge_program_done(&mut self, ctx: &mut Context, plane: PlaneId) {
        self.merge_mut(plane).busy = false;
        self.continue_merge(ctx, plane);
    }

    /// The target holds every page of the logical block and becomes its data block.
    fn end_logical_block(&mut self, ctx: &mut Context, plane: PlaneId) {
        let merge = *self.merge_mut(plane);
        let hybrid = self.hybrid_mut();
        let partition = hybrid.partition_mut(plane, merge.flow);
        let data = &mut partition.data[merge.logical as usize];
        let old = std::mem::replace(data, merge.target);
        match merge.kind {
            Kind::Full { .. } => {
                // A sequential log block of the same logical block was gathered with the rest.
                let gathered = partition.sequential.take_if(|s| s.logical == merge.logical);
                hybrid.full_merges += 1;
                if let Some(sequential) = gathered {
                    self.give_up(ctx, sequential.block);
                }
                let merge = self.merge_mut(plane);
                (merge.logical, merge.target) = (NONE, BlockId::NONE);
            }
            Kind::Partial => {
                let Some(Sequential { block, .. }) = partition.sequential.take() else {
                    unreachable!("a partial merge is of the sequential log block")
                };
                assert_eq!(block, merge.target, "the log block is the new data block");
                hybrid.partial_merges += 1;
                hybrid.merges[plane] = None;
            }
        }
        if old != BlockId::NONE {
            self.give_up(ctx, old);
        }
        if merge.kind == Kind::Partial {
            self.unpark(ctx, plane);
        }
    }

    /// Ends a full merge: nothing valid is left in the log block.
    fn end_full_merge(&mut self, ctx: &mut Context, plane: PlaneId, victim: BlockId) {
        let flow = self.merge_mut(plane).flow;
        let hybrid = self.hybrid_mut();
        hybrid.merges[plane] = None;
        let oldest = hybrid.partition_mut(plane, flow).log.pop_front();
        assert_eq!(oldest, Some(victim), "the oldest log block was merged");
        self.give_up(ctx, victim);
        self.unpark(ctx, plane);
    }

    /// Gives up a block that lost its role: it is erased as soon as no read and no program of it is
    /// under way.
    pub(super) fn give_up(&mut self, ctx: &mut Context, block: BlockId) {
        let plane = self.blocks.plane_of(block);
        let state = self.begin_job(plane, block);
        assert_eq!(state.valid, 0, "a block without a role holds nothing valid");
        self.gc_invocations += 1;
        self.jobs.insert(Job::of(block));
        self.erase_if_empty(ctx, block);
    }
}
