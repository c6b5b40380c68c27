//! Tables with a column for each run.

use flashlane::metrics::{FlowSummary, Latency, Summary};
use serde::Serialize;

use crate::data::RunData;
use crate::words::{number, percent, time};

/// A line of a table.
#[derive(Debug, Serialize)]
pub(crate) struct Row<T> {
    pub(crate) name: String,
    pub(crate) cells: Vec<T>,
}

/// A figure of a run beside that of the first one.
#[derive(Debug, Serialize)]
pub(crate) struct Compared {
    text: String,
    change: Option<String>,
    best: bool,
}

/// What collection and wear did in each run.
pub(crate) fn collection(runs: &[RunData]) -> Vec<Row<String>> {
    type Figure = (&'static str, fn(&Summary) -> String);
    let figures: [Figure; 12] = [
        ("pages read for the host", |s| number(s.flash.user_reads as f64)),
        ("pages programmed for the host", |s| number(s.flash.user_programs as f64)),
        ("pages moved by collection", |s| number(s.flash.gc_programs as f64)),
        ("blocks collected", |s| number(s.flash.gc_invocations as f64)),
        ("blocks erased", |s| number(s.flash.erases as f64)),
        ("erases of a block, mean", |s| number(s.flash.block_erases.mean)),
        ("erases of a block, most", |s| s.flash.block_erases.max.to_string()),
        ("blocks moved to level wear", |s| s.flash.wear_leveling_moves.to_string()),
        ("translation pages read, programmed", |s| {
            format!(
                "{}, {}",
                number(s.flash.mapping_reads as f64),
                number(s.flash.mapping_programs as f64)
            )
        }),
        ("programs, erases suspended", |s| {
            format!("{}, {}", s.flash.program_suspends, s.flash.erase_suspends)
        }),
        ("write amplification", |s| number(s.flash.write_amplification)),
        ("time of the dies: host, collection, mapping", |s| {
            let time = &s.device_time;
            format!(
                "{}, {}, {}",
                percent(time.host_share),
                percent(time.gc_share),
                percent(time.mapping_share)
            )
        }),
    ];
    figures
        .into_iter()
        .map(|(name, figure)| Row {
            name: name.to_owned(),
            cells: runs.iter().map(|run| figure(&run.summary)).collect(),
        })
        .collect()
}

/// Every figure that runs are compared by.
pub(crate) fn comparison(runs: &[RunData]) -> Vec<Row<Compared>> {
    let mut rows = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for flow in runs.iter().flat_map(|run| &run.summary.flows) {
        if !names.contains(&flow.name.as_str()) {
            names.push(&flow.name);
        }
    }
    for name in names {
        type Figure = (&'static str, bool, fn(f64) -> String, fn(&FlowSummary) -> Option<f64>);
        let figures: [Figure; 5] = [
            ("slowdown", false, number, |f| f.slowdown),
            ("mean response", false, time, |f| counted(&f.response_time_us, |l| l.mean)),
            ("p99", false, time, |f| counted(&f.response_time_us, |l| l.p99)),
            ("p99.9", false, time, |f| counted(&f.response_time_us, |l| l.p99_9)),
            ("IOPS", true, number, |f| Some(f.iops)),
        ];
        for (what, more_is_better, text, figure) in figures {
            let values: Vec<Option<f64>> = runs
                .iter()
                .map(|run| run.summary.flows.iter().find(|f| f.name == name).and_then(figure))
                .collect();
            rows.extend(compare(format!("{name}: {what}"), &values, more_is_better, text));
        }
    }
    type Figure = (&'static str, bool, fn(&Summary) -> Option<f64>);
    let figures: [Figure; 4] = [
        ("fairness", true, |s| s.fairness.fairness),
        ("largest slowdown", false, |s| s.fairness.max_slowdown),
        ("weighted speedup", true, |s| s.fairness.weighted_speedup),
        ("write amplification", false, |s| Some(s.flash.write_amplification)),
    ];
    for (what, more_is_better, figure) in figures {
        let values: Vec<Option<f64>> = runs.iter().map(|run| figure(&run.summary)).collect();
        rows.extend(compare(what.to_owned(), &values, more_is_better, number));
    }
    rows
}

fn counted(latency: &Latency, figure: fn(&Latency) -> f64) -> Option<f64> {
    (latency.count > 0).then(|| figure(latency))
}

/// A row of the comparison; none where no run has the figure.
fn compare(
    name: String,
    values: &[Option<f64>],
    more_is_better: bool,
    text: fn(f64) -> String,
) -> Option<Row<Compared>> {
    let there = || values.iter().flatten().copied();
    let best = there().reduce(if more_is_better { f64::max } else { f64::min })?;
    let differ = there().any(|value| value != best);
    let first = values[0];
    let cells = values.iter().enumerate().map(|(index, value)| Compared {
        text: value.map_or("–".to_owned(), text),
        change: match (first, value) {
            (Some(first), Some(value)) if index > 0 && first != 0.0 => {
                Some(format!("({:+.0} %)", (value / first - 1.0) * 100.0))
            }
            _ => None,
        },
        best: differ && *value == Some(best),
    });
    Some(Row { name, cells: cells.collect() })
}
