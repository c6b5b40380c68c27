//! Tables of the goals of tenants and the measured figures.

use flashlane::metrics::{FlowSummary, GoalSummary, SeedStatistics, Summary};
use flashlane::visible_line;

use crate::summary_table::shown;
use crate::table::{Table, number};

/// A row for each goal; empty if no tenant has a goal.
pub(crate) fn slos(summary: &Summary, seeds: Option<&SeedStatistics>) -> String {
    let mut table = Table::new(&["goal", "promised", "found", "verdict"]);
    for (index, flow) in summary.flows.iter().enumerate() {
        for (place, goal) in flow.slo.iter().flat_map(|slo| slo.goals.iter().enumerate()) {
            let path = format!("flows[{index}].slo.goals[{place}].value");
            table.row(vec![
                format!("{}: {}", visible_line(&flow.name), name(goal)),
                limit(goal),
                shown(seeds, &path, goal.value),
                goal.verdict().to_owned(),
            ]);
        }
    }
    if table.is_empty() { String::new() } else { format!("\n{}", table.render()) }
}

/// One line for each goal that is missed.
pub(crate) fn missed(summary: &Summary) -> impl Iterator<Item = String> {
    summary.missed().map(|(flow, goal)| missed_goal(flow, goal))
}

fn missed_goal(flow: &FlowSummary, goal: &GoalSummary) -> String {
    let found = match goal.value {
        None => "no figure".to_owned(),
        Some(value) => number(value),
    };
    let grows = match goal.strain() <= 1.0 {
        true => ", which grows with the length of the run, since the drive does not keep up",
        false => "",
    };
    format!("SLO missed: {}: {}: found {found}{grows}, {}", flow.name, name(goal), limit(goal))
}

/// A goal with its unit, for example `p99, us`.
fn name(goal: &GoalSummary) -> String {
    match goal.goal.as_str() {
        "min_iops" => "IOPS".to_owned(),
        "min_bandwidth" => "bytes/s".to_owned(),
        "slowdown" => "slowdown".to_owned(),
        time => format!("{}, us", time.replace('_', ".")),
    }
}

/// A limit, for example `at most 1000`.
fn limit(goal: &GoalSummary) -> String {
    format!("{} {}", goal.bound(), number(goal.limit))
}
