//! Reads of units that share one sensing of their page, and reads of units that are not on flash
//! yet.

use flashlane_engine::Time;
use flashlane_units::TransactionId;

use crate::context::Context;
use crate::ftl::{Ftl, Outcome, Seen};
use crate::transaction::{Place, Source};

/// The last read that became ready, on which others may ride.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastRead {
    leader: TransactionId,
    /// The last that rides on it, or the leader.
    last: TransactionId,
    /// The page of the flash.
    page: u32,
    at: Time,
}

impl Default for LastRead {
    fn default() -> Self {
        let none = TransactionId::NONE;
        Self { leader: none, last: none, page: 0, at: Time::ZERO }
    }
}

impl Ftl {
    /// True if the unit of a read is in the controller's memory, since it was not programmed yet.
    /// The read is then over.
    pub(in crate::ftl) fn read_from_memory(
        &mut self,
        ctx: &mut Context,
        id: TransactionId,
    ) -> bool {
        let tr = &mut ctx.transactions[id];
        if self.blocks.is_programmed(tr.ppa) {
            return false;
        }
        let waited = tr.lap(ctx.now);
        tr.chain.mapping += waited;
        let merging = tr.merging;
        self.units.as_mut().expect("units wait in memory").counts.buffered_reads += 1;
        if merging {
            self.old_data_read(ctx, id);
        } else {
            self.outcomes.push(Outcome::Unwritten { transaction: id });
        }
        true
    }

    /// Lets a read that is ready ride on the last one, if both are of one page, became ready in the
    /// same instant, and are of one request or of one job. True if it rides: then it needs no
    /// sensing of its own.
    pub(in crate::ftl) fn ride(&mut self, ctx: &mut Context, id: TransactionId) -> bool {
        let Some(units) = &mut self.units else { return false };
        let tr = &ctx.transactions[id];
        if tr.merging || units.of_page == 1 {
            return false;
        }
        // A unit that nobody wrote is read at a place that may be that of another unit, so that a
        // request may ask for more than the page holds.
        let holds = units.of_page * self.pages.sectors_per_page();
        let page = tr.ppa.get() / units.of_page;
        let last = &mut units.last_read;
        let one = last.page == page && last.at == ctx.now && last.leader != TransactionId::NONE;
        let joins = one && {
            let leader = &ctx.transactions[last.leader];
            let same = match tr.source {
                Source::Gc => leader.tag == tr.tag,
                _ => leader.request == tr.request,
            };
            let fits = leader.sectors() + tr.sectors() <= holds;
            same && fits && leader.source == tr.source && leader.place == Place::Queue
        };
        if !joins {
            *last = LastRead { leader: id, last: id, page, at: ctx.now };
            return false;
        }
        let (leader, before) = (last.leader, std::mem::replace(&mut last.last, id));
        units.counts.joined_reads += 1;
        let sectors = tr.sectors();
        ctx.transactions[id].place = Place::Riding;
        ctx.transactions[before].set_rider(id);
        let first = &mut ctx.transactions[leader];
        first.reads_along(sectors);
        if before == leader {
            units.keep_base(leader, first.chain);
            self.tell(Seen::PageBegins { leader });
        }
        true
    }

    /// No read can ride on the last one any more.
    pub(in crate::ftl) fn forget_last_read(&mut self) {
        if let Some(units) = &mut self.units {
            units.last_read = LastRead::default();
        }
    }
}
