//! Figures of runs as data: a row for each metric, run and tenant, with its interval.

use std::collections::HashMap;

use flashlane::metrics::{Estimate, SeedStatistics};
use flashlane_report::RunData;
use flashlane_study::sweep::{Cell, Table};
use serde_json::{Map, Value};

const COLUMNS: [&str; 8] = ["metric", "run", "tenant", "mean", "low", "high", "n", "unit"];

/// A metric: its name, its path in the summary, and its unit.
type Metric = (&'static str, &'static str, &'static str);

/// Metrics of a tenant; the path is below the flow.
const OF_FLOW: [Metric; 8] = [
    ("iops", "iops", "1/s"),
    ("bandwidth", "bandwidth_bytes_per_s", "B/s"),
    ("end_to_end_mean", "end_to_end_us.mean", "us"),
    ("slowdown", "slowdown", "1"),
    (OWN, OWN, "1"),
    ("write_amplification", "write_amplification", "1"),
    ("saturated", "saturated", "1"),
    ("starved", "starved", "1"),
];

/// The slowdown against the run's own tenants alone.
const OWN: &str = "own_slowdown";

/// Response times of a tenant: the start of the name of a metric, and the path below the flow.
const LATENCIES: [(&str, &str); 5] = [
    ("", "response_time_us"),
    ("read_", "read_response_time_us"),
    ("write_", "write_response_time_us"),
    ("trim_", "trim_response_time_us"),
    ("flush_", "flush_response_time_us"),
];

/// Figures of a latency. Unit: microseconds.
const OF_LATENCY: [&str; 6] = ["mean", "p50", "p90", "p99", "p99_9", "max"];

/// Metrics of the drive.
const OF_DRIVE: [Metric; 6] = [
    ("fairness", "fairness.fairness", "1"),
    ("max_slowdown", "fairness.max_slowdown", "1"),
    ("weighted_speedup", "fairness.weighted_speedup", "1"),
    ("write_amplification", "flash.write_amplification", "1"),
    ("erases", "flash.erases", "blocks"),
    ("simulated_time", "simulated_s", "s"),
];

/// A figure of a run.
struct Row {
    metric: String,
    run: String,
    /// Empty for a figure of the drive.
    tenant: String,
    estimate: Estimate,
    unit: &'static str,
}

/// The rows of all runs: first the figures of each run, then their differences from the first run.
///
/// The mean is over seeds, `low` and `high` are the ends of its 95 % interval, and `n` is the
/// number of seeds. Under common seeds the differences are those of each seed.
pub(crate) fn compared(runs: &[RunData]) -> Table {
    let figures: Vec<Vec<Row>> = runs.iter().map(figures).collect();
    let mut rows: Vec<Vec<Cell>> = figures.iter().flatten().map(cells).collect();
    let seeds = |run: &RunData| match &run.seeds {
        Some(seeds) => seeds.seeds.clone(),
        None => vec![run.summary.seed],
    };
    let Some((first, others)) = figures.split_first() else { return Table::default() };
    let key = |row: &Row| (row.metric.clone(), row.tenant.clone());
    let of_first: HashMap<_, &Row> = first.iter().map(|row| (key(row), row)).collect();
    for (index, other) in others.iter().enumerate() {
        let common = seeds(&runs[0]) == seeds(&runs[index + 1]);
        rows.extend(other.iter().filter_map(|row| {
            let from = of_first.get(&key(row))?;
            let (one, two) = (&from.estimate, &row.estimate);
            let estimate = match common {
                true => one.difference_to(two),
                // Without pairs the difference of the means has no interval here.
                false => Estimate::of(vec![Some(two.mean - one.mean)]),
            }?;
            let run = format!("{} minus {}", row.run, from.run);
            let (metric, tenant) = key(row);
            Some(cells(&Row { metric, run, tenant, estimate, unit: row.unit }))
        }));
    }
    Table { columns: COLUMNS.map(str::to_owned).to_vec(), rows }
}

/// The rows as one JSON object per line.
pub(crate) fn json_lines(table: &Table) -> String {
    let value = |cell: &Cell| match cell {
        Cell::Empty => Value::Null,
        Cell::Flag(yes) => Value::from(*yes),
        Cell::Integer(number) => Value::from(*number),
        Cell::Number(number) => Value::from(*number),
        Cell::Text(text) => Value::from(text.as_str()),
    };
    let line = |row: &Vec<Cell>| {
        let fields = table.columns.iter().cloned().zip(row.iter().map(value));
        format!("{}\n", Value::Object(fields.collect::<Map<_, _>>()))
    };
    table.rows.iter().map(line).collect()
}

/// The figures of a run.
fn figures(run: &RunData) -> Vec<Row> {
    let single;
    let statistics = match &run.seeds {
        Some(seeds) => seeds,
        None => {
            single = SeedStatistics::of(std::slice::from_ref(&run.summary));
            &single
        }
    };
    let mut rows = Vec::new();
    let mut add = |tenant: &str, metric: &str, estimate: Option<&Estimate>, unit| {
        rows.extend(estimate.map(|estimate| Row {
            metric: metric.to_owned(),
            run: run.label.clone(),
            tenant: tenant.to_owned(),
            estimate: estimate.clone(),
            unit,
        }));
    };
    for (index, flow) in run.summary.flows.iter().enumerate() {
        let of = |path: &str| statistics.get(&format!("flows[{index}].{path}"));
        for (kind, path) in LATENCIES {
            // There is no latency without a request.
            if of(&format!("{path}.count")).is_none_or(|count| count.mean == 0.0) {
                continue;
            }
            for figure in OF_LATENCY {
                add(&flow.name, &format!("{kind}{figure}"), of(&format!("{path}.{figure}")), "us");
            }
        }
        for (metric, path, unit) in OF_FLOW {
            // Where there is one slowdown, it is against the run's own tenants alone.
            let found = of(path).or_else(|| of("slowdown").filter(|_| path == OWN));
            add(&flow.name, metric, found, unit);
        }
    }
    for (metric, path, unit) in OF_DRIVE {
        add("", metric, statistics.get(path), unit);
    }
    rows
}

fn cells(row: &Row) -> Vec<Cell> {
    let text = |text: &str| Cell::Text(text.to_owned());
    let number = |value: Option<f64>| value.map_or(Cell::Empty, Cell::Number);
    vec![
        text(&row.metric),
        text(&row.run),
        text(&row.tenant),
        Cell::Number(row.estimate.mean),
        number(row.estimate.ci95_low),
        number(row.estimate.ci95_high),
        Cell::Integer(row.estimate.n as i64),
        text(row.unit),
    ]
}
