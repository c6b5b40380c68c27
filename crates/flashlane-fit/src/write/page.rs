//! The page: measured against fitted, residuals, undetermined keys, and proposals.

use flashlane::{Error, visible};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context, escape_formatter};
use serde::Serialize;

use super::STYLE;
use super::report::{Key, Point, Report, Source};

const TEMPLATE: &str = include_str!("page.html");

/// Most measurements in the chart of residuals: those farthest off.
const ROWS: usize = 40;

/// Side of the chart of measured against fitted. Unit: pixels of the drawing.
const SIDE: f64 = 320.0;

/// An environment for a page with this template, whose name is `page`.
///
/// # Panics
/// If the template is wrong: it is constant, and its page is tested.
#[must_use]
pub fn environment(template: &'static str) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // Names of users may contain HTML, which is shown as text, and control characters, which are
    // written out.
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => escape_formatter(out, state, &Value::from(visible(text))),
        _ => escape_formatter(out, state, value),
    });
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    environment.add_template("page", template).expect("the template is constant and tested");
    environment
}

/// The report as a single HTML page without external parts.
///
/// # Errors
/// Numbers that cannot be written.
pub fn page(report: &Report) -> Result<String, Error> {
    let environment = environment(TEMPLATE);
    let template = environment.get_template("page").expect("the environment has it");
    let keys = report.keys.iter();
    let (kept, varied): (Vec<_>, Vec<_>) = keys.partition(|key| key.source == Source::Base);
    let varied: Vec<_> = varied.into_iter().map(KeyRow::of).collect();
    let rows: Vec<_> = report.points.iter().map(PointRow::of).collect();
    let page = context! {
        style => STYLE,
        report => Value::from(Serde(report)),
        varied => Value::from(Serde(varied)),
        kept => Value::from(Serde(kept)),
        points => Value::from(Serde(rows)),
        scatter => Value::from(Serde(scatter(&report.points))),
        residuals => Value::from(Serde(Residuals::of(&report.points))),
    };
    template.render(page).map_err(|error| Error::Output(format!("the page of the fit: {error}")))
}

/// A row of the table of keys, with a drawing of the interval between the bounds. Unit of the
/// drawing: percent.
#[derive(Serialize)]
struct KeyRow<'a> {
    key: &'a Key,
    bar: Option<Bar>,
}

#[derive(Serialize)]
struct Bar {
    low: String,
    width: String,
    value: String,
}

impl<'a> KeyRow<'a> {
    fn of(key: &'a Key) -> Self {
        let bar = || {
            let (low, high) = key.bounds?;
            let at = |value: f64| 100.0 * libm::log(value / low) / libm::log(high / low);
            let (from, to) = key.interval?;
            let (low, width) = (pixels(at(from)), pixels((at(to) - at(from)).max(1.0)));
            Some(Bar { low, width, value: pixels(at(key.value?)) })
        };
        Self { key, bar: bar() }
    }
}

/// A row of the table of measurements.
#[derive(Serialize)]
struct PointRow<'a> {
    point: &'a Point,
    measured: String,
    fitted: String,
    error: String,
    sigmas: String,
    far: bool,
}

impl<'a> PointRow<'a> {
    fn of(point: &'a Point) -> Self {
        Self {
            point,
            measured: number(point.measured),
            fitted: number(point.fitted),
            error: format!("{:+.1} %", 100.0 * (point.fitted / point.measured - 1.0)),
            sigmas: format!("{:+.1}", point.sigmas),
            far: point.sigmas.abs() > 2.0,
        }
    }
}

/// A mark of a drawing.
#[derive(Serialize)]
struct Mark<'a> {
    x: String,
    y: String,
    title: String,
    name: &'a str,
    held_back: bool,
    far: bool,
}

/// Measured against fitted, both on logarithmic axes, which are shared by all units.
fn scatter(points: &[Point]) -> Vec<Mark<'_>> {
    let values = points.iter().flat_map(|point| [point.measured, point.fitted]);
    let logs: Vec<f64> = values.map(libm::log).collect();
    let low = logs.iter().copied().fold(f64::INFINITY, f64::min) - 0.2;
    let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max) + 0.2;
    let at = |log: f64| SIDE * (log - low) / (high - low);
    let mark = |(point, logs): (_, &[f64])| {
        let row = PointRow::of(point);
        Mark {
            x: pixels(at(logs[0])),
            y: pixels(SIDE - at(logs[1])),
            title: format!(
                "{}: measured {}, fitted {} ({})",
                point.name, row.measured, row.fitted, row.error
            ),
            name: &point.name,
            held_back: point.held_back,
            far: row.far,
        }
    };
    points.iter().zip(logs.chunks(2)).map(mark).collect()
}

/// The chart of residuals: a row for each measurement.
#[derive(Serialize)]
struct Residuals<'a> {
    height: usize,
    /// Distance of two sigmas from the middle. Unit: pixels of the drawing.
    two: String,
    limit: String,
    left_out: usize,
    marks: Vec<Mark<'a>>,
}

impl<'a> Residuals<'a> {
    fn of(points: &'a [Point]) -> Self {
        let mut shown: Vec<usize> = (0..points.len()).collect();
        if points.len() > ROWS {
            let size = |at: &usize| points[*at].sigmas.abs();
            shown.sort_by(|a, b| size(b).total_cmp(&size(a)));
            shown.truncate(ROWS);
            shown.sort_unstable();
        }
        let largest = shown.iter().map(|&at| points[at].sigmas.abs()).fold(3.0, f64::max);
        let scale = 150.0 / largest;
        let mark = |(row, &at): (usize, &usize)| {
            let point = &points[at];
            Mark {
                x: pixels(160.0 + scale * point.sigmas),
                y: (row * 30 + 22).to_string(),
                title: format!("{}: {:+.1} sigmas", point.name, point.sigmas),
                name: &point.name,
                held_back: point.held_back,
                far: point.sigmas.abs() > 2.0,
            }
        };
        Self {
            height: shown.len() * 30 + 24,
            two: pixels(2.0 * scale),
            limit: format!("{largest:.1}"),
            left_out: points.len() - shown.len(),
            marks: shown.iter().enumerate().map(mark).collect(),
        }
    }
}

fn pixels(value: f64) -> String {
    format!("{value:.1}")
}

/// A number with three to five significant digits.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
