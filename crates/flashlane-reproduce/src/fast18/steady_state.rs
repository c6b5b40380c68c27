//! Fig. 13: the purpose of preconditioning.
//!
//! Appendix A.4: under high write intensity, response times over time with and without
//! preconditioning. The paper's SSD-B is not public; the drive here is that of Table 3 with fewer
//! and smaller blocks, so that the load writes it full within the run.

use flashlane::Error;
use flashlane::metrics::Interval;

use crate::{Bound, Cell, Findings, Job, Lab, Row, Table};

const NAME: &str = "steady-state";
/// Parts of the run, those at its start and those at its end.
const POINTS: u64 = 20;
const START: usize = 2;
const END: usize = 4;

fn job(lab: &Lab<'_>, preconditioned: bool) -> Result<Job, Error> {
    let (pages, seconds) = match (lab.smoke, lab.full) {
        (true, _) => (16, 0.04),
        (_, true) => (256, 320.0),
        _ => (32, 60.0),
    };
    let workload = format!(
        r#"
        [[flow]]
        name = "writer"
        [flow.synthetic]
        queue_depth = 32
        read_ratio = 0.3
        size = "8KiB"
        align = "8KiB"
        duration = "{}ms"
        "#,
        seconds * 1000.0
    );
    let pages = format!("flash.pages_per_block={pages}");
    let enabled = format!("ftl.precondition.enabled={preconditioned}");
    let sets = [
        "ftl.mapping.ideal=true",
        "cache.capacity=16MiB",
        "flash.blocks_per_plane=96",
        "ftl.over_provisioning=28%",
        &pages,
        &enabled,
    ];
    let interval = (seconds * 1e12) as u64 / POINTS;
    Ok(Job::new("fast18", &sets, &workload)?.series(interval))
}

/// Mean response time of reads (0) or writes (1) over some intervals. Unit: microseconds.
fn mean(intervals: &[Interval], op: usize) -> f64 {
    let part = |i: &Interval| [(i.reads, i.read_mean_us), (i.writes, i.write_mean_us)][op];
    let count: u64 = intervals.iter().map(|i| part(i).0).sum();
    let sum: f64 = intervals.iter().map(|i| part(i).0 as f64 * part(i).1).sum();
    sum / count.max(1) as f64
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let runs = lab.run_seeds(&[job(lab, false)?, job(lab, true)?], lab.seeds)?;
    let series = |job: usize| runs[job].iter().map(|run| &run.details.series[0][..]);
    let first = |series: &[Interval], op| mean(&series[..START.min(series.len())], op);
    let last = |series: &[Interval], op| {
        let end = series.len().min(POINTS as usize);
        mean(&series[end.saturating_sub(END)..end], op)
    };
    let each = |ratio: &dyn Fn(&[Interval], &[Interval]) -> f64| -> Vec<f64> {
        series(0).zip(series(1)).map(|(empty, steady)| ratio(empty, steady)).collect()
    };
    let mut rows = Vec::new();
    for (op, name) in ["read", "write"].into_iter().enumerate() {
        rows.extend([
            Row::statement_over_seeds(
                NAME,
                format!("{name} response at the start, empty over preconditioned"),
                &each(&|empty, steady| first(empty, op) / first(steady, op)),
                Bound::AtMost(0.9),
                "x",
                "\"lower response time results at the beginning\"",
            ),
            Row::statement_over_seeds(
                NAME,
                format!("{name} response at the end, empty over preconditioned"),
                &each(&|empty, steady| last(empty, op) / last(steady, op)),
                Bound::Between(0.85, 1.15),
                "x",
                "the same \"once the whole storage space is written\"",
            ),
            Row::statement_over_seeds(
                NAME,
                format!("preconditioned: {name} response at the start over that at the end"),
                &each(&|_, steady| first(steady, op) / last(steady, op)),
                Bound::Between(0.85, 1.15),
                "x",
                "in steady state from the start",
            ),
        ]);
    }
    rows.push(Row::no_reference(
        NAME,
        "error against SSD-B",
        None,
        None,
        "x",
        "measurements of SSD-B were not published",
    ));
    rows.push(Row::no_reference(
        NAME,
        "Fig. 3: data that a workload writes, mean of the paper's",
        Some(60.0),
        None,
        "GB",
        "\"an average write volume of 60 GB\", counted in traces that are not here; nothing is simulated",
    ));
    let mut table = Table::new(
        "steady-state",
        "Fig. 13: mean response times over time, us",
        &[
            "time, s",
            "read, empty",
            "write, empty",
            "read, preconditioned",
            "write, preconditioned",
        ],
    );
    let [empty, steady] = [0, 1].map(|job: usize| &runs[job][0].details.series[0]);
    for (empty, steady) in empty.iter().zip(steady).take(POINTS as usize) {
        table.row(vec![
            Cell::Number(empty.start_s),
            empty.read_mean_us.into(),
            empty.write_mean_us.into(),
            steady.read_mean_us.into(),
            steady.write_mean_us.into(),
        ]);
    }
    Ok(Findings { rows, tables: vec![table] })
}
