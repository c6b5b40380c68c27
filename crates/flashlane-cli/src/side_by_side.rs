//! Several runs side by side, for people.

use flashlane::metrics::{FlowSummary, SeedStatistics, Summary};
use flashlane::visible_line;

use crate::summary_table::{STAR, shown};
use crate::table::Table;

/// A column of the table: one run, or one scenario under several seeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    pub(crate) label: &'a str,
    /// The summary of one seed. With several seeds it holds the means over the seeds.
    pub(crate) summary: &'a Summary,
    /// Statistics over the seeds, if there are several.
    pub(crate) seeds: Option<&'a SeedStatistics>,
}

/// A figure of a summary: its path in the summary, and its value.
struct Figure {
    path: String,
    value: f64,
    /// True if the drive does not keep up with the flow, so that the figure depends on the length
    /// of the run.
    saturated: bool,
}

type Of<'a> = &'a dyn Fn(&Summary) -> Option<Figure>;

/// The verdict of each column, then the figures of all tenants, a column for each run. With several
/// seeds a cell holds the mean and half the width of its 95 % interval.
pub(crate) fn side_by_side(columns: &[Column<'_>]) -> String {
    let mut text = verdicts(columns) + &table(columns).render();
    if columns.iter().any(|column| column.summary.depends_on_length()) {
        text += STAR;
    }
    text
}

/// The figures of all tenants, a column for each run.
pub(crate) fn table(columns: &[Column<'_>]) -> Table {
    let labels: Vec<_> = columns.iter().map(|column| visible_line(column.label)).collect();
    let mut header = vec!["side by side"];
    header.extend(labels.iter().map(|label| &**label));
    let mut table = Table::new(&header);
    let mut add = |what: String, figure: Of<'_>| {
        let cells: Vec<String> = columns.iter().map(|column| cell(column, figure)).collect();
        if columns.iter().any(|column| figure(column.summary).is_some()) {
            table.row([what].into_iter().chain(cells).collect());
        }
    };
    let flows = || columns.iter().flat_map(|column| &column.summary.flows);
    let has_own = flows().any(FlowSummary::own_slowdown_differs);
    let mut names: Vec<&str> = Vec::new();
    for flow in flows() {
        if !names.contains(&flow.name.as_str()) {
            names.push(&flow.name);
        }
    }
    for name in names {
        let of = |s: &Summary| s.flows.iter().position(|flow| flow.name == name);
        let at = |s: &Summary, key: &str, value: f64, is_time: bool| {
            let index = of(s)?;
            let saturated = is_time && s.flows[index].depends_on_length();
            Some(Figure { path: format!("flows[{index}].{key}"), value, saturated })
        };
        let shown = visible_line(name);
        add(format!("{shown}: mean response, us"), &|s| {
            at(s, "response_time_us.mean", s.flows[of(s)?].response_time_us.mean, true)
        });
        add(format!("{shown}: p99 response, us"), &|s| {
            at(s, "response_time_us.p99", s.flows[of(s)?].response_time_us.p99, true)
        });
        add(format!("{shown}: IOPS"), &|s| at(s, "iops", s.flows[of(s)?].iops, false));
        add(format!("{shown}: slowdown"), &|s| at(s, "slowdown", s.flows[of(s)?].slowdown?, true));
        if has_own {
            add(format!("{shown}: slowdown, own alone"), &|s| {
                let (key, own) = own_slowdown(&s.flows[of(s)?])?;
                at(s, key, own, true)
            });
        }
    }
    let at = |s: &Summary, path: &str, value: Option<f64>| {
        let saturated = s.depends_on_length() && path.starts_with("fairness");
        Some(Figure { path: path.to_owned(), value: value?, saturated })
    };
    add("fairness (1 is fair)".to_owned(), &|s| at(s, "fairness.fairness", s.fairness.fairness));
    add("largest slowdown".to_owned(), &|s| {
        at(s, "fairness.max_slowdown", s.fairness.max_slowdown)
    });
    add("weighted speedup".to_owned(), &|s| {
        at(s, "fairness.weighted_speedup", s.fairness.weighted_speedup)
    });
    add("write amplification".to_owned(), &|s| {
        at(s, "flash.write_amplification", Some(s.flash.write_amplification))
    });
    table
}

/// The slowdown of a flow against its own run alone, and the key of it.
fn own_slowdown(flow: &FlowSummary) -> Option<(&'static str, f64)> {
    match flow.own_slowdown {
        Some(own) => Some(("own_slowdown", own)),
        None => flow.slowdown.map(|own| ("slowdown", own)),
    }
}

/// The verdicts by column, which stand before all numbers.
pub(crate) fn verdicts(columns: &[Column<'_>]) -> String {
    let mut text = String::new();
    for column in columns {
        let sentences = match column.seeds {
            Some(seeds) => seeds.verdict(column.summary),
            None => column.summary.verdict(),
        };
        for sentence in sentences {
            text += &format!("{}: {}\n\n", visible_line(column.label), visible_line(&sentence));
        }
    }
    text
}

fn cell(column: &Column<'_>, figure: Of<'_>) -> String {
    let Some(Figure { path, value, saturated }) = figure(column.summary) else {
        return "-".to_owned();
    };
    let text = shown(column.seeds, &path, Some(value));
    if saturated { text + "*" } else { text }
}
