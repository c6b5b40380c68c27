//! Energy and wear that tenants cause.

use flashlane::metrics::{EnergySummary, Summary, WearSummary};

use crate::side_by_side::Row;
use flashlane_verdict::words::{number, percent};

/// Columns of the table.
pub(crate) const HEADS: [&str; 8] = [
    "energy, mJ",
    "collection of it, mJ",
    "pages programmed",
    "blocks erased",
    "share of wear",
    "write amplification",
    "drive writes a day",
    "years to rated wear",
];

/// A row for each tenant and one for the drive; empty if nothing was counted.
pub(crate) fn rows(summary: &Summary) -> Vec<Row<String>> {
    let flows = summary.flows.iter().map(|flow| (flow.name.as_str(), flow.energy, flow.wear));
    let all = flows.chain([("the drive", summary.energy, summary.wear)]);
    all.filter_map(|(name, energy, wear)| Some(row(name, energy.as_ref(), &wear?))).collect()
}

fn row(name: &str, energy: Option<&EnergySummary>, wear: &WearSummary) -> Row<String> {
    let maybe = |value: Option<f64>| value.map_or("–".to_owned(), number);
    Row {
        name: name.to_owned(),
        cells: vec![
            maybe(energy.map(|energy| energy.total_pj as f64 / 1e9)),
            maybe(energy.map(|energy| energy.collection_pj as f64 / 1e9)),
            wear.programs.to_string(),
            wear.erases.to_string(),
            percent(wear.share),
            maybe(wear.write_amplification),
            maybe(wear.drive_writes_per_day),
            maybe(wear.years_to_rated_wear),
        ],
    }
}
