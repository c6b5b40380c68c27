//! Notes about traces that were not replayed unchanged.

use flashlane::metrics::Summary;
use flashlane::visible_line;

/// Warnings above the tables: flows of whose trace more than 1 % was changed.
pub(crate) fn warnings(summary: &Summary) -> String {
    let sentences = summary.input_warnings();
    sentences.iter().map(|one| format!("{}\n\n", visible_line(one))).collect()
}

/// Notes below the flows: counts, and the first lines with the reason.
pub(crate) fn changes(summary: &Summary) -> String {
    let lines = summary.input_changes();
    lines.iter().map(|line| format!("{}\n", visible_line(line))).collect()
}
