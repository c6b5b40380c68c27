//! Fig. 10: response time by request size.
//!
//! Appendix A.2: random reads, and random writes, of 4 KiB to 1 MiB, one at a time, on four drives
//! that the paper does not name. Here: the presets of real drives, beside the public figures there
//! are at that depth (docs/drives.md has their sources; those of 4 KiB were fitted).

use flashlane::Error;

use crate::row::over_seeds;
use crate::{Bound, Cell, Findings, Job, Lab, Row, Table};

const NAME: &str = "request-size";
const SIZES_KIB: [u32; 9] = [4, 8, 16, 32, 64, 128, 256, 512, 1024];
const DRIVES: [&str; 7] =
    ["970-pro", "980-pro", "p4510", "p3700", "micron-9100", "p4800x", "zn540"];
/// Drive, read (0) or write (1), KiB, mean response time in us, and whether the preset was fitted
/// to it.
const PUBLIC: [(&str, usize, u32, f64, bool); 11] = [
    ("970-pro", 0, 4, 67.0, true),
    ("970-pro", 1, 4, 18.0, true),
    ("980-pro", 0, 4, 45.5, true),
    ("980-pro", 1, 4, 16.7, true),
    ("p4510", 0, 4, 77.0, true),
    ("p4510", 1, 4, 18.0, true),
    ("p3700", 0, 4, 77.9, true),
    ("micron-9100", 0, 4, 107.7, true),
    ("p4800x", 0, 4, 8.9, true),
    ("zn540", 0, 4, 73.3, true),
    ("zn540", 0, 16, 101.6, false),
];

fn job(lab: &Lab<'_>, drive: &str, write: bool, kib: u32) -> Result<Job, Error> {
    let requests = match (lab.smoke, lab.full) {
        (true, _) => 4,
        (_, true) => 20_000,
        _ => 1_000,
    };
    let read_ratio = if write { 0.0 } else { 1.0 };
    let workload = format!(
        r#"
        [[flow]]
        name = "one-at-a-time"
        [flow.synthetic]
        queue_depth = 1
        read_ratio = {read_ratio:?}
        size = "{kib}KiB"
        align = "4KiB"
        requests = {requests}
        "#
    );
    let sets = ["ftl.precondition.enabled=false", "ftl.unwritten_read=flash"];
    Job::new(drive, &sets, &workload)
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let mut jobs = Vec::new();
    for drive in DRIVES {
        for write in [false, true] {
            for kib in SIZES_KIB {
                jobs.push(job(lab, drive, write, kib)?);
            }
        }
    }
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let means = |drive: usize, op: usize, size: usize| -> Vec<f64> {
        let at = (drive * 2 + op) * SIZES_KIB.len() + size;
        runs[at].iter().map(|run| run.summary.flows[0].response_time_us.mean).collect()
    };
    let mean = |drive: usize, op: usize, size: usize| over_seeds(&means(drive, op, size)).0;
    let mut table = Table::new(
        "request-size",
        "Fig. 10: mean response time by request size, one at a time, us",
        &[
            "drive", "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB", "256 KiB",
            "512 KiB", "1 MiB",
        ],
    );
    for (drive, name) in DRIVES.iter().enumerate() {
        for (op, kind) in ["reads", "writes"].iter().enumerate() {
            let mut cells: Vec<Cell> = vec![format!("{name}, {kind}").as_str().into()];
            cells.extend((0..SIZES_KIB.len()).map(|size| Cell::from(mean(drive, op, size))));
            table.row(cells);
        }
    }
    let ours = |name: &str, op: usize, kib: u32| {
        let drive = DRIVES.iter().position(|&d| d == name).expect("a drive of the list");
        let size = SIZES_KIB.iter().position(|&k| k == kib).expect("a size of the list");
        means(drive, op, size)
    };
    let error = |op: usize| {
        let of_op = || PUBLIC.iter().filter(|p| p.1 == op);
        let mean = |drive, kib| over_seeds(&ours(drive, op, kib)).0;
        let sum: f64 = of_op().map(|&(d, _, kib, us, _)| (mean(d, kib) / us - 1.0).abs()).sum();
        sum / of_op().count() as f64
    };
    let mut rows = Vec::new();
    for (op, kind, paper) in [(0, "reads", 0.029), (1, "writes", 0.049)] {
        rows.push(Row::no_reference(
            NAME,
            format!("mean error of {kind}"),
            Some(paper),
            Some(error(op)),
            "relative",
            "the paper's drives are not named and its measurements not published: ours is over the public \
             figures below, most of which were fitted",
        ));
    }
    for (name, op, kib, public, fitted) in PUBLIC {
        let kind = ["read", "write"][op];
        let ours = ours(name, op, kib);
        let bound = if fitted { 0.05 } else { 0.15 };
        let what = if fitted { "fitted, within 5 %" } else { "predicted, within 15 %" };
        rows.push(Row::check_over_seeds(
            NAME,
            format!("{name}: {kind} of {kib} KiB"),
            &ours,
            Bound::Between(public * (1.0 - bound), public * (1.0 + bound)),
            "us",
            format!("public figure {public} us; {what}"),
        ));
    }
    Ok(Findings { rows, tables: vec![table] })
}
