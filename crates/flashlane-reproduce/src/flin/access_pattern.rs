//! Fig. 5: flows with different access patterns.
//!
//! Section 3.2: a base flow streams and uses all chips evenly; the other one switches between
//! streaming and random addresses. The paper gives no loads. Ours: the base flow reads 256 KiB at a
//! time, one page of each plane; the other one keeps 64 reads of a page outstanding.

use flashlane::Error;

use super::mixes::{NEARER, mean, ratios};
use super::setup::{EMPTY, fairness, job, over, owned, scheduler, slowdown, synthetic};
use crate::{Bound, Findings, Job, Lab, Row, Table};

const NAME: &str = "access-pattern";
/// Percent of the time in which the interfering flow is random.
const RANDOMNESS: [u32; 5] = [0, 25, 50, 75, 100];
const POLICIES: [&str; 2] = ["out-of-order", "flin"];

fn point(lab: &Lab<'_>, random: u32, policy: &str) -> Result<Job, Error> {
    let duration = match (lab.smoke, lab.full) {
        (true, _) => "5ms",
        (_, true) => "4s",
        _ => "400ms",
    };
    let address = match random {
        0 => "\"streaming\"".to_owned(),
        100 => "\"uniform\"".to_owned(),
        _ => format!(
            "{{ mixed = {{ streaming = {}, phase = \"10ms\" }} }}",
            1.0 - f64::from(random) / 100.0
        ),
    };
    let flows = synthetic(
        "base",
        "queue_depth = 1\nread_ratio = 1.0\nsize = \"256KiB\"\nalign = \"8KiB\"\naddress = \"streaming\"",
        duration,
    ) + &synthetic(
        "interfering",
        &format!(
            "queue_depth = 64\nread_ratio = 1.0\nsize = \"8KiB\"\nalign = \"8KiB\"\naddress = {address}"
        ),
        duration,
    );
    let mut sets = owned(&EMPTY);
    sets.push(scheduler(policy));
    Ok(job(&sets, &flows)?.alone())
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let points: Vec<(&str, u32)> = POLICIES
        .iter()
        .flat_map(|&policy| RANDOMNESS.iter().map(move |&random| (policy, random)))
        .collect();
    let jobs: Vec<Job> = points
        .iter()
        .map(|&(policy, random)| point(lab, random, policy))
        .collect::<Result<_, _>>()?;
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let mut table = Table::new(
        NAME,
        "Fig. 5: a streaming base flow beside an ever more random one, means over seeds",
        &["scheduler", "random time, %", "base slowdown", "interfering slowdown", "fairness"],
    );
    let base: Vec<Vec<f64>> = runs.iter().map(|runs| over(runs, |s| slowdown(s, 0))).collect();
    let fair: Vec<Vec<f64>> = runs.iter().map(|runs| over(runs, fairness)).collect();
    for (at, &(policy, random)) in points.iter().enumerate() {
        table.row(vec![
            policy.into(),
            random.into(),
            mean(&base[at]).into(),
            mean(&over(&runs[at], |s| slowdown(s, 1))).into(),
            mean(&fair[at]).into(),
        ]);
    }
    let last = RANDOMNESS.len() - 1;
    // The smallest step from one share of randomness to the next.
    let steps: Vec<Vec<f64>> = (0..last).map(|at| ratios(&base[at + 1], &base[at])).collect();
    let least = (0..base[0].len())
        .map(|seed| steps.iter().map(|step| step[seed]).fold(f64::INFINITY, f64::min));
    let rows = vec![
        Row::number_over_seeds(
            NAME,
            "base slowdown beside a random flow",
            2.4,
            &base[last],
            1.0,
            "x",
            "the paper gives no loads; ours are 256 KiB at depth 1 and 8 KiB at depth 64",
        ),
        Row::statement_over_seeds(
            NAME,
            "base slowdown, least step to the next share of randomness",
            &least.collect::<Vec<f64>>(),
            Bound::AtLeast(1.0),
            "x",
            "grows with the randomness of the other flow",
        ),
        Row::statement_over_seeds(
            NAME,
            "fairness, random over streaming",
            &ratios(&fair[last], &fair[0]),
            Bound::AtMost(NEARER),
            "x",
            "\"as the randomness increases, the MQ-SSD becomes more unfair to the base flow\"",
        ),
        Row::check_over_seeds(
            NAME,
            "base slowdown beside a random flow, flin over out-of-order",
            &ratios(&base[2 * last + 1], &base[last]),
            Bound::AtMost(NEARER),
            "x",
            "not in the figure: FLIN gives a part of it back",
        ),
    ];
    Ok(Findings { rows, tables: vec![table] })
}
