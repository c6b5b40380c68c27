//! Fig. 14: the first stage of FLIN alone, the third alone, and all of it.

use flashlane::Error;

use super::mixes::{
    CATEGORIES, FARTHER, Load, METRICS, NEARER, by_seed, geometric, mean, mix_job, percent, ratios,
    shown,
};
use crate::{Bound, Findings, Job, Lab, Row, Table};

const NAME: &str = "stages";
const VARIANTS: [(&str, &str); 4] = [
    ("sprinkler", "sprinkler"),
    ("stage 1", "{ flin = { stages = [\"insertion\"] } }"),
    ("stage 3", "{ flin = { stages = [\"wait-balancing\"] } }"),
    ("flin", "flin"),
];
/// Places in [`VARIANTS`].
const SPRINKLER: usize = 0;
const STAGE_1: usize = 1;
const STAGE_3: usize = 2;
const ALL: usize = 3;

/// Geometric means over workloads, by seed: one workload with slowdowns of thousands would decide
/// an arithmetic one.
struct Means {
    /// By category, variant, metric, seed.
    of: Vec<[[Vec<f64>; 4]; 4]>,
    categories: Vec<u32>,
}

impl Means {
    fn run(lab: &Lab<'_>, categories: &[u32]) -> Result<Self, Error> {
        let mut of = Vec::new();
        for &high in categories {
            let mixes = shown(lab, &[high]);
            let mut jobs: Vec<Job> = Vec::new();
            for (_, policy) in VARIANTS {
                for mix in &mixes {
                    jobs.push(mix_job(lab, mix, Load::new(lab), policy, &[])?);
                }
            }
            let runs = lab.run_seeds(&jobs, lab.seeds)?;
            of.push(std::array::from_fn(|variant| {
                let of_variant = &runs[variant * mixes.len()..][..mixes.len()];
                std::array::from_fn(|which| by_seed(of_variant, which))
            }));
        }
        Ok(Self { of, categories: categories.to_vec() })
    }

    /// By seed, in one category or over all.
    fn over(&self, category: Option<u32>, variant: usize, which: usize) -> Vec<f64> {
        let chosen: Vec<&Vec<f64>> = self
            .categories
            .iter()
            .zip(&self.of)
            .filter(|(high, _)| category.is_none_or(|only| **high == only))
            .map(|(_, of)| &of[variant][which])
            .collect();
        let seed =
            |at: usize| geometric(&chosen.iter().map(|values| values[at]).collect::<Vec<_>>());
        (0..chosen[0].len()).map(seed).collect()
    }

    /// The ratio of two variants by seed.
    fn ratio(&self, category: Option<u32>, which: usize, a: usize, b: usize) -> Vec<f64> {
        ratios(&self.over(category, a, which), &self.over(category, b, which))
    }

    fn table(&self) -> Table {
        let mut table = Table::new(
            NAME,
            "Fig. 14: geometric means over workloads and seeds",
            &["high", "scheduler", METRICS[0], METRICS[1], METRICS[2], METRICS[3]],
        );
        for category in self.categories.iter().copied().map(Some).chain([None]) {
            for (at, (name, _)) in VARIANTS.iter().enumerate() {
                let label =
                    category.map_or("all".to_owned(), |high| format!("{} %", percent(high)));
                let mut cells = vec![label.as_str().into(), (*name).into()];
                cells.extend((0..4).map(|which| mean(&self.over(category, at, which)).into()));
                table.row(cells);
            }
        }
        table
    }
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let categories: &[u32] = if lab.smoke { &[2] } else { &CATEGORIES };
    let means = Means::run(lab, categories)?;
    let more = Bound::AtLeast(FARTHER);
    let row = |what: &str, values: &[f64], bound: Bound, note: &str| {
        Row::statement_over_seeds(NAME, what, values, bound, "x", note)
    };
    let improve = "\"the individual stages improve both\"";
    let short = "\"each stage alone falls short\"";
    let much = "\"improvements of Stage 1 are much higher than those of Stage 3\"";
    let mut rows = Vec::new();
    for (stage, name) in [(STAGE_1, "stage 1"), (STAGE_3, "stage 3")] {
        for (which, metric) in [(0, "fairness"), (3, "weighted speedup")] {
            let gain = means.ratio(None, which, stage, SPRINKLER);
            rows.push(row(&format!("{metric}, {name} over sprinkler"), &gain, more, improve));
        }
    }
    for (which, metric) in [(0, "fairness"), (3, "weighted speedup")] {
        for &high in categories {
            let what = format!("{metric}, stage 1 over stage 3, {} % high", percent(high));
            let gain = means.ratio(Some(high), which, STAGE_1, STAGE_3);
            rows.push(row(&what, &gain, more, much));
        }
    }
    rows.push(row(
        "maximum slowdown, stage 1 over stage 3",
        &means.ratio(None, 1, STAGE_1, STAGE_3),
        more,
        "\"Stage 3 reduces the maximum slowdown by a greater amount\"",
    ));
    let better_stage = |which: usize, better: fn(f64, f64) -> f64| -> Vec<f64> {
        let of = |stage| means.ratio(None, which, ALL, stage);
        of(STAGE_1).iter().zip(&of(STAGE_3)).map(|(&a, &b)| better(a, b)).collect()
    };
    for (which, metric) in [(0, "fairness"), (3, "weighted speedup")] {
        let what = format!("{metric}, all over the better stage");
        rows.push(row(&what, &better_stage(which, f64::min), more, short));
    }
    let most = better_stage(1, f64::max);
    let less = Bound::AtMost(NEARER);
    rows.push(row("maximum slowdown, all over the better stage", &most, less, short));
    Ok(Findings { rows, tables: vec![means.table()] })
}
