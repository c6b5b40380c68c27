//! Fig. 10 to 13: the 40 workloads under Sprinkler, Sprinkler with budgets, and FLIN.
//!
//! Section 7.1. The traces are the user's own or clones, at their published rates. (The statistics
//! of the traces are published, the traces are not.) The experiment `sensitivity` shows on which
//! choices the comparison depends.

use flashlane::Error;

use super::compared::Compared;
use super::mixes::{
    CATEGORIES, FEWEST, Load, METRICS, TRACE_S, draw, geometric, mean, metric, per_category,
    percent,
};
use super::setup::{COMPARED, busy, grows, slowdown};
use crate::{Bound, Findings, Lab, Row, Table};

const NAME: &str = "policies";
/// FLIN over Sprinkler and over Sprinkler with budgets, by category. Fairness as a factor up,
/// slowdowns as factors down, weighted speedup as a change. Source: section 7.1.
const FAIRNESS: [[f64; 2]; 4] = [[1.8, 1.3], [2.5, 1.6], [5.6, 2.4], [54.0, 3.2]];
const MAXIMUM: [[f64; 2]; 4] = [[24.0, 2.3], [1400.0, 5.5], [3231.0, 12.0], [1597.0, 18.0]];
const STDEV: [[f64; 2]; 4] = [[137.0, 13.0], [7504.0, 15.0], [2784.0, 15.0], [2850.0, 21.5]];
const SPEEDUP: [[f64; 2]; 4] = [[0.38, 0.21], [0.74, 0.32], [1.32, 0.41], [1.56, 0.76]];
/// Index of FLIN in [`COMPARED`].
const FLIN: usize = 2;

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let categories: &[u32] = if lab.smoke { &[2] } else { &CATEGORIES };
    let mixes = draw(categories, per_category(lab, 3));
    let results = Compared::run(lab, mixes, Load::new(lab), &[], lab.seeds)?;
    let mut rows = Vec::new();
    for &high in categories {
        rows.extend(of_category(&results, high));
    }
    rows.extend(of_all(&results));
    let tables = vec![means(&results, categories), steady(&results, categories), each(&results)];
    Ok(Findings { rows, tables })
}

/// Compares FLIN with both baselines in one category.
fn of_category(results: &Compared, high: u32) -> Vec<Row> {
    let chosen = results.chosen(|mix, _| mix.high == high);
    let mut rows = Vec::new();
    for (which, name) in METRICS.iter().enumerate() {
        for (over, baseline) in COMPARED[..FLIN].iter().enumerate() {
            let paper = [FAIRNESS, MAXIMUM, STDEV, SPEEDUP][which][high as usize - 1][over];
            let (ratios, by_mix) = results.gains(&chosen, over, which);
            let (neutral, unit) = if which == 3 { (0.0, "change") } else { (1.0, "x") };
            rows.push(Row::number_over_seeds(
                NAME,
                format!("{name}, {} % high, flin against {baseline}", percent(high)),
                paper,
                &ratios,
                neutral,
                unit,
                format!(
                    "ratio of the means over {} workloads; geometric mean of the ratios: {:.2}; \
                     backlogs grow in {} of them under {baseline} and in {} under flin",
                    chosen.len(),
                    by_mix,
                    results.growing(&chosen, over),
                    results.growing(&chosen, FLIN),
                ),
            ));
        }
    }
    rows
}

/// Comparisons with the paper's statements on all workloads together.
fn of_all(results: &Compared) -> Vec<Row> {
    let all = results.chosen(|_, _| true);
    let most = |number: &dyn Fn(&crate::Run) -> f64| results.most(&all, FLIN, number);
    let note =
        format!("backlogs grow in {} of {} workloads", results.growing(&all, FLIN), all.len());
    let mut rows = vec![
        Row::statement_over_seeds(
            NAME,
            "largest slowdown of any flow under flin",
            &most(&|run| (0..4).map(|flow| slowdown(&run.summary, flow)).fold(0.0, f64::max)),
            Bound::AtMost(80.0),
            "x",
            format!("\"no flow has a maximum slowdown greater than 80x\"; {note}"),
        ),
        Row::statement_over_seeds(
            NAME,
            "largest STDEV of slowdown under flin",
            &most(&|run| metric(&run.summary, 2)),
            Bound::AtMost(10.0),
            "",
            format!("\"always lower than 10\"; {note}"),
        ),
    ];
    for (which, paper, what) in [(0, 0.70, "fairness"), (3, 0.47, "weighted speedup")] {
        let (ratios, by_mix) = results.gains(&all, 1, which);
        let change = |ratio: f64| if which == 3 { ratio } else { ratio - 1.0 };
        rows.push(Row::number_over_seeds(
            NAME,
            format!("{what}, all workloads, flin against sprinkler-fairness"),
            paper,
            &ratios.iter().map(|&ratio| change(ratio)).collect::<Vec<f64>>(),
            0.0,
            "change",
            format!(
                "the abstract's average improvement; geometric mean of the ratios: {:.2}",
                change(by_mix)
            ),
        ));
    }
    rows
}

/// Every workload under every policy.
fn each(results: &Compared) -> Table {
    let mut table = Table::new(
        "policies-workloads",
        format!("Fig. 10-13: every workload, {TRACE_S} s, means over seeds"),
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
            "fewest requests of a flow",
            "seeds with growing backlogs",
            "left out",
        ],
    );
    for (at, mix) in results.mixes.iter().enumerate() {
        for (policy, name) in COMPARED.iter().enumerate() {
            let runs = results.seeds(at, policy);
            let over = |number: &dyn Fn(&crate::Run) -> f64| {
                mean(&runs.iter().map(number).collect::<Vec<_>>())
            };
            let sparse = results.is_sparse(at);
            let mut cells =
                vec![percent(mix.high).into(), mix.name().as_str().into(), (*name).into()];
            for which in 0..4 {
                let value = (!sparse).then(|| over(&|run| metric(&run.summary, which)));
                cells.push(value.into());
            }
            for flow in 0..4 {
                cells.push((!sparse).then(|| over(&|run| slowdown(&run.summary, flow))).into());
            }
            cells.extend([
                over(&|run| busy(&run.summary).0).into(),
                over(&|run| busy(&run.summary).1).into(),
                (results.fewest(at) as f64).into(),
                (runs.iter().filter(|run| grows(&run.summary)).count() as f64).into(),
                if sparse { format!("fewer than {FEWEST}") } else { String::new() }.as_str().into(),
            ]);
            table.row(cells);
        }
    }
    table.long = true;
    table
}

/// Arithmetic and geometric means by category, over workloads and seeds.
fn means(results: &Compared, categories: &[u32]) -> Table {
    let mut table = Table::new(
        NAME,
        format!("Fig. 10-13: arithmetic and geometric means, {TRACE_S} s of the published traces"),
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
            "workloads",
            "growing",
        ],
    );
    for &high in categories {
        let chosen = results.chosen(|mix, _| mix.high == high);
        for (policy, name) in COMPARED.iter().enumerate() {
            let mut cells = vec![percent(high).into(), (*name).into()];
            for which in 0..4 {
                let values = results.values(&chosen, policy, which);
                cells.extend([mean(&values).into(), geometric(&values).into()]);
            }
            cells.push((chosen.len() as f64).into());
            cells.push((results.growing(&chosen, policy) as f64).into());
            table.row(cells);
        }
    }
    table
}

/// The gains over those workloads whose backlogs grow under no scheduler.
fn steady(results: &Compared, categories: &[u32]) -> Table {
    let mut table = Table::new(
        "policies-steady",
        "Fig. 10-13: flin over both baselines where no backlog grows, ratios of means",
        &[
            "high, %",
            "workloads",
            "flin over",
            "fairness",
            "max slowdown",
            "STDEV",
            "weighted speedup, change",
        ],
    );
    for &high in categories {
        let chosen = results.chosen(|mix, runs| {
            mix.high == high && !runs.iter().flatten().any(|run| grows(&run.summary))
        });
        for (over, name) in COMPARED[..FLIN].iter().enumerate() {
            let mut cells =
                vec![percent(high).into(), (chosen.len() as f64).into(), (*name).into()];
            for which in 0..4 {
                let gain =
                    (!chosen.is_empty()).then(|| mean(&results.gains(&chosen, over, which).0));
                cells.push(gain.into());
            }
            table.row(cells);
        }
    }
    table
}
