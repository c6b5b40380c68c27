//! Rules that every scheduler must keep.

#[cfg(test)]
mod tests;
mod trial;

use flashlane_engine::Time;
use flashlane_units::{DieId, FlowId, PlaneId, TransactionId};

use super::{Scheduling, SchedulingPolicy, build};
use crate::rule::{Rule, ensure};
use crate::scheduler::bench::{Bench, FLOWS, Work};
use crate::transaction::{Op, Source};
use trial::Trial;

const US: u64 = 1_000_000;

/// The rules.
pub const RULES: [Rule<Scheduling>; 2] = [
    Rule {
        text: "random work on a bench: nothing is lost or doubled, what waits is counted, commands are \
               legal and in the order of their blocks, ready work does not wait at an idle die unless \
               it is held back, and all of it repeats itself; where it says that dies read on beside \
               reads, also with planes that read independently",
        check: |config| random_work_is_served_by_the_rules(config, false),
    },
    Rule {
        text: "where blocks run out, collection makes progress beside users who never stop",
        check: urgent_collection_makes_progress,
    },
];

fn policy(config: &Scheduling, bench: &Bench) -> Box<dyn SchedulingPolicy> {
    Box::new(build(config, bench.geometry, usize::from(FLOWS)))
}

/// `in_order`: the reads of a flow must stay in order, too.
fn random_work_is_served_by_the_rules(config: &Scheduling, in_order: bool) -> Result<(), String> {
    let allowed = Trial::new(config, 1, 0, in_order, false).reads_beside();
    let kinds = [1, 2, 4].map(|planes| (planes, false)).into_iter();
    for (planes, by_plane) in kinds.chain([1, 2, 4].map(|planes| (planes, true))) {
        if by_plane && !allowed {
            continue;
        }
        for seed in 0..6 {
            let run = || Trial::new(config, planes, seed, in_order, by_plane).run();
            let which = format!("planes {planes}, by plane {by_plane}, seed {seed}");
            let log = run().map_err(|error| format!("{error} ({which})"))?;
            ensure!(log.len() > 200, "only {} commands ({which})", log.len());
            ensure!(log == run()?, "it does not repeat itself ({which})");
        }
    }
    Ok(())
}

/// Users never stop sending work; still, collection proceeds once blocks run out.
fn urgent_collection_makes_progress(config: &Scheduling) -> Result<(), String> {
    for op in [Op::Read, Op::Program, Op::Erase] {
        let round = rounds_until_collection(config, op, true)?;
        let soon = round.is_some_and(|round| round < 200);
        ensure!(soon, "{op:?} of collection was served after {round:?} rounds; allowed: below 200");
    }
    Ok(())
}

/// Rounds until a die serves an operation of collection, while users bring more work than the die
/// can do.
fn rounds_until_collection(
    config: &Scheduling,
    op: Op,
    urgent: bool,
) -> Result<Option<u32>, String> {
    let mut bench = Bench::new(1, 1);
    let mut policy = policy(config, &bench);
    bench.urgent = urgent;
    let read = |flow| Bench::user(Op::Read, FlowId::new(flow), PlaneId::new(0));
    for round in 0..8 {
        bench.enqueue(&mut *policy, read(round % FLOWS), 0);
    }
    let work = Work { source: Source::Gc, op, flow: FlowId::new(0), plane: PlaneId::new(0) };
    let wanted = bench.enqueue(&mut *policy, work, 0);
    for round in 0..2_000 {
        let user = if round % 2 == 0 { Op::Read } else { Op::Program };
        let flow = FlowId::new(round as u16 % FLOWS);
        bench.enqueue(&mut *policy, Bench::user(user, flow, PlaneId::new(0)), 0);
        // One more in each round than the die serves, so that the queue never runs empty.
        bench.enqueue(&mut *policy, read(1), 0);
        if serve_one(&mut bench, &mut *policy)?.contains(&wanted) {
            return Ok(Some(round));
        }
    }
    Ok(None)
}

/// Lets the only die serve a command of 100 us.
fn serve_one(
    bench: &mut Bench,
    policy: &mut dyn SchedulingPolicy,
) -> Result<Vec<TransactionId>, String> {
    loop {
        let command = bench.take(policy, DieId::new(0));
        if command.is_empty() {
            // All of the work is held back.
            let Some(wake) = policy.wake() else {
                return Err("work that it leaves at an idle die, without a time to be woken".into());
            };
            bench.now = wake;
            bench.view(|view| policy.woken(view));
            continue;
        }
        bench.now += Time(100 * US);
        for &id in &command {
            let tr = bench.transactions[id];
            policy.completed(DieId::new(0), id, &tr, bench.now);
        }
        return Ok(command);
    }
}
