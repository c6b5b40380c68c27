//! Sprinkler with fairness control: budgets of device time for each flow.
//!
//! Source: Jun and Shin, NVMSA 2015 (abstract), as FLIN (ISCA'18) sections 1, 7 and 8 describes it
//! and similar schedulers. Such a scheduler gives each tenant a budget in the device and charges it
//! for the collection that it causes. It thereby controls throughput but not parallelism. No
//! formula of it is public; all formulas here are ours:
//!
//! - A round gives every flow `weight * round * dies / flows` of device time, times its
//!   compensation. Debt is carried over, savings are not. (The number of dies, since a die runs one
//!   operation at a time.) The source has no length of a round. With 10 ms a tenant is held back in
//!   bursts that the drive can serve, and FLIN's workloads are less fair than with 500 ms.
//! - A transaction is charged its command, transfer and array time when it is admitted to the
//!   queues of the dies. The transactions of a flow without budget are held back.
//! - Budgets decide among the reads of a die, and among its writes. Where no read of a flow with
//!   budget waits, the die takes one that is held back there, of the flow with the least debt and
//!   without a charge. Writes go by that rule, too (`work_conserving`). So reads still go before
//!   writes and suspend them, as under Sprinkler. Without that, the reads of a flow without budget
//!   wait for the writes of others. A flow that has little to do but something at any time also
//!   keeps the others from the next round, and chips are idle while requests wait. FLIN's section
//!   7.1 says that the budgets leave "many resources idle". It also says that they improve on
//!   Sprinkler, which ours did not do with idle dies.
//! - A round ends when every flow that has work, or had some less than `idle` ago, has used its
//!   budget; at the latest after `limit`. The transactions that were held back are then admitted in
//!   turns, one of each flow at a time, as far as the new budgets go.
//! - Compensation: the budget times `1 - share + 1 / flows`, clamped. The share is the flow's share
//!   of the time of collection in the last window, which is at least a `round` long. Migrations
//!   count for the owner of the page, erases for the owner of the block. If the owner wrote nothing
//!   in the window, they count for those who wrote.
//!
//! Below admission it is [`Sprinkler`]. Collection and translation pages are never held back, and
//! no flow is charged for them directly. Work that waits for held work waits for at most a few ends
//! of rounds, because every round gives every flow budget.

mod budget;
mod held;

use flashlane_engine::Time;
use flashlane_units::{DieId, FlowId, Span};
use flashlane_units::{PolicyDoc, TransactionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SchedulingPolicy;
use super::sprinkler::{Sprinkler, SprinklerConfig};
use crate::collection_order::CollectionOrder;
use crate::layout::Geometry;
use crate::scheduler::view::View;
use crate::transaction::{Op, Source, Transaction};
use budget::Budgets;
use held::{Held, OPS};

/// Parameters of Sprinkler with budgets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SprinklerFairnessConfig {
    /// As `sprinkler.window`. Range: 1..=1024.
    pub window: u32,
    /// As `sprinkler.suspend_collection`.
    pub suspend_collection: bool,
    /// As `sprinkler.pending_writes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_writes: Option<u32>,
    /// Wall time of a round in which every die works: the budgets of a round come to this time for
    /// each die. Range: 1ms..=10s.
    pub round: Span,
    /// A flow that had no work for this time does not keep others from the next round. Range:
    /// 1us..=1s.
    pub idle: Span,
    /// A round ends after this time at the latest. Range: 1ms..=10s.
    pub limit: Span,
    /// Where no read of a flow with budget waits at a die, it takes reads of flows without budget.
    /// Writes go by that rule, too.
    pub work_conserving: bool,
    /// Flows pay for the collection that they cause.
    pub gc_compensation: bool,
    /// Least factor of compensation. Range: 0.1..=1.
    pub least_factor: f64,
    /// Largest factor of compensation. Range: 1..=10.
    pub most_factor: f64,
    /// Weight of the budgets of urgent flows. Range: 1..=256.
    pub urgent: u32,
    /// Weight of `high`. Range: 1..=256.
    pub high: u32,
    /// Weight of `medium`. Range: 1..=256.
    pub medium: u32,
    /// Weight of `low`. Range: 1..=256.
    pub low: u32,
}

impl Default for SprinklerFairnessConfig {
    fn default() -> Self {
        Self {
            window: SprinklerConfig::default().window,
            suspend_collection: SprinklerConfig::default().suspend_collection,
            pending_writes: SprinklerConfig::default().pending_writes,
            round: Span(500_000_000_000),
            idle: Span(100_000_000),
            limit: Span(5_000_000_000_000),
            work_conserving: true,
            gc_compensation: true,
            least_factor: 0.25,
            most_factor: 2.0,
            urgent: 1,
            high: 1,
            medium: 1,
            low: 1,
        }
    }
}

impl PolicyDoc for SprinklerFairnessConfig {
    const SUMMARY: &'static str =
        "sprinkler with a budget of device time for each flow and round; spent budgets wait";
    const SOURCE: &'static str = "Jun and Shin, NVMSA'15; FLIN (ISCA'18) section 7";
    const RECONSTRUCTED: bool = true;
}

/// The policy.
#[derive(Clone)]
pub(super) struct SprinklerFairness {
    sprinkler: Sprinkler,
    budgets: Budgets,
    /// Transactions that are held back. Only flows without budget have any.
    held: Held,
    /// The flow that is admitted first when a round begins.
    turn: usize,
    flows: usize,
    work_conserving: bool,
}

/// True if flows pay for the transaction when it is admitted.
fn is_charged(tr: &Transaction) -> bool {
    tr.op != Op::Erase && matches!(tr.source, Source::User | Source::Cache)
}

impl SprinklerFairness {
    pub(super) fn new(config: &SprinklerFairnessConfig, geometry: Geometry, flows: usize) -> Self {
        let sprinkler = SprinklerConfig {
            window: config.window,
            suspend_collection: config.suspend_collection,
            pending_writes: config.pending_writes,
        };
        Self {
            sprinkler: Sprinkler::new(&sprinkler, geometry),
            budgets: Budgets::new(config, geometry.dies(), flows),
            held: Held::new(geometry.dies(), flows),
            turn: 0,
            flows,
            work_conserving: config.work_conserving,
        }
    }

    fn admit(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        let tr = &view.transactions[id];
        assert!(self.budgets.is_eligible(tr.flow), "flow {} is admitted on its budget", tr.flow);
        self.budgets.charge(tr.flow, tr.op, view.cost(tr));
        self.sprinkler.enqueue(die, id, view);
    }

    fn hold(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        debug_assert!(is_charged(&view.transactions[id]), "only what flows pay for is held back");
        self.held.push(die, id, view.transactions);
    }

    /// Admits transactions that are held back, as far as the budgets go, in turns.
    fn release(&mut self, view: &mut View<'_>) {
        let mut skipped = 0;
        while !self.held.is_empty() && skipped < self.flows {
            let flow = FlowId::at(self.turn);
            self.turn = (self.turn + 1) % self.flows;
            if self.held.of_flow(flow) == 0 || !self.budgets.is_eligible(flow) {
                skipped += 1;
                continue;
            }
            skipped = 0;
            let die = self.held.turn(flow);
            let id = self.held.pop(flow, die, view.transactions);
            debug_assert_eq!(view.flash.die_of(view.transactions[id].plane), die, "it goes there");
            self.admit(die, id, view);
        }
    }

    /// Where no read of a flow with budget waits at a die: admits some that are held back there and
    /// can go, at most one for each plane. Writes go by that rule, too.
    fn stock(&mut self, die: DieId, ops: &[Op], view: &mut View<'_>) {
        if !self.serves_held(die) {
            return;
        }
        for &op in ops {
            if self.sprinkler.has_host_work(die, op) {
                continue;
            }
            for _ in 0..view.rules.planes_per_die {
                if !self.stock_one(die, op, view) {
                    break;
                }
            }
        }
    }

    /// True if something is held back at a die that serves it without a budget.
    fn serves_held(&self, die: DieId) -> bool {
        self.work_conserving && self.held.at_die(die) > 0
    }

    /// Rank of the reads or programs that are held back at a die.
    fn rank_held(&self, die: DieId, op: Op, view: &View<'_>) -> Option<(u8, Time)> {
        let flows = (0..self.flows).map(FlowId::at);
        let oldest = flows.filter_map(|flow| self.held.oldest(flow, die, op));
        let since = oldest.map(|id| view.transactions[id].mark).min()?;
        Some((self.sprinkler.rank_of(die, op, view)?, since))
    }

    /// Admits the read or program that is held back at a die and can go, of the flow with the least
    /// debt. False if there is none.
    fn stock_one(&mut self, die: DieId, op: Op, view: &mut View<'_>) -> bool {
        let can_go = |flow: &FlowId| {
            self.held.oldest(*flow, die, op).is_some_and(|id| {
                let tr = &view.transactions[id];
                view.is_ready(tr) && !(view.hold_writes && op == Op::Program)
            })
        };
        let flows = (0..self.flows).map(FlowId::at).filter(can_go);
        let Some(flow) = flows.min_by_key(|&flow| self.budgets.debt(flow)) else { return false };
        let id = self.held.pop_one(flow, die, op, view.transactions);
        self.budgets.charge(flow, op, 0);
        self.sprinkler.enqueue(die, id, view);
        true
    }
}

impl SchedulingPolicy for SprinklerFairness {
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        let tr = &view.transactions[id];
        if !is_charged(tr) {
            self.sprinkler.enqueue(die, id, view);
            return;
        }
        let flow = tr.flow;
        self.budgets.meet(flow, tr.class);
        // If no other flow has use for the round, the next one begins at once. If other flows are
        // held back as well, all are woken for the next round.
        while self.held.is_empty()
            && !self.budgets.is_eligible(flow)
            && self.budgets.end() <= view.now
        {
            self.budgets.start_round(view.now);
        }
        if self.budgets.is_eligible(flow) {
            self.admit(die, id, view);
        } else {
            self.hold(die, id, view);
        }
    }

    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.stock(die, &OPS, view);
        let formed = self.sprinkler.take(die, view);
        for &id in view.batch.iter() {
            let tr = &view.transactions[id];
            match (tr.source, tr.op) {
                // A migration is charged when it begins, with the time of both halves.
                (Source::Gc, Op::Read) => self.budgets.collected(tr.flow, view.migration_time()),
                (Source::Gc, Op::Erase) => self.budgets.collected(tr.flow, view.erase_time()),
                _ => {}
            }
        }
        formed
    }

    fn take_read(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.stock(die, &[Op::Read], view);
        self.sprinkler.take_read(die, view)
    }

    fn interrupt(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.stock(die, &[Op::Read], view);
        self.sprinkler.interrupt(die, view)
    }

    fn interrupt_for_write(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.stock(die, &[Op::Program], view);
        self.sprinkler.interrupt_for_write(die, view)
    }

    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)> {
        let own = self.sprinkler.rank(die, view);
        if !self.serves_held(die) {
            return own;
        }
        OPS.iter().filter_map(|&op| self.rank_held(die, op, view)).chain(own).min()
    }

    fn observes(&self) -> bool {
        true
    }

    fn completed(&mut self, _: DieId, _: TransactionId, tr: &Transaction, now: Time) {
        if is_charged(tr) {
            self.budgets.finished(tr.flow, now);
        }
    }

    fn holds_back(&self) -> bool {
        true
    }

    fn wake(&self) -> Option<Time> {
        (!self.held.is_empty()).then(|| self.budgets.end())
    }

    fn woken(&mut self, view: &mut View<'_>) {
        while !self.held.is_empty() && self.budgets.end() <= view.now {
            self.budgets.start_round(view.now);
            self.release(view);
        }
    }

    /// Transactions that are held back are in no queue, so the order is Sprinkler's.
    fn collection_order(&self) -> CollectionOrder {
        self.sprinkler.collection_order()
    }

    fn waiting(&self, die: DieId) -> u32 {
        self.sprinkler.waiting(die) + self.held.at_die(die)
    }

    fn audit(&self, _: &dyn Fn(TransactionId) -> bool) {
        self.budgets.audit();
        self.held.audit();
        for flow in (0..self.flows).map(FlowId::at) {
            let free = self.budgets.is_eligible(flow) && self.held.of_flow(flow) > 0;
            assert!(!free, "flow {flow} has budget and work held back");
        }
    }
}
