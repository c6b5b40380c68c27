//! FLIN: the flash-level interference-aware scheduler.
//!
//! Source: Tavakkol et al., FLIN (ISCA 2018), sections 4 and 5. Three stages for each unit (a die; the
//! paper's chips have one):
//!
//! 1. *Fairness-aware queue insertion* (4.1, Algorithm 1; [`queue`]): a new transaction goes behind the
//!    low-intensity ones or to the tail, and from there to the place that makes the slowdowns in its
//!    region most alike.
//! 2. *Priority-aware arbitration* (4.2; [`arbitration`]): one read and one write slot, filled from the
//!    queues of the classes by weighted round robin.
//! 3. *Wait-balancing selection* (4.3, Algorithm 2; [`balance`]): the slot with the larger proportional
//!    wait goes; with a write goes its flow's share of the pending migrations.
//!
//! Where the paper leaves a choice, the code says "Choice". Translation pages pass all three stages by.

mod arbitration;
mod balance;
mod intensity;
mod queue;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_engine::Time;

use super::Policy;
use crate::config::policy::PolicyDoc;
use crate::config::units::{Bandwidth, Span};
use crate::scheduler::queues::{Kind, Queues, View};
use crate::transaction::{Op, Source, Transaction};
use arbitration::{LEVELS, Ruler};
use balance::{GcShares, proportional_wait};
use intensity::Intensity;
use queue::{Entry, Insertion, Queue};

/// The stages of FLIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Fairness-aware queue insertion; without it transactions queue in order of arrival.
    Insertion,
    /// Priority-aware arbitration; without it all classes share one queue.
    Arbitration,
    /// Wait-balancing selection; without it reads go before writes, and both before collection.
    WaitBalancing,
}

/// What the thresholds of intensity apply to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The rate of a flow over the whole drive.
    Device,
    /// Its rate at each unit, against the threshold over the number of units.
    Unit,
}

/// Parameters of FLIN. Defaults: FLIN (ISCA'18) section 6.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlinConfig {
    /// The stages in use.
    pub stages: Vec<Stage>,
    /// Interval of intensity classification. Range: 1us and above.
    pub epoch: Span,
    /// A flow that reads less is of low read intensity (alpha for reads, C).
    pub read_intensity: Bandwidth,
    /// A flow that writes less is of low write intensity (alpha for writes, C).
    pub write_intensity: Bandwidth,
    /// What both apply to. Choice: the paper speaks of the rate of a flow.
    pub intensity_scope: Scope,
    /// Below this fairness of departed transactions the most slowed flow goes first among those of
    /// high intensity (F_thr). Range: 0..=1.
    pub fairness_threshold: f64,
    /// Writes take migrations along when the plane has fewer free pages (GC_FLIN). Choice: the paper's
    /// "available in the memory" is taken for the plane that the write goes to.
    pub gc_free_pages: u32,
    /// A read may interrupt a program or an erase that waited proportionally less (section 4.3).
    pub suspend: bool,
    /// A transaction that waited so long is served next, whatever the stages say. The paper has no
    /// bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_limit: Option<Span>,
    /// Insertion looks at so many transactions from the tail of a region, at most. The paper has no
    /// bound. Range: 1 and above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scan_limit: Option<u32>,
}

impl Default for FlinConfig {
    fn default() -> Self {
        Self {
            stages: vec![Stage::Insertion, Stage::Arbitration, Stage::WaitBalancing],
            epoch: Span(10_000_000_000),
            read_intensity: Bandwidth(32_000_000),
            write_intensity: Bandwidth(256_000),
            intensity_scope: Scope::Device,
            fairness_threshold: 0.6,
            gc_free_pages: 1024,
            suspend: true,
            age_limit: None,
            scan_limit: None,
        }
    }
}

impl PolicyDoc for FlinConfig {
    const SUMMARY: &'static str =
        "fair queue insertion, weighted classes, reads and writes balanced by proportional wait";
    const SOURCE: &'static str = "FLIN (ISCA'18) sections 4 and 5";
}

/// Reads and writes.
const READ: usize = 0;
const WRITE: usize = 1;

fn side(op: Op) -> usize {
    usize::from(op != Op::Read)
}

/// What is known of a flow's transactions of one operation at a unit.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// Queued, in a slot or running.
    unfinished: u32,
    /// When the last one would end if the flow ran alone: the terms of Eq. 4. Unit: picoseconds.
    alone_until: u64,
    /// Slowdowns of departed transactions since the flow became of high intensity.
    slowdowns: f64,
    departed: u64,
}

/// A unit: its queues by operation and level, its slots.
#[derive(Clone, Debug, Default)]
struct Unit {
    queues: [[Queue; LEVELS]; 2],
    slots: [Option<Entry>; 2],
    rulers: [Ruler; 2],
    /// Migrations that still go before the write in the slot.
    migrations: u32,
    /// They were counted for the write in the slot.
    charged: bool,
    /// A migration runs that began while both slots were empty.
    idle_collection: bool,
    /// When the oldest transaction is looked for next, with an age limit.
    watch: Time,
}

/// Times of a transaction that is with the policy or runs. Unit: picoseconds.
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
pub(super) struct Flin {
    config: FlinConfig,
    insertion: bool,
    arbitration: bool,
    balancing: bool,
    units: Vec<Unit>,
    /// By unit, operation and flow.
    lanes: Vec<Lane>,
    flows: usize,
    intensity: Intensity,
    shares: GcShares,
    /// By transaction.
    times: Vec<Times>,
    /// Translation pages, migrations, erases.
    others: Queues,
    scratch: Insertion,
    /// Positions that insertion looked at: of all transactions, and most of one.
    pub(super) scanned: u64,
    pub(super) scanned_most: u64,
}

impl Flin {
    pub(super) fn new(config: &FlinConfig, dies: u32, flows: usize) -> Self {
        let has = |stage| config.stages.contains(&stage);
        Self {
            insertion: has(Stage::Insertion),
            arbitration: has(Stage::Arbitration),
            balancing: has(Stage::WaitBalancing),
            units: vec![Unit::default(); dies as usize],
            lanes: vec![Lane::default(); dies as usize * 2 * flows],
            flows,
            intensity: Intensity::new(config, dies, flows),
            shares: GcShares::new(flows),
            times: Vec::new(),
            others: Queues::new(dies),
            scratch: Insertion::default(),
            scanned: 0,
            scanned_most: 0,
            config: config.clone(),
        }
    }

    fn lane(&mut self, die: u32, op: usize, flow: u16) -> &mut Lane {
        &mut self.lanes[(die as usize * 2 + op) * self.flows + flow as usize]
    }

    /// Level of a class: 0 is the lowest.
    fn level(&self, class: u8) -> usize {
        if self.arbitration { LEVELS - 1 - class as usize } else { 0 }
    }

    /// Stage 1: Algorithm 1.
    fn insert(&mut self, die: u32, id: u32, view: &View<'_>) {
        let now = view.now.0;
        let tr = &view.transactions[id];
        let (op, flow, level) = (side(tr.op), tr.flow, self.level(tr.class));
        for flow in self.intensity.roll(view.now) {
            // What departed before the flow became of high intensity says nothing of it.
            for unit in 0..self.units.len() as u32 {
                let lane = self.lane(unit, flow.op, flow.flow);
                (lane.slowdowns, lane.departed) = (0.0, 0);
            }
        }
        self.intensity.count(die, op, flow, view.page_bytes());
        let cost = view.cost(tr);
        let lane = self.lane(die, op, flow);
        // Eq. 4; an estimate that lies in the past means no wait.
        let wait_alone = if lane.unfinished > 0 { lane.alone_until.saturating_sub(now) } else { 0 };
        lane.unfinished += 1;
        lane.alone_until = now + cost + wait_alone;
        if self.times.len() <= id as usize {
            self.times.resize(id as usize + 1, Times::default());
        }
        self.times[id as usize] = Times { enqueued: now, dispatched: 0, cost, wait_alone };
        let low = self.intensity.is_low(die, op, flow);
        let entry = Entry { id, flow, low, promoted: false, cost, enqueued: now, wait_alone };
        let queue = &mut self.units[die as usize].queues[op][level];
        if !self.insertion {
            queue.push(entry);
            return;
        }
        let scanned = if low {
            let first = self.first_wait(die, op, level, view);
            let queue = &mut self.units[die as usize].queues[op][level];
            queue.insert_low(entry, now, first, self.config.scan_limit, &mut self.scratch)
        } else if self.is_treated_worst(die, op, level, flow) {
            self.units[die as usize].queues[op][level].promote(entry)
        } else {
            let first = self.first_wait(die, op, level, view);
            let queue = &mut self.units[die as usize].queues[op][level];
            queue.insert_high(entry, now, first, self.config.scan_limit, &mut self.scratch)
        };
        self.scanned += scanned;
        self.scanned_most = self.scanned_most.max(scanned);
    }

    /// What the head of a queue waits for: the rest of the running operation (T_chip_busy of Eq. 5) and
    /// the slot. Choice: Eq. 5 counts transactions of the same class and operation, and the slot.
    fn first_wait(&self, die: u32, op: usize, level: usize, view: &View<'_>) -> u64 {
        let slot = self.units[die as usize].slots[op];
        let in_slot = slot.filter(|entry| self.level(view.transactions[entry.id].class) == level);
        view.busy(die) + in_slot.map_or(0, |entry| entry.cost)
    }

    /// Lines 18 and 19: departed transactions of the flows of high intensity in the queue were treated
    /// too differently, and this flow worst. Choice: flows without departures say nothing, and a single
    /// one is treated fairly.
    fn is_treated_worst(&mut self, die: u32, op: usize, level: usize, flow: u16) -> bool {
        let (mut least, mut most, mut worst) = (f64::INFINITY, 0.0, u16::MAX);
        let mut seen = 0;
        for candidate in 0..self.flows as u16 {
            let lane = self.lanes[(die as usize * 2 + op) * self.flows + candidate as usize];
            let here = lane.unfinished > 0 || candidate == flow;
            if !here || lane.departed == 0 || self.intensity.is_low(die, op, candidate) {
                continue;
            }
            if !self.units[die as usize].queues[op][level].holds(candidate) && candidate != flow {
                continue;
            }
            let slowdown = lane.slowdowns / lane.departed as f64;
            seen += 1;
            least = slowdown.min(least);
            if slowdown > most {
                (most, worst) = (slowdown, candidate);
            }
        }
        seen >= 2 && least / most < self.config.fairness_threshold && worst == flow
    }

    /// Stage 2: fills empty slots.
    fn refill(&mut self, die: u32, view: &View<'_>) {
        for op in [READ, WRITE] {
            let unit = &mut self.units[die as usize];
            if unit.slots[op].is_some() {
                continue;
            }
            let Unit { queues, rulers, slots, .. } = unit;
            let ready = |level: usize| queues[op][level].first_ready(view);
            if let Some((level, at)) = rulers[op].next(ready) {
                slots[op] = Some(queues[op][level].remove(at));
                if op == WRITE {
                    (unit.migrations, unit.charged) = (0, false);
                }
            }
        }
    }

    /// The command of a slot: its transaction, and partners of its class for other planes.
    fn dispatch(&mut self, die: u32, op: usize, view: &mut View<'_>) -> bool {
        let Some(leader) = self.units[die as usize].slots[op].take() else { return false };
        let level = self.level(view.transactions[leader.id].class);
        view.batch.push(leader.id);
        let queue = &mut self.units[die as usize].queues[op][level];
        queue.join(view);
        for &id in view.batch.iter() {
            self.times[id as usize].dispatched = view.now.0;
            if op == WRITE {
                self.shares.wrote(view.transactions[id].flow);
            }
        }
        self.units[die as usize].idle_collection = false;
        true
    }

    /// Stage 3: Algorithm 2.
    fn select(&mut self, die: u32, view: &mut View<'_>) -> bool {
        let [read, write] = self.units[die as usize].slots;
        if !self.balancing {
            return self.select_by_kind(die, view);
        }
        match (read, write) {
            (None, None) => self.collect(die, view),
            (Some(_), None) if !(view.urgent && self.has_collection(die)) => {
                self.dispatch(die, READ, view)
            }
            (Some(read), None) => {
                // No write can be placed before collection frees a block: it stands in for one.
                let waited = self.collection_waited(die, view);
                let pair = view.migration_time();
                let of_read = proportional_wait(view.now.0 - read.enqueued, pair, read.cost);
                let of_pair = proportional_wait(waited, read.cost, pair);
                if of_read > of_pair {
                    self.dispatch(die, READ, view)
                } else {
                    self.collect(die, view) || self.dispatch(die, READ, view)
                }
            }
            (read, Some(write)) => {
                self.charge(die, &write, view);
                if read.is_some_and(|read| self.read_wins(die, &read, &write, view)) {
                    return self.dispatch(die, READ, view);
                }
                self.migrate(die, view) || self.dispatch(die, WRITE, view)
            }
        }
    }

    /// Line 8, with Eq. 6 to 8: the collection that goes with the write counts once, in the other slot
    /// for the read and in Eq. 7 for the write.
    fn read_wins(&self, die: u32, read: &Entry, write: &Entry, view: &View<'_>) -> bool {
        let (now, collection) = (view.now.0, self.collection_time(die, view));
        let of_read = proportional_wait(now - read.enqueued, write.cost + collection, read.cost);
        let of_write = proportional_wait(now - write.enqueued + collection, read.cost, write.cost);
        of_read > of_write
    }

    /// Without stage 3: reads, writes, collection; collection first where blocks run out.
    fn select_by_kind(&mut self, die: u32, view: &mut View<'_>) -> bool {
        view.urgent && self.collect(die, view)
            || self.dispatch(die, READ, view)
            || self.dispatch(die, WRITE, view)
            || self.collect(die, view)
    }

    fn has_collection(&self, die: u32) -> bool {
        [Kind::GcRead, Kind::GcWrite, Kind::Erase]
            .into_iter()
            .any(|kind| !self.others.is_empty(die, kind))
    }

    /// How long the oldest work of collection has waited.
    fn collection_waited(&self, die: u32, view: &View<'_>) -> u64 {
        [Kind::GcWrite, Kind::GcRead, Kind::Erase]
            .into_iter()
            .map(|kind| self.others.front(die, kind))
            .filter(|&id| id != flashlane_engine::NONE)
            .map(|id| (view.now - view.transactions[id].mark).0)
            .max()
            .unwrap_or(0)
    }

    /// Lines 11 and 12: counts the migrations that go with the write in the slot, once.
    fn charge(&mut self, die: u32, write: &Entry, view: &View<'_>) {
        let pending = self.others.len(die, Kind::GcRead);
        let unit = &mut self.units[die as usize];
        if view.urgent {
            unit.migrations = pending;
            return;
        }
        if std::mem::replace(&mut unit.charged, true) {
            return;
        }
        let plane = view.transactions[write.id].plane;
        if view.free_pages(plane) < u64::from(self.config.gc_free_pages) && pending > 0 {
            unit.migrations = self.shares.migrations(write.flow, pending, view.blocks);
        }
    }

    /// Eq. 9: the time of the migrations that go with the write, and of the erase that they allow.
    fn collection_time(&self, die: u32, view: &View<'_>) -> u64 {
        let pending = self.others.len(die, Kind::GcRead);
        let migrations = self.units[die as usize].migrations.min(pending);
        let finishes = migrations > 0 && migrations == pending
            || migrations == 0 && view.urgent && !self.others.is_empty(die, Kind::Erase);
        u64::from(migrations) * view.migration_time() + if finishes { view.erase_time() } else { 0 }
    }

    /// Lines 13 to 16: the next step of the migrations that go with a write: reads and their writes in
    /// pairs, then an erase that is due.
    fn migrate(&mut self, die: u32, view: &mut View<'_>) -> bool {
        if self.units[die as usize].migrations == 0 && !view.urgent {
            // The write half of a migration that began earlier.
            return self.form(die, Kind::GcWrite, view);
        }
        if self.form(die, Kind::GcWrite, view) {
            return true;
        }
        if self.units[die as usize].migrations > 0 {
            if self.form(die, Kind::GcRead, view) {
                let unit = &mut self.units[die as usize];
                unit.migrations = unit.migrations.saturating_sub(view.batch.len() as u32);
                return true;
            }
            self.units[die as usize].migrations = 0;
        }
        self.form(die, Kind::Erase, view)
    }

    /// Work of collection, for want of other work or because blocks run out.
    fn collect(&mut self, die: u32, view: &mut View<'_>) -> bool {
        let idle = self.units[die as usize].slots == [None, None];
        let formed = [Kind::GcWrite, Kind::GcRead, Kind::Erase]
            .into_iter()
            .any(|kind| self.form(die, kind, view));
        if formed {
            self.units[die as usize].idle_collection = idle;
        }
        formed
    }

    fn form(&mut self, die: u32, kind: Kind, view: &mut View<'_>) -> bool {
        let formed = self.others.form(die, kind, None, view);
        if formed {
            for &id in view.batch.iter() {
                self.note_dispatch(id, view.now);
            }
            self.units[die as usize].idle_collection = false;
        }
        formed
    }

    fn note_dispatch(&mut self, id: u32, now: Time) {
        if let Some(times) = self.times.get_mut(id as usize) {
            times.dispatched = now.0;
        }
    }

    /// Moves a transaction that waited beyond the limit into its slot. Looked for now and then.
    fn serve_oldest(&mut self, die: u32, limit: Span, view: &mut View<'_>) -> bool {
        let unit = &mut self.units[die as usize];
        if view.now < unit.watch {
            return false;
        }
        unit.watch = view.now + Time(limit.0 / 8);
        let oldest = (0..2)
            .flat_map(|op| (0..LEVELS).map(move |level| (op, level)))
            .filter_map(|(op, level)| {
                unit.queues[op][level].oldest_ready(view).map(|(at, since)| (since, op, level, at))
            })
            .min();
        let Some((since, op, level, at)) = oldest else { return false };
        if view.now.0 - since <= limit.0 {
            return false;
        }
        let late = unit.queues[op][level].remove(at);
        if let Some(displaced) = unit.slots[op].replace(late) {
            let level = if self.arbitration {
                LEVELS - 1 - view.transactions[displaced.id].class as usize
            } else {
                0
            };
            unit.queues[op][level].put_back(displaced);
        }
        self.dispatch(die, op, view)
    }
}

impl Policy for Flin {
    fn enqueue(&mut self, die: u32, id: u32, view: &mut View<'_>) {
        let tr = &view.transactions[id];
        if tr.op == Op::Erase || matches!(tr.source, Source::Gc | Source::Mapping) {
            let (kind, cost) = (Kind::of(tr), view.cost(tr));
            if self.times.len() <= id as usize {
                self.times.resize(id as usize + 1, Times::default());
            }
            let now = view.now.0;
            self.times[id as usize] = Times { enqueued: now, dispatched: 0, cost, wait_alone: 0 };
            self.others.push(die, kind, id, view.transactions);
        } else {
            self.insert(die, id, view);
        }
    }

    fn take(&mut self, die: u32, view: &mut View<'_>) -> bool {
        for kind in [Kind::MappingRead, Kind::MappingWrite] {
            if self.form(die, kind, view) {
                return true;
            }
        }
        if let Some(limit) = self.config.age_limit
            && self.serve_oldest(die, limit, view)
        {
            return true;
        }
        self.refill(die, view);
        self.select(die, view)
    }

    fn take_read(&mut self, die: u32, view: &mut View<'_>) -> bool {
        if self.form(die, Kind::MappingRead, view) {
            return true;
        }
        if !self.others.is_empty(die, Kind::MappingWrite) || view.urgent {
            return false;
        }
        self.refill(die, view);
        let [read, write] = self.units[die as usize].slots;
        let Some(read) = read else { return false };
        let wins = write.is_none_or(|write| {
            if !self.balancing {
                return true;
            }
            self.charge(die, &write, view);
            self.read_wins(die, &read, &write, view)
        });
        wins && self.dispatch(die, READ, view)
    }

    /// Section 4.3, optimizations.
    fn interrupt(&mut self, die: u32, view: &mut View<'_>) -> bool {
        if !self.config.suspend {
            return false;
        }
        if self.form(die, Kind::MappingRead, view) {
            return true;
        }
        self.refill(die, view);
        let read = self.units[die as usize].slots[READ];
        let (Some(read), Some(running)) = (read, view.flash.running(die)) else { return false };
        if self.balancing && !self.units[die as usize].idle_collection {
            let times = self.times[running as usize];
            let left = view.busy(die);
            let of_read = proportional_wait(view.now.0 - read.enqueued, left, read.cost);
            let waited = times.dispatched - times.enqueued;
            if of_read <= proportional_wait(waited, 0, times.cost) {
                return false;
            }
        }
        self.dispatch(die, READ, view)
    }

    fn rank(&self, die: u32, view: &View<'_>) -> Option<(u8, Time)> {
        let unit = &self.units[die as usize];
        let of_others =
            [Kind::MappingRead, Kind::MappingWrite, Kind::GcRead, Kind::GcWrite, Kind::Erase]
                .into_iter()
                .map(|kind| self.others.front(die, kind))
                .filter(|&id| id != flashlane_engine::NONE)
                .map(|id| view.transactions[id].mark);
        let slots = unit.slots.iter().flatten().map(|entry| Time(entry.enqueued));
        let queued = unit.queues.iter().flatten().filter_map(Queue::front_since).map(Time);
        of_others.chain(slots).chain(queued).min().map(|since| (0, since))
    }

    fn waiting(&self, die: u32) -> u32 {
        let unit = &self.units[die as usize];
        let queued: usize = unit.queues.iter().flatten().map(Queue::len).sum();
        let slots = unit.slots.iter().flatten().count();
        self.others.waiting(die) + (queued + slots) as u32
    }

    fn observes(&self) -> bool {
        true
    }

    fn completed(&mut self, die: u32, id: u32, tr: &Transaction, now: Time) {
        if tr.op == Op::Erase {
            self.shares.erased();
            return;
        }
        if matches!(tr.source, Source::Gc | Source::Mapping) {
            return;
        }
        let times = self.times[id as usize];
        let slowdown =
            (now.0 - times.enqueued) as f64 / (times.cost + times.wait_alone).max(1) as f64;
        let lane = self.lane(die, side(tr.op), tr.flow);
        lane.unfinished -= 1;
        lane.slowdowns += slowdown;
        lane.departed += 1;
    }
}
