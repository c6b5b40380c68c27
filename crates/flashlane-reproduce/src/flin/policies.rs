//! Fig. 10 to 13: the 40 workloads under Sprinkler, Sprinkler with budgets, and FLIN.
//!
//! Section 7.1. The traces are the user's own or clones, at their published rates. (The statistics
//! of the traces are published, the traces are not.) The experiment `sensitivity` shows on which
//! choices the comparison depends.

use flashlane::Error;

use super::compared::{Compared, FLIN, SERVED};
use super::mixes::{
    CATEGORIES, FEWEST, Load, METRICS, NEARER, TRACE_S, compared, geometric, mean, metric, percent,
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
/// Index of Sprinkler with budgets in [`COMPARED`].
const BUDGETS: usize = 1;
/// The schedulers that are compared, each with the one that it is compared with.
const PAIRS: [[usize; 2]; 3] = [[FLIN, 0], [FLIN, BUDGETS], [BUDGETS, 0]];

/// What the paper says of a pair of schedulers. What it says of Sprinkler with budgets against
/// Sprinkler follows from what it says of FLIN against both.
fn of_paper(which: usize, high: u32, [policy, over]: [usize; 2]) -> f64 {
    let [sprinkler, budgets] = [FAIRNESS, MAXIMUM, STDEV, SPEEDUP][which][high as usize - 1];
    match (policy, over) {
        (BUDGETS, _) if which == 3 => (1.0 + sprinkler) / (1.0 + budgets) - 1.0,
        (BUDGETS, _) => sprinkler / budgets,
        (_, BUDGETS) => budgets,
        _ => sprinkler,
    }
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let categories: &[u32] = if lab.smoke { &[2] } else { &CATEGORIES };
    let mixes = compared(lab, categories);
    let results = Compared::run(lab, mixes, Load::new(lab), &[], lab.seeds)?;
    let mut rows = Vec::new();
    for &high in categories {
        rows.extend(of_category(&results, high));
    }
    rows.extend(of_all(&results));
    let tables = vec![means(&results, categories), steady(&results, categories), each(&results)];
    Ok(Findings { rows, tables })
}

/// Compares the schedulers in one category: over all workloads, and over those that FLIN serves.
fn of_category(results: &Compared, high: u32) -> Vec<Row> {
    let all = results.chosen(|mix, _| mix.high == high);
    let served: Vec<usize> = all.iter().copied().filter(|&at| results.is_served(at)).collect();
    let mut rows = compare(results, high, &all, "");
    if !served.is_empty() {
        rows.extend(compare(results, high, &served, ", served"));
    }
    rows
}

/// Compares the schedulers over some workloads of a category. `which_ones`: part of the names.
fn compare(results: &Compared, high: u32, chosen: &[usize], which_ones: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for (which, name) in METRICS.iter().enumerate() {
        for pair in PAIRS {
            let [policy, over] = pair.map(|policy| COMPARED[policy]);
            let (ratios, by_mix) = results.gains_of(chosen, pair, which);
            let (neutral, unit) = if which == 3 { (0.0, "change") } else { (1.0, "x") };
            let [growing, growing_over] = pair.map(|policy| results.growing(chosen, policy));
            rows.push(Row::number_over_seeds(
                NAME,
                format!("{name}, {} % high{which_ones}, {policy} against {over}", percent(high)),
                of_paper(which, high, pair),
                &ratios,
                neutral,
                unit,
                format!(
                    "ratio of the means over {} workloads; geometric mean of the ratios: {by_mix:.2}; \
                     backlogs grow in {growing_over} of them under {over} and in {growing} under \
                     {policy}",
                    chosen.len(),
                ),
            ));
        }
    }
    rows
}

/// Comparisons with the paper's statements on all workloads together.
fn of_all(results: &Compared) -> Vec<Row> {
    let all = results.chosen(|_, _| true);
    let (served, others): (Vec<usize>, Vec<usize>) =
        all.iter().partition(|&&at| results.is_served(at));
    let names: Vec<String> = others.iter().map(|&at| results.mixes[at].name()).collect();
    let note = format!(
        "backlogs grow in {} of {} workloads; FLIN serves all but {}: {}",
        results.growing(&all, FLIN),
        all.len(),
        others.len(),
        names.join(", "),
    );
    let largest =
        |run: &crate::Run| (0..4).map(|flow| slowdown(&run.summary, flow)).fold(0.0, f64::max);
    let most =
        |chosen: &[usize], number: &dyn Fn(&crate::Run) -> f64| results.most(chosen, FLIN, number);
    let at_most = |name: &str, values: &[f64], bound: f64, unit, words: &str| {
        let note = format!("{words}; {note}");
        Row::statement_over_seeds(NAME, name, values, Bound::AtMost(bound), unit, note)
    };
    let [slowest, spread] =
        ["\"no flow has a maximum slowdown greater than 80x\"", "\"always lower than 10\""];
    let mut rows = vec![
        at_most(
            "largest slowdown of any flow under flin",
            &most(&all, &largest),
            SERVED[0],
            "x",
            slowest,
        ),
        at_most(
            "largest STDEV of slowdown under flin",
            &most(&all, &|run| metric(&run.summary, 2)),
            SERVED[1],
            "",
            spread,
        ),
        Row::statement_over_seeds(
            NAME,
            "share of the workloads that flin serves",
            &[served.len() as f64 / all.len() as f64],
            Bound::AtLeast(1.0),
            "share",
            format!("both statements hold with every seed; {note}"),
        ),
    ];
    rows.extend(fairer(results, &all));
    rows.extend(averages(results, &all));
    rows
}

/// The paper's statement on Sprinkler with budgets and Sprinkler. Where budgets hardly ever end,
/// both are the same but for chance.
fn fairer(results: &Compared, all: &[usize]) -> [Row; 2] {
    let row = |part: f64, name: &str| {
        let counts = results.as_fair(all, [BUDGETS, 0], part);
        let shares: Vec<f64> = counts.iter().map(|count| count / all.len() as f64).collect();
        let words = "\"improves fairness over Sprinkler\"";
        Row::statement_over_seeds(NAME, name, &shares, Bound::AtLeast(0.9), "share", words)
    };
    [
        row(1.0, "share of the workloads in which sprinkler-fairness is as fair as sprinkler"),
        row(
            NEARER,
            "share of the workloads in which sprinkler-fairness has 98 % of the fairness of sprinkler",
        ),
    ]
}

/// The average improvements of the abstract.
fn averages(results: &Compared, all: &[usize]) -> Vec<Row> {
    let row = |(which, paper, what): (usize, f64, &str)| {
        let (ratios, by_mix) = results.gains(all, BUDGETS, which);
        let change = |ratio: f64| if which == 3 { ratio } else { ratio - 1.0 };
        Row::number_over_seeds(
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
        )
    };
    [(0, 0.70, "fairness"), (3, 0.47, "weighted speedup")].map(row).into()
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
            "served by flin",
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
                if results.is_served(at) { "yes" } else { "no" }.into(),
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
