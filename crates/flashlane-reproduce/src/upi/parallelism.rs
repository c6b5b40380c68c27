//! Fig. 1: each workload alone on fewer and fewer chips.
//!
//! The number of blocks grows as that of chips shrinks, so that capacity and data stay as they are.
//! A tenant's 50 GB are a third of the drive.

use flashlane::Error;
use flashlane::workload::clone;

use super::setup::{Piece, drive, flow, reads};
use crate::row::over_seeds;
use crate::{Bound, Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "parallelism";

/// The workloads of the figure that have published statistics: UPI's Table 2 and FLIN's.
const WORKLOADS: [&str; 7] = ["das-as", "dtrs", "lm-tbe", "rad-be", "exch", "msnfs", "msncfs"];

/// Channels, and chips of each.
const DEGREES: [Degree; 5] =
    [Degree::new(4, 4), Degree::new(2, 4), Degree::new(2, 2), Degree::new(1, 4), Degree::new(1, 2)];

/// Blocks of a plane, times chips: those of Table 1.
const BLOCKS: u32 = 1024 * 12;

/// Requests of a workload without a day.
const REQUESTS: u64 = 40_000;

/// Length of the day of the others. Unit: seconds.
const DAY_S: f64 = 240.0;

/// Chips that work in parallel.
#[derive(Clone, Copy)]
struct Degree {
    channels: u32,
    /// Chips of each channel.
    chips: u32,
}

impl Degree {
    const fn new(channels: u32, chips: u32) -> Self {
        Self { channels, chips }
    }
}

fn job(lab: &Lab<'_>, workload: &str, degree: Degree) -> Result<Job, Error> {
    let Degree { channels, chips } = degree;
    let size = if lab.smoke { 0.125 } else { 1.0 };
    let blocks = (f64::from(BLOCKS) * size) as u32 / (channels * chips);
    let sets = [
        format!("flash.channels={channels}"),
        format!("flash.chips_per_channel={chips}"),
        format!("flash.blocks_per_plane={blocks}"),
        "ftl.precondition.occupancy=0.333".to_owned(),
    ];
    let flows = if clone::find(workload)?.has_day() {
        Piece { size, ..Piece::day_of(lab, DAY_S) }.flow(lab, workload, None)?
    } else {
        let requests = match (lab.smoke, lab.full) {
            (true, _) => 100,
            (_, true) => 25 * REQUESTS,
            _ => REQUESTS,
        };
        flow(workload, &lab.source(workload, requests, 1.0)?)
    };
    drive(&sets.each_ref().map(String::as_str), &flows)
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let mut jobs: Vec<Job> = Vec::new();
    for workload in WORKLOADS {
        for degree in DEGREES {
            jobs.push(job(lab, workload, degree)?);
        }
    }
    let seeds = lab.seeds.min(3);
    let runs = lab.run_seeds(&jobs, seeds)?;
    let mut table = Table::new(
        NAME,
        "Fig. 1: mean read response time over that on 4x4 (channels x chips of each)",
        &["workload", "4x4, us", "4x4", "2x4", "2x2", "1x4", "1x2"],
    );
    let mut rows = Vec::new();
    for (workload, runs) in WORKLOADS.iter().zip(runs.chunks(DEGREES.len())) {
        let of = |run: &Run| reads(&run.summary, workload).mean;
        let means: Vec<f64> =
            runs.iter().map(|runs| runs.iter().map(of).sum::<f64>() / seeds as f64).collect();
        let mut cells = vec![(*workload).into(), means[0].into()];
        cells.extend(means.iter().map(|mean| (mean / means[0]).into()));
        table.row(cells);
        let least = runs[DEGREES.len() - 1].iter().zip(&runs[0]);
        let rises: Vec<f64> = least.map(|(few, all)| of(few) / of(all)).collect();
        let metric = format!("{workload}, 1x2 over 4x4");
        rows.push(match *workload {
            "lm-tbe" | "rad-be" => {
                let note = "\"over a two-fold increase in the average read response time\"";
                Row::statement_over_seeds(NAME, metric, &rises, Bound::AtLeast(2.0), "x", note)
            }
            _ => {
                let (rise, interval) = over_seeds(&rises);
                let note = "a bar without a number";
                Row::no_reference(NAME, metric, None, Some(rise), "x", note).with_interval(interval)
            }
        });
    }
    let missing = "the same statement; no published statistics of this trace";
    rows.push(Row::no_reference(NAME, "dap-ps, 1x2 over 4x4", None, None, "x", missing));
    Ok(Findings { rows, tables: vec![table] })
}
