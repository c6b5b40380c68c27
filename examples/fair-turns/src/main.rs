//! A scheduler of one's own: tenants take turns at every die, whatever each of them has waiting.
//!
//! ```console
//! $ cargo run --release -- conformance fair-turns
//! $ cargo run --release -- run --device 980-pro --workload noisy.toml --scheduler fair-turns
//! ```

use std::process::ExitCode;

use flashlane::policy::{
    Array, CollectionOrder, DieId, Geometry, Op, PolicyDoc, Presses, Reads, Scheduling,
    SchedulingConfig, SchedulingPolicy, Source, Steps, Time, TransactionId, View,
};
use serde::{Deserialize, Serialize};

/// What users may set: `scheduler = { fair-turns = { turn = 4 } }`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FairTurns {
    /// Commands that a tenant gets in a row.
    turn: u32,
}

impl Default for FairTurns {
    fn default() -> Self {
        Self { turn: 1 }
    }
}

impl PolicyDoc for FairTurns {
    const SUMMARY: &'static str =
        "tenants take turns at every die; collection comes last until it must";
    const SOURCE: &'static str = "the example of Flashlane's documentation";

    fn check(&self) -> Result<(), String> {
        match self.turn {
            1..=1000 => Ok(()),
            turn => Err(format!("turn: found {turn}, allowed: 1 to 1000")),
        }
    }
}

impl SchedulingConfig for FairTurns {
    fn build(&self, geometry: Geometry, flows: usize) -> Box<dyn SchedulingPolicy> {
        let die = Die { tenants: vec![Vec::new(); flows], ..Die::default() };
        Box::new(Turns { turn: self.turn, dies: Array::of(die, geometry.dies() as usize) })
    }
}

/// What waits for a die, the oldest in front.
#[derive(Clone, Default)]
struct Die {
    /// Work of each tenant and of its mapping.
    tenants: Vec<Vec<TransactionId>>,
    /// Moves of pages and erases.
    collection: Vec<TransactionId>,
    /// The tenant whose turn it is, and the commands that it got in this turn.
    at: usize,
    served: u32,
}

/// The policy at work.
#[derive(Clone)]
struct Turns {
    turn: u32,
    dies: Array<DieId, Die>,
}

impl Die {
    /// Forms a command of the tenant whose turn it is, or of the next one that has something to do.
    fn serve_tenants(&mut self, turn: u32, view: &mut View<'_>) -> bool {
        if self.served >= turn {
            (self.at, self.served) = ((self.at + 1) % self.tenants.len(), 0);
        }
        for _ in 0..self.tenants.len() {
            if view.form(&mut self.tenants[self.at]) {
                self.served += 1;
                return true;
            }
            (self.at, self.served) = ((self.at + 1) % self.tenants.len(), 0);
        }
        false
    }

    fn everything(&self) -> impl Iterator<Item = TransactionId> {
        self.tenants.iter().flatten().chain(&self.collection).copied()
    }
}

impl SchedulingPolicy for Turns {
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        let tr = view.transaction(id);
        let die = &mut self.dies[die];
        match tr.source() {
            Source::Gc => die.collection.push(id),
            Source::User | Source::Cache | Source::Mapping => {
                die.tenants[tr.flow().index()].push(id);
            }
        }
    }

    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let die = &mut self.dies[die];
        if view.is_urgent() && view.form(&mut die.collection) {
            return true;
        }
        die.serve_tenants(self.turn, view) || view.form(&mut die.collection)
    }

    /// A read goes before a running program or erase, whoever asks for it.
    fn interrupt(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let die = &mut self.dies[die];
        for waiting in &mut die.tenants {
            if let Some(at) = waiting.iter().position(|&id| view.transaction(id).op() == Op::Read)
                && view.add(waiting[at])
            {
                waiting.remove(at);
                return true;
            }
        }
        false
    }

    /// Among the free dies of a chip, the one with the oldest work goes first.
    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)> {
        let since = |id| view.transaction(id).queued_since();
        self.dies[die].everything().map(since).min().map(|since| (0, since))
    }

    /// What a run without time has to know.
    fn collection_order(&self) -> CollectionOrder {
        CollectionOrder::Behind {
            presses: Presses::Urgent,
            steps: Steps::OneList,
            reads: Reads::Interrupt,
        }
    }

    fn waiting(&self, die: DieId) -> u32 {
        self.dies[die].everything().count() as u32
    }
}

fn main() -> ExitCode {
    Scheduling::register::<FairTurns>("fair-turns").expect("the name is free");
    flashlane_cli::main()
}
