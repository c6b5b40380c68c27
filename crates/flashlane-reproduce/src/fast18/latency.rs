//! Fig. 4: where the time of one small read goes, with NAND flash and with 3D XPoint.
//!
//! Section 3.3: typical values for a page read of 8 KiB on flash and of 4 KiB on 3D XPoint, one
//! request at a time; and what a miss of the cached mapping table adds.

use flashlane::Error;
use flashlane::metrics::BreakdownSummary;

use crate::{Findings, Job, Lab, Row, Table};

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
    // A smaller drive keeps the misses: its table is still many times the cache.
    let blocks = if lab.full { "2048" } else { "256" };
    let blocks = format!("flash.blocks_per_plane={blocks}");
    let misses = [&blocks, "ftl.mapping.cmt_capacity=64KiB"];
    let runs = lab.run(&[
        job(lab, "fast18", &["ftl.mapping.ideal=true", &blocks], "8KiB")?,
        job(lab, "fast18", &misses, "8KiB")?,
        job(lab, "xpoint", &[], "4KiB")?,
        job(lab, "p4800x", &[], "4KiB")?,
    ])?;
    let [nand, missing, xpoint, optane] =
        [0, 1, 2, 3].map(|run: usize| runs[run].summary.flows[0].breakdown_us);
    let within = |value: f64, low: f64, high: f64| value >= low && value <= high;
    let pcie = nand.transfer_in + nand.transfer_out;
    let flash = nand.flash_array + nand.flash_bus;
    let memory = xpoint.flash_array + xpoint.flash_bus + xpoint.flash_queue;
    let mut rows = vec![
        Row::statement(
            NAME,
            "flash: memory read",
            nand.flash_array,
            within(nand.flash_array, 50.0, 110.0),
            "us",
            "50 to 110 us",
        ),
        Row::number(
            NAME,
            "flash: channel transfer",
            20.0,
            nand.flash_bus,
            0.0,
            "us",
            "8 KiB at 333 MT/s, 8 bits wide, take 24.6 us",
        ),
        Row::number(
            NAME,
            "flash: entry and data over PCIe",
            4.0,
            pcie,
            0.0,
            "us",
            "the paper cites drives and switches of its time; ours is four lanes of 1 GB/s without a switch",
        ),
        Row::number(NAME, "flash: firmware", 1.0, nand.firmware, 0.0, "us", "on a mapping hit"),
        Row::statement(
            NAME,
            "flash: in the submission queue",
            nand.submission,
            nand.submission < 1.0,
            "us",
            "below 1 us",
        ),
        Row::statement(
            NAME,
            "flash: share of memory read and transfer",
            flash / total(&nand),
            flash / total(&nand) > 0.9,
            "share",
            "all else is \"negligible\"; taken as over 0.9 of the whole",
        ),
        Row::statement(
            NAME,
            "flash: a mapping miss over memory read and transfer",
            missing.mapping / flash,
            missing.mapping / flash > 0.8,
            "x",
            "\"can become even longer\"; one translation page, taken as over 0.8 of them",
        ),
    ];
    let share = memory / total(&xpoint);
    rows.extend([
        Row::statement(
            NAME,
            "3D XPoint: memory read and transfer",
            memory,
            memory < 1.0,
            "us",
            "below 1 us",
        ),
        Row::statement(
            NAME,
            "3D XPoint: share of memory read and transfer",
            share,
            share < 0.1,
            "share",
            "\"less than 10 %\" of a request that the paper puts below 10 us, host software included",
        ),
        Row::statement(
            NAME,
            "3D XPoint: whole request",
            total(&xpoint),
            total(&xpoint) < 10.0,
            "us",
            "below 10 us",
        ),
        Row::statement(
            NAME,
            "P4800X: whole request",
            total(&optane),
            total(&optane) < 10.0,
            "us",
            "below 10 us; fitted to a drive, its stages are not known one by one",
        ),
    ]);
    let mut table = Table::new(
        "latency",
        "Fig. 4: mean time by stage of one read at a time, us",
        &["stage", "flash, 8 KiB", "flash, mapping misses", "3D XPoint, 4 KiB", "P4800X, 4 KiB"],
    );
    let columns = [&nand, &missing, &xpoint, &optane].map(stages);
    for (index, (stage, _)) in columns[0].iter().enumerate() {
        let cell = |column: usize| columns[column][index].1.into();
        table.row(vec![(*stage).into(), cell(0), cell(1), cell(2), cell(3)]);
    }
    table.row(vec![
        "sum".into(),
        total(&nand).into(),
        total(&missing).into(),
        total(&xpoint).into(),
        total(&optane).into(),
    ]);
    Ok(Findings { rows, tables: vec![table] })
}
