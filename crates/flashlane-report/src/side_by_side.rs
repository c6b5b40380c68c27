//! Tables with a column for each run.

use flashlane::metrics::{FlowSummary, Latency, Summary};
use serde::Serialize;

use crate::data::RunData;
use flashlane_verdict::words::{number, percent, starred, time};

/// Path of the slowdown against the run's own tenants alone, below a flow.
const OWN: &str = "own_slowdown";

/// True if slowdowns of a run are against the tenants alone of another one, and this matters.
fn has_own(shown: &[Summary]) -> bool {
    shown.iter().any(|summary| summary.flows.iter().any(FlowSummary::own_slowdown_differs))
}

/// A line of a table.
#[derive(Debug, Serialize)]
pub(crate) struct Row<T> {
    pub(crate) name: String,
    pub(crate) cells: Vec<T>,
}

/// A figure of a run, compared with that of the first run.
#[derive(Debug, Serialize)]
pub(crate) struct Compared {
    text: String,
    change: Option<String>,
    best: bool,
}

/// Work of collection and wear in each run.
pub(crate) fn collection(summaries: &[Summary]) -> Vec<Row<String>> {
    type Line = (&'static str, fn(&Summary) -> String);
    let lines: [Line; 12] = [
        ("pages read for the host", |s| number(s.flash.user_reads as f64)),
        ("pages programmed for the host", |s| number(s.flash.user_programs as f64)),
        ("pages moved by collection", |s| number(s.flash.gc_programs as f64)),
        ("blocks collected", |s| number(s.flash.gc_invocations as f64)),
        ("blocks erased", |s| number(s.flash.erases as f64)),
        ("erases of a block, mean", |s| number(s.flash.block_erases.mean)),
        ("erases of a block, most", |s| s.flash.block_erases.max.to_string()),
        ("blocks moved to level wear", |s| s.flash.wear_leveling_moves.to_string()),
        ("translation pages read, programmed", |s| {
            format!(
                "{}, {}",
                number(s.flash.mapping_reads as f64),
                number(s.flash.mapping_programs as f64)
            )
        }),
        ("programs, erases suspended", |s| {
            format!("{}, {}", s.flash.program_suspends, s.flash.erase_suspends)
        }),
        ("write amplification", |s| number(s.flash.write_amplification)),
        ("time of the dies: host, collection, mapping", |s| {
            let time = &s.device_time;
            format!(
                "{}, {}, {}",
                percent(time.host_share),
                percent(time.gc_share),
                percent(time.mapping_share)
            )
        }),
    ];
    lines
        .into_iter()
        .map(|(name, figure)| Row {
            name: name.to_owned(),
            cells: summaries.iter().map(figure).collect(),
        })
        .collect()
}

/// A figure of a run: its mean over the seeds, and half the width of the 95 % interval of that
/// mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) value: f64,
    pub(crate) half: Option<f64>,
    /// True if the drive does not keep up with the flow, so that the figure depends on the length
    /// of the run.
    pub(crate) saturated: bool,
}

impl Figure {
    /// The metric at a path of the summary: the mean over several seeds, or else `value`.
    pub(crate) fn of(run: &RunData, path: &str, value: Option<f64>) -> Option<Self> {
        match run.seeds.as_ref().and_then(|seeds| seeds.get(path)) {
            Some(estimate) => {
                Some(Self { value: estimate.mean, half: estimate.half_width(), saturated: false })
            }
            None => value.map(|value| Self { value, half: None, saturated: false }),
        }
    }

    /// This figure, marked with a star if `saturated`.
    pub(crate) fn marked(self, saturated: bool) -> Self {
        Self { saturated, ..self }
    }

    pub(crate) fn text(self, text: fn(f64) -> String) -> String {
        let shown = match self.half {
            Some(half) => format!("{} ±{}", text(self.value), text(half)),
            None => text(self.value),
        };
        starred(shown, self.saturated)
    }

    fn low(self) -> f64 {
        self.value - self.half.unwrap_or(0.0)
    }

    fn high(self) -> f64 {
        self.value + self.half.unwrap_or(0.0)
    }
}

/// Every figure that runs are compared by. `shown`: their summaries, with means over seeds.
pub(crate) fn comparison(runs: &[RunData], shown: &[Summary]) -> Vec<Row<Compared>> {
    let mut rows = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for flow in runs.iter().flat_map(|run| &run.summary.flows) {
        if !names.contains(&flow.name.as_str()) {
            names.push(&flow.name);
        }
    }
    for name in names {
        rows.extend(of_tenant(name, runs, shown));
    }
    type Line = (&'static str, &'static str, bool, fn(&Summary) -> Option<f64>);
    let lines: [Line; 4] = [
        ("fairness", "fairness.fairness", true, |s| s.fairness.fairness),
        ("largest slowdown", "fairness.max_slowdown", false, |s| s.fairness.max_slowdown),
        ("weighted speedup", "fairness.weighted_speedup", true, |s| s.fairness.weighted_speedup),
        ("write amplification", "flash.write_amplification", false, |s| {
            Some(s.flash.write_amplification)
        }),
    ];
    for (what, path, more_is_better, figure) in lines {
        let of = |(run, shown): (&RunData, &Summary)| {
            let found = Figure::of(run, path, figure(shown))?;
            Some(found.marked(shown.depends_on_length() && path.starts_with("fairness")))
        };
        let values: Vec<Option<Figure>> = runs.iter().zip(shown).map(of).collect();
        rows.extend(compare(what.to_owned(), &values, more_is_better, number));
    }
    rows
}

/// The rows of a tenant.
fn of_tenant(name: &str, runs: &[RunData], shown: &[Summary]) -> Vec<Row<Compared>> {
    let mut rows = Vec::new();
    type Of = fn(&FlowSummary) -> Option<f64>;
    type Line = (&'static str, &'static str, bool, fn(f64) -> String, Of);
    let lines: [Line; 6] = [
        ("slowdown", "slowdown", false, number, |f| f.slowdown),
        ("slowdown against the run's own tenants alone", OWN, false, number, |f| {
            f.own_slowdown.or(f.slowdown)
        }),
        ("mean response", "response_time_us.mean", false, time, |f| {
            counted(&f.response_time_us, |l| l.mean)
        }),
        ("p99", "response_time_us.p99", false, time, |f| counted(&f.response_time_us, |l| l.p99)),
        ("p99.9", "response_time_us.p99_9", false, time, |f| {
            counted(&f.response_time_us, |l| l.p99_9)
        }),
        ("IOPS", "iops", true, number, |f| Some(f.iops)),
    ];
    for (what, key, more_is_better, text, figure) in lines {
        if key == OWN && !has_own(shown) {
            continue;
        }
        let of = |(run, shown): (&RunData, &Summary)| {
            let index = shown.flows.iter().position(|f| f.name == name)?;
            let value = figure(&shown.flows[index]);
            // The run that gives the baseline has only one slowdown.
            let same = key == OWN && shown.flows[index].own_slowdown.is_none();
            let key = if same { "slowdown" } else { key };
            let found = Figure::of(run, &format!("flows[{index}].{key}"), value)?;
            Some(found.marked(shown.flows[index].depends_on_length() && key != "iops"))
        };
        let values: Vec<_> = runs.iter().zip(shown).map(of).collect();
        rows.extend(compare(format!("{name}: {what}"), &values, more_is_better, text));
    }
    rows
}

fn counted(latency: &Latency, figure: fn(&Latency) -> f64) -> Option<f64> {
    (latency.count > 0).then(|| figure(latency))
}

/// A row of the comparison; `None` if no run has the figure.
fn compare(
    name: String,
    figures: &[Option<Figure>],
    more_is_better: bool,
    text: fn(f64) -> String,
) -> Option<Row<Compared>> {
    let there = || figures.iter().flatten().copied();
    let better = |a: &Figure, b: &Figure| match more_is_better {
        true => a.value > b.value,
        false => a.value < b.value,
    };
    let best = there().reduce(|best, one| if better(&one, &best) { one } else { best })?;
    // With seeds, a difference smaller than the intervals says nothing.
    let apart = |one: Figure| one.low() > best.high() || one.high() < best.low();
    // A difference that depends on the length of the run says nothing either.
    let sound = !there().any(|one| one.saturated);
    let decided = sound && there().any(apart) && there().all(|one| one == best || apart(one));
    let first = figures[0];
    let cells = figures.iter().enumerate().map(|(index, figure)| Compared {
        text: figure.map_or("–".to_owned(), |figure| figure.text(text)),
        change: match (first, figure) {
            (Some(first), Some(figure))
                if index > 0 && first.value != 0.0 && !first.saturated && !figure.saturated =>
            {
                Some(format!("({:+.0} %)", (figure.value / first.value - 1.0) * 100.0))
            }
            _ => None,
        },
        best: decided && *figure == Some(best),
    });
    Some(Row { name, cells: cells.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bold(figures: &[(f64, Option<f64>)]) -> Vec<bool> {
        let figures: Vec<_> = figures
            .iter()
            .map(|&(value, half)| Some(Figure { value, half, saturated: false }))
            .collect();
        let row = compare("x".to_owned(), &figures, false, number).unwrap();
        row.cells.iter().map(|cell| cell.best).collect()
    }

    #[test]
    fn the_best_is_marked_only_where_the_intervals_are_apart() {
        assert_eq!(bold(&[(1.0, None), (2.0, None), (1.0, None)]), [true, false, true]);
        assert_eq!(bold(&[(1.0, None), (1.0, None)]), [false, false]);
        assert_eq!(bold(&[(1.0, Some(0.2)), (2.0, Some(0.2))]), [true, false]);
        assert_eq!(bold(&[(1.0, Some(0.6)), (2.0, Some(0.6))]), [false, false]);
    }

    #[test]
    fn a_figure_of_a_saturated_flow_is_starred_and_decides_nothing() {
        let figure = |value, saturated| Some(Figure { value, half: None, saturated });
        let row = [figure(1.0, false), figure(2.0, true), figure(4.0, false)];
        let row = compare("x".to_owned(), &row, false, number).unwrap();
        let shown: Vec<_> =
            row.cells.iter().map(|cell| (&*cell.text, cell.change.as_deref(), cell.best)).collect();
        let expected =
            [("1.00", None, false), ("2.00*", None, false), ("4.00", Some("(+300 %)"), false)];
        assert_eq!(shown, expected);
    }
}
