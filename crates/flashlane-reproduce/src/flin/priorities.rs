//! Fig. 16: four msnfs flows of four priorities.

use flashlane::Error;

use super::mixes::{Load, UNCACHED, flow};
use super::setup::{job, slowdown, trace_drive};
use crate::row::over_seeds;
use crate::{Findings, Job, Lab, Row, Table};

const NAME: &str = "priorities";
/// From level 0 to level 3.
const CLASSES: [&str; 4] = ["low", "medium", "high", "urgent"];
/// Four flows at a quarter of the published gaps make the chips scarce.
const TIME_SCALE: f64 = 0.25;
const POLICIES: [&str; 2] = ["sprinkler", "flin"];

fn point(lab: &Lab<'_>, policy: &str) -> Result<Job, Error> {
    let load = Load { time_scale: TIME_SCALE, trace_s: 4.0 * Load::new(lab).trace_s };
    let mut flows = String::new();
    for (level, class) in CLASSES.iter().enumerate() {
        let keys = format!("{UNCACHED}\npriority = \"{class}\"");
        flows += &flow(lab, &format!("msnfs-{level}"), "msnfs", load, &keys)?;
    }
    let sets = trace_drive(lab, policy);
    Ok(job(&sets, &flows)?.alone())
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let jobs: Vec<Job> =
        POLICIES.iter().map(|policy| point(lab, policy)).collect::<Result<_, _>>()?;
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let mean = |policy: usize, level: usize| {
        over_seeds(
            &runs[policy].iter().map(|run| slowdown(&run.summary, level)).collect::<Vec<f64>>(),
        )
    };
    let mut table = Table::new(
        NAME,
        format!(
            "Fig. 16: slowdowns of four msnfs flows, time scale {TIME_SCALE}, means over seeds"
        ),
        &["scheduler", "level 0", "level 1", "level 2", "level 3"],
    );
    for (at, policy) in POLICIES.iter().enumerate() {
        let mut cells = vec![(*policy).into()];
        cells.extend((0..4).map(|level| mean(at, level).0.into()));
        table.row(cells);
    }
    let flin: Vec<f64> = (0..4).map(|level| mean(1, level).0).collect();
    let (highest, interval) = mean(1, 3);
    let rows = vec![
        Row::statement(
            NAME,
            "slowdown of level 3 under flin",
            highest,
            flin[..3].iter().all(|&slowdown| slowdown > highest),
            "x",
            "\"the highest-priority flow has the lowest slowdown\"",
        )
        .with_interval(interval),
        Row::statement(
            NAME,
            "slowdown of level 0 over level 3 under flin",
            flin[0] / flin[3],
            flin.is_sorted_by(|low, high| low > high),
            "x",
            "the slowdown of each lower level \"increases proportionately\": taken as ordered",
        ),
    ];
    Ok(Findings { rows, tables: vec![table] })
}
