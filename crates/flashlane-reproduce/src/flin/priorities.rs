//! Fig. 16: four msnfs flows of four priorities.

use flashlane::Error;

use super::mixes::{FARTHER, Load, UNCACHED, counted, flow, mean};
use super::setup::{job, over, slowdown, trace_drive};
use crate::{Bound, Findings, Job, Lab, Row, Table};

const NAME: &str = "priorities";
/// The classes of the levels 0 to 3.
const CLASSES: [&str; 4] = ["low", "medium", "high", "urgent"];
/// Four flows at a quarter of the published gaps make the chips scarce.
const TIME_SCALE: f64 = 0.25;
const POLICIES: [&str; 2] = ["sprinkler", "flin"];

fn point(lab: &Lab<'_>, policy: &str) -> Result<Job, Error> {
    let load = Load { time_scale: TIME_SCALE, ..Load::new(lab) };
    let mut flows = String::new();
    for (level, class) in CLASSES.iter().enumerate() {
        let keys = format!("{UNCACHED}\npriority = \"{class}\"");
        flows += &flow(lab, &format!("msnfs-{level}"), "msnfs", load, &keys)?;
    }
    let sets = trace_drive(lab, policy);
    let job = job(&sets, &flows)?.alone();
    if lab.smoke { Ok(job) } else { counted(job, load) }
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let jobs: Vec<Job> =
        POLICIES.iter().map(|policy| point(lab, policy)).collect::<Result<_, _>>()?;
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let by_seed =
        |policy: usize, level: usize| over(&runs[policy], |summary| slowdown(summary, level));
    let mut table = Table::new(
        NAME,
        format!(
            "Fig. 16: slowdowns of four msnfs flows, time scale {TIME_SCALE}, means over seeds"
        ),
        &["scheduler", "level 0", "level 1", "level 2", "level 3"],
    );
    for (at, policy) in POLICIES.iter().enumerate() {
        let mut cells = vec![(*policy).into()];
        cells.extend((0..4).map(|level| mean(&by_seed(at, level)).into()));
        table.row(cells);
    }
    let levels: Vec<Vec<f64>> = (0..4).map(|level| by_seed(1, level)).collect();
    let seeds = 0..levels[0].len();
    // The smallest factor between the slowdown of a level and that of the level above, of three.
    let least_step = |seed: usize| {
        let steps = (1..4).map(|level| levels[level - 1][seed] / levels[level][seed]);
        steps.fold(f64::INFINITY, f64::min)
    };
    let lowest_of_others = |seed: usize| {
        let others = levels[..3].iter().map(|level| level[seed]);
        others.fold(f64::INFINITY, f64::min) / levels[3][seed]
    };
    let rows = vec![
        Row::statement_over_seeds(
            NAME,
            "least slowdown of the other levels over that of level 3 under flin",
            &seeds.clone().map(lowest_of_others).collect::<Vec<f64>>(),
            Bound::AtLeast(FARTHER),
            "x",
            "\"the highest-priority flow has the lowest slowdown\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "slowdown of a level over that of the next, least step under flin",
            &seeds.map(least_step).collect::<Vec<f64>>(),
            Bound::AtLeast(1.0),
            "x",
            "the slowdown of each lower level \"increases proportionally\": taken as ordered",
        ),
    ];
    Ok(Findings { rows, tables: vec![table] })
}
