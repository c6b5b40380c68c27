//! Out of order: MQSim's default scheduler.

use flashlane_engine::Time;
use flashlane_units::{DieId, PolicyDoc, TransactionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SchedulingPolicy;
use crate::collection_order::{CollectionOrder, Presses, Reads, Steps};
use crate::layout::Geometry;
use crate::scheduler::queues::{Kind, Queues};
use crate::scheduler::view::View;
use crate::transaction::Transaction;

/// Parameters (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OutOfOrderConfig {}

impl PolicyDoc for OutOfOrderConfig {
    const SUMMARY: &'static str =
        "mapping reads, reads, writes, erases; multi-plane sets led by the oldest";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3";
}

/// The commands that a die tries, best first: the kind that leads, and the kind that may fill other
/// planes.
type Plan = [(Kind, Option<Kind>); 7];

/// Class under which all flows wait.
const ANY: u8 = 0;

const RELAXED: Plan = [
    (Kind::MAPPING_READ, Some(Kind::user_read(ANY))),
    (Kind::user_read(ANY), Some(Kind::GC_READ)),
    (Kind::user_write(ANY), Some(Kind::GC_WRITE)),
    (Kind::MAPPING_WRITE, Some(Kind::user_write(ANY))),
    (Kind::GC_READ, None),
    (Kind::GC_WRITE, None),
    (Kind::ERASE, None),
];

const URGENT: Plan = [
    (Kind::MAPPING_READ, Some(Kind::GC_READ)),
    (Kind::GC_READ, Some(Kind::user_read(ANY))),
    (Kind::GC_WRITE, Some(Kind::user_write(ANY))),
    (Kind::ERASE, None),
    (Kind::user_read(ANY), None),
    (Kind::MAPPING_WRITE, Some(Kind::user_write(ANY))),
    (Kind::user_write(ANY), None),
];

/// The policy.
#[derive(Clone)]
pub(crate) struct OutOfOrder {
    queues: Queues,
    /// Reads of hosts join reads of translation where no collection reads, even if collection goes
    /// first.
    strict: bool,
}

impl OutOfOrder {
    pub(super) fn new(geometry: Geometry) -> Self {
        Self { queues: Queues::new(geometry), strict: false }
    }

    /// Makes the queues behave as in the released MQSim.
    pub(super) fn be_strict(&mut self) {
        self.queues.be_strict();
        self.strict = true;
    }

    /// Queues a transaction.
    #[inline(always)]
    pub(super) fn push(&mut self, die: DieId, id: TransactionId, tr: &Transaction) {
        let kind = Kind::with_class(tr, ANY);
        self.queues.push(die, kind, id, tr);
    }

    /// Counts a transaction that was served without entering its queue.
    #[inline]
    pub(super) fn passed(&mut self, die: DieId, now: Time) {
        self.queues.look_for_starving(die, now);
    }

    /// Forms the first command of the plan that can go.
    #[inline(always)]
    fn form_first(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        for &(first, second) in Self::plan(view) {
            if self.queues.form(die, first, second, view) {
                return true;
            }
        }
        false
    }

    fn plan(view: &View<'_>) -> &'static [(Kind, Option<Kind>)] {
        match (view.urgent, view.hold_writes) {
            (false, _) => &RELAXED,
            (true, false) => &URGENT,
            // Host writes come last.
            (true, true) => &URGENT[..URGENT.len() - 1],
        }
    }
}

impl SchedulingPolicy for OutOfOrder {
    #[inline]
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        self.push(die, id, &view.transactions[id]);
    }

    #[inline(always)]
    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        if !view.hold_writes && self.queues.form_starving(die, view) {
            return true;
        }
        let fills_up = self.strict && view.urgent && self.queues.is_empty(die, Kind::GC_READ);
        let mapping = (Kind::MAPPING_READ, Some(Kind::user_read(ANY)));
        fills_up && self.queues.form_seldom(die, mapping.0, mapping.1, view)
            || self.form_first(die, view)
    }

    /// Forms the first programs of the plan that can go, unless something else is before them.
    fn take_program(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        if self.queues.looks_for_starving(die, view.now) {
            return false;
        }
        for &(first, second) in Self::plan(view) {
            if !first.is_program() && !self.queues.is_empty(die, first) {
                return false;
            }
            if first.is_program() && self.queues.form_seldom(die, first, second, view) {
                return true;
            }
        }
        false
    }

    fn fills_registers(&self) -> bool {
        true
    }

    /// Forms the first read of the plan that can go, unless a program or an erase is before it.
    fn take_read_beside(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        if self.queues.looks_for_starving(die, view.now) {
            return false;
        }
        for &(first, second) in Self::plan(view) {
            if !first.is_read() && !self.queues.is_empty(die, first) {
                return false;
            }
            if first.is_read() && self.queues.form_seldom(die, first, second, view) {
                return true;
            }
        }
        false
    }

    fn reads_beside(&self) -> bool {
        true
    }

    fn interrupt(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.queues.form(die, Kind::MAPPING_READ, Some(Kind::user_read(ANY)), view)
            || self.queues.form(die, Kind::user_read(ANY), None, view)
    }

    /// True if a read of a host or of translation waits.
    #[inline]
    fn may_interrupt(&self, die: DieId) -> bool {
        self.queues.holds_reads(die)
    }

    fn interrupt_for_write(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.queues.form_seldom(die, Kind::user_write(ANY), None, view)
    }

    #[inline]
    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)> {
        if self.queues.is_idle(die) {
            return None;
        }
        (0..).zip(Self::plan(view)).find(|(_, (kind, _))| !self.queues.is_empty(die, *kind)).map(
            |(rank, &(kind, _))| {
                let oldest = &view.transactions[self.queues.front(die, kind)];
                // With strict queues, the order of entry: many transactions enter at the same time.
                let since = if oldest.order > 0 { Time(oldest.order) } else { oldest.mark };
                (rank, since)
            },
        )
    }

    fn collection_order(&self) -> CollectionOrder {
        CollectionOrder::Behind {
            presses: Presses::Urgent,
            steps: Steps::ReadsFirst,
            reads: Reads::Interrupt,
        }
    }

    fn waiting(&self, die: DieId) -> u32 {
        self.queues.waiting(die)
    }
}
