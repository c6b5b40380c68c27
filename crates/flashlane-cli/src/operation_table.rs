//! Response times by operation, for people: reads, writes, trims, flushes.

use flashlane::metrics::{SeedStatistics, Summary};
use flashlane::visible_line;

use crate::summary_table::shown;
use crate::table::Table;

/// A row for each operation of which a flow has requests. Empty if every flow only reads or only
/// writes, because the table of the flows then has these figures.
pub(crate) fn operations(summary: &Summary, seeds: Option<&SeedStatistics>) -> String {
    let kinds = |flow: &flashlane::metrics::FlowSummary| {
        flow.by_operation().map(|(_, latency)| latency.count > 0)
    };
    let of_one_kind = |flow| match kinds(flow) {
        [reads, writes, false, false] => !(reads && writes),
        _ => false,
    };
    if summary.flows.iter().all(of_one_kind) {
        return String::new();
    }
    let mut table =
        Table::new(&["flow", "operation", "requests", "mean", "p50", "p90", "p99", "p99.9", "max"]);
    for (index, flow) in summary.flows.iter().enumerate() {
        for (name, latency) in flow.by_operation() {
            if latency.count == 0 {
                continue;
            }
            let cell = |key: &str, value: f64| {
                let path = format!("flows[{index}].{name}_response_time_us.{key}");
                let text = shown(seeds, &path, Some(value));
                if flow.depends_on_length() && key != "count" { text + "*" } else { text }
            };
            table.row(vec![
                visible_line(&flow.name).into_owned(),
                name.to_owned(),
                match seeds {
                    Some(_) => cell("count", latency.count as f64),
                    None => latency.count.to_string(),
                },
                cell("mean", latency.mean),
                cell("p50", latency.p50),
                cell("p90", latency.p90),
                cell("p99", latency.p99),
                cell("p99_9", latency.p99_9),
                cell("max", latency.max),
            ]);
        }
    }
    format!("\nresponse times by operation, us\n{}", table.render())
}
