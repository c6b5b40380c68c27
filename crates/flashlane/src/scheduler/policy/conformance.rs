//! What every scheduler must keep to. All registered policies are taken in by name.

use std::collections::BTreeMap;

use flashlane_engine::{Array, Rng};
use flashlane_units::{DieId, FlowId, Lpa, PlaneId, RequestId};

use super::*;
use crate::ftl::view::FlashView;
use crate::scheduler::bench::{Bench, FLOWS, Work};
use crate::scheduler::view::is_ready;
use crate::transaction::{Op, Source};
use flashlane_engine::Time;

const US: u64 = 1_000_000;

/// Policies that tell classes apart by default; all others ignore them. Keep the table in
/// `docs/model.md` in step.
const WITH_CLASSES: [&str; 2] = ["priority-out-of-order", "flin"];

/// Policies that change the order of a flow's reads at a die of one plane. FLIN: a flow that
/// becomes of low intensity passes what it queued before.
const REORDER_A_FLOW: [&str; 1] = ["flin"];

fn policy(name: &str, bench: &Bench) -> Box<dyn Policy> {
    let config = Scheduling::by_name(name).expect("listed names exist");
    Box::new(build(&config, bench.geometry, usize::from(FLOWS)))
}

/// What a die of the bench runs.
#[derive(Clone, Debug)]
struct Running {
    command: Vec<TransactionId>,
    op: Op,
    until: Time,
}

/// A random workload on a bench, with every rule checked at every step.
struct Trial {
    name: &'static str,
    bench: Bench,
    policy: Box<dyn Policy>,
    rng: Rng,
    /// Queued transactions and their dies.
    queued: BTreeMap<TransactionId, DieId>,
    /// By die, and what an interruption made wait.
    running: Array<DieId, Option<Running>>,
    suspended: Vec<Option<Running>>,
    /// Blocked programs and when their data comes.
    blocked: Vec<(Time, TransactionId)>,
    /// Everything that was issued, in order.
    log: Vec<(Time, Vec<TransactionId>)>,
    /// Reads of each die and flow that left, by the time and order at which they came.
    last_read: BTreeMap<(u32, FlowId), u32>,
    entered: u32,
    left: u32,
    /// Order of arrival by transaction.
    arrival: BTreeMap<TransactionId, u32>,
}

impl Trial {
    fn new(name: &'static str, planes: u32, seed: u64) -> Self {
        let bench = Bench::new(4, planes);
        let dies = bench.geometry.dies() as usize;
        Self {
            name,
            policy: policy(name, &bench),
            bench,
            rng: Rng::stream(seed, "conformance", 0),
            queued: BTreeMap::new(),
            running: Array::of(None, dies),
            suspended: vec![None; dies],
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

    /// A few transactions come; some migrations become pointless, some programs wait for old data.
    fn arrive(&mut self) {
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
            self.arrival.insert(id, self.entered);
            self.entered += 1;
            if work.source == Source::Gc && work.op == Op::Read && self.rng.below(5) == 0 {
                let ppa = self.bench.transactions[id].ppa;
                self.bench.pages.set_lpa(ppa, Lpa::NONE);
            }
            self.check_waiting();
        }
    }

    fn check_waiting(&self) {
        for die in 0..self.running.len() as u32 {
            let queued = self.queued.values().filter(|&&at| at == DieId::new(die)).count();
            assert_eq!(
                self.policy.waiting(DieId::new(die)) as usize,
                queued,
                "{}: what waits",
                self.name
            );
        }
        let Bench { transactions, blocks, pages, .. } = &self.bench;
        let ftl = FlashView::new(pages, blocks);
        self.policy.audit(&|id| is_ready(&transactions[id], true, ftl));
    }

    /// Settles what a call of the policy formed and cancelled; commands are of an operation, if one
    /// is named.
    fn settle(&mut self, die: DieId, allowed: impl Into<Option<Op>>) {
        let cancelled = std::mem::take(&mut self.bench.cancelled);
        for id in cancelled {
            assert_eq!(self.queued.remove(&id), Some(die), "{} cancels what waits", self.name);
            let tr = self.bench.transactions[id];
            assert_eq!((tr.source, tr.op), (Source::Gc, Op::Read), "{}", self.name);
            assert_ne!(self.bench.pages.lpa(tr.ppa), tr.lpa, "{} keeps what is valid", self.name);
            self.bench.transactions.remove(id);
            self.left += 1;
        }
        let command = self.bench.batch.clone();
        let Some(&leader) = command.first() else { return };
        let allowed = allowed.into();
        let first = self.bench.transactions[leader];
        assert!(command.len() <= self.bench.geometry.planes_per_die as usize, "{}", self.name);
        for (at, &id) in command.iter().enumerate() {
            let tr = self.bench.transactions[id];
            let name = self.name;
            assert_eq!(self.queued.remove(&id), Some(die), "{name} issues what waits there, once");
            assert!(allowed.is_none_or(|op| tr.op == op), "{name}: not {:?} here", tr.op);
            assert_eq!(tr.op, first.op, "{name}: one operation a command");
            let page = |tr: &Transaction| tr.ppa.get() % self.bench.geometry.pages_per_block;
            assert!(tr.op == Op::Erase || page(&tr) == page(&first), "{name}: one page offset");
            let planes = command[..at].iter().map(|&id| self.bench.transactions[id].plane);
            assert!(planes.into_iter().all(|plane| plane != tr.plane), "{name}: a page a plane");
            assert!(self.bench.view(|view| view.is_ready(&tr)), "{name}: blocks are in order");
            let stale = tr.source == Source::Gc
                && tr.op == Op::Read
                && self.bench.pages.lpa(tr.ppa) != tr.lpa;
            assert!(!stale, "{name}: pointless migrations are cancelled");
            self.check_order(die, id, &tr);
        }
        self.bench.batch.clone_from(&command);
        self.bench.issued();
        self.left += command.len() as u32;
        let cost = self.bench.view(|view| view.cost(&first));
        let until = self.bench.now + Time(cost);
        self.bench.flash.pretend(die, Some((leader, first.op, until)));
        self.log.push((self.bench.now, command.clone()));
        self.running[die] = Some(Running { command, op: first.op, until });
        self.check_waiting();
    }

    fn check_order(&mut self, die: DieId, id: TransactionId, tr: &Transaction) {
        let ordered =
            self.bench.geometry.planes_per_die == 1 && !REORDER_A_FLOW.contains(&self.name);
        if tr.source == Source::User && tr.op == Op::Read && ordered {
            let arrival = self.arrival[&id];
            let last = self.last_read.insert((die.get(), tr.flow), arrival);
            assert!(last < Some(arrival), "{}: reads of a flow stay in order", self.name);
        }
    }

    /// A queued transaction that nothing but the policy keeps waiting.
    fn is_ready(&mut self, id: TransactionId) -> bool {
        let tr = self.bench.transactions[id];
        let stale =
            tr.source == Source::Gc && tr.op == Op::Read && self.bench.pages.lpa(tr.ppa) != tr.lpa;
        !stale && self.bench.view(|view| view.is_ready(&tr))
    }

    /// Offers a free die to the policy: work that is ready goes, unless it is a user's and held
    /// back.
    fn serve(&mut self, die: DieId) {
        let waits: Vec<TransactionId> =
            self.queued.iter().filter(|&(_, &at)| at == die).map(|(&id, _)| id).collect();
        let may_hold = self.policy.wake().is_some();
        let holds = |tr: &Transaction| {
            may_hold && tr.op != Op::Erase && matches!(tr.source, Source::User | Source::Cache)
        };
        let tied = |id: &TransactionId| !holds(&self.bench.transactions[*id]);
        let free = waits.iter().filter(|id| tied(id)).count();
        let rank = self.bench.view(|view| self.policy.rank(die, view));
        assert!(rank.is_some() || free == 0, "{}: no rank only if nothing waits", self.name);
        assert!(rank.is_none() || !waits.is_empty(), "{}: a rank if something waits", self.name);
        if self.rng.below(4) == 0 {
            let formed = self.bench.view(|view| self.policy.take_read(die, view));
            assert_eq!(formed, !self.bench.batch.is_empty(), "{}", self.name);
            self.settle(die, Op::Read);
            if formed {
                return;
            }
        }
        let formed = self.bench.view(|view| self.policy.take(die, view));
        assert_eq!(formed, !self.bench.batch.is_empty(), "{}", self.name);
        self.settle(die, None);
        if !formed {
            for id in waits {
                if !self.queued.contains_key(&id) {
                    continue;
                }
                let tr = self.bench.transactions[id];
                let left = self.is_ready(id) && !holds(&tr);
                assert!(!left, "{} leaves {tr:?} at an idle die", self.name);
            }
        }
    }

    /// Offers a die that runs a program or an erase.
    fn interrupt(&mut self, die: DieId) {
        let at = die.index();
        let Some(running) = self.running[DieId::new(at as u32)].clone() else { return };
        if self.suspended[at].is_some() || running.op == Op::Read {
            return;
        }
        let for_write = running.op == Op::Erase && self.rng.below(2) == 0;
        self.bench.view(|view| {
            if for_write {
                policy_formed(self.policy.interrupt_for_write(die, view), view);
            } else {
                policy_formed(self.policy.interrupt(die, view), view);
            }
        });
        let interrupted = !self.bench.batch.is_empty();
        self.settle(die, if for_write { Op::Program } else { Op::Read });
        if interrupted {
            let left = running.until - self.bench.now;
            self.suspended[at] = Some(Running { until: left, ..running });
        }
    }

    fn finish(&mut self, die: DieId) {
        let at = die.index();
        let Some(done) = self.running[DieId::new(at as u32)].take() else { return };
        for id in done.command {
            let tr = self.bench.transactions[id];
            if self.policy.observes() {
                self.policy.completed(die, id, &tr, self.bench.now);
            }
            self.bench.transactions.remove(id);
        }
        self.running[DieId::new(at as u32)] = self.suspended[at]
            .take()
            .map(|waited| Running { until: self.bench.now + waited.until, ..waited });
        let next =
            self.running[DieId::new(at as u32)].as_ref().map(|r| (r.command[0], r.op, r.until));
        self.bench.flash.pretend(die, next);
    }

    /// When something happens next, arrivals aside.
    fn next(&self) -> Option<Time> {
        let ends = self.running.iter().flatten().map(|running| running.until);
        let data = self.blocked.iter().map(|&(time, _)| time);
        let wake = self.policy.wake().map(|time| time.max(self.bench.now));
        ends.chain(data).chain(wake).min()
    }

    /// Everything that happens at the time of the bench.
    fn step(&mut self) {
        let now = self.bench.now;
        for (_, id) in self.blocked.extract_if(.., |&mut (time, _)| time <= now) {
            let tr = &mut self.bench.transactions[id];
            tr.blocked = false;
            self.policy.unblocked(self.bench.flash.die_of(tr.plane));
        }
        for die in 0..self.running.len() as u32 {
            if self.running[DieId::new(die)].as_ref().is_some_and(|running| running.until <= now) {
                self.finish(DieId::new(die));
            }
        }
        if self.policy.wake().is_some_and(|time| time <= now) {
            self.bench.view(|view| self.policy.woken(view));
            assert!(self.policy.wake().is_none_or(|time| time > now), "{}: once", self.name);
        }
        let first = self.rng.below(self.running.len() as u64) as u32;
        for at in 0..self.running.len() as u32 {
            let die = (first + at) % self.running.len() as u32;
            self.bench.urgent = self.rng.below(4) == 0;
            if self.running[DieId::new(die)].is_none() {
                self.serve(DieId::new(die));
            } else if self.rng.below(3) == 0 {
                self.interrupt(DieId::new(die));
            }
        }
    }

    /// Random arrivals for a while, then nothing more: everything that came must leave.
    fn run(mut self) -> Vec<(Time, Vec<TransactionId>)> {
        for _ in 0..150 {
            self.arrive();
            self.step();
            let until = self.bench.now + Time(self.rng.below(400 * US));
            while let Some(time) = self.next().filter(|&time| time <= until) {
                self.bench.now = time;
                self.step();
            }
            self.bench.now = until;
        }
        while let Some(time) = self.next() {
            self.bench.now = time;
            self.step();
        }
        // Pointless migrations may be left that nothing had a reason to look at.
        for die in 0..self.running.len() as u32 {
            self.serve(DieId::new(die));
        }
        assert_eq!(self.entered, self.left, "{}: what came has left", self.name);
        assert_eq!(self.bench.transactions.len(), 0);
        self.log
    }
}

fn policy_formed(formed: bool, view: &View<'_>) {
    assert_eq!(formed, !view.batch.is_empty(), "a policy says whether it formed a command");
}

/// Nothing is lost or doubled, what waits is counted, commands are legal and in the order of their
/// blocks, ready work does not wait at an idle die unless it is held back, and all of it repeats
/// itself.
#[test]
fn random_work_is_served_by_the_rules() {
    for &name in Scheduling::NAMES {
        for planes in [1, 2, 4] {
            for seed in 0..6 {
                let log = Trial::new(name, planes, seed).run();
                assert!(log.len() > 200, "{name} had something to do");
                assert!(log == Trial::new(name, planes, seed).run(), "{name} repeats itself");
            }
        }
    }
}

/// Users never stop; what collection needs is done all the same once blocks run out.
#[test]
fn urgent_collection_makes_progress() {
    for name in Scheduling::NAMES {
        for op in [Op::Read, Op::Program, Op::Erase] {
            let waited = |urgent| {
                let mut bench = Bench::new(1, 1);
                let mut policy = policy(name, &bench);
                bench.urgent = urgent;
                let work =
                    Work { source: Source::Gc, op, flow: FlowId::new(0), plane: PlaneId::new(0) };
                for round in 0..8 {
                    bench.enqueue(
                        &mut *policy,
                        Bench::user(Op::Read, FlowId::new(round % FLOWS), PlaneId::new(0)),
                        0,
                    );
                }
                let wanted = bench.enqueue(&mut *policy, work, 0);
                (0..2_000).find(|&round| {
                    let user = if round % 2 == 0 { Op::Read } else { Op::Program };
                    bench.enqueue(
                        &mut *policy,
                        Bench::user(user, FlowId::new(round as u16 % FLOWS), PlaneId::new(0)),
                        0,
                    );
                    // One more in each round than is served: the queue never runs dry.
                    bench.enqueue(
                        &mut *policy,
                        Bench::user(Op::Read, FlowId::new(1), PlaneId::new(0)),
                        0,
                    );
                    serve_one(&mut bench, &mut *policy).contains(&wanted)
                })
            };
            let round = waited(true);
            assert!(
                round.is_some_and(|round| round < 200),
                "{name}: {op:?} after {round:?} rounds"
            );
            if ["out-of-order", "priority-out-of-order", "sprinkler"].contains(name) {
                let relaxed = waited(false).unwrap_or(2_000);
                assert!(relaxed > 700, "{name} serves users first, {op:?} after {relaxed} rounds");
            }
        }
    }
}

/// Has the one die serve a command of 100 us.
fn serve_one(bench: &mut Bench, policy: &mut dyn Policy) -> Vec<TransactionId> {
    loop {
        let command = bench.take(policy, DieId::new(0));
        if command.is_empty() {
            // All of it is held back.
            bench.now = policy.wake().expect("a policy that holds back wants to be woken");
            bench.view(|view| policy.woken(view));
            continue;
        }
        bench.now += Time(100 * US);
        for &id in &command {
            let tr = bench.transactions[id];
            policy.completed(DieId::new(0), id, &tr, bench.now);
        }
        return command;
    }
}

/// Four flows of the four classes read without end: policies that know classes serve the higher
/// ones more, all others serve them alike.
#[test]
fn classes_count_where_they_should() {
    for name in Scheduling::NAMES {
        let mut bench = Bench::new(1, 1);
        let mut policy = policy(name, &bench);
        let mut served = [0_u32; FLOWS as usize];
        for flow in (0..FLOWS).cycle().take(400) {
            bench.enqueue(
                &mut *policy,
                Bench::user(Op::Read, FlowId::new(flow), PlaneId::new(0)),
                0,
            );
        }
        for _ in 0..150 {
            for id in serve_one(&mut bench, &mut *policy) {
                served[bench.transactions[id].flow.index()] += 1;
            }
        }
        if WITH_CLASSES.contains(name) {
            assert!(served.is_sorted_by(|high, low| high >= low), "{name}: {served:?}");
            assert!(served[0] > 2 * served[3], "{name}: {served:?}");
        } else {
            let alike = served.iter().all(|&count| count.abs_diff(served[0]) <= 3);
            assert!(alike, "{name} ignores classes: {served:?}");
        }
    }
}
