//! Section 7.3: the gain of FLIN on other drives (not shown in the paper).

use flashlane::Error;

use super::mixes::{Load, NEARER, by_seed, mean, mix_job, ratios, shown};
use crate::{Bound, Findings, Job, Lab, Row, Table};

const NAME: &str = "device";

/// A drive, and its difference from Table 1.
struct Variant {
    name: &'static str,
    /// Page size. Unit: KiB.
    page: u32,
    /// Factor on the times of reads and programs.
    latency: f64,
    chips: u32,
}

const TABLE_1: Variant = Variant { name: "Table 1", page: 8, latency: 1.0, chips: 4 };
const VARIANTS: [Variant; 7] = [
    TABLE_1,
    Variant { name: "pages of 4 KiB", page: 4, ..TABLE_1 },
    Variant { name: "pages of 16 KiB", page: 16, ..TABLE_1 },
    Variant { name: "half the latencies", latency: 0.5, ..TABLE_1 },
    Variant { name: "1.5 times the latencies", latency: 1.5, ..TABLE_1 },
    Variant { name: "2 chips a channel", chips: 2, ..TABLE_1 },
    Variant { name: "8 chips a channel", chips: 8, ..TABLE_1 },
];

impl Variant {
    /// Settings of the drive. Its capacity, and the number of free pages at which collection
    /// starts, are those of Table 1.
    fn sets(&self) -> Vec<String> {
        let blocks = 256;
        vec![
            format!("flash.page_size={}KiB", self.page),
            format!("flash.read_time=[\"{}us\"]", 75.0 * self.latency),
            format!("flash.program_time=[\"{}us\"]", 1300.0 * self.latency),
            format!("flash.chips_per_channel={}", self.chips),
            format!("flash.blocks_per_plane={}", blocks * 8 * 4 / self.page / self.chips),
        ]
    }
}

/// Workloads of these categories run.
const CATEGORIES: [u32; 2] = [2, 4];

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let categories: &[u32] = if lab.smoke { &[2] } else { &CATEGORIES };
    let mixes = shown(lab, categories);
    let load = Load::short(lab);
    let mut jobs: Vec<Job> = Vec::new();
    for variant in &VARIANTS {
        for policy in ["sprinkler", "flin"] {
            for mix in &mixes {
                jobs.push(mix_job(lab, mix, load, policy, &variant.sets())?);
            }
        }
    }
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let mut table = Table::new(
        NAME,
        format!(
            "Section 7.3: flin over sprinkler, geometric means over {} workloads, means over seeds",
            mixes.len()
        ),
        &[
            "drive",
            "fairness of sprinkler",
            "fairness gain",
            "maximum slowdown",
            "weighted speedup gain",
        ],
    );
    let mut gains = Vec::new();
    for (variant, both) in VARIANTS.iter().zip(runs.chunks(2 * mixes.len())) {
        let (sprinkler, flin) = both.split_at(mixes.len());
        let gain = |which| ratios(&by_seed(flin, which), &by_seed(sprinkler, which));
        table.row(vec![
            variant.name.into(),
            mean(&by_seed(sprinkler, 0)).into(),
            mean(&gain(0)).into(),
            mean(&gain(1)).into(),
            mean(&gain(3)).into(),
        ]);
        gains.push([gain(0), gain(3)]);
    }
    let mut rows = Vec::new();
    for (small, large, what, note) in [
        (1, 2, "pages of 16 over 4 KiB", "\"a larger page size reduces the benefits\""),
        (4, 3, "half over 1.5 times the latencies", "\"higher latencies increase the benefits\""),
        (
            5,
            6,
            "8 over 2 chips a channel",
            "\"a larger number of memory chips reduces FLIN's ability\"",
        ),
    ] {
        for (which, metric) in ["fairness", "weighted speedup"].iter().enumerate() {
            rows.push(Row::statement_over_seeds(
                NAME,
                format!("{metric} gain, {what}"),
                &ratios(&gains[large][which], &gains[small][which]),
                Bound::AtMost(NEARER),
                "x",
                note,
            ));
        }
    }
    Ok(Findings { rows, tables: vec![table] })
}
