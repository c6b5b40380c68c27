//! Fig. 6: flows with different shares of writes, under read priority and first come, first served.
//!
//! Section 3.3: the base flow keeps one request outstanding and writes 0, 30, 70 or 100 %; the
//! other one keeps six. Read priority takes reads first and lets them suspend programs (its two
//! approaches). The paper gives no request size; ours is 64 KiB, so that seven requests meet on the
//! 64 planes.

use flashlane::Error;
use flashlane::metrics::Summary;

use super::mixes::{FARTHER, NEARER, mean};
use super::setup::{EMPTY, SUSPEND, fairness, job, over, owned, scheduler, slowdown, synthetic};
use crate::{Bound, Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "read-write";
/// Percent of writes of the base flow: the curves.
const WRITES: [u32; 4] = [0, 30, 70, 100];
/// Percent of reads of the interfering flow.
const READS: [u32; 7] = [0, 20, 40, 60, 80, 90, 100];
const POLICIES: [&str; 2] = ["fcfs", "read-priority"];

fn point(lab: &Lab<'_>, policy: &str, writes: u32, reads: u32) -> Result<Job, Error> {
    let duration = match (lab.smoke, lab.full) {
        (true, _) => "10ms",
        (_, true) => "10s",
        _ => "1s",
    };
    let flow = |name: &str, depth: u32, reads: u32| {
        let keys = format!(
            "queue_depth = {depth}\nread_ratio = {}\nsize = \"64KiB\"\nalign = \"8KiB\"",
            f64::from(reads) / 100.0
        );
        synthetic(name, &keys, duration)
    };
    let flows = flow("base", 1, 100 - writes) + &flow("interfering", 6, reads);
    let mut sets = owned(&EMPTY);
    sets.push(scheduler(policy));
    if policy == "read-priority" {
        sets.push(SUSPEND.to_owned());
    }
    Ok(job(&sets, &flows)?.alone())
}

/// Mean response time over the requests of both flows. Unit: microseconds.
fn response(summary: &Summary) -> f64 {
    let weight: f64 = summary.flows.iter().map(|flow| flow.requests.all() as f64).sum();
    summary
        .flows
        .iter()
        .map(|flow| flow.requests.all() as f64 * flow.response_time_us.mean)
        .sum::<f64>()
        / weight
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let mut points = Vec::new();
    for policy in POLICIES {
        for writes in WRITES {
            points.extend(READS.map(|reads| (policy, writes, reads)));
        }
    }
    let jobs: Vec<Job> = points
        .iter()
        .map(|&(policy, writes, reads)| point(lab, policy, writes, reads))
        .collect::<Result<_, _>>()?;
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let mut table = Table::new(
        NAME,
        "Fig. 6: base flow at depth 1 beside another at depth 6, means over seeds",
        &[
            "scheduler",
            "base writes, %",
            "interfering reads, %",
            "response, us",
            "base slowdown",
            "interfering slowdown",
            "fairness",
        ],
    );
    for (&(policy, writes, reads), runs) in points.iter().zip(&runs) {
        let mean_of = |number: &dyn Fn(&Summary) -> f64| mean(&over(runs, number));
        table.row(vec![
            policy.into(),
            writes.into(),
            reads.into(),
            mean_of(&response).into(),
            mean_of(&|s| slowdown(s, 0)).into(),
            mean_of(&|s| slowdown(s, 1)).into(),
            mean_of(&fairness).into(),
        ]);
    }
    Ok(Findings { rows: rows(&points, &runs, lab.seeds as usize), tables: vec![table] })
}

/// Comparisons with the paper's statements on the figure.
fn rows(points: &[(&str, u32, u32)], runs: &[Vec<Run>], seeds: usize) -> Vec<Row> {
    let at = |policy: &str, writes: u32, reads: u32, seed: usize| {
        let found = points.iter().position(|&point| point == (policy, writes, reads));
        &runs[found.expect("a point of the sweep")][seed].summary
    };
    let each = || WRITES.iter().flat_map(|&writes| READS.iter().map(move |&reads| (writes, reads)));
    let slowest = |seed: usize| {
        let ratio = |(writes, reads)| {
            let of = |policy| response(at(policy, writes, reads, seed));
            of("read-priority") / of("fcfs")
        };
        each().map(ratio).fold(0.0, f64::max)
    };
    // Considers base flows that write, because both policies are equal for reads alone. The point
    // that contradicts most decides.
    let extreme = |a: (&str, u32), b: (&str, u32), pick: fn(f64, f64) -> f64| -> Vec<f64> {
        let seed = |seed: usize| {
            let of =
                |(policy, reads): (&str, u32), writes| fairness(at(policy, writes, reads, seed));
            let ratios = WRITES[1..].iter().map(|&writes| of(a, writes) / of(b, writes));
            ratios.reduce(pick).expect("base flows that write")
        };
        (0..seeds).map(seed).collect()
    };
    let less = Bound::AtMost(NEARER);
    vec![
        Row::statement_over_seeds(
            NAME,
            "response of read priority over fcfs, largest of 28 points",
            &(0..seeds).map(slowest).collect::<Vec<f64>>(),
            Bound::AtMost(FARTHER),
            "x",
            "\"maintains or improves the average response time for all flow configurations\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "fairness of read priority over fcfs, interfering reads 90 %",
            &extreme(("read-priority", 90), ("fcfs", 90), f64::max),
            less,
            "x",
            "lower \"when the interfering flow is heavily read-dominant (> 80 %)\"; largest over base \
             flows that write",
        ),
        Row::statement_over_seeds(
            NAME,
            "fairness of read priority over fcfs, interfering reads 100 %",
            &extreme(("read-priority", 100), ("fcfs", 100), f64::max),
            less,
            "x",
            "the same; a flow that only reads suffers most from fcfs",
        ),
        Row::statement_over_seeds(
            NAME,
            "fairness of read priority, interfering reads 0 over 90 %",
            &extreme(("read-priority", 0), ("read-priority", 90), f64::min),
            Bound::AtLeast(FARTHER),
            "x",
            "\"increases when the read ratio of the interfering flow decreases\"; least over base flows \
             that write",
        ),
    ]
}
