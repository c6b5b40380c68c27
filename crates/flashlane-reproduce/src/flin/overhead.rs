//! Section 5.5: the cost of FLIN.
//!
//! The paper has run its queue insertion on a model of a controller with processors of 500 MHz and
//! gives the time as a share of latency. We count the positions that both passes look at, and
//! assume a cost for each position, [`CYCLES`].

use flashlane::Error;
use flashlane::metrics::Summary;
use flashlane::policy::SchedulerOverhead;
use flashlane::policy::flin_dram_bytes;

use super::mixes::{Load, mean, mix_job, shown};
use super::setup::over;
use crate::{Cell, Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "overhead";
/// Assumed processor cycles for a position: load an entry, one division or multiplication, two
/// comparisons.
const CYCLES: f64 = 20.0;
/// The paper's processor. Unit: cycles per microsecond.
const CYCLES_PER_US: f64 = 500.0;

/// Mean time from the arrival of a transaction to its end. Unit: microseconds.
fn latency_us(summary: &Summary) -> f64 {
    let count: f64 = summary.flows.iter().map(|flow| flow.transactions.count as f64).sum();
    let time = |flow: &flashlane::metrics::FlowSummary| {
        let t = flow.transactions;
        t.count as f64 * (t.wait_us + t.transfer_us + t.execution_us)
    };
    summary.flows.iter().map(time).sum::<f64>() / count
}

/// The time of looking at `positions` positions, divided by the mean latency. Unit: parts per
/// million.
fn share(positions: f64, summary: &Summary) -> f64 {
    1e6 * positions * CYCLES / CYCLES_PER_US / latency_us(summary)
}

/// The counts of the scheduler.
fn counts(summary: &Summary) -> SchedulerOverhead {
    summary.scheduler_overhead.expect("FLIN counts its work")
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let mix = &shown(lab, &[4])[0];
    let scales: &[f64] = if lab.smoke { &[1.0] } else { &[1.0, 0.85] };
    let load = Load::new(lab);
    let jobs: Vec<Job> = scales
        .iter()
        .map(|&time_scale| mix_job(lab, mix, Load { time_scale, ..load }, "flin", &[]))
        .collect::<Result<_, _>>()?;
    let mut table = Table::new(
        NAME,
        "Section 5.5: work of queue insertion, four intense traces, means over seeds",
        &[
            "time scale",
            "insertions",
            "positions, mean",
            "positions, most",
            "latency, us",
            "mean, ppm of latency",
            "worst, ppm of latency",
            "promotions",
            "suspensions",
            "migrations with writes",
        ],
    );
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let numbers: [&dyn Fn(&Summary) -> f64; 9] = [
        &|s| counts(s).insertions as f64,
        &|s| counts(s).positions_scanned_mean,
        &|s| counts(s).positions_scanned_max as f64,
        &latency_us,
        &|s| share(counts(s).positions_scanned_mean, s),
        &|s| share(counts(s).positions_scanned_max as f64, s),
        &|s| counts(s).promotions as f64,
        &|s| counts(s).suspensions as f64,
        &|s| counts(s).migrations_with_writes as f64,
    ];
    for (scale, runs) in scales.iter().zip(&runs) {
        let mut cells: Vec<Cell> = vec![(*scale).into()];
        cells.extend(numbers.map(|number| Cell::from(mean(&over(runs, number)))));
        table.row(cells);
    }
    Ok(Findings { rows: rows(&runs[0]), tables: vec![table] })
}

/// The simulator's figures beside those of the paper, for runs at the published rates.
fn rows(runs: &[Run]) -> Vec<Row> {
    let mut rows = vec![Row::number(
        NAME,
        "DRAM, 64 chips, 128 flows, 262,144 transactions",
        1.13,
        flin_dram_bytes(128, 64, 262_144) as f64 / f64::from(1 << 20),
        0.0,
        "MiB",
        "the paper's MB are MiB",
    )];
    let positions = mean(&over(runs, |s| counts(s).positions_scanned_mean));
    let average = over(runs, |s| share(counts(s).positions_scanned_mean, s));
    let worst = over(runs, |s| share(counts(s).positions_scanned_max as f64, s));
    for (what, paper, ours) in [("mean", 7.0, &average), ("worst", 5000.0, &worst)] {
        rows.push(Row::number_over_seeds(
            NAME,
            format!("time of an insertion over the latency of a transaction, {what}"),
            paper,
            ours,
            0.0,
            "ppm",
            format!(
                "\"0.5 % and 0.0007 %\"; ours at {CYCLES} cycles a position (an assumption) and 500 MHz: \
                 {positions:.2} positions on average, both passes together",
            ),
        ));
    }
    rows
}
