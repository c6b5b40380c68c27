//! First come, first served: one queue per die.

use flashlane_engine::Time;
use flashlane_units::{DieId, PolicyDoc, TransactionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SchedulingPolicy;
use crate::collection_order::CollectionOrder;
use crate::layout::Geometry;
use crate::scheduler::queues::{Kind, Queues};
use crate::scheduler::view::View;
use crate::transaction::Op;

/// Parameters (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FcfsConfig {}

impl PolicyDoc for FcfsConfig {
    const SUMMARY: &'static str = "one queue per die, strictly in order of arrival";
    const SOURCE: &'static str = "baseline";
}

/// The only list of a die.
const ALL: Kind = Kind::user_read(0);

/// The policy.
#[derive(Clone)]
pub(super) struct Fcfs {
    queues: Queues,
}

impl Fcfs {
    pub(super) fn new(geometry: Geometry) -> Self {
        Self { queues: Queues::new(geometry) }
    }
}

impl SchedulingPolicy for Fcfs {
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        self.queues.push(die, ALL, id, &view.transactions[id]);
    }

    /// Forms a command from the oldest transaction and those directly behind it that use other
    /// planes for the same command. No transaction is overtaken.
    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.queues.form_in_order(die, ALL, view)
    }

    /// Forms the command of [`take`](SchedulingPolicy::take), if the oldest transaction is a read.
    fn take_read(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.queues.cancel_stale(die, ALL, view);
        let oldest = self.queues.front(die, ALL);
        oldest != TransactionId::NONE
            && view.transactions[oldest].op == Op::Read
            && self.queues.form_in_order(die, ALL, view)
    }

    /// Forms the command of [`take`](SchedulingPolicy::take), if the oldest transaction is a
    /// program.
    fn take_program(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.queues.cancel_stale(die, ALL, view);
        self.queues.leads_program(die, ALL, view) && self.queues.form_in_order(die, ALL, view)
    }

    fn fills_registers(&self) -> bool {
        true
    }

    /// Forms a read of the oldest transaction, if that is a read of a free plane.
    fn take_read_beside(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.queues.cancel_stale(die, ALL, view);
        let oldest = self.queues.front(die, ALL);
        oldest != TransactionId::NONE
            && view.is_ready(&view.transactions[oldest])
            && self.queues.form_in_order(die, ALL, view)
    }

    fn reads_beside(&self) -> bool {
        true
    }

    fn interrupt(&mut self, _: DieId, _: &mut View<'_>) -> bool {
        false
    }

    fn may_interrupt(&self, _: DieId) -> bool {
        false
    }

    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)> {
        let id = self.queues.front(die, ALL);
        (id != TransactionId::NONE).then(|| (0, view.transactions[id].mark))
    }

    fn collection_order(&self) -> CollectionOrder {
        CollectionOrder::Arrival { reads_first: false, erases_wait: None }
    }

    fn waiting(&self, die: DieId) -> u32 {
        self.queues.waiting(die)
    }
}
