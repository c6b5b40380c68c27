//! Fig. 5: flows with different access patterns.
//!
//! Section 3.2: a base flow streams and uses all chips evenly; the other one switches between
//! streaming and random addresses. The paper gives no loads. Ours: the base flow reads 256 KiB at a
//! time, one page of each plane; the other one keeps 64 reads of a page outstanding.

use flashlane::Error;

use super::setup::{EMPTY, fairness, job, owned, scheduler, slowdown, synthetic};
use crate::{Findings, Job, Lab, Row, Table};

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
    let runs = lab.run(&jobs)?;
    let mut table = Table::new(
        NAME,
        "Fig. 5: a streaming base flow beside an ever more random one",
        &["scheduler", "random time, %", "base slowdown", "interfering slowdown", "fairness"],
    );
    for (&(policy, random), run) in points.iter().zip(&runs) {
        table.row(vec![
            policy.into(),
            random.into(),
            slowdown(&run.summary, 0).into(),
            slowdown(&run.summary, 1).into(),
            fairness(&run.summary).into(),
        ]);
    }
    let base: Vec<f64> = runs.iter().map(|run| slowdown(&run.summary, 0)).collect();
    let fair: Vec<f64> = runs.iter().map(|run| fairness(&run.summary)).collect();
    let last = RANDOMNESS.len() - 1;
    let rows = vec![
        Row::number(
            NAME,
            "base slowdown beside a random flow",
            2.4,
            base[last],
            1.0,
            "x",
            "the paper gives no loads; ours are 256 KiB at depth 1 and 8 KiB at depth 64",
        ),
        Row::statement(
            NAME,
            "base slowdown, random over streaming",
            base[last] / base[0],
            base[..=last].is_sorted(),
            "x",
            "grows with the randomness of the other flow",
        ),
        Row::statement(
            NAME,
            "fairness, random over streaming",
            fair[last] / fair[0],
            fair[last] < fair[0],
            "x",
            "\"as the randomness increases, the MQ-SSD becomes more unfair to the base flow\"",
        ),
        Row::statement(
            NAME,
            "base slowdown beside a random flow, flin over out-of-order",
            base[2 * last + 1] / base[last],
            base[2 * last + 1] < base[last],
            "x",
            "not in the figure: FLIN gives a part of it back",
        ),
    ];
    Ok(Findings { rows, tables: vec![table] })
}
