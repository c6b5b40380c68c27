//! Response times by operation: reads, writes, trims, flushes.

use flashlane::metrics::{FlowSummary, Latency, Summary};
use flashlane_verdict::words::time;

use crate::data::RunData;
use crate::side_by_side::{Figure, Row};

/// Names of the operations as keys and in the words of the page.
const NAMES: [(&str, &str); 4] =
    [("read", "reads"), ("write", "writes"), ("trim", "trims"), ("flush", "flushes")];

/// Columns of the table after the name of the operation.
pub(crate) const HEADS: [&str; 9] =
    ["tenant", "operation", "requests", "mean", "p50", "p90", "p99", "p99.9", "max"];

/// The operations for the page's curves: those that occur in any run.
pub(crate) fn present(summaries: &[Summary]) -> Vec<(&'static str, &'static str)> {
    let occurs = |(index, _): &(usize, (&str, &str))| {
        let mut flows = summaries.iter().flat_map(|summary| &summary.flows);
        flows.any(|flow| flow.by_operation()[*index].1.count > 0)
    };
    NAMES.into_iter().enumerate().filter(occurs).map(|(_, names)| names).collect()
}

/// A row for each operation that a tenant has requests of. `summary`: means, if the run has several
/// seeds.
pub(crate) fn rows(run: &RunData, summary: &Summary) -> Vec<Row<String>> {
    let of_flow = |(index, flow): (usize, &FlowSummary)| {
        let there = flow.by_operation().into_iter().zip(NAMES);
        let there = there.filter(|((_, latency), _)| latency.count > 0);
        let row = |((key, latency), (_, shown)): ((&str, &Latency), (_, &str))| {
            let cell = |figure: &str, value: f64, text: fn(f64) -> String| {
                let path = format!("flows[{index}].{key}_response_time_us.{figure}");
                let found = Figure::of(run, &path, Some(value));
                let marked =
                    |found: Figure| found.marked(flow.depends_on_length() && figure != "count");
                found.map_or("–".to_owned(), |found| marked(found).text(text))
            };
            Row {
                name: flow.name.clone(),
                cells: vec![
                    shown.to_owned(),
                    cell("count", latency.count as f64, |count| format!("{count:.0}")),
                    cell("mean", latency.mean, time),
                    cell("p50", latency.p50, time),
                    cell("p90", latency.p90, time),
                    cell("p99", latency.p99, time),
                    cell("p99_9", latency.p99_9, time),
                    cell("max", latency.max, time),
                ],
            }
        };
        there.map(row).collect::<Vec<_>>()
    };
    summary.flows.iter().enumerate().flat_map(of_flow).collect()
}
