//! The main result by what das-as holds and what it touches.
//!
//! The paper gives each tenant a range of 50 GB and says that data is written before the traces
//! start. It does not say how much of its range das-as touches.

use flashlane::Error;

use super::setup::{CRITICAL_GIB, Critical, HEADLINES, Headline, POLICIES, Piece, SPACE_GIB};
use crate::{Bound, Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "held";

/// Seeds of each point.
const SEEDS: u64 = 3;

/// Data that das-as holds, and the part of it that it touches. Unit: GiB.
const POINTS: [(f64, f64); 9] = [
    (SPACE_GIB, CRITICAL_GIB),
    (SPACE_GIB, 5.0),
    (SPACE_GIB, 20.0),
    (SPACE_GIB, 35.0),
    (SPACE_GIB, SPACE_GIB),
    (40.0, CRITICAL_GIB),
    (30.0, CRITICAL_GIB),
    (20.0, CRITICAL_GIB),
    (CRITICAL_GIB, CRITICAL_GIB),
];

/// The changes at every point.
fn table(points: &[(f64, f64)], runs: &[Vec<Run>]) -> Table {
    let columns = ["das-as holds, GiB", "touches, GiB"];
    let columns = columns.into_iter().chain(HEADLINES.iter().flat_map(|l| [l.metric, "+-"]));
    let columns: Vec<&str> = columns.collect();
    let title = "changes by what das-as holds and touches, means of seeds";
    let mut table = Table::new(NAME, title, &columns);
    for (&(held, touched), runs) in points.iter().zip(runs.chunks(POLICIES.len())) {
        let mut cells = vec![held.into(), touched.into()];
        for line in &HEADLINES {
            let (change, half) = line.change(runs);
            cells.extend([change.into(), half.into()]);
        }
        table.row(cells);
    }
    table
}

/// Our own check: the paper's direction in every seed of every point.
fn directions(points: &[(f64, f64)], runs: &[Vec<Run>]) -> Vec<Row> {
    let check = |line: &Headline| {
        let right = runs
            .chunks(POLICIES.len())
            .filter(|runs| line.changes(runs).iter().all(|change| change * line.paper > 0.0));
        let (right, all) = (right.count() as f64, points.len() as f64);
        let metric = format!("points with the paper's direction in every seed, {}", line.metric);
        let note = "the paper has one point and does not say which";
        Row::check_over_seeds(NAME, metric, &[right], Bound::Between(all, all), "of 9", note)
    };
    HEADLINES.iter().map(check).collect()
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let points = if lab.smoke { &POINTS[..2] } else { &POINTS[..] };
    let piece = Piece::quick_day(lab);
    let mut jobs: Vec<Job> = Vec::new();
    for &(held_gib, touched_gib) in points {
        let critical = Critical { held_gib, touched_gib, ..Critical::default() };
        for (_, set) in POLICIES {
            jobs.push(piece.job_with(lab, &[set], &critical)?);
        }
    }
    let runs = lab.run_seeds(&jobs, if lab.smoke { lab.seeds } else { SEEDS })?;
    Ok(Findings { rows: directions(points, &runs), tables: vec![table(points, &runs)] })
}
