//! Sprinkler: commands that use as much of a chip as possible.
//!
//! Source: Jung and Kandemir, HPCA 2014 (abstract and arXiv 1705.04627), as FLIN (ISCA'18) section 6 uses
//! it: with read priority, semi-preemptive collection and suspension. The paper schedules by physical
//! layout instead of by queue (*RIOS*) and commits many requests to a chip so that they coalesce into
//! transactions of high flash-level parallelism (*FARO*). Its ranking is not published in full. Ours,
//! reconstructed: among the waiting transactions of a kind, the command with the largest *overlap
//! depth* (planes served at once), then the largest *connectivity* (transactions of one request), then
//! the oldest. Chips are visited channel first, from where the last visit ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_engine::{NONE, Time};

use super::Policy;
use crate::config::policy::PolicyDoc;
use crate::scheduler::queues::{Kind, Queues, View};
use crate::transaction::Source;

/// Parameters of Sprinkler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SprinklerConfig {
    /// Transactions, from the oldest on, that may lead a command. Range: 1..=1024.
    pub window: u32,
}

impl Default for SprinklerConfig {
    fn default() -> Self {
        Self { window: 16 }
    }
}

impl PolicyDoc for SprinklerConfig {
    const SUMMARY: &'static str =
        "commands over the most planes first, then of the most connected request";
    const SOURCE: &'static str = "Sprinkler (HPCA'14); FLIN (ISCA'18) section 6";
    const RECONSTRUCTED: bool = true;
}

/// Class under which all flows wait.
const ANY: u8 = 0;
const READS: Kind = Kind::UserRead(ANY);
const WRITES: Kind = Kind::UserWrite(ANY);

/// Kinds in their order, and whether the best of a window leads instead of the oldest.
type Plan = [(Kind, bool); 7];

const RELAXED: Plan = [
    (Kind::MappingRead, false),
    (READS, true),
    (WRITES, true),
    (Kind::MappingWrite, false),
    (Kind::GcRead, false),
    (Kind::GcWrite, false),
    (Kind::Erase, false),
];

/// Semi-preemptive collection: below the hard threshold it goes first.
const URGENT: Plan = [
    (Kind::MappingRead, false),
    (Kind::GcRead, false),
    (Kind::GcWrite, false),
    (Kind::Erase, false),
    (READS, true),
    (Kind::MappingWrite, false),
    (WRITES, true),
];

/// The policy.
pub(super) struct Sprinkler {
    queues: Queues,
    window: u32,
}

impl Sprinkler {
    pub(super) fn new(config: &SprinklerConfig, dies: u32) -> Self {
        Self { queues: Queues::new(dies), window: config.window }
    }

    fn plan(view: &View<'_>) -> &'static [(Kind, bool)] {
        match (view.urgent, view.hold_writes) {
            (false, _) => &RELAXED,
            (true, false) => &URGENT,
            // Host writes come last.
            (true, true) => &URGENT[..URGENT.len() - 1],
        }
    }

    fn form(&mut self, die: u32, kind: Kind, ranked: bool, view: &mut View<'_>) -> bool {
        if ranked && view.planes_per_die > 1 {
            self.queues.form_deepest(die, kind, self.window, view)
        } else {
            self.queues.form(die, kind, None, view)
        }
    }
}

impl Policy for Sprinkler {
    fn enqueue(&mut self, die: u32, id: u32, view: &mut View<'_>) {
        let kind = match Kind::of(&view.transactions[id]) {
            Kind::UserRead(_) => READS,
            Kind::UserWrite(_) => WRITES,
            kind => kind,
        };
        self.queues.push(die, kind, id, view.transactions);
    }

    fn take(&mut self, die: u32, view: &mut View<'_>) -> bool {
        if !view.hold_writes && self.queues.form_starving(die, view) {
            return true;
        }
        Self::plan(view).iter().any(|&(kind, ranked)| {
            !self.queues.is_empty(die, kind) && self.form(die, kind, ranked, view)
        })
    }

    /// Collection that goes first is not preempted by users.
    fn interrupt(&mut self, die: u32, view: &mut View<'_>) -> bool {
        let running = view.flash.running(die).map(|id| view.transactions[id].source);
        self.form(die, Kind::MappingRead, false, view)
            || !(view.urgent && running == Some(Source::Gc)) && self.form(die, READS, true, view)
    }

    fn interrupt_for_write(&mut self, die: u32, view: &mut View<'_>) -> bool {
        self.form(die, WRITES, true, view)
    }

    fn rank(&self, die: u32, view: &View<'_>) -> Option<(u8, Time)> {
        (0..).zip(Self::plan(view)).find_map(|(rank, &(kind, _))| {
            let id = self.queues.front(die, kind);
            (id != NONE).then(|| (rank, view.transactions[id].mark))
        })
    }

    fn waiting(&self, die: u32) -> u32 {
        self.queues.waiting(die)
    }
}
