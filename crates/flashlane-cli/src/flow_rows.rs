//! The flows of a run as rows for other programs: CSV, Markdown, LaTeX.

use flashlane::metrics::{SeedStatistics, Summary};
use flashlane_study::sweep;
use serde_json::Value;

use crate::args::Format;
use crate::execute::to_json;
use crate::output::{print, print_data};
use crate::summary_table;
use crate::table::Table;

/// A scenario: its name, its figures, and their statistics if it ran with several seeds.
pub(crate) type Named<'a> = (String, &'a Summary, Option<&'a SeedStatistics>);

/// Prints the flows of all scenarios in one table, if the format is a table.
pub(crate) fn print_rows(scenarios: &[Named<'_>], format: Format) -> Result<(), flashlane::Error> {
    match format {
        Format::Csv => print_data(&csv(scenarios)?),
        Format::Markdown => print(&rounded(scenarios).markdown()),
        Format::Latex => print(&rounded(scenarios).latex()),
        Format::Text | Format::Json | Format::FioJson | Format::MqsimXml => Ok(()),
    }
}

/// The table of a sweep whose points are the scenarios, with all figures.
fn csv(scenarios: &[Named<'_>]) -> Result<String, flashlane::Error> {
    const KEYS: [&str; 5] = ["scenario", "device", "scheduler", "isolation", "seed"];
    let mut points: Vec<(sweep::Point, sweep::Outcome)> = Vec::new();
    for (name, summary, _) in scenarios {
        let values: [Value; 5] = [
            name.as_str().into(),
            summary.device.as_str().into(),
            summary.scheduler.as_str().into(),
            summary.isolation.as_str().into(),
            summary.seed.into(),
        ];
        let point = KEYS.iter().map(|&key| key.to_owned()).zip(values).collect();
        points.push((point, sweep::Outcome::Done(to_json(summary)?)));
    }
    let keys = KEYS.map(str::to_owned);
    Ok(sweep::Table::of(&keys, points.iter().map(|(point, outcome)| (point, outcome))).csv())
}

/// The table for people. If there are several scenarios, the first column has their names.
fn rounded(scenarios: &[Named<'_>]) -> Table {
    let tables = scenarios
        .iter()
        .map(|(name, summary, seeds)| (name.as_str(), summary_table::flows(summary, *seeds)));
    Table::together("scenario", tables)
}
