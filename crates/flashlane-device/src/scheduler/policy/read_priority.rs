//! Read priority: reads before writes, each first come, first served.

use flashlane_engine::Time;
use flashlane_units::{DieId, Span};
use flashlane_units::{PolicyDoc, TransactionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SchedulingPolicy;
use crate::collection_order::CollectionOrder;
use crate::layout::Geometry;
use crate::scheduler::queues::{Kind, Queues};
use crate::scheduler::view::View;
use crate::transaction::Op;

/// Parameters of read priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadPriorityConfig {
    /// A write that has waited this long goes before reads that came later. Without a bound,
    /// saturating reads would starve writes.
    pub write_age_limit: Span,
}

impl Default for ReadPriorityConfig {
    fn default() -> Self {
        Self { write_age_limit: Span(10_000_000_000) }
    }
}

impl PolicyDoc for ReadPriorityConfig {
    const SUMMARY: &'static str = "reads before writes, each in order of arrival";
    const SOURCE: &'static str = "FLIN (ISCA'18) section 6, after Wu and He, FAST'12";
}

/// Reads of all sources wait in one list, programs in another, erases in a third.
const READS: Kind = Kind::user_read(0);
const WRITES: Kind = Kind::user_write(0);

/// The policy.
#[derive(Clone)]
pub(super) struct ReadPriority {
    queues: Queues,
    write_age_limit: Time,
}

impl ReadPriority {
    pub(super) fn new(config: &ReadPriorityConfig, geometry: Geometry) -> Self {
        Self { queues: Queues::new(geometry), write_age_limit: Time(config.write_age_limit.0) }
    }

    /// Queues in the order in which they are served now.
    fn order(&self, die: DieId, view: &View<'_>) -> [Kind; 3] {
        let since = |kind| match self.queues.front(die, kind) {
            TransactionId::NONE => Time::MAX,
            id => view.transactions[id].mark,
        };
        let due = |kind| view.now.saturating_sub(since(kind)) > self.write_age_limit;
        if view.urgent && !self.queues.is_empty(die, Kind::ERASE) || due(Kind::ERASE) {
            [Kind::ERASE, READS, WRITES]
        } else if due(WRITES) && since(WRITES) <= since(READS) {
            [WRITES, READS, Kind::ERASE]
        } else {
            [READS, WRITES, Kind::ERASE]
        }
    }
}

impl SchedulingPolicy for ReadPriority {
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        let kind = match view.transactions[id].op {
            Op::Read => READS,
            Op::Program => WRITES,
            Op::Erase => Kind::ERASE,
        };
        self.queues.push(die, kind, id, &view.transactions[id]);
    }

    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.order(die, view).into_iter().any(|kind| self.queues.form(die, kind, None, view))
    }

    /// Forms a command of programs, if they are the first that wait.
    fn take_program(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let first =
            self.order(die, view).into_iter().find(|&kind| !self.queues.is_empty(die, kind));
        first == Some(WRITES) && self.queues.form(die, WRITES, None, view)
    }

    fn fills_registers(&self) -> bool {
        true
    }

    /// Forms a read, if reads are the first that wait.
    fn take_read_beside(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let first =
            self.order(die, view).into_iter().find(|&kind| !self.queues.is_empty(die, kind));
        first == Some(READS) && self.queues.form(die, READS, None, view)
    }

    fn reads_beside(&self) -> bool {
        true
    }

    fn interrupt(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.queues.form(die, READS, None, view)
    }

    fn interrupt_for_write(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.queues.form(die, WRITES, None, view)
    }

    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)> {
        (0..).zip(self.order(die, view)).find_map(|(rank, kind)| {
            let id = self.queues.front(die, kind);
            (id != TransactionId::NONE).then(|| (rank, view.transactions[id].mark))
        })
    }

    fn collection_order(&self) -> CollectionOrder {
        let erases_wait = Some(Span(self.write_age_limit.0));
        CollectionOrder::Arrival { reads_first: true, erases_wait }
    }

    fn waiting(&self, die: DieId) -> u32 {
        self.queues.waiting(die)
    }
}
