//! FLIN: the flash-level interference-aware scheduler.
//!
//! Source: Tavakkol et al., FLIN (ISCA 2018), sections 4 and 5. A transaction passes three stages
//! at its unit (a die; the paper's chips have one); read the files in this order.
//!
//! 1. *Fairness-aware queue insertion* (4.1, Algorithm 1; `insertion`): a new transaction goes
//!    behind the low-intensity transactions, or to the tail ([`intensity`]). From there it moves to
//!    the place that makes the slowdowns in its region most alike ([`queue`], [`reorder`] over
//!    [`region`] and [`envelope`]).
//! 2. *Priority-aware arbitration* (4.2; [`arbitration`]): one read and one write slot, filled from
//!    the queues of the classes by weighted round robin.
//! 3. *Wait-balancing selection* (4.3, Algorithm 2; `selection`): the slot with the larger
//!    proportional wait goes ([`balance`]); with a write goes its flow's share of the pending
//!    migrations.
//!
//! Choices that the paper leaves open are listed in docs/flin.md. Translation pages bypass all
//! three stages.

mod arbitration;
mod balance;
mod config;
mod envelope;
mod insertion;
mod intensity;
mod overhead;
mod queue;
mod region;
mod reorder;
mod selection;

use flashlane_engine::{Array, Time, place_of};

use super::SchedulingPolicy;
use crate::collection_order::{CollectionOrder, Presses, Reads, Room, Steps};
use crate::layout::Geometry;
use crate::scheduler::overhead::SchedulerOverhead;
use crate::scheduler::queues::{Kind, Queues};
use crate::scheduler::view::View;
use crate::transaction::STARVING;
use crate::transaction::{Op, Source, Transaction};
use arbitration::{LEVELS, Ruler};
use balance::{Batch, GcShares};
pub use config::{FlinConfig, FreePages, History, Intensities, Scope, Stage};
use flashlane_units::{DieId, FlowId, Span, TransactionId};
use intensity::Intensity;
use overhead::Overhead;
pub use overhead::dram_bytes;
use queue::Queue;
use region::Entry;
use reorder::Scratch;

/// Reads and writes.
const READ: usize = 0;
const WRITE: usize = 1;

/// Kinds of collection, the most advanced first.
const COLLECTION: [Kind; 3] = [Kind::GC_WRITE, Kind::GC_READ, Kind::ERASE];

/// List of writes of pages that collection on another die sends to this die; nothing else in
/// `others` uses this list. The paper's migrations stay on their die. Choice: such a write is no
/// second half of a migration of this die, which would go before a write. One goes with each write,
/// and the others when the slots are empty; otherwise they would hold up the writes of this die for
/// a whole block.
const RELOCATED: Kind = Kind::user_write(0);

/// The list of `others` in which a transaction waits.
fn kind_of(tr: &Transaction, view: &View<'_>) -> Kind {
    match Kind::of(tr) {
        Kind::GC_WRITE if view.is_relocated(tr) => RELOCATED,
        kind => kind,
    }
}

fn side(op: Op) -> usize {
    usize::from(op != Op::Read)
}

/// State of a flow's transactions of one operation at a unit.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// Transactions in the queue.
    queued: u32,
    /// Level of the queue.
    level: usize,
    /// Transactions in the queue, in a slot or running.
    unfinished: u32,
    /// Time at which the last transaction would end if the flow ran alone: the terms of Eq. 4.
    /// Unit: picoseconds.
    alone_until: u64,
    /// Sum of the slowdowns of departed transactions, since the flow became of high intensity.
    slowdowns: f64,
    departed: u64,
}

/// A unit: its queues by operation and level, and its slots.
#[derive(Clone, Debug, Default)]
struct Unit {
    queues: [[Queue; LEVELS]; 2],
    /// For each operation one bit a level: set if something is queued there.
    filled: [u8; 2],
    /// For each operation: true if a queued transaction may be able to go, since one came or became
    /// ready after a slot was last left empty.
    stirred: [bool; 2],
    slots: [Option<Entry>; 2],
    rulers: [Ruler; 2],
    /// Collection that still goes before the write in the slot.
    batch: Batch,
    /// True if `batch` was counted for the write in the slot.
    charged: bool,
    /// True while collection runs that began when both slots were empty.
    idle_collection: bool,
    /// With an age limit: time of the next check for old transactions.
    watch: Time,
}

impl Unit {
    /// Updates `filled` after a transaction came to a queue or left it.
    #[inline]
    fn note_length(&mut self, op: usize, level: usize) {
        let holds = self.queues[op][level].len() > 0;
        self.filled[op] = self.filled[op] & !(1 << level) | u8::from(holds) << level;
    }

    /// The queues of an operation that are not empty, with their levels, lowest first.
    fn filled(&self, op: usize) -> impl Iterator<Item = (usize, &Queue)> {
        let at = move |&(level, _): &(usize, &Queue)| self.filled[op] >> level & 1 != 0;
        self.queues[op].iter().enumerate().filter(at)
    }
}

/// Times of a transaction that waits with the policy or runs. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    enqueued: u64,
    dispatched: u64,
    /// Command, transfer and array.
    cost: u64,
    /// Estimated wait if the flow ran alone.
    wait_alone: u64,
}

/// The policy.
#[derive(Clone)]
pub(super) struct Flin {
    config: FlinConfig,
    /// Without wait balancing reads go first; this bounds the wait of other work.
    age_limit: Option<Span>,
    insertion: bool,
    arbitration: bool,
    balancing: bool,
    units: Array<DieId, Unit>,
    /// By unit, operation and flow.
    lanes: Vec<Lane>,
    flows: usize,
    intensity: Intensity,
    shares: GcShares,
    /// By transaction.
    times: Vec<Times>,
    /// Queues of translation pages, migrations and erases.
    others: Queues,
    scratch: Scratch,
    overhead: Overhead,
}

impl Flin {
    pub(super) fn new(config: &FlinConfig, geometry: Geometry, flows: usize) -> Self {
        let has = |stage| config.stages.contains(&stage);
        let balancing = has(Stage::WaitBalancing);
        Self {
            age_limit: config.age_limit.or((!balancing).then_some(Span(STARVING.0))),
            insertion: has(Stage::Insertion),
            arbitration: has(Stage::Arbitration),
            balancing,
            units: Array::of(Unit::default(), geometry.dies() as usize),
            lanes: vec![Lane::default(); geometry.dies() as usize * 2 * flows],
            flows,
            intensity: Intensity::new(config, geometry.dies(), flows),
            shares: GcShares::new(config, geometry, flows),
            times: Vec::new(),
            others: Queues::new(geometry),
            scratch: Scratch::default(),
            overhead: Overhead::default(),
            config: config.clone(),
        }
    }

    fn lane(&mut self, die: DieId, op: usize, flow: FlowId) -> &mut Lane {
        let at = self.lane_at(die, op, flow);
        &mut self.lanes[at]
    }

    fn lane_at(&self, die: DieId, op: usize, flow: FlowId) -> usize {
        (die.index() * 2 + op) * self.flows + flow.index()
    }

    /// Level of a class; 0 is the lowest. Without stage 2 all classes share a queue.
    fn level(&self, class: u8) -> usize {
        if self.arbitration { LEVELS - 1 - class as usize } else { 0 }
    }

    fn note_arrival(&mut self, id: TransactionId, times: Times) {
        let at = place_of(id);
        debug_assert!(times.cost > 0, "a transaction costs time");
        if self.times.len() <= at {
            self.times.resize(at + 1, Times::default());
        }
        self.times[at] = times;
    }

    /// Forms a command of translation pages or of collection.
    #[inline]
    fn form(&mut self, die: DieId, kind: Kind, view: &mut View<'_>) -> bool {
        !self.others.is_empty(die, kind) && self.form_waiting(die, kind, view)
    }

    fn form_waiting(&mut self, die: DieId, kind: Kind, view: &mut View<'_>) -> bool {
        let formed = self.others.form(die, kind, None, view);
        if formed {
            for &id in view.batch.iter() {
                self.times[place_of(id)].dispatched = view.now.0;
            }
            let unit = &mut self.units[die];
            unit.idle_collection = false;
            // The next page of the block may now follow.
            unit.stirred[WRITE] = true;
        }
        formed
    }

    /// Time at which the oldest work of some kinds was queued.
    fn oldest_of(&self, die: DieId, kinds: &[Kind], view: &View<'_>) -> Option<Time> {
        kinds
            .iter()
            .map(|&kind| self.others.front(die, kind))
            .filter(|&id| id != TransactionId::NONE)
            .map(|id| view.transactions[id].mark)
            .min()
    }
}

impl SchedulingPolicy for Flin {
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        let tr = &view.transactions[id];
        if tr.op == Op::Erase || matches!(tr.source, Source::Gc | Source::Mapping) {
            let (kind, cost) = (kind_of(tr, view), view.cost(tr));
            let times = Times { enqueued: view.now.0, dispatched: 0, cost, wait_alone: 0 };
            self.note_arrival(id, times);
            self.others.push(die, kind, id, &view.transactions[id]);
        } else {
            self.insert(die, id, view);
        }
    }

    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        for kind in [Kind::MAPPING_READ, Kind::MAPPING_WRITE] {
            if self.form(die, kind, view) {
                return true;
            }
        }
        if let Some(limit) = self.age_limit
            && self.serve_oldest(die, limit, view)
        {
            return true;
        }
        if self.others.starves(die, RELOCATED, view) && self.form(die, RELOCATED, view) {
            return true;
        }
        self.refill(die, view);
        self.select(die, view)
    }

    fn take_read(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        if self.form(die, Kind::MAPPING_READ, view) {
            return true;
        }
        if !self.others.is_empty(die, Kind::MAPPING_WRITE) {
            return false;
        }
        self.refill(die, view);
        self.select_read(die, view)
    }

    fn interrupt(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        if !self.config.suspend {
            return false;
        }
        if self.form(die, Kind::MAPPING_READ, view) {
            return true;
        }
        self.refill(die, view);
        self.suspend_for_read(die, view)
    }

    /// True if a read waits, or a write that would move into its slot meanwhile.
    fn may_interrupt(&self, die: DieId) -> bool {
        let unit = &self.units[die];
        let fills = unit.slots[WRITE].is_none() && unit.stirred[WRITE];
        self.config.suspend
            && (fills
                || unit.slots[READ].is_some()
                || unit.filled[READ] != 0
                || !self.others.is_empty(die, Kind::MAPPING_READ))
    }

    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)> {
        let unit = &self.units[die];
        let mapping = [Kind::MAPPING_READ, Kind::MAPPING_WRITE];
        let kinds = [&mapping[..], &COLLECTION, &[RELOCATED]];
        let of_others =
            kinds.into_iter().filter_map(|kinds| self.oldest_of(die, kinds, view)).min();
        let slots = unit.slots.iter().flatten().map(|entry| Time(entry.enqueued));
        let queued = [READ, WRITE].into_iter().flat_map(|op| unit.filled(op));
        let queued = queued.filter_map(|(_, queue)| queue.front_since()).map(Time);
        slots.chain(queued).chain(of_others).min().map(|since| (0, since))
    }

    fn waiting(&self, die: DieId) -> u32 {
        let unit = &self.units[die];
        let queued: usize = unit.queues.iter().flatten().map(Queue::len).sum();
        let slots = unit.slots.iter().flatten().count();
        self.others.waiting(die) + (queued + slots) as u32
    }

    /// Without stage 3 the order is by kind; with it, lines 11 to 16 of Algorithm 2.
    fn collection_order(&self) -> CollectionOrder {
        let on = match self.config.gc_scope {
            FreePages::Plane => Room::Plane,
            FreePages::Unit => Room::Die,
            FreePages::Device => Room::Drive,
        };
        let below = u64::from(self.config.gc_free_pages);
        let presses =
            if self.balancing { Presses::FewPages { below, on } } else { Presses::Urgent };
        let reads = if self.config.suspend { Reads::Interrupt } else { Reads::First };
        CollectionOrder::Behind { presses, steps: Steps::ProgramsFirst, reads }
    }

    fn unblocked(&mut self, die: DieId) {
        self.units[die].stirred[WRITE] = true;
    }

    fn audit(&self, is_ready: &dyn Fn(TransactionId) -> bool) {
        for (die, unit) in self.units.numbered() {
            for (op, queues) in unit.queues.iter().enumerate() {
                queues.iter().for_each(Queue::audit);
                let filled = queues.iter().map(|queue| queue.len() > 0);
                assert!(
                    filled.eq((0..LEVELS).map(|level| unit.filled[op] >> level & 1 != 0)),
                    "queues that hold something are known"
                );
                let mut entries = queues.iter().flat_map(Queue::iter);
                assert!(
                    unit.stirred[op] || !entries.any(|entry| is_ready(entry.id)),
                    "nothing that can go is left out of a free slot"
                );
                let mut queued = vec![0; self.flows];
                for entry in queues.iter().flat_map(Queue::iter) {
                    queued[entry.flow.index()] += 1;
                }
                for (flow, queued) in (0..).map(FlowId::new).zip(queued) {
                    let lane = &self.lanes[self.lane_at(die, op, flow)];
                    assert_eq!(lane.queued, queued, "what waits of flow {flow} is counted");
                    assert!(lane.unfinished >= queued, "what is queued is not finished");
                }
            }
        }
    }

    fn observes(&self) -> bool {
        true
    }

    fn completed(&mut self, die: DieId, id: TransactionId, tr: &Transaction, now: Time) {
        if tr.op == Op::Erase {
            self.shares.erased(die);
            return;
        }
        if matches!(tr.source, Source::Gc | Source::Mapping) {
            return;
        }
        let times = self.times[place_of(id)];
        let slowdown =
            (now.0 - times.enqueued) as f64 / (times.cost + times.wait_alone).max(1) as f64;
        let lane = self.lane(die, side(tr.op), tr.flow);
        lane.unfinished -= 1;
        debug_assert!(lane.queued <= lane.unfinished, "what is queued is not finished");
        debug_assert!(slowdown >= 0.0, "a slowdown is a ratio of times");
        lane.slowdowns += slowdown;
        lane.departed += 1;
    }

    fn overhead(&self, dram_transactions: u64) -> Option<SchedulerOverhead> {
        Some(self.overhead.summary(self.flows as u64, self.units.len() as u64, dram_transactions))
    }
}

#[cfg(test)]
mod tests;
