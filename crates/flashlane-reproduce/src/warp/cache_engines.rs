//! Cache engines on drive A: small objects in buckets of 4 KiB, which are overwritten at random, in
//! a share of the space, and a log of large objects in the rest. With placement, each of the two
//! has a handle of its own.
//!
//! The drive is that of [`super::one_stream`]: its over-provisioning is fitted to permutation
//! writes and not to these series. The study does not log how the bytes divide between small and
//! large objects. One value is fitted to its six numbers: a half of the bytes each. Popularity is
//! left out: a bucket holds objects by their hash, so that buckets are about equally popular.

use flashlane::Error;

use super::drive::{Drive, UNIT_PAGES, amplification};
use crate::{Bound, Findings, Job, Lab, Row, Table};

const NAME: &str = "cache-engines";

/// A series: the workload `kvcache` of June 2022 in CacheBench.
struct Series {
    /// Share of the space for small objects.
    small: f64,
    /// Amplification of the last fifth: without handles, and with one each.
    measured: [f64; 2],
}

const SERIES: [Series; 3] = [
    Series { small: 0.04, measured: [3.56, 1.02] },
    Series { small: 0.2, measured: [2.96, 1.18] },
    Series { small: 0.4, measured: [2.92, 1.62] },
];

/// Share of the bytes that small objects have.
const BYTES: f64 = 0.5;

/// Capacities written.
const WRITTEN: f64 = 6.0;

/// A run for each series: without handles, and with one each.
fn jobs(drive: &Drive) -> Result<Vec<Job>, Error> {
    let mut jobs = Vec::new();
    for &Series { small, .. } in &SERIES {
        for own in [0, 1] {
            let keys = format!(
                "[flow.synthetic.cache_engine]\nsmall_space = {small}\nsmall_bytes = {BYTES}\n\
                 bucket = \"4KiB\"\nlarge_write = \"128KiB\"\nsmall_placement = {own}\n\
                 large_placement = 0\nfill_first = true"
            );
            let filled = drive.pages() * (small + (1.0 - small) / 32.0);
            jobs.push(drive.job(&keys, WRITTEN, (filled, 1.0 / (BYTES + (1.0 - BYTES) / 32.0)))?);
        }
    }
    Ok(jobs)
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let units: u32 = if lab.smoke { 128 } else { 1024 };
    let drive = Drive {
        units,
        unit_pages: UNIT_PAGES,
        logical_units: f64::from(units) / 1.171,
        kept_free: 5,
        handles: 2,
        always_open: false,
        persistent: false,
    };
    let jobs = jobs(&drive)?;
    let runs = lab.run(&jobs)?;
    let columns = ["small objects, % of the space", "handles", "drive", "ours"];
    let mut table = Table::new(NAME, "Amplification of the last fifth", &columns);
    let (mut rows, mut each, mut gains) = (Vec::new(), Vec::new(), Vec::new());
    for (series, runs) in SERIES.iter().zip(runs.chunks(2)) {
        let ours: Vec<f64> = runs.iter().map(amplification).collect();
        let percent = 100.0 * series.small;
        for (at, handles) in ["none", "each"].into_iter().enumerate() {
            let measured = series.measured[at];
            table.row(vec![percent.into(), handles.into(), measured.into(), ours[at].into()]);
            let metric = format!("{percent:.0} % small, handles: {handles}");
            rows.push(Row::number(NAME, metric, measured, ours[at], 1.0, "x", ""));
        }
        gains.push(ours[0] / ours[1]);
        each.push(ours[1]);
    }
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let rises: Vec<f64> = each.windows(2).map(|pair| pair[1] / pair[0]).collect();
    for (metric, value, note) in [
        ("handles help at each share", least(&gains), "none over each, the smallest"),
        ("rises with the share", least(&rises), "each: of a share over the one before"),
    ] {
        rows.push(Row::statement_over_seeds(
            NAME,
            metric,
            &[value],
            Bound::AtLeast(1.0),
            "x",
            note,
        ));
    }
    Ok(Findings { rows, tables: vec![table] })
}
