//! The main result at other loads. The published rates leave the drive mostly idle, so that means
//! and tails are made in the busy hours.

use flashlane::Error;

use super::setup::{HEADLINES, POLICIES, Piece, mean};
use crate::{Bound, Findings, Job, Lab, Row, Table};

const NAME: &str = "load";

/// Gaps over those of the tenants.
const TIME_SCALES: [f64; 5] = [4.0, 2.0, 1.0, 0.8, 0.6];

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let scales: &[f64] = if lab.smoke { &TIME_SCALES[..2] } else { &TIME_SCALES };
    let seeds = 1;
    let mut jobs: Vec<Job> = Vec::new();
    for &time_scale in scales {
        for (_, set) in POLICIES {
            jobs.push(Piece::peak_hour(lab, time_scale).job(lab, &[set])?);
        }
    }
    let runs = lab.run_seeds(&jobs, seeds)?;
    let mut table = Table::new(
        NAME,
        "changes by load in the peak hour, one seed",
        &[
            "time scale",
            "chips busy, unified, %",
            HEADLINES[0].metric,
            HEADLINES[1].metric,
            HEADLINES[2].metric,
            HEADLINES[3].metric,
        ],
    );
    for (time_scale, runs) in scales.iter().zip(runs.chunks(POLICIES.len())) {
        let busy = mean(&runs[0], |summary| {
            let chips = summary.chips.iter().map(|chip| chip.busy_fraction);
            chips.sum::<f64>() * 100.0 / summary.chips.len() as f64
        });
        let mut cells = vec![(*time_scale).into(), busy.into()];
        cells.extend(HEADLINES.iter().map(|line| line.change(runs).0.into()));
        table.row(cells);
    }
    let rows = HEADLINES
        .iter()
        .map(|line| {
            let changes = runs.chunks(POLICIES.len()).map(|runs| line.change(runs).0);
            let right = changes.filter(|change| change * line.paper > 0.0).count() as f64;
            let all = scales.len() as f64;
            Row::check_over_seeds(
                NAME,
                format!("loads with the paper's direction, {}", line.metric),
                &[right],
                Bound::Between(all, all),
                "of 5",
                "the paper has one load",
            )
        })
        .collect();
    Ok(Findings { rows, tables: vec![table] })
}
