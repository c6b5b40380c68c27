//! Host first: requests of the host in order of arrival, and collection when nothing else waits.

use flashlane_engine::Time;
use flashlane_units::{DieId, PolicyDoc, TransactionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SchedulingPolicy;
use crate::collection_order::{CollectionOrder, Presses, Reads, Steps};
use crate::layout::Geometry;
use crate::scheduler::queues::{Kind, Queues};
use crate::scheduler::view::View;
use crate::transaction::{Op, Source};

/// Parameters (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostFirstConfig {}

impl PolicyDoc for HostFirstConfig {
    const SUMMARY: &'static str =
        "host requests before collection, each in order of arrival; reads do not pass writes";
    const SOURCE: &'static str = "UPI (HotStorage) section 4: \"a simple priority scheduler\"";
}

/// Host requests and translation wait in one list, and all work of collection in another.
const HOST: Kind = Kind::user_read(0);
const COLLECTION: Kind = Kind::GC_READ;

/// The policy.
#[derive(Clone)]
pub(super) struct HostFirst {
    queues: Queues,
}

impl HostFirst {
    pub(super) fn new(geometry: Geometry) -> Self {
        Self { queues: Queues::new(geometry) }
    }

    /// Lists in the order in which they are served now.
    fn order(view: &View<'_>) -> [Kind; 2] {
        if view.urgent { [COLLECTION, HOST] } else { [HOST, COLLECTION] }
    }
}

impl SchedulingPolicy for HostFirst {
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        let kind = match view.transactions[id].source {
            Source::Gc => COLLECTION,
            _ => HOST,
        };
        self.queues.push(die, kind, id, &view.transactions[id]);
    }

    /// The oldest transaction that can go leads; partners for other planes may overtake others.
    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.queues.form_starving(die, view)
            || Self::order(view).into_iter().any(|kind| self.queues.form(die, kind, None, view))
    }

    /// Forms the command of [`take`](SchedulingPolicy::take), if the oldest transaction of the
    /// first list is a read.
    fn take_read(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let [kind, _] = Self::order(view);
        self.queues.cancel_stale(die, kind, view);
        let oldest = self.queues.front(die, kind);
        oldest != TransactionId::NONE
            && view.transactions[oldest].op == Op::Read
            && self.queues.form(die, kind, None, view)
    }

    /// Forms the command of [`take`](SchedulingPolicy::take), if the oldest transaction of the
    /// first list that holds any is a program that can go.
    fn take_program(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        if self.queues.looks_for_starving(die, view.now) {
            return false;
        }
        for kind in Self::order(view) {
            self.queues.cancel_stale(die, kind, view);
            if !self.queues.is_empty(die, kind) {
                return self.queues.leads_program(die, kind, view)
                    && self.queues.form(die, kind, None, view);
            }
        }
        false
    }

    fn fills_registers(&self) -> bool {
        true
    }

    /// Forms a read of the oldest one that can go, unless something else is before it.
    fn take_read_beside(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        if self.queues.looks_for_starving(die, view.now) {
            return false;
        }
        for kind in Self::order(view) {
            match self.queues.form_read(die, kind, view) {
                Some(false) => {}
                formed => return formed.is_some(),
            }
        }
        false
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
        (0..).zip(Self::order(view)).find_map(|(rank, kind)| {
            let id = self.queues.front(die, kind);
            (id != TransactionId::NONE).then(|| (rank, view.transactions[id].mark))
        })
    }

    fn collection_order(&self) -> CollectionOrder {
        CollectionOrder::Behind {
            presses: Presses::Urgent,
            steps: Steps::OneList,
            reads: Reads::InOrder,
        }
    }

    fn waiting(&self, die: DieId) -> u32 {
        self.queues.waiting(die)
    }
}
