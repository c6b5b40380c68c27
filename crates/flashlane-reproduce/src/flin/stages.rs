//! Fig. 14: the first stage of FLIN alone, the third alone, and all of it.

use flashlane::Error;

use super::mixes::{
    CATEGORIES, Load, METRICS, draw, geometric, metric, mix_job, per_category, percent,
};
use crate::{Findings, Job, Lab, Row, Table};

const NAME: &str = "stages";
const VARIANTS: [(&str, &str); 4] = [
    ("sprinkler", "sprinkler"),
    ("stage 1", "{ flin = { stages = [\"insertion\"] } }"),
    ("stage 3", "{ flin = { stages = [\"wait-balancing\"] } }"),
    ("flin", "flin"),
];

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let categories: &[u32] = if lab.smoke { &[2] } else { &CATEGORIES };
    let mixes = draw(categories, per_category(lab, 2));
    let load = Load::new(lab);
    let mut jobs: Vec<Job> = Vec::new();
    for mix in &mixes {
        for (_, policy) in VARIANTS {
            jobs.push(mix_job(lab, mix, load, policy, &[])?);
        }
    }
    let runs = lab.run(&jobs)?;
    // Geometric means: one workload with slowdowns of thousands would decide an arithmetic one.
    let mean_over = |category: Option<u32>, variant: usize, which: usize| {
        let values: Vec<f64> = mixes
            .iter()
            .zip(runs.chunks(VARIANTS.len()))
            .filter(|(mix, _)| category.is_none_or(|high| mix.high == high))
            .map(|(_, of_mix)| metric(&of_mix[variant].summary, which))
            .collect();
        geometric(&values)
    };
    let mean_of = |variant, which| mean_over(None, variant, which);
    let mut table = Table::new(
        NAME,
        format!("Fig. 14: geometric means over {} workloads", mixes.len()),
        &["high", "scheduler", METRICS[0], METRICS[1], METRICS[2], METRICS[3]],
    );
    for category in categories.iter().copied().map(Some).chain([None]) {
        for (at, (name, _)) in VARIANTS.iter().enumerate() {
            let label = category.map_or("all".to_owned(), |high| format!("{} %", percent(high)));
            let mut cells = vec![label.as_str().into(), (*name).into()];
            cells.extend((0..4).map(|which| mean_over(category, at, which).into()));
            table.row(cells);
        }
    }
    let (sprinkler, s1, s3, all) = (0, 1, 2, 3);
    let ratio = |which: usize, a: usize, b: usize| mean_of(a, which) / mean_of(b, which);
    let statement = |what: &str, value: f64, holds: bool, note: &str| {
        Row::statement(NAME, what, value, holds, "x", note)
    };
    let improve = "\"the individual stages improve both\"";
    let short = "\"each stage alone falls short\"";
    let mut rows = Vec::new();
    for (stage, name) in [(s1, "stage 1"), (s3, "stage 3")] {
        for (which, metric) in [(0, "fairness"), (3, "weighted speedup")] {
            let gain = ratio(which, stage, sprinkler);
            rows.push(statement(
                &format!("{metric}, {name} over sprinkler"),
                gain,
                gain > 1.0,
                improve,
            ));
        }
    }
    for (which, metric) in [(0, "fairness"), (3, "weighted speedup")] {
        for &high in categories {
            let of = |variant| mean_over(Some(high), variant, which);
            rows.push(statement(
                &format!("{metric}, stage 1 over stage 3, {} % high", percent(high)),
                of(s1) / of(s3),
                of(s1) > of(s3),
                "\"improvements of Stage 1 are much higher than those of Stage 3\"",
            ));
        }
    }
    rows.push(statement(
        "maximum slowdown, stage 1 over stage 3",
        ratio(1, s1, s3),
        ratio(1, s1, s3) > 1.0,
        "\"Stage 3 reduces the maximum slowdown by a greater amount\"",
    ));
    for (which, metric) in [(0, "fairness"), (3, "weighted speedup")] {
        let least = ratio(which, all, s1).min(ratio(which, all, s3));
        let what = format!("{metric}, all over the better stage");
        rows.push(statement(&what, least, least > 1.0, short));
    }
    let most = ratio(1, all, s1).max(ratio(1, all, s3));
    rows.push(statement("maximum slowdown, all over the better stage", most, most < 1.0, short));
    Ok(Findings { rows, tables: vec![table] })
}
