//! Word lines that are programmed in two passes (`flash.programming = "two-pass"`).
//!
//! The first pass of a word line brings its cells near their levels, the second one to their ends.
//! Between the two, the next word line of the block has its first pass, so that the second pass
//! makes up for what the neighbour does to the cells. With `F` for first and `S` for second passes,
//! the order in a block is
//!
//! ```text
//! F(0), F(1), S(0), F(2), S(1), ..., F(last), S(last - 1), S(last)
//! ```
//!
//! The data of a word line crosses the channel for each pass, and so it stays in the controller's
//! memory until the second one is over. One transaction leads the word line through both
//! ([`Place::NextPass`] in between), and its units are over after the second pass, as if that had
//! been the program.
//!
//! - A second pass is queued when the first pass of the next word line is over, and when the second
//!   pass before it is. So a block has at most one second pass in the scheduler.
//! - The last word line of a block has no next one, and waits for nothing else.
//! - A word line whose next one does not come has its second pass *early*: `ftl.mapping.fill_time`
//!   after its block fell silent, at a flush, or when collection waits for its data.
//! - A first pass goes when the word line before the last one is complete
//!   ([`Blocks::is_next`](crate::ftl::blocks::Blocks::is_next)). So at most two word lines of a
//!   block are between their passes. The next block of a plane, flow and stream begins when the one
//!   before is complete: otherwise its first passes, which were queued earlier, would overtake the
//!   second passes.

use flashlane_units::{BlockId, FlowId, JobId, PlaneId, TransactionId};

use super::Units;
use super::between::Passes;
use super::filling::moves_of;
use super::order::Found;
use crate::context::Context;
use crate::event::Event;
use crate::ftl::blocks::Stream;
use crate::ftl::config::FtlConfig;
use crate::ftl::placement::PlacementConfig;
use crate::ftl::{Ftl, Seen};
use crate::layout::Layout;
use crate::transaction::{Place, Source, units_from};

/// Why a word line has its second pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// The next word line had its first pass, or there is none in the block.
    InOrder,
    /// The next word line does not come.
    Early,
}

impl Units {
    fn passes(&self) -> &Passes {
        self.passes.as_ref().expect("word lines have two passes")
    }

    fn passes_mut(&mut self) -> &mut Passes {
        self.passes.as_mut().expect("word lines have two passes")
    }
}

impl Ftl {
    /// Programs word lines in two passes from now on. Nothing is under way. A word line may be one
    /// unit.
    pub(crate) fn program_twice(&mut self, config: &FtlConfig, layout: &Layout) {
        let units = self.units.get_or_insert_with(|| {
            Units::of_rows(config, &PlacementConfig::default(), layout, false)
        });
        let passes = Passes::new(self.blocks.count(), units.filling.len());
        units.passes = Some(Box::new(passes));
        self.blocks.program_twice();
    }

    /// A pass of a word line is over. True if it was the first of two, so that the units are not
    /// over.
    pub(crate) fn is_between_passes(&mut self, ctx: &mut Context, leader: TransactionId) -> bool {
        let Some(passes) = self.units.as_mut().and_then(|units| units.passes.as_mut()) else {
            return false;
        };
        let tr = &mut ctx.transactions[leader];
        let block = self.blocks.block_of(tr.ppa);
        if tr.in_second_pass() {
            passes.of_block[block].pop(leader);
            let (plane, flow, row) = (tr.plane, tr.flow, self.blocks.page_of(tr.ppa));
            self.second_pass_over(ctx, block, row, (plane, flow));
            return false;
        }
        tr.place = Place::NextPass;
        let is_gc = tr.source == Source::Gc;
        passes.of_block[block].push(leader);
        passes.counts.first += 1;
        let [before, last] = passes.of_block[block].rows;
        let row = self.blocks.page_of(tr.ppa);
        if self.waits_for_data(block, row) {
            self.begin_waiting(ctx, block, leader);
        }
        if last == TransactionId::NONE {
            self.look_at_first(ctx, block);
        } else if ctx.transactions[before].place == Place::NextPass {
            self.queue_second_pass(ctx, block, Why::InOrder);
        }
        if is_gc {
            self.complete_jobs_of(ctx, leader);
        }
        true
    }

    /// True if the next word line after the one that begins with unit `row` of a block is not full.
    fn waits_for_data(&self, block: BlockId, row: u32) -> bool {
        let slots = self.units_per_program();
        let next = row + slots;
        next < self.blocks.pages_per_block() && self.blocks.block(block).allocated < next + slots
    }

    /// Counts the units of a word line that waits for data.
    fn begin_waiting(&mut self, ctx: &Context, block: BlockId, leader: TransactionId) {
        let count = units_from(&ctx.transactions, leader).count() as u32;
        let units = self.units.as_mut().expect("word lines are filled");
        let passes = units.passes_mut();
        assert_eq!(passes.of_block[block].waiting, 0, "one word line of a block waits for data");
        passes.of_block[block].waiting = count;
        passes.waiting += count;
        units.note_waiting();
    }

    /// The second pass of the word line that begins with unit `row` of a block is over. The next
    /// one may follow, or the next block.
    fn second_pass_over(
        &mut self,
        ctx: &mut Context,
        block: BlockId,
        row: u32,
        (plane, flow): (PlaneId, FlowId),
    ) {
        let units = self.units.as_mut().expect("word lines are filled");
        let at = units.at(plane, flow, self.blocks.block(block).stream);
        let slots = units.slots;
        let passes = units.passes_mut();
        if row + slots == self.blocks.pages_per_block() {
            let next = passes.complete(block, at);
            if next != BlockId::NONE {
                self.blocks.set_gated(next, false);
            }
        } else if passes.of_block[block].rows[0] != TransactionId::NONE {
            self.look_at_first(ctx, block);
        }
    }

    /// Decides on the first word line of a block, which has no second pass in the scheduler: it
    /// goes, or waits for the next word line.
    fn look_at_first(&mut self, ctx: &mut Context, block: BlockId) {
        let units = self.units.as_ref().expect("word lines are filled");
        let between = &units.passes().of_block[block];
        let tr = &ctx.transactions[between.rows[0]];
        assert!(tr.place == Place::NextPass, "the word line had its first pass");
        let (row, slots) = (self.blocks.page_of(tr.ppa), units.slots);
        if row + slots == self.blocks.pages_per_block() {
            self.queue_second_pass(ctx, block, Why::InOrder);
        } else if !self.waits_for_data(block, row) {
            // The first pass of the next word line is queued or under way.
        } else if row < between.hurry {
            self.queue_second_pass(ctx, block, Why::Early);
        } else {
            let units = self.units.as_mut().expect("word lines are filled");
            let end = ctx.now + units.fill_time;
            if units.passes_mut().order.push(block.index(), end) {
                ctx.events.schedule(end, Event::PassesDue);
            }
        }
    }

    /// Queues the second pass of the first word line of a block.
    fn queue_second_pass(&mut self, ctx: &mut Context, block: BlockId, why: Why) {
        let units = self.units.as_mut().expect("word lines are filled");
        let passes = units.passes_mut();
        let [leader, next] = passes.of_block[block].rows;
        if why == Why::Early {
            assert_eq!(next, TransactionId::NONE, "the next word line is not there");
            passes.stop_waiting(block);
            passes.counts.early += 1;
        }
        assert!(!passes.order.waits(block.index()), "what waits for data has no second pass");
        let tr = &mut ctx.transactions[leader];
        assert_eq!(tr.place, Place::NextPass, "a word line has its passes one after the other");
        let waited = tr.lap(ctx.now);
        tr.chain.mapping += waited;
        tr.begin_second_pass();
        tr.place = Place::Queue;
        let source = tr.source;
        if waited > 0 && source != Source::Gc {
            let since = ctx.now.0 - waited;
            self.tell(Seen::WaitedForWrite { transaction: leader, since });
        }
        self.ready(leader);
    }

    /// Lets the word lines that were sent to the frontiers of a flow's writes have their second
    /// passes without waiting for further data.
    pub(super) fn hurry_passes_of(&mut self, ctx: &mut Context, flow: FlowId) {
        for plane in self.blocks.planes.numbers() {
            let block = self.blocks.frontier(plane, flow, Stream::HOST);
            if block != BlockId::NONE {
                self.hurry(ctx, block);
            }
        }
    }

    /// Lets the word lines of an open block that were sent have their second passes without waiting
    /// for further data.
    fn hurry(&mut self, ctx: &mut Context, block: BlockId) {
        let units = self.units.as_mut().expect("word lines are filled");
        let slots = units.slots;
        let between = &mut units.passes_mut().of_block[block];
        let allocated = self.blocks.block(block).allocated;
        between.hurry = allocated - allocated % slots;
        let [first, second] = between.rows;
        let waits = first != TransactionId::NONE
            && second == TransactionId::NONE
            && ctx.transactions[first].place == Place::NextPass;
        if waits {
            self.look_at_first(ctx, block);
        }
    }

    /// Looks for word lines that have waited long enough for data. False if there are none.
    pub(crate) fn early_passes_due(&mut self, ctx: &mut Context) -> bool {
        let mut found = false;
        loop {
            let units = self.units.as_mut().expect("word lines are filled");
            match units.passes_mut().order.look(ctx.now) {
                Found::Over(block) => self.queue_second_pass(ctx, BlockId::at(block), Why::Early),
                Found::Waits(end) => {
                    ctx.events.schedule(end, Event::PassesDue);
                    return found;
                }
                Found::Nobody => return found,
            }
            found = true;
        }
    }

    /// A word line of moved pages waits for its second pass: the jobs of its pages may have nothing
    /// more to move.
    fn complete_jobs_of(&mut self, ctx: &mut Context, leader: TransactionId) {
        let (mut id, mut last) = (leader, None);
        while id != TransactionId::NONE {
            let (next, job) = (ctx.transactions[id].rider(), ctx.transactions[id].job());
            if last != Some(job) {
                self.complete_passes(ctx, job);
            }
            (id, last) = (next, Some(job));
        }
    }

    /// Completes the word lines of a job, if nothing of the victim is left and all its moves wait
    /// for data: in the word line that is being filled, or in one that had its first pass.
    #[cold]
    #[inline(never)]
    pub(super) fn complete_passes(&mut self, ctx: &mut Context, job: JobId) {
        let units = self.units.as_ref().expect("word lines are filled");
        let (victim, moves) = (self.jobs[job].block(), self.jobs[job].moves());
        let state = self.blocks.block(victim);
        if moves == 0 || moves >= 3 * units.slots || state.valid > 0 {
            return;
        }
        let (plane, flow, stream) =
            (self.blocks.plane_of(victim), state.flow, state.stream.moved());
        let at = units.at(plane, flow, stream);
        let filling = moves_of(&ctx.transactions, job, units.filling[at].first);
        let open = self.blocks.frontier(plane, flow, stream);
        let mut waiting = 0;
        if open != BlockId::NONE {
            let rows = units.passes().of_block[open].rows.into_iter();
            let rows = rows.filter(|&row| row != TransactionId::NONE);
            let between = rows.filter(|&row| ctx.transactions[row].place == Place::NextPass);
            waiting = between.map(|row| moves_of(&ctx.transactions, job, row)).sum();
        }
        if filling + waiting != moves {
            return;
        }
        if filling > 0 {
            self.pad_row(ctx, at);
        }
        // A block that is full waits for no data.
        if open != BlockId::NONE && open == self.blocks.frontier(plane, flow, stream) {
            self.hurry(ctx, open);
        }
    }
}
