//! Fig. 11: distributions of response times under tpcc, tpce and exchange.
//!
//! The paper measures four drives whose names and measurements were not published; only year,
//! capacity and technology are (Table 4). The drives here have those three facts and otherwise the
//! organisation of Table 3, and the traces are statistical clones.

use flashlane::Error;

use crate::{Findings, Job, Lab, Row, Table};

const NAME: &str = "traces";
/// Name, blocks of a plane for the capacity, technology, tR and tPROG by page type, and the paper's
/// error.
const DRIVES: [(&str, &str, u32, &str, &str, &str, f64); 4] = [
    ("SSD-A", "800 GB, MLC", 3413, "mlc", "[\"75us\"]", "[\"750us\"]", 0.08),
    ("SSD-B", "256 GB, MLC", 1092, "mlc", "[\"75us\"]", "[\"750us\"]", 0.06),
    (
        "SSD-C",
        "1 TB, TLC",
        4266,
        "tlc",
        "[\"60us\", \"80us\", \"110us\"]",
        "[\"500us\", \"1200us\", \"2000us\"]",
        0.18,
    ),
    (
        "SSD-D",
        "512 GB, TLC",
        2184,
        "tlc",
        "[\"60us\", \"80us\", \"110us\"]",
        "[\"500us\", \"1200us\", \"2000us\"]",
        0.14,
    ),
];
const TRACES: [(&str, &str); 3] = [("tpcc", "tpcc"), ("tpce", "tpce"), ("exchange", "exch")];
/// By default the drive has this fraction of the blocks of a plane. Occupancy and write
/// amplification stay the same.
const REDUCED: u32 = 16;

fn job(lab: &Lab<'_>, drive: usize, clone: &str) -> Result<Job, Error> {
    let (_, _, blocks, technology, read, program, _) = DRIVES[drive];
    let (blocks, requests) = match (lab.smoke, lab.full) {
        (true, _) => (64, 200),
        (_, true) => (blocks, 1_000_000),
        _ => (blocks / REDUCED, 60_000),
    };
    let workload = format!(
        r#"
        [[flow]]
        name = "{clone}"
        on_end = "stop"
        occupancy = 0.7
        {}
        "#,
        lab.source(clone, requests, 1.0)?
    );
    let sets = [
        format!("flash.blocks_per_plane={blocks}"),
        format!("flash.technology={technology}"),
        format!("flash.read_time={read}"),
        format!("flash.program_time={program}"),
        "flash.suspend={ program = false, erase = true }".to_owned(),
    ];
    Job::new("fast18", &sets.each_ref().map(String::as_str), &workload)
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let cases: Vec<(usize, usize)> = (0..DRIVES.len())
        .flat_map(|drive| (0..TRACES.len()).map(move |trace| (drive, trace)))
        .collect();
    let jobs: Vec<Job> = cases
        .iter()
        .map(|&(drive, trace)| job(lab, drive, TRACES[trace].1))
        .collect::<Result<_, _>>()?;
    let runs = lab.run(&jobs)?;
    let mut summary = Table::new(
        "traces",
        "Fig. 11: response times of clones on drives with the facts of Table 4, us",
        &["drive and trace", "mean", "p50", "p90", "p99", "p99.9"],
    );
    let mut cdf = Table::new(
        "traces-cdf",
        "Fig. 11: distribution functions",
        &["drive", "trace", "response time, us", "share of requests"],
    );
    cdf.long = true;
    for (&(drive, trace), run) in cases.iter().zip(&runs) {
        let (drive, what, ..) = DRIVES[drive];
        let (name, _) = TRACES[trace];
        let l = run.summary.flows[0].response_time_us;
        summary.row(vec![
            format!("{drive} ({what}), {name}").as_str().into(),
            l.mean.into(),
            l.p50.into(),
            l.p90.into(),
            l.p99.into(),
            l.p99_9.into(),
        ]);
        for &(us, share) in &run.details.distributions[0] {
            cdf.row(vec![drive.into(), name.into(), us.into(), share.into()]);
        }
    }
    let rows = DRIVES
        .iter()
        .map(|&(drive, .., error)| {
            Row::no_reference(
                NAME,
                format!("{drive}: error against the drive"),
                Some(error),
                None,
                "relative",
                "its measurements and its configuration were not published; the distributions of ours are \
                 in traces-cdf.csv",
            )
        })
        .collect();
    Ok(Findings { rows, tables: vec![summary, cdf] })
}
