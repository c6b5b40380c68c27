//! Stage 2's slots, and stage 3: wait-balancing selection (Algorithm 2) and the optimizations of
//! section 4.3.

use flashlane_engine::place_of;
use flashlane_units::{DieId, FlowId};

use super::balance::{Batch, proportional_wait};
use super::region::Entry;
use super::{COLLECTION, Flin, FreePages, READ, RELOCATED, Unit, WRITE, side};
use crate::scheduler::queues::Kind;
use crate::scheduler::view::View;

impl Flin {
    /// Stage 2: fills empty slots.
    pub(super) fn refill(&mut self, die: DieId, view: &View<'_>) {
        for op in [READ, WRITE] {
            let unit = &mut self.units[die];
            if unit.slots[op].is_some() || !unit.stirred[op] {
                continue;
            }
            let Unit { queues, filled, rulers, .. } = unit;
            let ready = |level: usize| match op {
                _ if filled[op] >> level & 1 == 0 => None,
                READ => Some(0),
                _ => queues[op][level].first_ready(view),
            };
            let Some((level, at)) = rulers[op].next(ready) else {
                unit.stirred[op] = false;
                continue;
            };
            let entry = self.unqueue(die, op, level, at);
            let unit = &mut self.units[die];
            unit.slots[op] = Some(entry);
            if op == WRITE {
                (unit.batch, unit.charged) = (Batch::default(), false);
            }
        }
    }

    /// Sends the transaction of a slot, with partners of its class for other planes.
    pub(super) fn dispatch(&mut self, die: DieId, op: usize, view: &mut View<'_>) -> bool {
        let Some(leader) = self.units[die].slots[op].take() else { return false };
        debug_assert!(view.batch.is_empty(), "a command is formed once");
        debug_assert!(view.is_ready(&view.transactions[leader.id]), "what is in a slot can go");
        let level = self.level(view.transactions[leader.id].class);
        view.batch.push(leader.id);
        let unit = &mut self.units[die];
        if view.rules.planes_per_die > 1 && unit.filled[op] >> level & 1 != 0 {
            unit.queues[op][level].join(view);
            unit.note_length(op, level);
        }
        unit.stirred[WRITE] |= op == WRITE;
        unit.idle_collection = false;
        for (at, &id) in view.batch.iter().enumerate() {
            let flow = view.transactions[id].flow;
            debug_assert_eq!(side(view.transactions[id].op), op, "a command has one operation");
            self.times[place_of(id)].dispatched = view.now.0;
            if at > 0 {
                self.lane(die, op, flow).queued -= 1;
            }
            if op == WRITE {
                self.shares.wrote(die, flow);
            }
        }
        true
    }

    /// Forms the next command by Algorithm 2.
    pub(super) fn select(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        if !self.balancing {
            return self.select_by_kind(die, view);
        }
        match self.units[die].slots {
            [None, None] => {
                self.collect(die, &COLLECTION, view) || self.collect(die, &[RELOCATED], view)
            }
            [Some(read), None] => {
                // No write can be placed before collection frees a block, so a migration stands in
                // for a write.
                if view.must_collect(die) && self.collection_wins(die, &read, view) {
                    return self.collect_for_room(die, view);
                }
                self.dispatch(die, READ, view)
            }
            [read, Some(write)] => {
                let write = self.let_pass(die, write, view);
                self.charge(die, &write, view);
                // Lines 8 and 9.
                if read.is_some_and(|read| self.read_wins(die, &read, &write, view)) {
                    return self.dispatch(die, READ, view);
                }
                // Lines 13 to 17.
                self.migrate(die, write.flow, view) || self.dispatch(die, WRITE, view)
            }
        }
    }

    /// Forms a command only if Algorithm 2 chooses the read slot; true if it does.
    pub(super) fn select_read(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let [read, write] = self.units[die].slots;
        let Some(read) = read else { return false };
        if self.balancing {
            if view.must_collect(die) {
                return false;
            }
            if let Some(write) = write {
                self.charge(die, &write, view);
                if !self.read_wins(die, &read, &write, view) {
                    return false;
                }
            }
        }
        self.dispatch(die, READ, view)
    }

    /// Interrupts the running program or erase for the read slot, if it waited proportionally less
    /// than the read, or began while both slots were empty. An operation that is suspended already
    /// stays so by the same rule.
    pub(super) fn suspend_for_read(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let read = self.units[die].slots[READ];
        let (Some(read), Some(running)) = (read, view.flash.running(die, view.now)) else {
            return false;
        };
        if self.balancing && !self.units[die].idle_collection {
            let times = self.times[place_of(running)];
            let of_read = proportional_wait(view.now.0 - read.enqueued, view.busy(die), read.cost);
            let waited = times.dispatched - times.enqueued;
            if of_read <= proportional_wait(waited, 0, times.cost) {
                return false;
            }
        }
        self.overhead.suspensions += u64::from(!view.flash.is_suspended(die));
        self.dispatch(die, READ, view)
    }

    /// Line 8, with Eq. 6 to 8. Choice: the collection that goes with the write counts once, in the
    /// other slot for the read and in Eq. 7 for the write.
    fn read_wins(&self, die: DieId, read: &Entry, write: &Entry, view: &View<'_>) -> bool {
        let (now, collection) = (view.now.0, self.collection_time(die, view));
        let of_read = proportional_wait(now - read.enqueued, write.cost + collection, read.cost);
        let of_write = proportional_wait(now - write.enqueued + collection, read.cost, write.cost);
        of_read > of_write
    }

    /// Without a write: compares the read slot with a migration in the same way.
    fn collection_wins(&self, die: DieId, read: &Entry, view: &View<'_>) -> bool {
        let Some(since) = self.oldest_of(die, &COLLECTION, view) else { return false };
        let pair = view.migration_time();
        let of_read = proportional_wait(view.now.0 - read.enqueued, pair, read.cost);
        let of_pair = proportional_wait((view.now - since).0, read.cost, pair);
        of_read <= of_pair
    }

    /// Without stage 3: reads, then writes, then collection. Collection goes first where blocks run
    /// out.
    fn select_by_kind(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        view.urgent && self.collect_for_room(die, view)
            || self.dispatch(die, READ, view)
            || self.dispatch(die, WRITE, view)
            || self.collect(die, &COLLECTION, view)
            || self.collect(die, &[RELOCATED], view)
    }

    /// Where blocks run out: a write whose flow causes collection gives its slot to one whose flow
    /// does not. It would otherwise hold up the others until all collection is done. Returns the
    /// write in the slot. Choice: stage 3 makes those pay who cause collection.
    fn let_pass(&mut self, die: DieId, write: Entry, view: &View<'_>) -> Entry {
        if !view.rules.preemptible || !self.pays_all(die, write.flow, view) {
            return write;
        }
        let shares = &self.shares;
        let light = |flow: FlowId| !shares.causes_collection(die, flow);
        let unit = &self.units[die];
        let next = unit
            .filled(WRITE)
            .find_map(|(level, queue)| queue.first_ready_of(view, light).map(|at| (level, at)));
        let Some(place) = next else { return write };
        self.replace(die, WRITE, place, view);
        let unit = &mut self.units[die];
        (unit.batch, unit.charged) = (Batch::default(), false);
        unit.slots[WRITE].expect("a write was moved into the slot")
    }

    /// True if all pending collection goes before a write of the flow: blocks run out, and the flow
    /// writes at least as much as the mean.
    fn pays_all(&self, die: DieId, flow: FlowId, view: &View<'_>) -> bool {
        view.must_collect(die)
            && (!view.rules.preemptible || self.shares.causes_collection(die, flow))
    }

    /// Lines 11 and 12: counts the collection that goes with the write in the slot, once for each
    /// write. Where blocks run out, that is all the collection there is, for flows that cause it.
    /// Choice: writes of the others take their share along there, too.
    fn charge(&mut self, die: DieId, write: &Entry, view: &View<'_>) {
        let pending = self.others.len(die, Kind::GC_READ);
        let due = self.others.len(die, Kind::ERASE);
        if self.pays_all(die, write.flow, view) {
            let erases = view.jobs(die).max(due);
            self.units[die].batch = Batch { migrations: pending, erases, relocations: 0 };
            return;
        }
        if std::mem::replace(&mut self.units[die].charged, true) {
            return;
        }
        self.units[die].batch = Batch { relocations: 1, ..Batch::default() };
        let plane = view.transactions[write.id].plane;
        let free = match self.config.gc_scope {
            FreePages::Plane => view.free_pages(plane),
            FreePages::Unit => view.free_pages_of_die(die),
            FreePages::Device => view.free_pages_of_drive(),
        };
        if free >= u64::from(self.config.gc_free_pages) {
            return;
        }
        let valid = view.ftl.valid_share(write.flow);
        assert!((0.0..=1.0).contains(&valid), "a share of the valid pages, not {valid}");
        let migrations = self.shares.migrations(die, write.flow, pending, valid);
        let erases = due + self.blocks_finished(die, migrations, view);
        self.units[die].batch = Batch { migrations, erases, relocations: 1 };
    }

    /// Number of blocks that are empty after the first `migrations` migrations. The migrations of a
    /// block follow each other in the queue.
    fn blocks_finished(&self, die: DieId, migrations: u32, view: &View<'_>) -> u32 {
        let mut blocks = self
            .others
            .iter(die, Kind::GC_READ)
            .map(|id| view.ftl.block_of(view.transactions[id].ppa));
        let mut finished = 0;
        let mut last = blocks.next();
        for _ in 0..migrations {
            let next = blocks.next();
            finished += u32::from(next != last);
            last = next;
        }
        finished
    }

    /// Eq. 9: the time of the collection that goes with the write. It consists of migrations,
    /// writes of moved pages whose read is done, and erases of blocks that are or will be empty.
    fn collection_time(&self, die: DieId, view: &View<'_>) -> u64 {
        let Batch { migrations, erases, relocations } = self.units[die].batch;
        let migrations = migrations.min(self.others.len(die, Kind::GC_READ));
        debug_assert!(relocations <= 1, "one relocation goes with a write");
        let writes = self.others.len(die, Kind::GC_WRITE);
        let moving = migrations + writes > 0;
        let writes = writes + relocations.min(self.others.len(die, RELOCATED));
        let erases = if moving { erases } else { erases.min(self.others.len(die, Kind::ERASE)) };
        u64::from(migrations) * view.migration_time()
            + u64::from(writes) * view.migration_write_time()
            + u64::from(erases) * view.erase_time()
    }

    /// Lines 13 to 16: the next step of the collection that goes with a write. A read is followed
    /// by its write; a block is erased when it is empty.
    fn migrate(&mut self, die: DieId, flow: FlowId, view: &mut View<'_>) -> bool {
        if self.form(die, Kind::GC_WRITE, view) {
            return true;
        }
        let Batch { migrations, erases, relocations } = self.units[die].batch;
        if relocations > 0 && self.form(die, RELOCATED, view) {
            self.units[die].batch.relocations -= 1;
            return true;
        }
        if erases > 0 && self.form(die, Kind::ERASE, view) {
            let batch = &mut self.units[die].batch;
            batch.erases = erases.saturating_sub(view.batch.len() as u32);
            return true;
        }
        if migrations > 0 && self.form(die, Kind::GC_READ, view) {
            let moved = view.batch.len() as u32;
            debug_assert!(moved > 0, "a command that was formed has a page");
            // A command for several planes may move more pages than the share.
            self.shares.moved_ahead(flow, moved.saturating_sub(migrations));
            self.units[die].batch.migrations = migrations.saturating_sub(moved);
            self.overhead.migrations_with_writes += u64::from(moved);
            return true;
        }
        false
    }

    /// Does work of collection because blocks run out, choosing the work that frees a block
    /// soonest.
    fn collect_for_room(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.collect(die, &[Kind::GC_WRITE, Kind::ERASE, Kind::GC_READ], view)
    }

    /// Does work of collection without a write.
    fn collect(&mut self, die: DieId, kinds: &[Kind], view: &mut View<'_>) -> bool {
        let idle = self.units[die].slots == [None, None];
        let formed = kinds.iter().any(|&kind| self.form(die, kind, view));
        if formed {
            self.units[die].idle_collection = idle;
        }
        formed
    }
}
