//! Several runs side by side, for people.

use flashlane::metrics::{SeedStatistics, Summary};

use crate::table::{Table, shown};

/// A column of the table: one run, or one scenario under several seeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    pub(crate) label: &'a str,
    /// Of the first seed.
    pub(crate) summary: &'a Summary,
    /// Over all seeds, where there are several.
    pub(crate) seeds: Option<&'a SeedStatistics>,
}

/// A figure of a summary: its path there, and its value.
type Figure<'a> = &'a dyn Fn(&Summary) -> Option<(String, f64)>;

/// The figures of all tenants, a column for each run. With several seeds a cell holds the mean and half the
/// width of its 95 % interval.
pub(crate) fn side_by_side(columns: &[Column<'_>]) -> String {
    let mut header = vec!["side by side"];
    header.extend(columns.iter().map(|column| column.label));
    let mut table = Table::new(&header);
    let mut add = |what: String, figure: Figure<'_>| {
        let cells: Vec<String> = columns.iter().map(|column| cell(column, figure)).collect();
        if columns.iter().any(|column| figure(column.summary).is_some()) {
            table.row([what].into_iter().chain(cells).collect());
        }
    };
    let mut names: Vec<&str> = Vec::new();
    for flow in columns.iter().flat_map(|column| &column.summary.flows) {
        if !names.contains(&flow.name.as_str()) {
            names.push(&flow.name);
        }
    }
    for name in names {
        let of = |s: &Summary| s.flows.iter().position(|flow| flow.name == name);
        let at =
            |s: &Summary, key: &str, value: f64| Some((format!("flows[{}].{key}", of(s)?), value));
        add(format!("{name}: mean response, us"), &|s| {
            at(s, "response_time_us.mean", s.flows[of(s)?].response_time_us.mean)
        });
        add(format!("{name}: p99 response, us"), &|s| {
            at(s, "response_time_us.p99", s.flows[of(s)?].response_time_us.p99)
        });
        add(format!("{name}: IOPS"), &|s| at(s, "iops", s.flows[of(s)?].iops));
        add(format!("{name}: slowdown"), &|s| at(s, "slowdown", s.flows[of(s)?].slowdown?));
    }
    let at = |path: &str, value: Option<f64>| Some((path.to_owned(), value?));
    add("fairness (1 is fair)".to_owned(), &|s| at("fairness.fairness", s.fairness.fairness));
    add("largest slowdown".to_owned(), &|s| at("fairness.max_slowdown", s.fairness.max_slowdown));
    add("weighted speedup".to_owned(), &|s| {
        at("fairness.weighted_speedup", s.fairness.weighted_speedup)
    });
    add("write amplification".to_owned(), &|s| {
        at("flash.write_amplification", Some(s.flash.write_amplification))
    });
    table.render()
}

fn cell(column: &Column<'_>, figure: Figure<'_>) -> String {
    match figure(column.summary) {
        Some((path, value)) => shown(column.seeds, &path, Some(value)),
        None => "-".to_owned(),
    }
}
