//! Runs the seeds of a swarm on several threads and reports what came of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::log::{Line, Log, Start, State, program};
use super::{Outcome, run};
use crate::generate::case;

/// Seeds that failed once, and take little time since then: they run before all others.
const REGRESSIONS: [u64; 16] = [
    // Blame took time quadratic in the queue depth.
    1_001_050, 1_003_614, 2_001_038, //
    // The chips' time in a series went backwards.
    3_000_128, 3_000_728, 3_000_885, //
    // No request arrives before the load ends.
    3_000_154, //
    // More transactions waited on average than at most.
    3_000_201, //
    // The cost-benefit policy's steady state takes more time than the run.
    3_001_329, //
    // The erase of a block whose last moves were cancelled waited for the next event.
    5_001_632, //
    // Free collection gained blocks that nobody offered to the writes that waited for them.
    6_012_488,
    // Nobody asked for a first pass that had waited for a word line of another block.
    900_571, 910_292, //
    // A request read a page twice: units that nobody wrote, and those that lie there.
    73_003_269, //
    // The turn of an open block used up the only collection that waiting writes were owed.
    626, 2484,
];

thread_local! {
    /// Message and place of the last panic of a worker. `None`: this thread is no worker.
    static FAULT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps panics of workers for the report instead of printing a trace of each.
fn keep_panics() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let text = info.payload_as_str().unwrap_or("a panic without a message");
        let keep = |fault: &mut Option<String>| match fault {
            Some(fault) => *fault = format!("{place}: {text}"),
            None => others(info),
        };
        FAULT.with_borrow_mut(keep);
    }));
}

/// Message and place of the last panic of this worker.
pub(crate) fn fault() -> String {
    FAULT.replace(Some(String::new())).unwrap_or_default()
}

/// What the environment asks for.
struct Plan {
    start: Start,
    runs: u64,
    threads: usize,
    log: Option<PathBuf>,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

fn number(name: &str) -> Option<u64> {
    let parse = |text: String| {
        text.parse().unwrap_or_else(|_| panic!("{name}: found {text:?}; allowed: a number"))
    };
    variable(name).map(parse)
}

impl Plan {
    fn from_environment() -> Self {
        let log = variable("SWARM_LOG").map(PathBuf::from);
        let next = variable("SWARM_START").is_some_and(|text| text == "next");
        assert!(!next || log.is_some(), "SWARM_START=next goes on with a log: set SWARM_LOG, too");
        let cores = || std::thread::available_parallelism().map_or(1, |n| n.get().min(4));
        Self {
            start: if next { Start::Next } else { Start::Seed(number("SWARM_START").unwrap_or(0)) },
            runs: number("SWARM").unwrap_or(300),
            threads: number("SWARM_THREADS").map_or_else(cores, |threads| threads as usize),
            log,
        }
    }
}

/// Runs one seed and prints its configuration, or all that the environment asks for.
pub(crate) fn run_all() {
    if let Some(seed) = number("SWARM_SEED") {
        run_one(seed);
        return;
    }
    let plan = Plan::from_environment();
    let log = plan.log.as_ref().map(|path| {
        let program = program().expect("the test can read its own program");
        let commit = variable("SWARM_COMMIT").unwrap_or_default();
        Log::open(path, program, commit)
            .unwrap_or_else(|error| panic!("SWARM_LOG={}: {error}", path.display()))
    });
    let seeds = match (&log, plan.start) {
        (Some(log), start) => log.seeds(start, plan.runs),
        (None, Start::Seed(first)) => {
            REGRESSIONS.into_iter().chain(first..first + plan.runs).collect()
        }
        (None, Start::Next) => unreachable!("it takes a log"),
    };
    let outcomes = run_seeds(&seeds, plan.threads, log.as_ref());
    drop(log);
    if let Some(path) = &plan.log {
        print!("{}", Log::totals(path).expect("the log can be read again"));
    }
    report(&outcomes);
}

fn run_one(seed: u64) {
    println!("{:#?}", case(seed));
    match run(seed) {
        Outcome::Refused(why) => panic!("refused: {why}"),
        Outcome::Failed(_) => panic!("the seed fails"),
        Outcome::Finished { requests, events, wall, cpu } => {
            println!("{requests} requests, {events} events in {wall:?}, {cpu:?} of processor time");
        }
    }
}

fn run_seeds(seeds: &[u64], threads: usize, log: Option<&Log>) -> BTreeMap<u64, Outcome> {
    keep_panics();
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    let work = || {
        FAULT.set(Some(String::new()));
        while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(log) = log {
                log.write(&log.line(seed, State::Begun));
            }
            let outcome = run(seed);
            if let Some(log) = log {
                log.write(&line(log, seed, &outcome));
            }
            if let Outcome::Failed(why) = &outcome {
                let why = why.lines().next().unwrap_or_default();
                println!("SWARM_SEED={seed} cargo test --workspace --test slow swarm::  # {why}");
            }
            outcomes.lock().expect("no worker panics").insert(seed, outcome);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    drop(std::panic::take_hook());
    outcomes.into_inner().expect("no worker panics")
}

/// What came of a seed, for the log.
fn line(log: &Log, seed: u64, outcome: &Outcome) -> Line {
    match outcome {
        Outcome::Refused(why) => Line { why: why.clone(), ..log.line(seed, State::Refused) },
        Outcome::Failed(why) => Line { why: why.clone(), ..log.line(seed, State::Failed) },
        Outcome::Finished { requests, events, wall, cpu } => Line {
            requests: *requests,
            events: *events,
            wall_s: wall.as_secs_f64(),
            cpu_s: cpu.as_secs_f64(),
            ..log.line(seed, State::Finished)
        },
    }
}

fn report(outcomes: &BTreeMap<u64, Outcome>) {
    let (mut finished, mut requests, mut failed) = (0_usize, 0, Vec::new());
    let mut slowest = (Duration::ZERO, 0);
    let mut refusals: BTreeMap<String, u32> = BTreeMap::new();
    for (&seed, outcome) in outcomes {
        match outcome {
            Outcome::Finished { requests: count, cpu, .. } => {
                finished += 1;
                requests += count;
                slowest = slowest.max((*cpu, seed));
            }
            Outcome::Failed(_) => failed.push(seed),
            Outcome::Refused(why) => {
                let place = why.split(':').next().unwrap_or_default().to_owned();
                *refusals.entry(place).or_default() += 1;
            }
        }
    }
    let accepted = finished + failed.len();
    let share = accepted as f64 / outcomes.len() as f64;
    println!(
        "{} configurations, {accepted} accepted ({:.0} %), {finished} finished, {requests} requests, \
         slowest seed {} with {:?} of processor time; refusals by key: {refusals:?}",
        outcomes.len(),
        share * 100.0,
        slowest.1,
        slowest.0
    );
    assert!(failed.is_empty(), "{} of {accepted} failed: seeds {failed:?}", failed.len());
    // In a small number of runs most configurations may be refused by chance.
    assert!(outcomes.len() < 50 || share > 0.6, "only {share} of the configurations are valid");
}
