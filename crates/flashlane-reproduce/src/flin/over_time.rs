//! Fig. 2: slowdown over time of tpce beside tpcc.
//!
//! Section 2.2 measures four drives whose names and measurements were not published, for 60 s. Ours
//! is the drive of Table 1 under clones of both traces at their published rates.

use flashlane::Error;
use flashlane::metrics::Summary;

use super::mixes::{FARTHER, Load, UNCACHED, flow, mean};
use super::setup::{fairness, job, over, slowdown, trace_drive};
use crate::{Bound, Findings, Job, Lab, Row, Table};

const NAME: &str = "over-time";
const POLICIES: [&str; 3] = ["out-of-order", "sprinkler", "flin"];
const FLOWS: [&str; 2] = ["tpce", "tpcc"];
/// Windows of a run.
const WINDOWS: f64 = 30.0;
/// Mean and largest slowdown of tpce on the paper's drives.
const DRIVES: [(&str, f64, f64); 4] =
    [("SSD-A", 2.0, 2.8), ("SSD-B", 4.4, 69.0), ("SSD-C", 106.0, 661.0), ("SSD-D", 5.3, 11.0)];

fn point(lab: &Lab<'_>, policy: &str) -> Result<Job, Error> {
    let load = Load::new(lab);
    let flows: String = FLOWS
        .iter()
        .map(|trace| flow(lab, trace, trace, load, UNCACHED))
        .collect::<Result<_, _>>()?;
    let length = load.trace_s * load.time_scale / WINDOWS;
    Ok(job(&trace_drive(lab, policy), &flows)?.alone().windows((length * 1e12) as u64))
}

/// Slowdowns of a flow in the windows that have one.
fn by_window(summary: &Summary, flow: usize) -> Vec<f64> {
    let over_time = summary.slowdown_over_time.as_ref().expect("it was asked for");
    over_time.windows.iter().filter_map(|window| window.flows[flow].slowdown).collect()
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let jobs: Vec<Job> =
        POLICIES.iter().map(|policy| point(lab, policy)).collect::<Result<_, _>>()?;
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let mut table = Table::new(
        NAME,
        "Fig. 2: slowdowns and fairness by window, first seed",
        &["scheduler", "start, s", "tpce slowdown", "tpcc slowdown", "fairness"],
    );
    table.long = true;
    let mut means = Table::new(
        "over-time-summary",
        "Fig. 2: the whole run, and its worst window, means over seeds",
        &["scheduler", "tpce", "tpcc", "fairness", "tpce, worst window", "tpcc, worst window"],
    );
    let most = |list: &[f64]| list.iter().copied().fold(0.0, f64::max);
    for (policy, runs) in POLICIES.iter().zip(&runs) {
        let s = &runs[0].summary;
        for window in &s.slowdown_over_time.as_ref().expect("it was asked for").windows {
            table.row(vec![
                (*policy).into(),
                window.start_s.into(),
                window.flows[0].slowdown.into(),
                window.flows[1].slowdown.into(),
                window.fairness.into(),
            ]);
        }
        let mean_of = |number: &dyn Fn(&Summary) -> f64| mean(&over(runs, number));
        means.row(vec![
            (*policy).into(),
            mean_of(&|s| slowdown(s, 0)).into(),
            mean_of(&|s| slowdown(s, 1)).into(),
            mean_of(&fairness).into(),
            mean_of(&|s| most(&by_window(s, 0))).into(),
            mean_of(&|s| most(&by_window(s, 1))).into(),
        ]);
    }
    let of = |number: &dyn Fn(&Summary) -> f64| over(&runs[0], number);
    let mut rows = vec![
        Row::statement_over_seeds(
            NAME,
            "worst over mean window of tpce, out-of-order",
            &of(&|s| most(&by_window(s, 0)) / mean(&by_window(s, 0))),
            Bound::AtLeast(1.4),
            "x",
            "\"fluctuates greatly over the period\"; at least as on the steadiest drive, 2.8 over 2",
        ),
        Row::statement_over_seeds(
            NAME,
            "slowdown of tpce over that of tpcc, out-of-order",
            &of(&|s| slowdown(s, 0) / slowdown(s, 1)),
            Bound::AtLeast(FARTHER),
            "x",
            "\"tpcc does not experience high slowdowns throughout the entire period\"",
        ),
    ];
    for (drive, average, worst) in DRIVES {
        for (what, paper) in [("mean", average), ("worst window", worst)] {
            rows.push(Row::no_reference(
                NAME,
                format!("slowdown of tpce, {what}, {drive}"),
                Some(paper),
                None,
                "x",
                "the drives were not named",
            ));
        }
    }
    Ok(Findings { rows, tables: vec![means, table] })
}
