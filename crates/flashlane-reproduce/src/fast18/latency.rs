//! Fig. 4: where the time of one small read goes, with NAND flash and with 3D XPoint.
//!
//! Section 3.3: typical values for a page read of 8 KiB on flash and of 4 KiB on 3D XPoint, one
//! request at a time; and what a miss of the cached mapping table adds.

use flashlane::Error;
use flashlane::metrics::BreakdownSummary;

use super::contention::quotients;
use crate::{Bound, Findings, Job, Lab, Row, Table};

const NAME: &str = "latency";

fn job(lab: &Lab<'_>, preset: &str, sets: &[&str], size: &str) -> Result<Job, Error> {
    let requests = if lab.smoke { 100 } else { 20_000 };
    let workload = format!(
        r#"
        [[flow]]
        name = "reader"
        cache = "off"
        [flow.synthetic]
        queue_depth = 1
        read_ratio = 1.0
        size = "{size}"
        align = "{size}"
        requests = {requests}
        "#
    );
    Job::new(preset, sets, &workload)
}

/// Stages in the order of the figure. Unit: microseconds.
fn stages(b: &BreakdownSummary) -> [(&'static str, f64); 8] {
    [
        ("in the submission queue", b.submission),
        ("entry over PCIe", b.transfer_in),
        ("firmware", b.firmware),
        ("mapping", b.mapping),
        ("waiting for the memory", b.flash_queue + b.cache),
        ("memory read", b.flash_array),
        ("channel transfer", b.flash_bus),
        ("data and completion over PCIe", b.transfer_out),
    ]
}

fn total(b: &BreakdownSummary) -> f64 {
    stages(b).iter().map(|(_, time)| time).sum()
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    // A smaller drive has as many misses, because its table is still many times larger than the
    // cache.
    let blocks = if lab.full { "2048" } else { "256" };
    let blocks = format!("flash.blocks_per_plane={blocks}");
    let misses = [&blocks, "ftl.mapping.cmt_capacity=64KiB"];
    let jobs = [
        job(lab, "fast18", &["ftl.mapping.ideal=true", &blocks], "8KiB")?,
        job(lab, "fast18", &misses, "8KiB")?,
        job(lab, "xpoint", &[], "4KiB")?,
        job(lab, "p4800x", &[], "4KiB")?,
    ];
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let of = |drive: usize, number: &dyn Fn(&BreakdownSummary) -> f64| -> Vec<f64> {
        runs[drive].iter().map(|run| number(&run.summary.flows[0].breakdown_us)).collect()
    };
    let rows = [flash(&of), memory(&of)].concat();
    let columns =
        [0, 1, 2, 3].map(|run: usize| stages(&runs[run][0].summary.flows[0].breakdown_us));
    let mut table = Table::new(
        "latency",
        "Fig. 4: mean time by stage of one read at a time, us",
        &["stage", "flash, 8 KiB", "flash, mapping misses", "3D XPoint, 4 KiB", "P4800X, 4 KiB"],
    );
    for (index, (stage, _)) in columns[0].iter().enumerate() {
        let cell = |column: usize| columns[column][index].1.into();
        table.row(vec![(*stage).into(), cell(0), cell(1), cell(2), cell(3)]);
    }
    let sum = |column: usize| columns[column].iter().map(|(_, time)| time).sum::<f64>().into();
    table.row(vec!["sum".into(), sum(0), sum(1), sum(2), sum(3)]);
    Ok(Findings { rows, tables: vec![table] })
}

/// A number of one of the four drives, by seed.
type Numbers<'a> = dyn Fn(usize, &dyn Fn(&BreakdownSummary) -> f64) -> Vec<f64> + 'a;

/// The drive of Table 3, with a mapping hit and with a miss.
fn flash(of: &Numbers<'_>) -> Vec<Row> {
    let flash = |b: &BreakdownSummary| b.flash_array + b.flash_bus;
    vec![
        Row::statement_over_seeds(
            NAME,
            "flash: memory read",
            &of(0, &|b| b.flash_array),
            Bound::Between(50.0, 110.0),
            "us",
            "50 to 110 us",
        ),
        Row::number_over_seeds(
            NAME,
            "flash: channel transfer",
            20.0,
            &of(0, &|b| b.flash_bus),
            0.0,
            "us",
            "8 KiB at 333 MT/s, 8 bits wide, take 24.6 us",
        ),
        Row::number_over_seeds(
            NAME,
            "flash: entry and data over PCIe",
            4.0,
            &of(0, &|b| b.transfer_in + b.transfer_out),
            0.0,
            "us",
            "the paper cites drives and switches of its time; ours is four lanes of 1 GB/s without a switch",
        ),
        Row::number_over_seeds(
            NAME,
            "flash: firmware",
            1.0,
            &of(0, &|b| b.firmware),
            0.0,
            "us",
            "on a mapping hit",
        ),
        Row::statement_over_seeds(
            NAME,
            "flash: in the submission queue",
            &of(0, &|b| b.submission),
            Bound::AtMost(1.0),
            "us",
            "below 1 us",
        ),
        Row::statement_over_seeds(
            NAME,
            "flash: share of memory read and transfer",
            &of(0, &|b| flash(b) / total(b)),
            Bound::AtLeast(0.9),
            "share",
            "all else is \"negligible\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "flash: a mapping miss over memory read and transfer",
            &quotients(&of(1, &|b| b.mapping), &of(0, &flash)),
            Bound::AtLeast(0.8),
            "x",
            "\"can become even longer\"; one translation page",
        ),
    ]
}

/// Memory that is written in place.
fn memory(of: &Numbers<'_>) -> Vec<Row> {
    let memory = |b: &BreakdownSummary| b.flash_array + b.flash_bus + b.flash_queue;
    let statement = |metric: &str, values: &[f64], most: f64, unit, note: &str| {
        Row::statement_over_seeds(NAME, metric, values, Bound::AtMost(most), unit, note)
    };
    vec![
        statement("3D XPoint: memory read and transfer", &of(2, &memory), 1.0, "us", "below 1 us"),
        statement(
            "3D XPoint: share of memory read and transfer",
            &of(2, &|b| memory(b) / total(b)),
            0.1,
            "share",
            "\"less than 10 %\" of a request that the paper puts below 10 us, host software included",
        ),
        statement("3D XPoint: whole request", &of(2, &total), 10.0, "us", "below 10 us"),
        statement(
            "P4800X: whole request",
            &of(3, &total),
            10.0,
            "us",
            "below 10 us; fitted to a drive, its stages are not known one by one",
        ),
    ]
}
