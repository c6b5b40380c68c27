//! The page: curves of measured values and ours, and the table.

use flashlane::Error;
use flashlane_fit::curves::{Figure, Metric, Operation, Pattern, Role};
use flashlane_fit::write::{STYLE, environment};
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::{Errors, Kind, Point, Wait, percent, signs, summary, waits};

const TEMPLATE: &str = include_str!("page.html");

/// Size of a chart, without its labels. Unit: pixels of the drawing.
const WIDTH: f64 = 260.0;
const HEIGHT: f64 = 130.0;

/// The points as a single HTML page without external parts.
///
/// # Errors
/// Numbers that cannot be written.
pub fn page(points: &[Point]) -> Result<String, Error> {
    let environment = environment(TEMPLATE);
    let template = environment.get_template("page").expect("the environment has it");
    let mut drives: Vec<&str> = Vec::new();
    for point in points {
        if !drives.contains(&point.drive.as_str()) {
            drives.push(&point.drive);
        }
    }
    let drives: Vec<_> = drives.into_iter().map(|drive| DriveView::of(drive, points)).collect();
    let errors: Vec<_> = summary(points).iter().map(Errors::row).collect();
    let waits_view: Vec<_> = waits(points).into_iter().map(WaitView::of).collect();
    let page = context! {
        style => STYLE,
        drives => Value::from(Serde(drives)),
        waits => Value::from(Serde(waits_view)),
        heads => Value::from(Serde(Wait::HEADS)),
        errors => Value::from(Serde(errors)),
        signs => Value::from(Serde(signs(points))),
    };
    template.render(page).map_err(|error| Error::Output(format!("validate.html: {error}")))
}

/// What reads beside neighbours wait for.
#[derive(Serialize)]
struct WaitView {
    name: String,
    times: Vec<String>,
}

impl WaitView {
    fn of(wait: Wait) -> Self {
        let times = wait.times().map(number).to_vec();
        Self { name: format!("{} {}", wait.drive, wait.beside), times }
    }
}

/// A drive: its charts, and the rows of its table.
#[derive(Serialize)]
struct DriveView<'a> {
    name: &'a str,
    charts: Vec<Chart>,
    rows: Vec<Vec<String>>,
}

impl<'a> DriveView<'a> {
    fn of(name: &'a str, points: &[Point]) -> Self {
        let own: Vec<&Point> = points.iter().filter(|point| point.drive == name).collect();
        let mut titles: Vec<String> = Vec::new();
        for point in &own {
            let title = place(point).0;
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
        let charts = titles.into_iter().filter_map(|title| Chart::of(title, &own)).collect();
        let rows = own.iter().map(|point| {
            let (role, error) = (point.role.name(), percent(point.error));
            let (measured, ours) = (number(point.measured), number(point.ours));
            [point.kind.name(), &point.point, &measured, &ours, &error, role, &point.source]
                .map(str::to_owned)
                .to_vec()
        });
        Self { name, charts, rows: rows.collect() }
    }
}

/// The chart that a point belongs to, the name of its axis, and where it stands there.
fn place(point: &Point) -> (String, &'static str, f64) {
    let figure = &point.figure;
    let (kind, unit) = (point.kind.name(), figure.metric.unit());
    let operation = match figure.operation {
        Operation::Read => "read",
        Operation::Write => "write",
    };
    let (what, axis, at) = match point.kind {
        Kind::Waf | Kind::WriteRate => family(figure),
        Kind::Latency => {
            let iops = figure.load.map_or(0.0, |load| load.iops);
            (operation.to_owned(), "kIOPS in all", iops / 1e3)
        }
        Kind::Cliff => {
            let what = if figure.metric == Metric::FillGb { "end" } else { "speed" };
            (what.to_owned(), "phase", figure.phase.map_or(0.0, |phase| f64::from(phase.number)))
        }
        Kind::Neighbour => {
            let other = figure.neighbours;
            let what = other.map_or_else(String::new, |other| other.requests());
            (format!("beside {what}"), "jobs", other.map_or(0.0, |other| f64::from(other.jobs)))
        }
        Kind::Depth => (operation.to_owned(), "depth", f64::from(figure.depth)),
        Kind::Size => (format!("depth {}", figure.depth), "KiB", figure.size.0 as f64 / 1024.0),
    };
    let unit = if figure.metric == Metric::Waf { "" } else { unit };
    (format!("{kind}: {what} {unit}").trim_end().to_owned(), axis, at)
}

/// Patterns that differ in one number.
fn family(figure: &Figure) -> (String, &'static str, f64) {
    match figure.pattern {
        Pattern::Zipf(theta) => ("zipf".to_owned(), "exponent", theta),
        Pattern::TwoZones { writes: 100.0, space } => {
            ("written part of the space".to_owned(), "% of the space", space)
        }
        Pattern::TwoZones { space, .. } => ("two zones".to_owned(), "% of the space", space),
        Pattern::Zones { active: 1, size } => {
            ("one active zone".to_owned(), "GiB", size.0 as f64 / f64::from(1 << 30))
        }
        Pattern::Zones { active, .. } => ("active zones".to_owned(), "zones", f64::from(active)),
        other => (other.to_string(), "% in use", 100.0 * figure.used),
    }
}

/// A chart: measured values as marks, ours as a line.
#[derive(Serialize)]
struct Chart {
    title: String,
    axis: &'static str,
    x: [String; 2],
    y: [String; 2],
    line: String,
    marks: Vec<Mark>,
}

#[derive(Serialize)]
struct Mark {
    x: String,
    y: String,
    held_back: bool,
    title: String,
}

impl Chart {
    /// The chart of that title; `None` for a single point, which the table has.
    fn of(title: String, points: &[&Point]) -> Option<Self> {
        let mut own: Vec<(f64, &Point)> = Vec::new();
        let mut axis = "";
        for point in points {
            let (of, name, at) = place(point);
            if of == title {
                own.push((at, point));
                axis = name;
            }
        }
        own.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (first, last) = (own.first()?.0, own.last()?.0);
        let values = || own.iter().flat_map(|(_, point)| [point.measured, point.ours]);
        let low = values().fold(f64::INFINITY, f64::min);
        let high = values().fold(0.0, f64::max);
        if first >= last {
            return None;
        }
        // Latencies span factors of hundreds; the others are compared by their height from 0.
        let bottom = if high > 8.0 * low { low } else { 0.0 };
        let x = |at: f64| format!("{:.1}", WIDTH * (at - first) / (last - first));
        let y = |value: f64| {
            let share = match bottom > 0.0 {
                true => libm::log(value / low) / libm::log(high / low),
                false => value / high,
            };
            format!("{:.1}", HEIGHT * (1.0 - share))
        };
        let line = own.iter().map(|(at, point)| format!("{},{}", x(*at), y(point.ours)));
        let mark = |(at, point): &(f64, &Point)| Mark {
            x: x(*at),
            y: y(point.measured),
            held_back: point.role == Role::Predicted,
            title: format!(
                "{}: measured {}, ours {} ({})",
                point.point,
                number(point.measured),
                number(point.ours),
                percent(point.error)
            ),
        };
        Some(Self {
            title,
            axis,
            x: [number(first), number(last)],
            y: [number(bottom), number(high)],
            line: line.collect::<Vec<_>>().join(" "),
            marks: own.iter().map(mark).collect(),
        })
    }
}

/// A number with about three significant digits.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fact, point};
    use super::*;

    #[test]
    fn a_page_has_curves_and_the_table() {
        let of = |theta: f64, measured: f64, ours: f64| {
            let pattern = Pattern::Zipf(theta);
            let figure = Figure::of(Operation::Write, pattern, Metric::Waf, measured);
            point(&Fact { drive: "a<b".to_owned(), kind: Kind::Waf, figure }, ours)
        };
        let text = page(&[of(0.2, 2.0, 1.8), of(0.8, 2.5, 2.6)]).expect("it renders");
        assert!(text.contains("a&lt;b") && !text.contains("a<b"));
        assert!(text.contains("points=\"0.0,40.0 260.0,0.0\""), "{text}");
        assert!(text.contains("waf: zipf") && text.contains("+4.0 %"));
        for outside in ["http://", "https://", "src="] {
            assert!(!text.contains(outside), "the page needs nothing else: {outside}");
        }
    }
}
