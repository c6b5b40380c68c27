//! A random workload on a bench, with every rule checked at every step.

mod beside;

use std::collections::{BTreeMap, BTreeSet};

use flashlane_engine::{Array, Rng, Time};
use flashlane_units::{DieId, FlowId, Lpa, PlaneId, RequestId, TransactionId};

use super::{US, policy};
use crate::ftl::view::FlashView;
use crate::rule::ensure;
use crate::scheduler::bench::{Bench, FLOWS, Work};
use crate::scheduler::policy::{Scheduling, SchedulingPolicy};
use crate::scheduler::view::is_ready;
use crate::transaction::{Op, Source, Transaction};

/// All commands that were issued, in order.
pub(super) type Log = Vec<(Time, Vec<TransactionId>)>;

/// The operation that a die of the bench runs.
#[derive(Clone, Debug)]
struct Running {
    command: Vec<TransactionId>,
    pub op: Op,
    pub until: Time,
}

/// A random workload on a bench, with every rule checked at every step.
pub(super) struct Trial {
    /// True if the reads of a flow must stay in order at a die of one plane.
    in_order: bool,
    bench: Bench,
    policy: Box<dyn SchedulingPolicy>,
    rng: Rng,
    /// Queued transactions and their dies.
    queued: BTreeMap<TransactionId, DieId>,
    /// By die: the running operation, with the operation that it interrupted.
    running: Array<DieId, Option<Running>>,
    suspended: Vec<Option<Running>>,
    /// Dies of which the policy said that it interrupts them for nothing that waits.
    quiet: BTreeSet<DieId>,
    /// Blocked programs, with the time when their old data comes.
    blocked: Vec<(Time, TransactionId)>,
    /// All commands that were issued, in order.
    log: Vec<(Time, Vec<TransactionId>)>,
    /// By die and flow: the place in the order of arrival of the last read that left.
    last_read: BTreeMap<(u32, FlowId), u32>,
    entered: u32,
    left: u32,
    /// Order of arrival by transaction.
    arrival: BTreeMap<TransactionId, u32>,
}

impl Trial {
    /// `by_plane`: planes read independently.
    pub(super) fn new(
        config: &Scheduling,
        planes: u32,
        seed: u64,
        in_order: bool,
        by_plane: bool,
    ) -> Self {
        let mut bench = Bench::new(4, planes);
        bench.reads_by_plane = by_plane;
        let dies = bench.geometry.dies() as usize;
        Self {
            in_order,
            policy: policy(config, &bench),
            bench,
            rng: Rng::stream(seed, "conformance", 0),
            queued: BTreeMap::new(),
            running: Array::of(None, dies),
            suspended: vec![None; dies],
            quiet: BTreeSet::new(),
            blocked: Vec::new(),
            log: Vec::new(),
            last_read: BTreeMap::new(),
            entered: 0,
            left: 0,
            arrival: BTreeMap::new(),
        }
    }

    fn work(&mut self) -> Work {
        let flow = FlowId::new(self.rng.below(u64::from(FLOWS)) as u16);
        let plane = PlaneId::at(self.rng.below(self.bench.geometry.planes().into()) as usize);
        let (source, op) = match self.rng.below(20) {
            0..8 => (Source::User, Op::Read),
            8..11 => (Source::User, Op::Program),
            11..14 => (Source::Cache, Op::Program),
            14 => (Source::Mapping, Op::Read),
            15 => (Source::Mapping, Op::Program),
            16 | 17 => (Source::Gc, Op::Read),
            18 => (Source::Gc, Op::Program),
            _ => (Source::Gc, Op::Erase),
        };
        Work { source, op, flow, plane }
    }

    /// Adds a few transactions. Some migrations become pointless, and some programs wait for old
    /// data.
    fn arrive(&mut self) -> Result<(), String> {
        for _ in 0..self.rng.below(12) {
            let work = self.work();
            let at = self.rng.below(4) as u32;
            let id = self.bench.make(work, at);
            let tr = &mut self.bench.transactions[id];
            tr.request = if self.rng.below(2) == 0 {
                RequestId::new(self.rng.below(8) as u32)
            } else {
                RequestId::NONE
            };
            if work.op == Op::Program && self.rng.below(10) == 0 {
                tr.blocked = true;
                self.blocked.push((self.bench.now + Time(self.rng.below(500 * US)), id));
            }
            let die = self.bench.flash.die_of(work.plane);
            self.bench.view(|view| self.policy.enqueue(die, id, view));
            self.queued.insert(id, die);
            self.quiet.remove(&die);
            self.arrival.insert(id, self.entered);
            self.entered += 1;
            if work.source == Source::Gc && work.op == Op::Read && self.rng.below(5) == 0 {
                let ppa = self.bench.transactions[id].ppa;
                self.bench.pages.set_lpa(ppa, Lpa::NONE);
            }
            self.check_waiting()?;
        }
        Ok(())
    }

    fn check_waiting(&self) -> Result<(), String> {
        for die in 0..self.running.len() as u32 {
            let queued = self.queued.values().filter(|&&at| at == DieId::new(die)).count();
            ensure!(self.policy.waiting(DieId::new(die)) as usize == queued, "what waits");
        }
        let Bench { transactions, blocks, pages, .. } = &self.bench;
        let ftl = FlashView::new(pages, blocks);
        self.policy.audit(&|id| is_ready(&transactions[id], true, ftl));
        Ok(())
    }

    /// Settles the command and the cancellations of a call of the policy. `allowed`: the only
    /// operation that the command may be of.
    fn settle(&mut self, die: DieId, allowed: impl Into<Option<Op>>) -> Result<(), String> {
        let cancelled = std::mem::take(&mut self.bench.cancelled);
        for id in cancelled {
            ensure!(self.queued.remove(&id) == Some(die), "it cancels what waits");
            let tr = self.bench.transactions[id];
            ensure!(
                (tr.source, tr.op) == (Source::Gc, Op::Read),
                "it cancels moves only, not {tr:?}"
            );
            ensure!(self.bench.pages.lpa(tr.ppa) != tr.lpa, "it keeps what is valid");
            self.bench.transactions.remove(id);
            self.left += 1;
        }
        let command = self.bench.batch.clone();
        let Some(&leader) = command.first() else { return Ok(()) };
        let allowed = allowed.into();
        let first = self.bench.transactions[leader];
        ensure!(
            command.len() <= self.bench.geometry.planes_per_die as usize,
            "at most one transaction a plane"
        );
        let alone = self.bench.reads_by_plane && first.op == Op::Read;
        ensure!(!alone || command.len() == 1, "planes that read independently read one page each");
        for (at, &id) in command.iter().enumerate() {
            let tr = self.bench.transactions[id];
            ensure!(self.queued.remove(&id) == Some(die), "it issues what waits there, once");
            ensure!(allowed.is_none_or(|op| tr.op == op), "not {:?} here", tr.op);
            ensure!(tr.op == first.op, "one operation a command");
            let page = |tr: &Transaction| tr.ppa.get() % self.bench.geometry.pages_per_block;
            ensure!(tr.op == Op::Erase || page(&tr) == page(&first), "one page offset");
            let planes = command[..at].iter().map(|&id| self.bench.transactions[id].plane);
            ensure!(planes.into_iter().all(|plane| plane != tr.plane), "a page a plane");
            ensure!(self.bench.view(|view| view.is_ready(&tr)), "blocks are in order");
            let stale = tr.source == Source::Gc
                && tr.op == Op::Read
                && self.bench.pages.lpa(tr.ppa) != tr.lpa;
            ensure!(!stale, "pointless migrations are cancelled");
            self.check_order(die, id, &tr)?;
        }
        self.quiet.remove(&die);
        self.bench.batch.clone_from(&command);
        self.bench.issued();
        self.left += command.len() as u32;
        let cost = self.bench.view(|view| view.cost(&first));
        let until = self.bench.now + Time(cost);
        self.bench.flash.pretend(die, Some((leader, first.op, until)));
        self.log.push((self.bench.now, command.clone()));
        self.running[die] = Some(Running { command, op: first.op, until });
        self.check_waiting()?;
        Ok(())
    }

    fn check_order(
        &mut self,
        die: DieId,
        id: TransactionId,
        tr: &Transaction,
    ) -> Result<(), String> {
        let ordered = self.bench.geometry.planes_per_die == 1 && self.in_order;
        if tr.source == Source::User && tr.op == Op::Read && ordered {
            let arrival = self.arrival[&id];
            let last = self.last_read.insert((die.get(), tr.flow), arrival);
            ensure!(last < Some(arrival), "reads of a flow stay in order");
        }
        Ok(())
    }

    /// True if nothing but the policy keeps a queued transaction waiting.
    fn is_ready(&mut self, id: TransactionId) -> bool {
        let tr = self.bench.transactions[id];
        let stale =
            tr.source == Source::Gc && tr.op == Op::Read && self.bench.pages.lpa(tr.ppa) != tr.lpa;
        !stale && self.bench.view(|view| view.is_ready(&tr))
    }

    /// Offers a free die to the policy. Ready work must go, unless it is a user's and held back.
    fn serve(&mut self, die: DieId) -> Result<(), String> {
        let waits: Vec<TransactionId> =
            self.queued.iter().filter(|&(_, &at)| at == die).map(|(&id, _)| id).collect();
        let may_hold = self.policy.wake().is_some();
        let holds = |tr: &Transaction| {
            may_hold && tr.op != Op::Erase && matches!(tr.source, Source::User | Source::Cache)
        };
        let tied = |id: &TransactionId| !holds(&self.bench.transactions[*id]);
        let free = waits.iter().filter(|id| tied(id)).count();
        let rank = self.bench.view(|view| self.policy.rank(die, view));
        ensure!(rank.is_some() || free == 0, "no rank only if nothing waits");
        ensure!(rank.is_none() || !waits.is_empty(), "a rank if something waits");
        if self.rng.below(4) == 0 {
            let formed = self.bench.view(|view| self.policy.take_read(die, view));
            ensure!(formed != self.bench.batch.is_empty(), "it says whether it formed a command");
            self.settle(die, Op::Read)?;
            if formed {
                return Ok(());
            }
        }
        let formed = self.bench.view(|view| self.policy.take(die, view));
        ensure!(formed != self.bench.batch.is_empty(), "it says whether it formed a command");
        self.settle(die, None)?;
        if !formed {
            for id in waits {
                if !self.queued.contains_key(&id) {
                    continue;
                }
                let tr = self.bench.transactions[id];
                let left = self.is_ready(id) && !holds(&tr);
                ensure!(
                    !left,
                    "it leaves a ready transaction at an idle die: {:?} of {:?}, flow {}, die {}",
                    tr.op,
                    tr.source,
                    tr.flow.get(),
                    die.get()
                );
            }
        }
        Ok(())
    }

    /// Offers a die that runs a program or an erase.
    fn interrupt(&mut self, die: DieId) -> Result<(), String> {
        let at = die.index();
        let Some(running) = self.running[DieId::new(at as u32)].clone() else { return Ok(()) };
        if self.suspended[at].is_some() || running.op == Op::Read {
            return Ok(());
        }
        let for_write = running.op == Op::Erase && self.rng.below(2) == 0;
        let may = for_write || self.policy.may_interrupt(die);
        ensure!(
            !may || for_write || !self.quiet.contains(&die),
            "it changes its mind with a reason"
        );
        if !may {
            self.quiet.insert(die);
        }
        let interrupted = self.bench.view(|view| match for_write {
            true => self.policy.interrupt_for_write(die, view),
            false => self.policy.interrupt(die, view),
        });
        ensure!(interrupted != self.bench.batch.is_empty(), "it says whether it formed a command");
        ensure!(may || !interrupted, "it interrupts only what it says that it may interrupt");
        self.settle(die, if for_write { Op::Program } else { Op::Read })?;
        if interrupted {
            let left = running.until - self.bench.now;
            self.suspended[at] = Some(Running { until: left, ..running });
        }
        Ok(())
    }

    fn finish(&mut self, die: DieId) -> Result<(), String> {
        let at = die.index();
        let Some(done) = self.running[die].take() else { return Ok(()) };
        for id in done.command {
            let tr = self.bench.transactions[id];
            if self.policy.observes() {
                self.policy.completed(die, id, &tr, self.bench.now);
            }
            self.bench.transactions.remove(id);
        }
        if self.suspended[at].is_some() && self.rng.below(2) == 0 && self.reads_on(die)? {
            return Ok(());
        }
        self.running[DieId::new(at as u32)] = self.suspended[at]
            .take()
            .map(|waited| Running { until: self.bench.now + waited.until, ..waited });
        let next =
            self.running[DieId::new(at as u32)].as_ref().map(|r| (r.command[0], r.op, r.until));
        self.bench.flash.pretend(die, next);
        Ok(())
    }

    /// Offers a die that is about to resume its suspended operation. True if it takes more reads
    /// first.
    fn reads_on(&mut self, die: DieId) -> Result<bool, String> {
        let Some(waited) = &self.suspended[die.index()] else { return Ok(false) };
        let (head, op, left) = (waited.command[0], waited.op, waited.until.0);
        self.bench.flash.pretend_suspended(die, head, op, left);
        let formed = self.bench.view(|view| self.policy.interrupt(die, view));
        ensure!(formed != self.bench.batch.is_empty(), "it says whether it formed a command");
        self.settle(die, Op::Read)?;
        Ok(formed)
    }

    /// Time of the next event, without arrivals.
    fn next(&self) -> Option<Time> {
        let ends = self.running.iter().flatten().map(|running| running.until);
        let data = self.blocked.iter().map(|&(time, _)| time);
        let wake = self.policy.wake().map(|time| time.max(self.bench.now));
        ends.chain(data).chain(wake).min()
    }

    /// Does everything that happens at the present time of the bench.
    fn step(&mut self) -> Result<(), String> {
        let now = self.bench.now;
        for (_, id) in self.blocked.extract_if(.., |&mut (time, _)| time <= now) {
            let tr = &mut self.bench.transactions[id];
            tr.blocked = false;
            let die = self.bench.flash.die_of(tr.plane);
            self.policy.unblocked(die);
            self.quiet.remove(&die);
        }
        for die in 0..self.running.len() as u32 {
            if self.running[DieId::new(die)].as_ref().is_some_and(|running| running.until <= now) {
                self.finish(DieId::new(die))?;
            }
        }
        if self.policy.wake().is_some_and(|time| time <= now) {
            self.bench.view(|view| self.policy.woken(view));
            self.quiet.clear();
            ensure!(self.policy.wake().is_none_or(|time| time > now), "once");
        }
        let first = self.rng.below(self.running.len() as u64) as u32;
        for at in 0..self.running.len() as u32 {
            let die = (first + at) % self.running.len() as u32;
            self.bench.urgent = self.rng.below(4) == 0;
            let reads = |running: &Running| running.op == Op::Read;
            if self.running[DieId::new(die)].is_none() {
                self.serve(DieId::new(die))?;
            } else if self.bench.reads_by_plane
                && self.running[DieId::new(die)].as_ref().is_some_and(reads)
            {
                self.read_beside(DieId::new(die))?;
            } else if self.rng.below(3) == 0 {
                self.interrupt(DieId::new(die))?;
            }
        }
        Ok(())
    }

    /// Random arrivals for a while, then none: everything that came must leave.
    pub(super) fn run(mut self) -> Result<Log, String> {
        for _ in 0..150 {
            self.arrive()?;
            self.step()?;
            let until = self.bench.now + Time(self.rng.below(400 * US));
            while let Some(time) = self.next().filter(|&time| time <= until) {
                self.bench.now = time;
                self.step()?;
            }
            self.bench.now = until;
        }
        while let Some(time) = self.next() {
            self.bench.now = time;
            self.step()?;
        }
        // Pointless migrations may remain that nothing has looked at.
        for die in 0..self.running.len() as u32 {
            self.serve(DieId::new(die))?;
        }
        ensure!(self.entered == self.left, "what came has left");
        Ok(self.log)
    }
}
