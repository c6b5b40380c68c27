//! Fig. 15: sensitivity to FLIN's parameters.

use flashlane::Error;

use super::mixes::{Load, NEARER, by_seed, mean, mix_job, ratios, shown};
use crate::row::over_seeds;
use crate::{Bound, Findings, Job, Lab, Row, Table};

const NAME: &str = "parameters";

/// A parameter, its unit in the tables, and its values; the paper's setting is marked.
struct Sweep {
    key: &'static str,
    /// Further parameters, and a word for them in names of tables and rows.
    with: [&'static str; 2],
    title: &'static str,
    values: &'static [(&'static str, f64)],
    paper: f64,
}

/// The second sweep over the threshold of collection is at an operating point of our own, where
/// Algorithm 2 reaches its lines 11 to 16: free pages of the plane count. Pages of the whole drive
/// are never as few.
const SWEEPS: [Sweep; 6] = [
    Sweep {
        key: "epoch",
        with: ["", ""],
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
        with: ["", ""],
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
        with: ["", ""],
        title: "fairness threshold",
        values: &[("0.0", 0.0), ("0.3", 0.3), ("0.6", 0.6), ("0.8", 0.8), ("1.0", 1.0)],
        paper: 0.6,
    },
    Sweep {
        key: "gc_free_pages",
        with: ["", ""],
        title: "GC threshold, pages",
        values: &GC_VALUES,
        paper: 1024.0,
    },
    Sweep {
        key: "gc_free_pages",
        with: [", gc_scope = \"plane\"", " of a plane"],
        title: "GC threshold, pages of a plane",
        values: &GC_VALUES,
        paper: 1024.0,
    },
    Sweep {
        key: "first_intensity",
        with: ["", ""],
        title: "flows begin as high (1) or low (0)",
        values: &[("\"low\"", 0.0), ("\"high\"", 1.0)],
        paper: 0.0,
    },
];

/// Thresholds of collection.
const GC_VALUES: [(&str, f64); 4] =
    [("256", 256.0), ("512", 512.0), ("1024", 1024.0), ("2048", 2048.0)];

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
            let policy = format!("{{ flin = {{ {} = {value}{} }} }}", sweep.key, sweep.with[0]);
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
            format!("{NAME}-{}{}", sweep.key, sweep.with[1]).replace(['_', ' '], "-"),
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

/// Fairness of the values of each sweep.
struct Swept<'a>(&'a Fairness);

impl Swept<'_> {
    /// Fairness at a value of a sweep, by seed.
    fn at(&self, sweep: usize, value: f64) -> &Vec<f64> {
        let found = SWEEPS[sweep].values.iter().position(|&(_, v)| v == value);
        &self.0[sweep][found.expect("a value of the sweep")]
    }

    /// The best or the worst of a sweep, by seed.
    fn extreme(&self, sweep: usize, pick: fn(f64, f64) -> f64) -> Vec<f64> {
        extreme(&self.0[sweep].iter().collect::<Vec<_>>(), pick)
    }

    /// The paper's setting over the best of a sweep, by seed.
    fn papers(&self, sweep: usize) -> Vec<f64> {
        ratios(self.at(sweep, SWEEPS[sweep].paper), &self.extreme(sweep, f64::max))
    }

    /// By how much a sweep changes fairness at most, in the mean over seeds, as a ratio.
    fn effect(&self, sweep: usize) -> f64 {
        let means: Vec<f64> = self.0[sweep].iter().map(|seeds| mean(seeds)).collect();
        let [low, high] = [f64::min, f64::max].map(|pick| means.iter().copied().reduce(pick));
        high.zip(low).map_or(1.0, |(high, low)| high / low)
    }

    /// A statement of the paper on a sweep.
    fn row(&self, sweep: usize, what: &str, values: &[f64], bound: Bound, note: &str) -> Row {
        Row::statement_over_seeds(NAME, what, values, bound, "x", note)
            .if_effective(self.effect(sweep))
    }
}

/// The best or the worst of some values, by seed.
fn extreme(of: &[&Vec<f64>], pick: fn(f64, f64) -> f64) -> Vec<f64> {
    let seed = |seed: usize| of.iter().map(|v| v[seed]).reduce(pick).expect("some value");
    (0..of[0].len()).map(seed).collect()
}

/// Comparisons with the paper's statements on the sweeps.
fn rows(fairness: &Fairness) -> Vec<Row> {
    let all = Swept(fairness);
    let near = "fairness at the paper's setting over the best of the sweep";
    let middle = extreme(&[all.at(0, 10.0), all.at(0, 100.0)], f64::max);
    let mut rows = vec![
        all.row(
            0,
            "epoch of 10 or 100 ms over the best",
            &ratios(&middle, &all.extreme(0, f64::max)),
            Bound::AtLeast(0.95),
            "\"epoch lengths of 10-100 ms achieve the highest fairness\"",
        ),
        all.row(
            1,
            "read threshold of 1 over that of 32 MB/s",
            &ratios(all.at(1, 1.0), all.at(1, 32.0)),
            Bound::AtMost(NEARER),
            "\"if too small (e.g., below 32 MB/s), fairness decreases\"",
        ),
    ];
    for (sweep, what) in [
        (1, "read threshold of 32 MB/s over the best"),
        (2, "fairness threshold of 0.6 over the best"),
    ] {
        rows.push(all.row(sweep, what, &all.papers(sweep), Bound::AtLeast(0.95), near));
    }
    rows.extend([3, 4].into_iter().flat_map(|sweep| of_collection(&all, sweep)));
    rows.push(first_epoch(&all));
    rows
}

/// Comparisons on a sweep over the threshold of collection.
fn of_collection(all: &Swept<'_>, sweep: usize) -> [Row; 2] {
    let of = SWEEPS[sweep].with[1];
    [
        all.row(
            sweep,
            &format!("GC threshold{of}, worst over best"),
            &ratios(&all.extreme(sweep, f64::min), &all.extreme(sweep, f64::max)),
            Bound::AtLeast(0.9),
            "\"fairness is not highly sensitive\"",
        ),
        all.row(
            sweep,
            &format!("GC threshold{of} of 256 over that of 2,048 pages"),
            &ratios(all.at(sweep, 256.0), all.at(sweep, 2048.0)),
            Bound::AtLeast(1.0),
            "\"smaller values provide slightly higher fairness\"",
        ),
    ]
}

/// What the intensity of the first epoch changes.
fn first_epoch(all: &Swept<'_>) -> Row {
    let (begins, _) = over_seeds(&ratios(all.at(5, 1.0), all.at(5, 0.0)));
    Row::no_reference(
        NAME,
        "flows that begin as high over such that begin as low",
        None,
        Some(begins),
        "x",
        "fairness; the paper does not say how they begin, the fragment in the released MQSim has \
         high",
    )
}
