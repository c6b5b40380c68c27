//! Measured response times beside the simulated ones, for people.

use flashlane::metrics::{SeedStatistics, Summary};
use flashlane::visible_line;

use crate::summary_table::shown;
use crate::table::{Table, number};

/// Two rows for each flow whose trace has completions: the times in the trace and those of the
/// model. Empty if no trace has completions.
pub(crate) fn measured(summary: &Summary, seeds: Option<&SeedStatistics>) -> String {
    let mut table =
        Table::new(&["flow", "", "requests", "mean", "p50", "p90", "p99", "p99.9", "max", "error"]);
    let mut is_empty = true;
    for (index, flow) in summary.flows.iter().enumerate() {
        let Some(measured) = &flow.measured_response_time_us else { continue };
        is_empty = false;
        let name = visible_line(&flow.name).into_owned();
        table.row(vec![
            name.clone(),
            "measured".to_owned(),
            measured.count.to_string(),
            number(measured.mean),
            number(measured.p50),
            number(measured.p90),
            number(measured.p99),
            number(measured.p99_9),
            number(measured.max),
            String::new(),
        ]);
        let cell = |key: &str, value: f64| {
            let text = shown(seeds, &format!("flows[{index}].end_to_end_us.{key}"), Some(value));
            if flow.depends_on_length() { text + "*" } else { text }
        };
        let simulated = &flow.end_to_end_us;
        table.row(vec![
            name,
            "simulated".to_owned(),
            simulated.count.to_string(),
            cell("mean", simulated.mean),
            cell("p50", simulated.p50),
            cell("p90", simulated.p90),
            cell("p99", simulated.p99),
            cell("p99_9", simulated.p99_9),
            cell("max", simulated.max),
            flow.measured_error
                .map_or_else(String::new, |error| format!("{:+.1} %", 100.0 * error)),
        ]);
    }
    if is_empty {
        return String::new();
    }
    format!(
        "\nresponse times of the trace and of the model, us (arrival to completion)\n{}",
        table.render()
    )
}
