//! Rows that are being filled with units.
//!
//! A row of the host is sent when it is full, at a flush of its flow, and otherwise when the time
//! since its first unit is over (`ftl.mapping.fill_time`). A row of collection is sent when it is
//! full, or when nothing more of a victim will come: its erase waits for the program of the row.
//! What a row lacks then is programmed empty, and counts as invalid.

use flashlane_engine::Time;
use flashlane_units::{FlowId, JobId, PlaneId, Ppa, TransactionId};

use super::order::Found;
use super::{Units, of_host};
use crate::context::Context;
use crate::event::Event;
use crate::ftl::blocks::Stream;
use crate::ftl::{Ftl, Seen};
use crate::transaction::{Place, Source, Transactions, units_from};

/// A row that is being filled; empty before its first unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling {
    /// The units, in the order of their places.
    pub(super) first: TransactionId,
    pub(super) last: TransactionId,
    pub(super) count: u32,
}

impl Default for Filling {
    fn default() -> Self {
        let none = TransactionId::NONE;
        Self { first: none, last: none, count: 0 }
    }
}

impl Units {
    /// Begins a row. Returns the time at which to look for the next row whose time is over, if
    /// nobody looks yet.
    fn begin(&mut self, at: usize, now: Time) -> Option<Time> {
        if !of_host(at) || self.waits_for_ever {
            return None;
        }
        let end = now + self.fill_time;
        self.order.push(at, end).then_some(end)
    }

    /// Takes a row that is sent out of the open ones.
    fn take(&mut self, at: usize) -> Filling {
        if of_host(at) && !self.waits_for_ever {
            self.order.remove(at);
        }
        let row = std::mem::take(&mut self.filling[at]);
        self.waiting -= row.count;
        row
    }
}

impl Ftl {
    /// The program of a page has its place. It is ready, or becomes a part of a row.
    #[inline(always)]
    pub(in crate::ftl) fn placed(&mut self, ctx: &mut Context, id: TransactionId) {
        if self.units.is_some() {
            self.fill(ctx, id);
        } else {
            self.ready(id);
        }
    }

    /// Adds a unit to the row that it was placed in.
    fn fill(&mut self, ctx: &mut Context, id: TransactionId) {
        let tr = &mut ctx.transactions[id];
        let block = self.blocks.block_of(tr.ppa);
        let (flow, stream) = (tr.flow, self.blocks.block(block).stream);
        // With superblocks: the set of dies whose stripes the unit belongs to.
        let plane = self.blocks.plane_of(block);
        let units = self.units.as_mut().expect("units are packed");
        let at = units.at(plane, flow, stream);
        let slot = tr.ppa.get() % units.slots;
        assert_eq!(slot, units.filling[at].count, "units fill their row in order");
        if of_host(at) {
            units.host_unit_placed(flow, plane, slot);
        }
        tr.place = Place::Filling;
        tr.set_rider(TransactionId::NONE);
        if slot == 0 {
            units.filling[at].first = id;
            if let Some(end) = units.begin(at, ctx.now) {
                ctx.events.schedule(end, Event::PagesDue);
            }
        } else {
            let last = units.filling[at].last;
            ctx.transactions[last].set_rider(id);
        }
        let row = &mut units.filling[at];
        (row.last, row.count) = (id, row.count + 1);
        let full = row.count == units.slots;
        units.waiting += 1;
        if full {
            self.send_row(ctx, at);
        } else {
            units.note_waiting();
        }
    }

    /// A unit that collection moves has its place.
    pub(in crate::ftl) fn moved_unit_placed(&mut self, ctx: &mut Context, id: TransactionId) {
        let job = ctx.transactions[id].job();
        self.fill(ctx, id);
        self.complete_moves(ctx, job);
    }

    /// Sends the last row of a job, if all its moves wait in that row and nothing of the victim is
    /// left.
    pub(in crate::ftl) fn complete_moves(&mut self, ctx: &mut Context, job: JobId) {
        let Some(units) = &self.units else { return };
        if units.passes.is_some() {
            return self.complete_passes(ctx, job);
        }
        let (block, moves) = (self.jobs[job].block(), self.jobs[job].moves());
        let state = self.blocks.block(block);
        if moves == 0 || moves >= units.slots || state.valid > 0 {
            return;
        }
        let at = units.at(self.blocks.plane_of(block), state.flow, state.stream.moved());
        if moves_of(&ctx.transactions, job, units.filling[at].first) == moves {
            self.pad_row(ctx, at);
        }
    }

    /// Sends all rows that hold data of the host of a flow.
    pub(crate) fn pad_rows_of(&mut self, ctx: &mut Context, flow: FlowId) {
        for plane in self.blocks.planes.numbers() {
            let Some(units) = &self.units else { return };
            // Each stream of hosts is followed by that of its copies.
            for nth in (0..units.streams.len()).step_by(2) {
                self.pad_row_with(ctx, plane, flow, nth);
            }
        }
        if self.has_passes() {
            self.hurry_passes_of(ctx, flow);
        }
    }

    /// Sends the row of a stream of the host, if it has begun.
    pub(in crate::ftl) fn send_row_of(
        &mut self,
        ctx: &mut Context,
        plane: PlaneId,
        stream: Stream,
    ) {
        let Some(units) = &self.units else { return };
        let at = units.at(plane, FlowId::new(0), stream);
        if units.filling[at].count > 0 {
            self.pad_row(ctx, at);
        }
    }

    /// Sends the row of the `nth` stream, if it holds data of the flow. With superblocks, it may
    /// hold data of other flows only.
    fn pad_row_with(&mut self, ctx: &mut Context, plane: PlaneId, flow: FlowId, nth: usize) {
        let Some(units) = &self.units else { return };
        let at = units.row_at(plane, flow, nth);
        let own = |id: TransactionId| ctx.transactions[id].flow == flow;
        if units_from(&ctx.transactions, units.filling[at].first).any(own) {
            self.pad_row(ctx, at);
        }
    }

    /// Sends the rows whose time is over. False if there are none.
    pub(crate) fn pad_due_rows(&mut self, ctx: &mut Context) -> bool {
        let mut sent = false;
        loop {
            let units = self.units.as_mut().expect("only units wait for their rows");
            match units.order.look(ctx.now) {
                Found::Over(row) => self.pad_row(ctx, row),
                Found::Waits(end) => {
                    ctx.events.schedule(end, Event::PagesDue);
                    return sent;
                }
                Found::Nobody => return sent,
            }
            sent = true;
        }
    }

    /// Sends a row with empty units in place of those that it lacks.
    pub(super) fn pad_row(&mut self, ctx: &mut Context, at: usize) {
        let units = self.units.as_mut().expect("units are packed");
        let row = units.filling[at];
        let pads = units.slots - row.count;
        units.counts.padded += u64::from(pads);
        let tr = &ctx.transactions[row.first];
        let flow = tr.flow;
        let block = self.blocks.block_of(tr.ppa);
        let (plane, stream) = (self.blocks.plane_of(block), self.blocks.block(block).stream);
        if of_host(at) {
            units.host_unit_placed(flow, plane, units.slots - 1);
        }
        self.pad(ctx, (plane, flow, stream), pads);
        self.blocks.planes[plane].programs += pads;
        self.send_row(ctx, at);
    }

    /// Takes the next `count` units of a row that has begun, which stay empty. The row may be the
    /// last one with data of its stripe.
    fn pad(
        &mut self,
        ctx: &mut Context,
        (plane, flow, stream): (PlaneId, FlowId, Stream),
        count: u32,
    ) {
        for _ in 0..count {
            let ppa = self.blocks.allocate(plane, flow, stream, true);
            let ppa = ppa.expect("a row that has begun has room");
            self.blocks.invalidate(self.blocks.block_of(ppa));
            self.complete_stripe(ctx, plane, flow, ppa);
        }
        self.flows[flow].other_programs += u64::from(count);
    }

    /// Without time: completes the row of a frontier with empty units. Returns their number, and
    /// the last of them.
    pub(in crate::ftl) fn complete_row(
        &mut self,
        plane: PlaneId,
        flow: FlowId,
        stream: Stream,
    ) -> (u32, Option<Ppa>) {
        let units = self.units_per_program();
        let empty = (units - self.blocks.next_page(plane, flow, stream) % units) % units;
        let mut last = None;
        for _ in 0..empty {
            let ppa = self.blocks.allocate_at_once(plane, flow, stream, true);
            let ppa = ppa.expect("a row that has begun has room");
            self.blocks.invalidate(self.blocks.block_of(ppa));
            last = Some(ppa);
        }
        if let Some(units) = &mut self.units {
            units.counts.padded += u64::from(empty);
        }
        (empty, last)
    }

    /// Without time: true if a unit of the host fills its row, so that the row is programmed.
    #[inline]
    pub(in crate::ftl) fn fills_row(&mut self, flow: FlowId, plane: PlaneId, ppa: Ppa) -> bool {
        let Some(units) = &mut self.units else { return true };
        let slot = ppa.get() % units.slots;
        units.host_unit_placed(flow, plane, slot);
        slot + 1 == units.slots
    }

    /// Sends a row: its first unit leads, and the others ride along.
    fn send_row(&mut self, ctx: &mut Context, at: usize) {
        let units = self.units.as_mut().expect("units are packed");
        let row = units.take(at);
        let mut id = row.first;
        while id != TransactionId::NONE {
            let tr = &mut ctx.transactions[id];
            let waited = tr.lap(ctx.now);
            tr.chain.mapping += waited;
            tr.place = Place::Riding;
            let (next, source) = (tr.rider(), tr.source);
            if waited > 0 && source != Source::Gc {
                self.tell(Seen::WaitedForWrite { transaction: id, since: ctx.now.0 - waited });
            }
            id = next;
        }
        let units = self.units.as_mut().expect("units are packed");
        let leader = &mut ctx.transactions[row.first];
        leader.place = Place::Queue;
        leader.programs_whole(units.row_sectors);
        units.keep_base(row.first, leader.chain);
        if let Some(passes) = &mut units.passes {
            let block = self.blocks.block_of(leader.ppa);
            if passes.next_is_full(block, at) {
                self.blocks.set_gated(block, true);
            }
        }
        self.tell(Seen::PageBegins { leader: row.first });
        self.ready(row.first);
    }

    /// The program of a row is over: its empty units are, too. To be called before the units end.
    pub(crate) fn empty_units_programmed(&mut self, ctx: &Context, leader: TransactionId) {
        let slots = self.units_per_program();
        let tr = &ctx.transactions[leader];
        if self.blocks.place_in_flash_block(tr.ppa) == 0 {
            self.data_begins(tr.ppa, ctx.now);
        }
        let pads = slots - units_from(&ctx.transactions, leader).count() as u32;
        if pads > 0 {
            self.blocks.empty_pages_programmed(tr.ppa, pads);
            let pool = self.blocks.pool_of(tr.plane);
            self.blocks.planes[pool].programs -= pads;
        }
    }
}

/// Moves of a job in a row, by its first unit.
pub(super) fn moves_of(transactions: &Transactions, job: JobId, first: TransactionId) -> u32 {
    units_from(transactions, first).filter(|&id| transactions[id].job() == job).count() as u32
}
