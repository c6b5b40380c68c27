//! What flows cost each other, measured by runs without each of them, for people.

use flashlane::metrics::Summary;
use flashlane::observe::Blame;
use flashlane::visible_line;
use flashlane_verdict::removal::removals;

use crate::table::{Table, number};

/// Largest number of rows of a flow; the summary has all.
const ROWS_MAX: usize = 8;

/// A row for each flow and each other one; empty in runs without `--leave-one-out`.
pub(crate) fn removal(summary: &Summary, blame: Option<&Blame>) -> String {
    let all = removals(summary, blame);
    if all.is_empty() {
        return String::new();
    }
    let mut header = vec!["flow", "beside all", "without", "", "difference"];
    if blame.is_some() {
        header.push("blamed");
    }
    let mut table = Table::new(&header);
    for of_flow in all.chunk_by(|a, b| a.victim == b.victim) {
        for one in of_flow.iter().take(ROWS_MAX) {
            let mut row = vec![
                visible_line(&one.victim).into_owned(),
                number(one.beside),
                visible_line(&one.other).into_owned(),
                number(one.without),
                number(one.difference()),
            ];
            row.extend(one.blamed.map(number));
            table.row(row);
        }
    }
    format!("\nwithout each other: mean end-to-end time of a request in us\n{}", table.render())
}
