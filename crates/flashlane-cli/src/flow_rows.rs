//! The flows of a run as rows for other programs: CSV, Markdown, LaTeX.

use flashlane::metrics::{SeedStatistics, Summary};

use crate::args::Format;
use crate::commands::csv;
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

/// The table for people. If there are several scenarios, the first column has their names.
fn rounded(scenarios: &[Named<'_>]) -> Table {
    let tables = scenarios
        .iter()
        .map(|(name, summary, seeds)| (name.as_str(), summary_table::flows(summary, *seeds)));
    Table::together("scenario", tables)
}
