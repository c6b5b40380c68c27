//! Fig. 17: does a write cache change what FLIN brings?
//!
//! Section 7.5: 128 MB of write cache for each of four flows.

use flashlane::Error;

use super::mixes::{
    CATEGORIES, Load, UNCACHED, by_seed, counted, mean, percent, ratios, shown, workload,
};
use super::setup::{job, trace_drive};
use crate::{Bound, Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "write-cache";
const CACHES: [(&str, &str); 2] = [("none", UNCACHED), ("128 MB a flow", "cache = \"write\"")];

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let categories: &[u32] = if lab.smoke { &[2] } else { &CATEGORIES };
    let mixes = shown(lab, categories);
    let load = Load::short(lab);
    let mut jobs: Vec<Job> = Vec::new();
    for (_, keys) in CACHES {
        for policy in ["sprinkler", "flin"] {
            for mix in &mixes {
                let mut sets = trace_drive(lab, policy);
                sets.push("cache.capacity=512MB".to_owned());
                sets.push("cache.sharing=equal-partitioning".to_owned());
                let job = job(&sets, &workload(lab, mix, load, keys)?)?.alone();
                jobs.push(if lab.smoke { job } else { counted(job, load)? });
            }
        }
    }
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let (without, with) = runs.split_at(2 * mixes.len());
    // Fairness of flin over sprinkler, of some workloads, by seed.
    let gain = |both: &[Vec<Run>], from: usize, count: usize| {
        let (sprinkler, flin) = both.split_at(mixes.len());
        let of = |runs: &[Vec<Run>]| by_seed(&runs[from..from + count], 0);
        ratios(&of(flin), &of(sprinkler))
    };
    let mut table = Table::new(
        NAME,
        "Fig. 17: fairness of flin over sprinkler, geometric means over workloads, means over seeds",
        &["high, %", "without cache", "with cache"],
    );
    let count = mixes.len() / categories.len();
    for (at, &high) in categories.iter().enumerate() {
        let of = |both| mean(&gain(both, at * count, count));
        table.row(vec![percent(high).into(), of(without).into(), of(with).into()]);
    }
    let all = |both| gain(both, 0, mixes.len());
    let rows = vec![Row::statement_over_seeds(
        NAME,
        "fairness gain with a write cache over that without",
        &ratios(&all(with), &all(without)),
        Bound::Between(0.8, 1.25),
        "x",
        "\"only a minimal effect\"",
    )];
    Ok(Findings { rows, tables: vec![table] })
}
