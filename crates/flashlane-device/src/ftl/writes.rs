//! Writes of pages: they get a physical page, or wait for a free block.

use flashlane_engine::Time;
use flashlane_units::{FlowId, Lpa, PlaneId, Ppa, TransactionId};

use super::blocks::Stream;
use super::contents::Trimmed;
use super::{Ftl, Seen};
use crate::context::Context;
use crate::transaction::{Op, Place, Source};

impl Ftl {
    /// A page of the host, or of its data cache, is on flash.
    pub(crate) fn host_page_programmed(&mut self, ctx: &mut Context, id: TransactionId) {
        self.flows[ctx.transactions[id].flow].host_programs += 1;
        self.programmed(ctx, id);
    }

    /// A page of a block became invalid outside of any collection. If collection is free and the
    /// page's plane waits for a block to collect, this block may be collectable now.
    fn pack_again(&mut self, ctx: &mut Context, ppa: Ppa) {
        let plane = self.blocks.plane_of(self.blocks.block_of(ppa));
        if self.layer.frees_at_once() && self.blocks.planes[plane].gc_wanted {
            self.collect_again(ctx, plane);
        }
    }

    /// Gives a write its page, or parks it until a block is free.
    pub(super) fn place_write(&mut self, ctx: &mut Context, id: TransactionId) {
        debug_assert_eq!(ctx.transactions[id].op, Op::Program, "only programs take a page");
        if let Err(plane) = self.place_or_give_up(ctx, id) {
            ctx.transactions[id].place = Place::FreeBlock;
            ctx.transactions[id].plane = self.first_plane(plane);
            self.blocks.planes[plane].parked.push_back(id, &mut ctx.transactions);
            self.pool_changed(plane);
            self.owe_collection(plane);
            self.collect_again(ctx, plane);
        }
    }

    /// The pool and the stream of a write.
    #[inline(always)]
    fn plane_of_write(&mut self, flow: FlowId, lpa: Lpa, source: Source) -> (PlaneId, Stream) {
        if source == Source::Mapping {
            let index = self.table().index_in_flow(flow, lpa.get());
            return (self.allocator.translation_plane(flow, index), Stream::MAPPING);
        }
        let (old, blocks) = (self.pages.ppa(lpa), &self.blocks);
        let plane = match &mut self.sets {
            Some(sets) => {
                let old = if old == Ppa::NONE {
                    PlaneId::NONE
                } else {
                    blocks.plane_of(blocks.block_of(old))
                };
                sets.plane_of_write(flow, old, blocks)
            }
            None => self.usual_plane(flow, lpa, old),
        };
        (plane, Stream::HOST)
    }

    /// The pool of a page of the host, where no sets of chips move. `old`: where the page lies, or
    /// `NONE`.
    #[inline(always)]
    pub(in crate::ftl) fn usual_plane(&mut self, flow: FlowId, lpa: Lpa, old: Ppa) -> PlaneId {
        let plane = match self.units.as_ref().and_then(|units| units.plane_to_fill(flow)) {
            Some(plane) => plane,
            None => self.allocator.plane(flow, lpa, old, &self.blocks),
        };
        self.set_in_group(plane, lpa, old)
    }

    /// Allocates a page of the frontier that the write belongs to. `None` where that needs a free
    /// block and only the reserve is left.
    #[inline(always)]
    pub(super) fn allocate(
        &mut self,
        plane: PlaneId,
        flow: FlowId,
        (lpa, stream): (Lpa, Stream),
        now: Time,
    ) -> Option<Ppa> {
        if self.separation.is_some() {
            self.allocate_apart(plane, flow, (lpa, stream))
        } else if self.has_handles() {
            self.allocate_by_handle(plane, flow, (lpa, stream), now)
        } else {
            self.blocks.allocate(plane, flow, stream, false)
        }
    }

    /// Gives a write its page as [`Self::try_place`] does, unless it needs none any more.
    fn place_or_give_up(&mut self, ctx: &mut Context, id: TransactionId) -> Result<(), PlaneId> {
        if ctx.transactions[id].mask() == 0 && self.is_given_up(ctx, id) {
            return Ok(());
        }
        self.try_place(ctx, id)
    }

    /// Allocates a page for a host, cache or translation write; `Err` with the plane that has no
    /// room.
    fn try_place(&mut self, ctx: &mut Context, id: TransactionId) -> Result<(), PlaneId> {
        let now = ctx.now;
        let tr = &ctx.transactions[id];
        let (flow, lpa, mask, source) = (tr.flow, tr.lpa, tr.mask(), tr.source);
        let (plane, stream) = self.plane_of_write(flow, lpa, source);
        let first = ctx.transactions[id].place != Place::FreeBlock;
        let hybrid = self.layer.hybrid().is_some();
        let ppa = match hybrid {
            // No write overtakes a write that waits for a merge, so that streams stay in order.
            true if first && !self.blocks.planes[plane].parked.is_empty() => None,
            true => self.place_in_log(plane, flow, lpa),
            false if self.slc_cache.is_some() => self.allocate_cached(plane, flow, stream),
            false => self.allocate(plane, flow, (lpa, stream), now),
        };
        let ppa = ppa.ok_or(plane)?;
        let tr = &mut ctx.transactions[id];
        let waited = tr.lap(now);
        tr.chain.mapping += waited;
        tr.ppa = ppa;
        tr.plane = plane;
        tr.place = Place::Queue;
        if waited > 0 {
            self.tell(Seen::WaitedForBlock { transaction: id, since: now.0 - waited });
        }
        let old = if source == Source::Mapping { Ppa::NONE } else { self.pages.ppa(lpa) };
        let mut merge = TransactionId::NONE;
        if source == Source::Mapping {
            self.bind_translation_page(ctx, lpa.get(), ppa);
            self.write_back_placed(lpa.get());
        } else {
            if self.partial.in_queue() {
                merge = self.old_part(ctx, id);
            }
            self.bind_page(ctx, lpa, ppa, mask);
            if let Some(sets) = &mut self.sets {
                sets.host_write(flow, &self.blocks, now);
            }
        }
        if hybrid {
            self.placed_in_log(ctx, plane, flow);
        }
        self.blocks.planes[plane].programs += 1;
        self.placed(ctx, id);
        if self.blocks.stripes().is_some() {
            self.placed_in_stripe(ctx, id, plane);
        }
        if merge != TransactionId::NONE {
            self.read_physical(ctx, merge);
        }
        self.room_taken(ctx, plane);
        if source != Source::Mapping {
            self.mapping_changed(ctx, flow, lpa);
        }
        if self.layer.frees_at_once() {
            self.follow_at_once(ctx, plane, old);
        }
        Ok(())
    }

    /// Where collection takes no time, it follows a write at once. `old`: the page that the write
    /// made invalid, or `NONE`.
    fn follow_at_once(&mut self, ctx: &mut Context, plane: PlaneId, old: Ppa) {
        if old != Ppa::NONE {
            self.pack_again(ctx, old);
        }
        self.unpark(ctx, plane);
    }

    /// A page was written to the plane: collection may be due, or go on.
    #[inline(always)]
    fn room_taken(&mut self, ctx: &mut Context, plane: PlaneId) {
        self.pool_changed(plane);
        self.pace_write(ctx, plane);
        self.collect(ctx, plane);
    }

    /// Points a logical page at its new place and adds to the sectors that it holds.
    pub(super) fn bind_page(&mut self, ctx: &mut Context, lpa: Lpa, ppa: Ppa, mask: u64) {
        let old = self.pages.ppa(lpa);
        let mut held = mask;
        if old != Ppa::NONE {
            held |= self.pages.mask(lpa);
            self.invalidate(ctx, old);
        }
        debug_assert!(old != ppa, "a page is written to a new place");
        if held == 0 {
            // The page was trimmed while the write waited.
            self.invalidate(ctx, ppa);
            return;
        }
        self.hold(lpa, ppa, held);
    }

    /// Makes a physical page invalid.
    pub(super) fn invalidate(&mut self, ctx: &mut Context, ppa: Ppa) {
        let plane = self.release(ppa);
        if self.pacing.is_some() {
            self.page_lost(ctx, ppa);
        }
        if self.blocks.planes[plane].gc_wanted && !self.layer.frees_at_once() {
            self.collect(ctx, plane);
        }
    }

    /// Writes that wait for a free block of the plane try again, oldest first.
    pub(super) fn unpark(&mut self, ctx: &mut Context, plane: PlaneId) {
        // Free collection gains blocks while a write is placed, and then calls this function again.
        if std::mem::replace(&mut self.blocks.planes[plane].unparking, true) {
            return;
        }
        self.unpark_all(ctx, plane);
        assert!(self.blocks.planes[plane].unparking, "only the first call lets writes go on");
        self.blocks.planes[plane].unparking = false;
        if self.has_zones() {
            self.leave_placed(ctx, plane);
        }
    }

    fn unpark_all(&mut self, ctx: &mut Context, plane: PlaneId) {
        loop {
            let parked = &mut self.blocks.planes[plane].parked;
            let id = parked.pop_front(&mut ctx.transactions);
            if id == TransactionId::NONE {
                return;
            }
            if let Err(other) = self.place_or_give_up(ctx, id) {
                ctx.transactions[id].plane = self.first_plane(other);
                let parked = &mut self.blocks.planes[other].parked;
                if other == plane {
                    parked.push_front(id, &mut ctx.transactions);
                    return;
                }
                // With dynamic allocation: this plane has reached its limit, and another plane must
                // make room.
                parked.push_back(id, &mut ctx.transactions);
                self.owe_collection(other);
                self.collect(ctx, other);
            }
        }
    }

    /// The host gives up sectors of a page that may have a place in the tables.
    pub(super) fn trim_mapped(&mut self, ctx: &mut Context, flow: FlowId, lpa: Lpa, mask: u64) {
        match self.forget_sectors(lpa, mask) {
            Trimmed::Nothing => return,
            Trimmed::Sectors => {}
            Trimmed::Page(ppa) => {
                self.invalidate(ctx, ppa);
                self.pack_again(ctx, ppa);
            }
        }
        self.mapping_changed(ctx, flow, lpa);
    }
}
