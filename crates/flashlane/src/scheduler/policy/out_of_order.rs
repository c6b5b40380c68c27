//! Out of order: MQSim's default scheduler.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_engine::Time;

use super::Policy;
use crate::config::policy::PolicyDoc;
use crate::scheduler::queues::{Kind, Queues, View};

/// Parameters (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OutOfOrderConfig {}

impl PolicyDoc for OutOfOrderConfig {
    const SUMMARY: &'static str =
        "mapping reads, reads, writes, erases; multi-plane sets led by the oldest";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3";
}

/// What a die tries, best first: the kind that leads and the kind that may fill other planes.
type Plan = [(Kind, Option<Kind>); 7];

/// Class under which all flows wait.
const ANY: u8 = 0;

const RELAXED: Plan = [
    (Kind::MappingRead, Some(Kind::UserRead(ANY))),
    (Kind::UserRead(ANY), Some(Kind::GcRead)),
    (Kind::UserWrite(ANY), Some(Kind::GcWrite)),
    (Kind::MappingWrite, Some(Kind::UserWrite(ANY))),
    (Kind::GcRead, None),
    (Kind::GcWrite, None),
    (Kind::Erase, None),
];

const URGENT: Plan = [
    (Kind::MappingRead, Some(Kind::GcRead)),
    (Kind::GcRead, Some(Kind::UserRead(ANY))),
    (Kind::GcWrite, Some(Kind::UserWrite(ANY))),
    (Kind::Erase, None),
    (Kind::UserRead(ANY), None),
    (Kind::MappingWrite, Some(Kind::UserWrite(ANY))),
    (Kind::UserWrite(ANY), None),
];

/// The policy.
pub(crate) struct OutOfOrder {
    queues: Queues,
}

impl OutOfOrder {
    pub(super) fn new(dies: u32) -> Self {
        Self { queues: Queues::new(dies) }
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

impl Policy for OutOfOrder {
    #[inline]
    fn enqueue(&mut self, die: u32, id: u32, view: &mut View<'_>) {
        let kind = match Kind::of(&view.transactions[id]) {
            Kind::UserRead(_) => Kind::UserRead(ANY),
            Kind::UserWrite(_) => Kind::UserWrite(ANY),
            kind => kind,
        };
        self.queues.push(die, kind, id, view.transactions);
    }

    #[inline]
    fn take(&mut self, die: u32, view: &mut View<'_>) -> bool {
        if !view.hold_writes && self.queues.form_starving(die, view) {
            return true;
        }
        Self::plan(view).iter().any(|&(first, second)| {
            !self.queues.is_empty(die, first) && self.queues.form(die, first, second, view)
        })
    }

    fn interrupt(&mut self, die: u32, view: &mut View<'_>) -> bool {
        self.queues.form(die, Kind::MappingRead, Some(Kind::UserRead(ANY)), view)
            || self.queues.form(die, Kind::UserRead(ANY), None, view)
    }

    fn interrupt_for_write(&mut self, die: u32, view: &mut View<'_>) -> bool {
        self.queues.form(die, Kind::UserWrite(ANY), None, view)
    }

    #[inline]
    fn rank(&self, die: u32, view: &View<'_>) -> Option<(u8, Time)> {
        if self.queues.is_idle(die) {
            return None;
        }
        (0..).zip(Self::plan(view)).find(|(_, (kind, _))| !self.queues.is_empty(die, *kind)).map(
            |(rank, &(kind, _))| (rank, view.transactions[self.queues.front(die, kind)].mark),
        )
    }

    fn waiting(&self, die: u32) -> u32 {
        self.queues.waiting(die)
    }
}
