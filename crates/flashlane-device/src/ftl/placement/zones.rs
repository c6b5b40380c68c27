//! The superblocks of zones.
//!
//! A zone writes by the handle that it has while it is active, so that its pages fill a superblock
//! of their own, in order. A zone that is reset, or finished without being filled, leaves its
//! superblock before that is full: the superblock is taken from its handle, and closed when no
//! program of it is under way. The erase follows a reset as soon as no page of the superblock is
//! valid and all programs are over. So another zone that gets the handle begins in a superblock of
//! its own.

use flashlane_units::{BlockId, FlowId, Handle, Lpa, PlaneId, Ppa, TransactionId};

use crate::context::Context;
use crate::ftl::blocks::{BlockState, Stream};
use crate::ftl::gc::JobKind;
use crate::ftl::{Ftl, Outcome, Seen};
use crate::transaction::{Place, Source};

/// Superblocks that zones have left behind, until they are erased.
#[derive(Clone, Debug, Default)]
pub(super) struct ZoneLeftovers {
    /// Zones that were left, by set of dies and handle, while writes wait for a free block.
    leaving: Vec<(PlaneId, Handle)>,
    /// Superblocks that zones left before they were full, with programs under way.
    pub(super) left: Vec<BlockId>,
    /// Superblocks of zones that were reset.
    reset: Vec<BlockId>,
}

impl Ftl {
    /// Gives up the pages of a zone, and erases its superblock as soon as possible. `handle`: that
    /// of an active zone, otherwise `NONE`.
    pub(crate) fn reset_zone(
        &mut self,
        ctx: &mut Context,
        flow: FlowId,
        (first, pages): (Lpa, u32),
        handle: Handle,
    ) {
        let (plane, _) = self.allocator.home(flow, first);
        // No collection may begin in between: it would copy what is about to be given up.
        self.blocks.planes[plane].gc_wanted = false;
        let mask = self.pages.full_mask();
        let mut blocks: Vec<BlockId> = Vec::new();
        for lpa in (0..pages).map(|nth| first.plus(nth)) {
            let ppa = self.pages.ppa(lpa);
            if ppa != Ppa::NONE {
                let block = self.blocks.block_of(ppa);
                if blocks.last() != Some(&block) && !blocks.contains(&block) {
                    blocks.push(block);
                }
                self.trim(ctx, flow, lpa, mask);
            }
        }
        let handles = self.handles.as_mut().expect("zones have handles");
        handles.zones.reset.extend(blocks);
        self.collect(ctx, plane);
        if handle != Handle::NONE {
            // Pages that have no place yet need none.
            self.leave_superblock(ctx, plane, handle);
        }
        self.look_after_zones(ctx, plane);
    }

    /// A zone is no longer active, and its superblock may not be full. A zone whose first page
    /// waits for a free block is left when the page has its place. `lpa`: a page of the zone.
    pub(crate) fn leave_zone(&mut self, ctx: &mut Context, flow: FlowId, lpa: Lpa, handle: Handle) {
        let (plane, _) = self.allocator.home(flow, lpa);
        if handle != Handle::NONE && !self.leave_superblock(ctx, plane, handle) {
            let handles = self.handles.as_mut().expect("zones have handles");
            handles.zones.leaving.push((plane, handle));
        }
        self.leave_placed(ctx, plane);
        self.look_after_zones(ctx, plane);
    }

    /// Sends the last row of a zone, and takes its superblock away from its handle. False if the
    /// zone has none.
    fn leave_superblock(&mut self, ctx: &mut Context, plane: PlaneId, handle: Handle) -> bool {
        let stream = Stream::placed(handle, false);
        let begun = self.blocks.next_page(plane, FlowId::new(0), stream) > 0;
        if begun {
            self.leave_unit(ctx, plane, stream);
        }
        begun
    }

    /// Sends the last row of a stream, and takes its superblock away.
    pub(super) fn leave_unit(&mut self, ctx: &mut Context, plane: PlaneId, stream: Stream) {
        self.send_row_of(ctx, plane, stream);
        self.detach_superblock(plane, stream);
    }

    /// Leaves the zones whose pages waited for a free block, where no write waits any more.
    #[cold]
    pub(in crate::ftl) fn leave_placed(&mut self, ctx: &mut Context, plane: PlaneId) {
        let Some(handles) = &mut self.handles else { return };
        if !self.blocks.planes[plane].parked.is_empty() {
            return;
        }
        let of_plane = |&mut (of, _): &mut (PlaneId, Handle)| of == plane;
        let placed: Vec<_> = handles.zones.leaving.extract_if(.., of_plane).collect();
        for (plane, handle) in placed {
            self.leave_superblock(ctx, plane, handle);
        }
    }

    /// Without time: closes superblocks that zones have left. No program is under way.
    #[inline]
    pub(in crate::ftl) fn close_left(&mut self) {
        let Some(handles) = self.handles.as_mut().filter(|it| !it.zones.left.is_empty()) else {
            return;
        };
        for block in std::mem::take(&mut handles.zones.left) {
            assert!(self.blocks.close_detached(block), "no program of {block} is under way");
        }
    }

    /// True if superblocks of zones will be erased as soon as their programs are over.
    pub(in crate::ftl) fn has_leftovers(&self) -> bool {
        let some = |zones: &ZoneLeftovers| !zones.left.is_empty() || !zones.reset.is_empty();
        self.handles.as_ref().is_some_and(|handles| some(&handles.zones))
    }

    /// Takes the superblock of a handle away; nothing is written to it any more.
    pub(in crate::ftl) fn detach_superblock(&mut self, plane: PlaneId, stream: Stream) {
        let block = self.blocks.detach(plane, stream);
        let handles = self.handles.as_mut().expect("zones have handles");
        handles.zones.left.extend(block);
    }

    /// Closes superblocks that zones have left, and erases those of zones that were reset, as far
    /// as no program of them is under way. The end of such a program calls this function again.
    pub(in crate::ftl) fn look_after_zones(&mut self, ctx: &mut Context, plane: PlaneId) {
        let Some(handles) = &mut self.handles else { return };
        let ZoneLeftovers { leaving, left, reset } = std::mem::take(&mut handles.zones);
        let mut later = ZoneLeftovers { leaving, ..ZoneLeftovers::default() };
        let mut empty = reset;
        for block in left {
            if !self.blocks.close_detached(block) {
                later.left.push(block);
            } else if self.blocks.block(block).valid == 0 && !empty.contains(&block) {
                empty.push(block);
            }
        }
        for block in empty {
            let state = self.blocks.block(block);
            match state.state {
                BlockState::Full if state.valid == 0 && state.quiet() => {
                    self.gc_invocations += 1;
                    self.start_job(ctx, self.blocks.plane_of(block), block, JobKind::Collection);
                }
                BlockState::Full | BlockState::Open if state.valid == 0 => later.reset.push(block),
                // The block has data of another zone, or is being erased.
                _ => {}
            }
        }
        self.blocks.planes[plane].gc_wanted |= !(later.left.is_empty() && later.reset.is_empty());
        self.handles.as_mut().expect("zones have handles").zones = later;
    }

    /// True for the last page of a zone.
    #[inline]
    pub(in crate::ftl) fn ends_zone(&self, flow: FlowId, lpa: Lpa) -> bool {
        self.handles.as_ref().is_some_and(|handles| handles.ends_zone(flow, lpa))
    }

    /// The last page of a zone has its place. Its row is full, unless other zones had to share the
    /// superblock of the zone.
    #[cold]
    pub(in crate::ftl) fn send_last_row_of(&mut self, ctx: &mut Context, plane: PlaneId, lpa: Lpa) {
        let handles = self.handles.as_ref().expect("zones have handles");
        let (_, stream) = handles.stream_of(lpa);
        self.send_row_of(ctx, plane, stream);
    }

    /// Sends the row that a zone is filling. `lpa`: a page of the zone.
    pub(crate) fn send_last_row(
        &mut self,
        ctx: &mut Context,
        flow: FlowId,
        lpa: Lpa,
        handle: Handle,
    ) {
        let (plane, _) = self.allocator.home(flow, lpa);
        self.send_row_of(ctx, plane, Stream::placed(handle, false));
    }

    /// A page of a zone was given up while it waited for its place. True if it needs none: another
    /// zone would lack the page at its end.
    #[cold]
    pub(in crate::ftl) fn is_given_up(&mut self, ctx: &mut Context, id: TransactionId) -> bool {
        let tr = &mut ctx.transactions[id];
        if !self.has_zones() || tr.source == Source::Mapping {
            return false;
        }
        let waited = tr.lap(ctx.now);
        tr.chain.mapping += waited;
        if waited > 0 && tr.place == Place::FreeBlock {
            self.tell(Seen::WaitedForBlock { transaction: id, since: ctx.now.0 - waited });
        }
        self.outcomes.push(Outcome::GivenUp { transaction: id });
        true
    }

    /// A zone begins to write by a handle, in a superblock of its own.
    pub(super) fn begin_zone(&mut self, ctx: &mut Context, flow: FlowId, lpa: Lpa, handle: Handle) {
        let (plane, _) = self.allocator.home(flow, lpa);
        self.leave_superblock(ctx, plane, handle);
    }

    /// A page that the host did not write was programmed: it filled a zone.
    pub(crate) fn not_of_host(&mut self, flow: FlowId) {
        let counts = &mut self.flows[flow];
        counts.host_programs -= 1;
        counts.other_programs += 1;
    }
}
