//! Fig. 6: flows with different shares of writes, under read priority and first come, first served.
//!
//! Section 3.3: the base flow keeps one request outstanding and writes 0, 30, 70 or 100 %; the
//! other one keeps six. Read priority takes reads first and lets them suspend programs (its two
//! approaches). The paper gives no request size; ours is 64 KiB, so that seven requests meet on the
//! 64 planes.

use flashlane::Error;
use flashlane::metrics::Summary;

use super::mixes::mean;
use super::setup::{EMPTY, SUSPEND, fairness, job, owned, scheduler, slowdown, synthetic};
use crate::{Findings, Job, Lab, Row, Table};

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
    let runs = lab.run(&jobs)?;
    let mut table = Table::new(
        NAME,
        "Fig. 6: base flow at depth 1 beside another at depth 6",
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
    for (&(policy, writes, reads), run) in points.iter().zip(&runs) {
        table.row(vec![
            policy.into(),
            writes.into(),
            reads.into(),
            response(&run.summary).into(),
            slowdown(&run.summary, 0).into(),
            slowdown(&run.summary, 1).into(),
            fairness(&run.summary).into(),
        ]);
    }
    let at = |policy: &str, writes: u32, reads: u32| {
        let found = points.iter().position(|&point| point == (policy, writes, reads));
        &runs[found.expect("a point of the sweep")].summary
    };
    let each = || WRITES.iter().flat_map(|&writes| READS.iter().map(move |&reads| (writes, reads)));
    // A percent above is noise of the draws.
    let slower = each().filter(|&(writes, reads)| {
        response(at("read-priority", writes, reads)) > 1.01 * response(at("fcfs", writes, reads))
    });
    let slower = slower.count();
    // Where the base flow writes: with reads alone both policies are the same.
    let ratios = |a: (&str, u32), b: (&str, u32)| -> Vec<f64> {
        let of = |(policy, reads): (&str, u32), writes| fairness(at(policy, writes, reads));
        WRITES[1..].iter().map(|&writes| of(a, writes) / of(b, writes)).collect()
    };
    let heavy = ratios(("read-priority", 90), ("fcfs", 90));
    let reads_only = ratios(("read-priority", 100), ("fcfs", 100));
    let rise = ratios(("read-priority", 0), ("read-priority", 90));
    let rows = vec![
        Row::statement(
            NAME,
            "points at which read priority is slower",
            slower as f64,
            slower == 0,
            "of 28",
            "\"maintains or improves the average response time for all flow configurations\"",
        ),
        Row::statement(
            NAME,
            "fairness of read priority over fcfs, interfering reads 90 %",
            mean(&heavy),
            heavy.iter().all(|&ratio| ratio < 1.0),
            "x",
            "lower \"when the interfering flow is heavily read-dominant (> 80 %)\"; base flows that write, \
             mean of them",
        ),
        Row::statement(
            NAME,
            "fairness of read priority over fcfs, interfering reads 100 %",
            mean(&reads_only),
            reads_only.iter().all(|&ratio| ratio < 1.0),
            "x",
            "the same; a flow that only reads suffers most from fcfs",
        ),
        Row::statement(
            NAME,
            "fairness of read priority, interfering reads 0 over 90 %",
            mean(&rise),
            rise.iter().all(|&ratio| ratio > 1.0),
            "x",
            "\"increases when the read ratio of the interfering flow decreases\"; base flows that write, \
             mean of them",
        ),
    ];
    Ok(Findings { rows, tables: vec![table] })
}
