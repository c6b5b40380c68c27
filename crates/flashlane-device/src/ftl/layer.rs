//! The ways to map pages, and what they do differently. Only this file tells them apart: the rest
//! of the stage asks a [`Layer`] what it has, or calls a function of this file.

use flashlane_units::{FlowId, Lpa, PlaneId, Ppa, TransactionId};

use super::Ftl;
use super::blocks::BlockState;
use super::gc::{Collector, JobKind};
use super::hybrid::Hybrid;
use crate::context::Context;

/// The way in which pages are mapped and blocks become free again.
#[derive(Clone)]
pub(super) enum Layer {
    /// Page by page; jobs empty and erase blocks.
    Pages(Collector),
    /// Page by page; blocks are emptied and erased in no time.
    Free(Collector),
    /// By blocks, with some log blocks by pages; blocks become free by merges.
    Hybrid(Hybrid),
    /// Not at all: memory that is written in place.
    InPlace,
}

impl Layer {
    /// The layer of a drive. `hybrid`: the blocks of hybrid mapping, if it is the drive's mapping.
    pub(super) fn new(hybrid: Option<Hybrid>, in_place: bool, collector: Collector) -> Self {
        match hybrid {
            Some(hybrid) => Self::Hybrid(hybrid),
            None if in_place => Self::InPlace,
            None if collector.costs_nothing() => Self::Free(collector),
            None => Self::Pages(collector),
        }
    }

    /// True if pages are mapped one by one, and collection makes room for them.
    pub(super) fn by_page(&self) -> bool {
        matches!(self, Self::Pages(_) | Self::Free(_))
    }

    /// True for memory that is written in place. It has no tables and no blocks in use.
    #[inline(always)]
    pub(super) fn in_place(&self) -> bool {
        matches!(self, Self::InPlace)
    }

    /// True if blocks are emptied and erased in no time.
    #[inline]
    pub(super) fn frees_at_once(&self) -> bool {
        matches!(self, Self::Free(_))
    }

    /// The collector; `None` for layers that collect nothing.
    #[inline]
    pub(super) fn collector(&self) -> Option<&Collector> {
        match self {
            Self::Pages(collector) | Self::Free(collector) => Some(collector),
            Self::Hybrid(_) | Self::InPlace => None,
        }
    }

    /// The collector, to pick a victim.
    pub(super) fn collector_mut(&mut self) -> Option<&mut Collector> {
        match self {
            Self::Pages(collector) | Self::Free(collector) => Some(collector),
            Self::Hybrid(_) | Self::InPlace => None,
        }
    }

    /// Hybrid mapping; `None` for other layers.
    #[inline]
    pub(super) fn hybrid(&self) -> Option<&Hybrid> {
        if let Self::Hybrid(hybrid) = self { Some(hybrid) } else { None }
    }

    /// Hybrid mapping, to change it.
    pub(super) fn hybrid_mut(&mut self) -> Option<&mut Hybrid> {
        if let Self::Hybrid(hybrid) = self { Some(hybrid) } else { None }
    }
}

/// What hosts ask for.
impl Ftl {
    /// A read of a host page. True if the transaction is ready for its die: the caller then sends
    /// it there, and there is no outcome for it.
    #[inline(always)]
    pub(crate) fn read(&mut self, ctx: &mut Context, id: TransactionId, flow: FlowId) -> bool {
        match self.layer {
            Layer::InPlace => {
                self.find_in_place(ctx, id);
                true
            }
            _ => self.read_mapped(ctx, id, flow),
        }
    }

    /// Looks up the mapping of a transaction's logical page; the transaction goes on now or when
    /// its translation page has arrived.
    pub(crate) fn translate(&mut self, ctx: &mut Context, id: TransactionId) {
        match self.layer {
            Layer::InPlace => {
                self.find_in_place(ctx, id);
                self.ready(id);
            }
            _ => self.translate_mapped(ctx, id),
        }
    }

    /// The host gives up sectors of a page. A page without sectors loses its place.
    pub(crate) fn trim(&mut self, ctx: &mut Context, flow: FlowId, lpa: Lpa, mask: u64) {
        match self.layer {
            Layer::InPlace => {}
            _ => self.trim_mapped(ctx, flow, lpa, mask),
        }
    }
}

/// What the flash reports.
impl Ftl {
    /// The program of a page is sent to its die.
    #[inline]
    pub(crate) fn program_sent(&mut self, ppa: Ppa) {
        match self.layer {
            Layer::InPlace => {}
            _ => self.blocks.program_sent(ppa),
        }
    }

    /// A program of the layer or of the host is out of the array. Readers of the page may go on,
    /// and the block may be ready for collection.
    #[inline(always)]
    pub(crate) fn programmed(&mut self, ctx: &mut Context, id: TransactionId) {
        if self.layer.in_place() {
            return;
        }
        let (pool, wanted) = self.page_programmed(ctx, id);
        match self.layer {
            Layer::Hybrid(_) => {
                // The block may have lost its role, or a merge may wait for its last program.
                let block = self.blocks.block_of(ctx.transactions[id].ppa);
                if self.blocks.block(block).state == BlockState::Collected {
                    self.erase_if_empty(ctx, block);
                }
                self.continue_merge(ctx, pool);
            }
            _ if wanted => self.collect_again(ctx, pool),
            _ => {}
        }
    }

    /// The page to move is in the controller; it gets its new place.
    pub(crate) fn migration_read_done(&mut self, ctx: &mut Context, id: TransactionId) {
        match self.layer {
            Layer::Hybrid(_) => self.merge_read_done(ctx, id),
            _ => self.move_read_done(ctx, id),
        }
    }

    /// Ends a migration that became pointless: a host write or trim came first.
    pub(crate) fn migration_cancelled(&mut self, ctx: &mut Context, id: TransactionId) {
        match self.layer {
            Layer::Hybrid(_) => self.merge_read_cancelled(ctx, id),
            _ => self.move_cancelled(ctx, id),
        }
    }

    /// A moved page is on flash.
    pub(crate) fn migration_program_done(&mut self, ctx: &mut Context, id: TransactionId) {
        self.programmed(ctx, id);
        let tr = ctx.transactions[id];
        ctx.transactions.remove(id);
        self.flows[tr.flow].other_programs += 1;
        match self.layer {
            Layer::Hybrid(_) => self.merge_program_done(ctx, tr.plane),
            // Parity belongs to no job. It may be a whole row of units.
            _ if tr.lpa == Lpa::NONE => {
                let others = self.units_per_program() - 1;
                self.flows[tr.flow].other_programs += u64::from(others);
            }
            _ => self.move_over(ctx, tr.job()),
        }
    }
}

/// How blocks become free.
impl Ftl {
    /// Starts collecting a plane if it is short of free blocks. If no block can be collected now,
    /// `gc_wanted` is set.
    #[inline(always)]
    pub(in crate::ftl) fn collect(&mut self, ctx: &mut Context, plane: PlaneId) {
        let state = &mut self.blocks.planes[plane];
        if let Layer::Pages(collector) = &self.layer
            && self.pacing.is_none()
            && !collector.is_due(state)
        {
            state.gc_wanted = false;
            return;
        }
        self.collect_now(ctx, plane);
    }

    /// Starts a collection that may be due.
    fn collect_now(&mut self, ctx: &mut Context, plane: PlaneId) {
        match self.layer {
            Layer::Pages(_) => {
                self.collect_blocks(ctx, plane, |ftl, ctx, block| {
                    ftl.gc_invocations += 1;
                    ftl.start_job(ctx, plane, block, JobKind::Collection);
                });
                self.press(ctx, plane);
            }
            Layer::Free(_) => {
                self.collect_blocks(ctx, plane, |ftl, ctx, block| ftl.pack(ctx, plane, block));
            }
            Layer::Hybrid(_) => self.continue_merge(ctx, plane),
            Layer::InPlace => {}
        }
    }

    /// True if the plane needs free blocks before anything else.
    #[inline]
    pub(super) fn needs_blocks(&self, plane: PlaneId) -> bool {
        let state = &self.blocks.planes[plane];
        match &self.layer {
            Layer::Pages(collector) | Layer::Free(collector) => {
                state.free < collector.hard_threshold
            }
            // The pool is always small: merges are urgent when writes wait for them.
            Layer::Hybrid(_) => !state.parked.is_empty(),
            Layer::InPlace => false,
        }
    }
}
