//! Fig. 15: sensitivity to FLIN's parameters.

use flashlane::Error;

use super::mixes::{Load, NEARER, by_seed, mean, mix_job, ratios, shown};
use crate::{Bound, Findings, Job, Lab, Row, Table};

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

/// Workloads of these categories run.
const CATEGORIES: [u32; 2] = [2, 4];

/// Fairness by seed, by sweep and value.
type Fairness = Vec<Vec<Vec<f64>>>;

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let categories: &[u32] = if lab.smoke { &[2] } else { &CATEGORIES };
    let mixes = shown(lab, categories);
    let load = Load::short(lab);
    let mut jobs: Vec<Job> = Vec::new();
    for sweep in &SWEEPS {
        for (value, _) in sweep.values {
            let policy = format!("{{ flin = {{ {} = {value} }} }}", sweep.key);
            for mix in &mixes {
                jobs.push(mix_job(lab, mix, load, &policy, &[])?);
            }
        }
    }
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let mut chunks = runs.chunks(mixes.len());
    let mut tables = Vec::new();
    let mut fairness: Fairness = Vec::new();
    for sweep in &SWEEPS {
        let mut table = Table::new(
            format!("{NAME}-{}", sweep.key.replace('_', "-")),
            format!(
                "Fig. 15, {}: geometric means over {} workloads, means over seeds",
                sweep.title,
                mixes.len()
            ),
            &[sweep.title, "fairness", "max slowdown", "weighted speedup"],
        );
        let mut of_sweep = Vec::new();
        for &(_, value) in sweep.values {
            let of_value = chunks.next().expect("a chunk for every value");
            let mut cells = vec![value.into()];
            cells.extend([0, 1, 3].map(|which| mean(&by_seed(of_value, which)).into()));
            table.row(cells);
            of_sweep.push(by_seed(of_value, 0));
        }
        fairness.push(of_sweep);
        tables.push(table);
    }
    Ok(Findings { rows: rows(&fairness), tables })
}

/// Comparisons with the paper's statements on the four sweeps.
fn rows(fairness: &Fairness) -> Vec<Row> {
    let at = |sweep: usize, value: f64| {
        let found = SWEEPS[sweep].values.iter().position(|&(_, v)| v == value);
        &fairness[sweep][found.expect("a value of the sweep")]
    };
    // The best or the worst of some values, by seed.
    let extreme = |of: &[&Vec<f64>], pick: fn(f64, f64) -> f64| -> Vec<f64> {
        let seed = |seed: usize| of.iter().map(|v| v[seed]).reduce(pick).expect("some value");
        (0..of[0].len()).map(seed).collect()
    };
    let all = |sweep: usize| fairness[sweep].iter().collect::<Vec<_>>();
    let best = |sweep: usize| extreme(&all(sweep), f64::max);
    let papers = |sweep: usize| ratios(at(sweep, SWEEPS[sweep].paper), &best(sweep));
    let near = "fairness at the paper's setting over the best of the sweep";
    let row = |what: &str, values: &[f64], bound: Bound, note: &str| {
        Row::statement_over_seeds(NAME, what, values, bound, "x", note)
    };
    let middle = extreme(&[at(0, 10.0), at(0, 100.0)], f64::max);
    vec![
        row(
            "epoch of 10 or 100 ms over the best",
            &ratios(&middle, &best(0)),
            Bound::AtLeast(0.95),
            "\"epoch lengths of 10-100 ms achieve the highest fairness\"",
        ),
        row(
            "read threshold of 1 over that of 32 MB/s",
            &ratios(at(1, 1.0), at(1, 32.0)),
            Bound::AtMost(NEARER),
            "\"if too small (e.g., below 32 MB/s), fairness decreases\"",
        ),
        row("read threshold of 32 MB/s over the best", &papers(1), Bound::AtLeast(0.95), near),
        row("fairness threshold of 0.6 over the best", &papers(2), Bound::AtLeast(0.95), near),
        row(
            "GC threshold, worst over best",
            &ratios(&extreme(&all(3), f64::min), &best(3)),
            Bound::AtLeast(0.9),
            "\"fairness is not highly sensitive\"",
        ),
        row(
            "GC threshold of 256 over that of 2,048 pages",
            &ratios(at(3, 256.0), at(3, 2048.0)),
            Bound::AtLeast(1.0),
            "\"smaller values provide slightly higher fairness\"",
        ),
    ]
}
