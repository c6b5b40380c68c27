//! Section 5.5: what FLIN costs the drive.

use flashlane::Error;
use flashlane::scheduler::policy::flin_dram_bytes;

use super::mixes::{Load, draw, mix_job};
use crate::{Findings, Job, Lab, Row, Table};

const NAME: &str = "overhead";

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let mixes = draw(&[4], 1);
    let mut table = Table::new(
        NAME,
        "Section 5.5: work of queue insertion, one workload of four intense traces",
        &[
            "time scale",
            "insertions",
            "positions, mean",
            "positions, most",
            "promotions",
            "suspensions",
            "migrations with writes",
        ],
    );
    let scales: &[f64] = if lab.smoke { &[1.0] } else { &[1.0, 0.7, 0.5] };
    let load = Load::new(lab);
    let jobs: Vec<Job> = scales
        .iter()
        .map(|&time_scale| mix_job(lab, &mixes[0], Load { time_scale, ..load }, "flin", &[]))
        .collect::<Result<_, _>>()?;
    let mut rows = vec![Row::number(
        NAME,
        "DRAM, 64 chips, 128 flows, 262,144 transactions",
        1.13,
        flin_dram_bytes(128, 64, 262_144) as f64 / f64::from(1 << 20),
        0.0,
        "MiB",
        "the paper's MB are MiB",
    )];
    for (scale, run) in scales.iter().zip(lab.run(&jobs)?) {
        let o = run.summary.scheduler_overhead.expect("FLIN counts its work");
        table.row(vec![
            (*scale).into(),
            (o.insertions as f64).into(),
            o.positions_scanned_mean.into(),
            (o.positions_scanned_max as f64).into(),
            (o.promotions as f64).into(),
            (o.suspensions as f64).into(),
            (o.migrations_with_writes as f64).into(),
        ]);
        rows.push(Row::no_reference(
            NAME,
            format!("positions looked at by an insertion, mean, time scale {scale}"),
            None,
            Some(o.positions_scanned_mean),
            "positions",
            "the paper gives time on its controller instead: 0.0007 % on average, 0.5 % at worst",
        ));
    }
    Ok(Findings { rows, tables: vec![table] })
}
