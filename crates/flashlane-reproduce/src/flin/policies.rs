//! Fig. 10 to 13: the 40 workloads under Sprinkler, Sprinkler with budgets, and FLIN.
//!
//! Section 7.1. The traces are the user's own or clones (their statistics are published, they are
//! not), compressed in time by [`TIME_SCALE`]; a sweep shows how the comparison depends on that.

use flashlane::Error;

use super::mixes::{
    CATEGORIES, Load, METRICS, Mix, OF_PAPER, TIME_SCALE, draw, geometric, mean, metric, mix_job,
    per_category, percent,
};
use super::setup::{COMPARED, busy, slowdown};
use crate::{Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "policies";
/// FLIN over Sprinkler and over Sprinkler with budgets, by category. Fairness as a factor up,
/// slowdowns as factors down, weighted speedup as a change. Source: section 7.1.
const FAIRNESS: [[f64; 2]; 4] = [[1.8, 1.3], [2.5, 1.6], [5.6, 2.4], [54.0, 3.2]];
const MAXIMUM: [[f64; 2]; 4] = [[24.0, 2.3], [1400.0, 5.5], [3231.0, 12.0], [1597.0, 18.0]];
const STDEV: [[f64; 2]; 4] = [[137.0, 13.0], [7504.0, 15.0], [2784.0, 15.0], [2850.0, 21.5]];
const SPEEDUP: [[f64; 2]; 4] = [[0.38, 0.21], [0.74, 0.32], [1.32, 0.41], [1.56, 0.76]];
/// Time scales of the sweep.
const SCALES: [f64; 6] = [1.0, 0.7, 0.5, 0.4, 0.3, 0.2];

/// Results by workload, then by policy.
struct Results {
    mixes: Vec<Mix>,
    runs: Vec<Vec<Run>>,
}

impl Results {
    fn run(lab: &Lab<'_>, mixes: Vec<Mix>, load: Load) -> Result<Self, Error> {
        let mut jobs: Vec<Job> = Vec::new();
        for mix in &mixes {
            for policy in COMPARED {
                jobs.push(mix_job(lab, mix, load, policy, &[])?);
            }
        }
        let mut runs = lab.run(&jobs)?.into_iter();
        let runs = mixes.iter().map(|_| runs.by_ref().take(COMPARED.len()).collect()).collect();
        Ok(Self { mixes, runs })
    }

    /// A metric of every workload that `chosen` admits, under a policy.
    fn values(&self, chosen: impl Fn(&Mix) -> bool, policy: usize, which: usize) -> Vec<f64> {
        let of = self.mixes.iter().zip(&self.runs).filter(|(mix, _)| chosen(mix));
        of.map(|(_, runs)| metric(&runs[policy].summary, which)).collect()
    }

    /// Ratio of the arithmetic means of a metric, and geometric mean of the ratios, FLIN over
    /// another.
    fn gain(&self, chosen: impl Fn(&Mix) -> bool, over: usize, which: usize) -> [f64; 2] {
        let (flin, other) = (self.values(&chosen, 2, which), self.values(&chosen, over, which));
        let ratios: Vec<f64> = flin.iter().zip(&other).map(|(f, o)| f / o).collect();
        [mean(&flin) / mean(&other), geometric(&ratios)]
    }

    /// The largest of a number over all workloads and flows under FLIN.
    fn most(&self, number: impl Fn(&Run) -> f64) -> f64 {
        self.runs.iter().map(|runs| number(&runs[2])).fold(0.0, f64::max)
    }
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let categories: &[u32] = if lab.smoke { &[2] } else { &CATEGORIES };
    let load = Load::new(lab);
    let results = Results::run(lab, draw(categories, per_category(lab, OF_PAPER)), load)?;
    let mut rows = Vec::new();
    for &high in categories {
        let at = high as usize - 1;
        for (which, metric) in METRICS.iter().enumerate() {
            for (over, baseline) in COMPARED[..2].iter().enumerate() {
                let [ratio, by_mix] = results.gain(|mix| mix.high == high, over, which);
                let paper = [FAIRNESS, MAXIMUM, STDEV, SPEEDUP][which][at][over];
                // Slowdowns are better the smaller they are.
                let better = |ratio: f64| match which {
                    0 => ratio,
                    3 => ratio - 1.0,
                    _ => 1.0 / ratio,
                };
                let (neutral, unit) = if which == 3 { (0.0, "change") } else { (1.0, "x") };
                rows.push(Row::number(
                    NAME,
                    format!("{metric}, {} % high, flin against {baseline}", percent(high)),
                    paper,
                    better(ratio),
                    neutral,
                    unit,
                    format!(
                        "ratio of the means over {} workloads; geometric mean of the ratios: {:.2}",
                        results.values(|mix| mix.high == high, 0, 0).len(),
                        better(by_mix)
                    ),
                ));
            }
        }
    }
    let worst =
        results.most(|run| (0..4).map(|flow| slowdown(&run.summary, flow)).fold(0.0, f64::max));
    let spread = results.most(|run| metric(&run.summary, 2));
    rows.push(Row::statement(
        NAME,
        "largest slowdown of any flow under flin",
        worst,
        worst <= 80.0,
        "x",
        "\"no flow has a maximum slowdown greater than 80x\"",
    ));
    rows.push(Row::statement(
        NAME,
        "largest STDEV of slowdown under flin",
        spread,
        spread < 10.0,
        "",
        "\"always lower than 10\"",
    ));
    for (which, paper, what) in [(0, 0.70, "fairness"), (3, 0.47, "weighted speedup")] {
        let [ratio, by_mix] = results.gain(|_| true, 1, which);
        rows.push(Row::number(
            NAME,
            format!("{what}, all workloads, flin against sprinkler-fairness"),
            paper,
            ratio - 1.0,
            0.0,
            "change",
            format!(
                "the abstract's average improvement; geometric mean of the ratios: {:.2}",
                by_mix - 1.0
            ),
        ));
    }
    let tables = vec![each(&results), means(&results, categories)];
    let mut findings = Findings { rows, tables };
    findings.tables.push(loads(lab, categories, load)?);
    Ok(findings)
}

/// Every workload under every policy.
fn each(results: &Results) -> Table {
    let mut table = Table::new(
        "policies-workloads",
        format!("Fig. 10-13: every workload, time scale {TIME_SCALE}"),
        &[
            "high, %",
            "traces",
            "scheduler",
            "fairness",
            "max slowdown",
            "STDEV",
            "weighted speedup",
            "slowdown 1",
            "slowdown 2",
            "slowdown 3",
            "slowdown 4",
            "chips busy",
            "collection",
        ],
    );
    for (mix, runs) in results.mixes.iter().zip(&results.runs) {
        for (policy, run) in COMPARED.iter().zip(runs) {
            let s = &run.summary;
            let (busy, gc) = busy(s);
            let mut cells =
                vec![percent(mix.high).into(), mix.name().as_str().into(), (*policy).into()];
            cells.extend((0..4).map(|which| metric(s, which).into()));
            cells.extend((0..4).map(|flow| slowdown(s, flow).into()));
            cells.extend([busy.into(), gc.into()]);
            table.row(cells);
        }
    }
    table.long = true;
    table
}

/// Arithmetic and geometric means by category.
fn means(results: &Results, categories: &[u32]) -> Table {
    let mut table = Table::new(
        NAME,
        format!("Fig. 10-13: arithmetic and geometric means, time scale {TIME_SCALE}"),
        &[
            "high, %",
            "scheduler",
            "fairness",
            "geometric",
            "max slowdown",
            "geometric ",
            "STDEV",
            "geometric  ",
            "weighted speedup",
            "geometric   ",
        ],
    );
    for &high in categories {
        for (policy, name) in COMPARED.iter().enumerate() {
            let mut cells = vec![percent(high).into(), (*name).into()];
            for which in 0..4 {
                let values = results.values(|mix| mix.high == high, policy, which);
                cells.extend([mean(&values).into(), geometric(&values).into()]);
            }
            table.row(cells);
        }
    }
    table
}

/// How the comparison depends on the load: the first workload of each category, at many time
/// scales.
fn loads(lab: &Lab<'_>, categories: &[u32], load: Load) -> Result<Table, Error> {
    let scales: &[f64] = if lab.smoke { &SCALES[..1] } else { &SCALES };
    let mut table = Table::new(
        "policies-load",
        "Fairness and speedup against load: means over one workload of each category",
        &[
            "time scale",
            "scheduler",
            "chips busy",
            "fairness",
            "max slowdown",
            "weighted speedup",
            "fairness of flin over this",
            "speedup of flin over this",
        ],
    );
    for &time_scale in scales {
        let results = Results::run(lab, draw(categories, 1), Load { time_scale, ..load })?;
        for (policy, name) in COMPARED.iter().enumerate() {
            let busy: Vec<f64> =
                results.runs.iter().map(|runs| busy(&runs[policy].summary).0).collect();
            let mean_of = |which| mean(&results.values(|_| true, policy, which));
            table.row(vec![
                time_scale.into(),
                (*name).into(),
                mean(&busy).into(),
                mean_of(0).into(),
                mean_of(1).into(),
                mean_of(3).into(),
                results.gain(|_| true, policy, 0)[1].into(),
                results.gain(|_| true, policy, 3)[1].into(),
            ]);
        }
    }
    Ok(table)
}
