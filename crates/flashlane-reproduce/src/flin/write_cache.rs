//! Fig. 17: does a write cache change what FLIN brings?
//!
//! Section 7.5: 128 MB of write cache for each of four flows.

use flashlane::Error;

use super::mixes::{
    CATEGORIES, Load, UNCACHED, draw, geometric, metric, per_category, percent, workload,
};
use super::setup::{job, trace_drive};
use crate::{Findings, Job, Lab, Row, Table};

const NAME: &str = "write-cache";
const CACHES: [(&str, &str); 2] = [("none", UNCACHED), ("128 MB a flow", "cache = \"write\"")];

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let categories: &[u32] = if lab.smoke { &[2] } else { &CATEGORIES };
    let count = per_category(lab, 3);
    let mixes = draw(categories, count);
    // Short of saturation, where single workloads decide a mean.
    let load = Load { time_scale: 0.7, ..Load::new(lab) };
    let mut jobs: Vec<Job> = Vec::new();
    for (_, keys) in CACHES {
        for mix in &mixes {
            for policy in ["sprinkler", "flin"] {
                let mut sets = trace_drive(lab, policy);
                sets.push("cache.capacity=512MB".to_owned());
                sets.push("cache.sharing=equal-partitioning".to_owned());
                jobs.push(job(&sets, &workload(lab, mix, load, keys)?)?.alone());
            }
        }
    }
    let runs = lab.run(&jobs)?;
    // Fairness of flin over sprinkler, by cache and workload.
    let gains: Vec<f64> = runs
        .chunks(2)
        .map(|both| metric(&both[1].summary, 0) / metric(&both[0].summary, 0))
        .collect();
    let mut table = Table::new(
        NAME,
        format!(
            "Fig. 17: fairness of flin over sprinkler, geometric means of {count} workloads each"
        ),
        &["high, %", "without cache", "with cache"],
    );
    let (without, with) = gains.split_at(mixes.len());
    for (at, &high) in categories.iter().enumerate() {
        let of = |gains: &[f64]| geometric(&gains[at * count..(at + 1) * count]);
        table.row(vec![percent(high).into(), of(without).into(), of(with).into()]);
    }
    let change = geometric(with) / geometric(without);
    let rows = vec![Row::statement(
        NAME,
        "fairness gain with a write cache over that without",
        change,
        (0.8..=1.25).contains(&change),
        "x",
        "\"only a minimal effect\"; taken as within a quarter",
    )];
    Ok(Findings { rows, tables: vec![table] })
}
