//! Fig. 15: sensitivity to FLIN's parameters.

use flashlane::Error;

use super::mixes::{CATEGORIES, Load, draw, geometric, metric, mix_job, per_category};
use crate::{Findings, Job, Lab, Row, Table};

const NAME: &str = "parameters";

/// A parameter, its unit in the tables, and its values; the paper's setting is marked.
struct Sweep {
    key: &'static str,
    title: &'static str,
    values: &'static [(&'static str, f64)],
    paper: f64,
}

const SWEEPS: [Sweep; 4] = [
    Sweep {
        key: "epoch",
        title: "epoch, ms",
        values: &[
            ("\"100us\"", 0.1),
            ("\"1ms\"", 1.0),
            ("\"10ms\"", 10.0),
            ("\"100ms\"", 100.0),
            ("\"1s\"", 1000.0),
        ],
        paper: 10.0,
    },
    Sweep {
        key: "read_intensity",
        title: "threshold of read intensity, MB/s",
        values: &[
            ("\"1MB/s\"", 1.0),
            ("\"8MB/s\"", 8.0),
            ("\"32MB/s\"", 32.0),
            ("\"128MB/s\"", 128.0),
            ("\"512MB/s\"", 512.0),
        ],
        paper: 32.0,
    },
    Sweep {
        key: "fairness_threshold",
        title: "fairness threshold",
        values: &[("0.0", 0.0), ("0.3", 0.3), ("0.6", 0.6), ("0.8", 0.8), ("1.0", 1.0)],
        paper: 0.6,
    },
    Sweep {
        key: "gc_free_pages",
        title: "GC threshold, pages",
        values: &[("256", 256.0), ("512", 512.0), ("1024", 1024.0), ("2048", 2048.0)],
        paper: 1024.0,
    },
];

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let categories: &[u32] = if lab.smoke { &[2] } else { &CATEGORIES };
    let mixes = draw(categories, per_category(lab, 1));
    let load = Load::new(lab);
    let mut jobs: Vec<Job> = Vec::new();
    for sweep in &SWEEPS {
        for (value, _) in sweep.values {
            let policy = format!("{{ flin = {{ {} = {value} }} }}", sweep.key);
            for mix in &mixes {
                jobs.push(mix_job(lab, mix, load, &policy, &[])?);
            }
        }
    }
    let runs = lab.run(&jobs)?;
    let mut chunks = runs.chunks(mixes.len());
    let mut tables = Vec::new();
    let mut fairness: Vec<Vec<f64>> = Vec::new();
    for sweep in &SWEEPS {
        let mut table = Table::new(
            format!("{NAME}-{}", sweep.key.replace('_', "-")),
            format!("Fig. 15, {}: geometric means over {} workloads", sweep.title, mixes.len()),
            &[sweep.title, "fairness", "max slowdown", "weighted speedup"],
        );
        let mut means = Vec::new();
        for &(_, value) in sweep.values {
            let of_value = chunks.next().expect("a chunk for every value");
            let mean_of = |which| {
                let values: Vec<f64> =
                    of_value.iter().map(|run| metric(&run.summary, which)).collect();
                geometric(&values)
            };
            means.push(mean_of(0));
            table.row(vec![value.into(), mean_of(0).into(), mean_of(1).into(), mean_of(3).into()]);
        }
        fairness.push(means);
        tables.push(table);
    }
    let at = |sweep: usize, value: f64| {
        let found = SWEEPS[sweep].values.iter().position(|&(_, v)| v == value);
        fairness[sweep][found.expect("a value of the sweep")]
    };
    let best = |sweep: usize| {
        let most = fairness[sweep].iter().copied().fold(0.0, f64::max);
        (at(sweep, SWEEPS[sweep].paper) / most, most)
    };
    let near = "fairness at the paper's setting over the best of the sweep; taken as above 0.95";
    let rows = vec![
        Row::statement(
            NAME,
            "epoch of 10 or 100 ms over the best",
            at(0, 10.0).max(at(0, 100.0)) / best(0).1,
            at(0, 10.0).max(at(0, 100.0)) / best(0).1 > 0.95,
            "x",
            "\"epoch lengths of 10-100 ms achieve the highest fairness\"; taken as above 0.95",
        ),
        Row::statement(
            NAME,
            "read threshold of 1 over that of 32 MB/s",
            at(1, 1.0) / at(1, 32.0),
            at(1, 1.0) < at(1, 32.0),
            "x",
            "\"if too small (e.g., below 32 MB/s), fairness decreases\"",
        ),
        Row::statement(
            NAME,
            "read threshold of 32 MB/s over the best",
            best(1).0,
            best(1).0 > 0.95,
            "x",
            near,
        ),
        Row::statement(
            NAME,
            "fairness threshold of 0.6 over the best",
            best(2).0,
            best(2).0 > 0.95,
            "x",
            near,
        ),
        Row::statement(
            NAME,
            "GC threshold, worst over best",
            fairness[3].iter().copied().fold(f64::INFINITY, f64::min) / best(3).1,
            fairness[3].iter().all(|&f| f > 0.9 * best(3).1),
            "x",
            "\"fairness is not highly sensitive\"; taken as above 0.9",
        ),
    ];
    Ok(Findings { rows, tables })
}
