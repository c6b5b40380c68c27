//! Runs without time against timed runs, for every policy that decides where pages go: schedulers,
//! allocations and victims, built in and from outside. Refused by name, or the same amplification
//! at one to four capacities written: within 3 % in 19 of 20 cases, within 6.5 % in all.
//!
//! `make test` runs every pair of policies of two families; `WAF_ONLY=all`, as in `make long`,
//! every triple, and `WAF_ONLY=flin,dynamic` those triples that have all of these names. Run with
//! `--nocapture` for the table.

#[path = "../../../examples/fair-turns/tests/outside/mod.rs"]
mod outside;

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once};

use flashlane::Error;
use flashlane::conformance::RandomWrites;
use flashlane::policy::{
    Allocation, CollectionOrder, DieId, Geometry, Kind, Op, PolicyDoc, Presses, Queues, Reads,
    Scheduling, SchedulingConfig, SchedulingPolicy, Source, Steps, Time, TransactionId, Victim,
    View,
};
use outside::{Emptiest, Idlest, Oldest, documented};
use serde::{Deserialize, Serialize};

/// Two channels of two dies of one plane or two.
const DRIVE: [(&str, u32); 2] = [("flash.chips_per_channel", 2), ("flash.blocks_per_plane", 256)];

/// Logical pages of the drive.
const CAPACITY: u64 = 25_600;

/// Limit on the difference of the amplification ([`RandomWrites::amplification`]). Both runs count
/// equal requests until the last one is done. They count a moved page when it is programmed, and
/// the pages that collection still has to move then. 17 of the 234 cases are refused. Among the
/// others 31 are above 1.5 % and 9 are above 3 %. The largest difference is 3.91 %, and among all
/// triples it is 6.16 %. Unit: percent.
const PERCENT: f64 = 3.0;
const PERCENT_MAX: f64 = 6.5;

/// One in this number of cases may differ by more than `PERCENT`.
const ONE_OF: usize = 20;

documented!(HostsFirst, Silent);

/// Hosts go first, and collection when it must.
#[derive(Clone)]
struct Lists {
    queues: Queues,
    order: CollectionOrder,
}

const HOST: Kind = Kind::user_read(0);
const COLLECTION: Kind = Kind::GC_READ;

impl SchedulingConfig for HostsFirst {
    fn build(&self, geometry: Geometry, _: usize) -> Box<dyn SchedulingPolicy> {
        let order = CollectionOrder::Behind {
            presses: Presses::Urgent,
            steps: Steps::OneList,
            reads: Reads::InOrder,
        };
        Box::new(Lists { queues: Queues::new(geometry), order })
    }
}

/// A policy with that order of collection, which does not report it.
impl SchedulingConfig for Silent {
    fn build(&self, geometry: Geometry, _: usize) -> Box<dyn SchedulingPolicy> {
        Box::new(Lists { queues: Queues::new(geometry), order: CollectionOrder::Unspecified })
    }
}

impl SchedulingPolicy for Lists {
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        let tr = view.transaction(id);
        let kind = if tr.source() == Source::Gc { COLLECTION } else { HOST };
        self.queues.push(die, kind, id, tr);
    }

    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let order = if view.is_urgent() { [COLLECTION, HOST] } else { [HOST, COLLECTION] };
        order.into_iter().any(|kind| self.queues.form(die, kind, None, view))
    }

    fn take_read(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let oldest = self.queues.front(die, HOST);
        oldest != TransactionId::NONE
            && view.transaction(oldest).op() == Op::Read
            && self.queues.form(die, HOST, None, view)
    }

    fn interrupt(&mut self, _: DieId, _: &mut View<'_>) -> bool {
        false
    }

    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)> {
        (0..).zip([HOST, COLLECTION]).find_map(|(rank, kind)| {
            let id = self.queues.front(die, kind);
            (id != TransactionId::NONE).then(|| (rank, view.transaction(id).queued_since()))
        })
    }

    fn collection_order(&self) -> CollectionOrder {
        self.order
    }

    fn waiting(&self, die: DieId) -> u32 {
        self.queues.waiting(die)
    }
}

/// Registers what comes from outside, once in a process.
fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        Scheduling::register::<HostsFirst>("hosts-first").expect("a free name");
        Scheduling::register::<Silent>("silent").expect("a free name");
        Victim::register::<Oldest>("oldest").expect("a free name");
        Allocation::register::<Emptiest>("emptiest").expect("a free name");
        Allocation::register::<Idlest>("idlest").expect("a free name");
    });
}

fn with<'a>(names: &[&'a str], outside: &'a str) -> Vec<&'a str> {
    names.iter().copied().chain([outside]).collect()
}

/// A scheduler, an allocation and a victim policy, and the number of the case.
#[derive(Clone, Copy, Debug)]
struct Case<'a> {
    scheduler: &'a str,
    allocation: &'a str,
    victim: &'a str,
    number: usize,
}

impl Case<'_> {
    fn drive(&self) -> RandomWrites {
        // Depths and capacities take turns, so that each of them meets each policy.
        let depth = [16, 1, 64, 4][self.number % 4];
        let capacities = 1 + (self.number / 4 % 4) as u64;
        let planes = 1 + self.number / 16 % 2;
        let mut sets = DRIVE.map(|(key, value)| format!("{key}={value}")).to_vec();
        let mut set = |key: &str, value: &dyn Display| sets.push(format!("{key}={value}"));
        set("scheduler", &self.scheduler);
        set("ftl.allocation", &self.allocation);
        set("ftl.gc.victim", &self.victim);
        set("flash.planes_per_die", &planes);
        set("flow[0].synthetic.queue_depth", &depth);
        set("flow[0].synthetic.requests", &(capacities * CAPACITY * planes as u64));
        RandomWrites::new(&sets).unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }

    /// Timed and untimed amplification; `None` if it is refused by name.
    fn run(&self) -> Option<(f64, f64)> {
        let drive = self.drive();
        let untimed = match drive.amplification(true) {
            Err(Error::Config(problems)) => {
                let named = |place: &str| ["scheduler", "ftl.allocation"].contains(&place);
                assert!(problems.iter().all(|problem| named(&problem.place)), "{problems:?}");
                return None;
            }
            other => other.unwrap_or_else(|error| panic!("{self:?}: {error}")),
        };
        let timed = drive.amplification(false).unwrap_or_else(|error| panic!("{self:?}: {error}"));
        Some((timed, untimed))
    }
}

/// Runs all cases, on two threads.
fn agree(cases: &[Case<'_>]) {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some((timed, untimed)) = case.run() else {
                println!("refused: {case:?}");
                continue;
            };
            let difference = 100.0 * (untimed / timed - 1.0);
            let row = format!("{timed:>8.4} {untimed:>8.4} {difference:>6.2} %  {case:?}");
            println!("{row}");
            assert!(timed > 1.02 || case.victim == "none", "collection amplifies: {row}");
            assert!(difference.abs() <= PERCENT_MAX, "{row}");
            if difference.abs() > PERCENT {
                failures.lock().expect("no run panics").push(row);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let failures = failures.into_inner().expect("no run panics");
    let rows = failures.join("\n");
    let few = failures.len() * ONE_OF <= cases.len();
    assert!(few, "{} of {} outside:\n{rows}", failures.len(), cases.len());
}

/// Every policy of a family with every one of another, in as few cases as are easily found: every
/// victim with every allocation, where the schedulers take turns; then each scheduler with those
/// that it has not met.
#[test]
fn amplification_is_that_of_the_timed_run_for_every_pair_of_policies() {
    register();
    let schedulers = with(Scheduling::NAMES, "hosts-first");
    let allocations = with(Allocation::NAMES, "idlest");
    let victims = with(Victim::NAMES, "oldest");
    let mut cases = Vec::new();
    let mut add = |scheduler, allocation, victim| {
        let number = cases.len();
        cases.push(Case { scheduler, allocation, victim, number });
    };
    if let Ok(wanted) = std::env::var("WAF_ONLY") {
        for scheduler in &schedulers {
            for allocation in &allocations {
                victims.iter().for_each(|victim| add(*scheduler, *allocation, *victim));
            }
        }
        cases.retain(|case| {
            let names = [case.scheduler, case.allocation, case.victim];
            wanted == "all" || wanted.split(',').all(|name| names.contains(&name))
        });
        assert!(!cases.is_empty(), "WAF_ONLY={wanted} names a policy of each family at most");
        agree(&cases);
        return;
    }
    let mut met = HashSet::new();
    for (at, victim) in victims.iter().enumerate() {
        for (turn, allocation) in allocations.iter().enumerate() {
            let scheduler = schedulers[(at + turn) % schedulers.len()];
            add(scheduler, allocation, victim);
            met.extend([(scheduler, *allocation), (scheduler, *victim)]);
        }
    }
    for (at, scheduler) in schedulers.iter().enumerate() {
        let mut left = victims.iter().filter(|victim| !met.contains(&(*scheduler, **victim)));
        let of_allocations = allocations.iter().filter(|name| !met.contains(&(*scheduler, **name)));
        for (turn, allocation) in of_allocations.enumerate() {
            add(scheduler, allocation, left.next().unwrap_or(&["greedy", "rga"][(at + turn) % 2]));
        }
        for (turn, victim) in left.enumerate() {
            add(scheduler, ["cwdp", "dynamic"][(at + turn) % 2], victim);
        }
    }
    agree(&cases);
}

#[test]
fn a_scheduler_that_does_not_say_its_order_is_refused_by_name() {
    register();
    let drive = RandomWrites::new(&["scheduler=silent".to_owned()]).expect("it is registered");
    drive.amplification(false).expect("it runs with time");
    let Err(Error::Config(problems)) = drive.amplification(true) else { panic!("it ran") };
    let named = |p: &&flashlane::Problem| p.place == "scheduler" && p.message.contains("silent");
    assert!(problems.iter().any(|problem| named(&problem)), "{problems:?}");
}

#[test]
fn an_allocation_that_goes_by_free_blocks_is_refused_by_name() {
    register();
    let drive = RandomWrites::new(&["ftl.allocation=emptiest".to_owned()]).expect("a good drive");
    let Err(Error::Config(problems)) = drive.amplification(true) else { panic!("it ran") };
    assert!(problems.iter().any(|problem| problem.place == "ftl.allocation"), "{problems:?}");
}
