//! Measured response times beside simulated ones: a table, and a picture with a point for each
//! window of time.

use flashlane::metrics::{Latency, Summary};
use flashlane_verdict::words::{starred, time};
use serde::Serialize;

use crate::data::{RunData, SeriesData};
use crate::side_by_side::{Figure, Row};

/// Columns of the table after the name of the tenant.
const HEADS: [&str; 9] =
    ["tenant", "", "requests", "mean", "p50", "p90", "p99", "p99.9", "error of the mean"];

/// Columns of a series from which the picture is drawn.
pub(crate) const MEASURED: &str = "measured_us";
pub(crate) const SIMULATED: &str = "end_to_end_us";

/// Size of the picture, and of the margins for numbers.
const SIDE: f64 = 420.0;
const MARGIN: f64 = 56.0;
/// Most points of a tenant.
const POINTS: usize = 300;

/// True if the trace of any flow has completions.
pub(crate) fn is_there(summaries: &[Summary]) -> bool {
    let mut flows = summaries.iter().flat_map(|summary| &summary.flows);
    flows.any(|flow| flow.measured_response_time_us.is_some())
}

/// The part of the page for a run.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    heads: [&'static str; 9],
    /// Empty if nothing was measured.
    rows: Vec<Row<String>>,
    scatter: Option<Scatter>,
}

/// The part of the page for a run. `colours`: number of tenants with distinct colours.
pub(crate) fn view(run: &RunData, summary: &Summary, colours: usize) -> View {
    View { heads: HEADS, rows: rows(run, summary), scatter: scatter(run, summary, colours) }
}

/// Two rows for each tenant whose trace has completions.
fn rows(run: &RunData, summary: &Summary) -> Vec<Row<String>> {
    let mut rows = Vec::new();
    for (index, flow) in summary.flows.iter().enumerate() {
        let Some(measured) = &flow.measured_response_time_us else { continue };
        let row = |kind: &str, latency: &Latency, cell: &dyn Fn(&str, f64) -> String, error| Row {
            name: flow.name.clone(),
            cells: vec![
                kind.to_owned(),
                latency.count.to_string(),
                cell("mean", latency.mean),
                cell("p50", latency.p50),
                cell("p90", latency.p90),
                cell("p99", latency.p99),
                cell("p99_9", latency.p99_9),
                error,
            ],
        };
        rows.push(row("measured", measured, &|_, us| time(us), String::new()));
        let simulated = |figure: &str, us: f64| {
            let found =
                Figure::of(run, &format!("flows[{index}].end_to_end_us.{figure}"), Some(us));
            let text = found.map_or("–".to_owned(), |figure| figure.text(time));
            starred(text, flow.depends_on_length())
        };
        let error = flow.measured_error.map(|error| format!("{:+.1} %", 100.0 * error));
        rows.push(row("simulated", &flow.end_to_end_us, &simulated, error.unwrap_or_default()));
    }
    rows
}

/// A picture with a point for each tenant and window of time, on logarithmic axes.
#[derive(Debug, Serialize)]
struct Scatter {
    side: f64,
    /// Corners of the area of the points.
    low: f64,
    high: f64,
    ticks: Vec<Tick>,
    points: Vec<Point>,
}

/// A power of ten on both axes.
#[derive(Debug, Serialize)]
struct Tick {
    x: f64,
    y: f64,
    text: String,
}

#[derive(Debug, Serialize)]
struct Point {
    x: f64,
    y: f64,
    colour: usize,
    title: String,
}

/// The picture of a run; `None` if no window has both times.
fn scatter(run: &RunData, summary: &Summary, colours: usize) -> Option<Scatter> {
    let series = run.series.as_ref()?;
    let mut pairs: Vec<(usize, f64, f64, f64)> = Vec::new();
    for flow in 0..summary.flows.len() {
        let both = pairs_of(series, flow);
        let stride = both.len().div_ceil(POINTS).max(1);
        pairs.extend(both.into_iter().step_by(stride).map(|(end, x, y)| (flow, end, x, y)));
    }
    let log = |us: f64| libm::log10(us);
    let values = || pairs.iter().flat_map(|(_, _, x, y)| [*x, *y]);
    let from = values().map(log).reduce(f64::min)?.floor();
    let to = values().map(log).reduce(f64::max)?.ceil().max(from + 1.0);
    let (low, high) = (MARGIN, SIDE - 12.0);
    let across = |us: f64| (low + (log(us) - from) / (to - from) * (high - low)).round();
    let up = |us: f64| SIDE - across(us);
    let powers = (from as i32..=to as i32).map(|power| libm::pow(10.0, f64::from(power)));
    Some(Scatter {
        side: SIDE,
        low,
        high,
        ticks: powers.map(|us| Tick { x: across(us), y: up(us), text: time(us) }).collect(),
        points: pairs
            .iter()
            .map(|(flow, end_s, measured, simulated)| Point {
                x: across(*measured),
                y: up(*simulated),
                colour: flow % colours,
                title: format!(
                    "{} up to {}: {} measured, {} simulated",
                    summary.flows[*flow].name,
                    time(end_s * 1e6),
                    time(*measured),
                    time(*simulated)
                ),
            })
            .collect(),
    })
}

/// For each window: its end (unit: seconds), measured and simulated mean (unit: microseconds).
fn pairs_of(series: &SeriesData, flow: usize) -> Vec<(f64, f64, f64)> {
    let column = |name: &str| {
        series.columns.iter().find(|column| column.name == name && column.flow == Some(flow))
    };
    let (Some(measured), Some(simulated)) = (column(MEASURED), column(SIMULATED)) else {
        return Vec::new();
    };
    let both = series.end_s.iter().zip(&measured.values).zip(&simulated.values);
    both.filter_map(|((end_s, x), y)| Some((*end_s, (*x)?, (*y)?)))
        .filter(|(_, x, y)| *x > 0.0 && *y > 0.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SeriesColumn;
    use flashlane::metrics::FlowSummary;

    fn run() -> RunData {
        let latency = |mean| Latency { count: 40, mean, ..Latency::default() };
        let flow = FlowSummary {
            name: "db".to_owned(),
            measured_response_time_us: Some(latency(100.0)),
            measured_error: Some(0.25),
            end_to_end_us: latency(125.0),
            ..FlowSummary::default()
        };
        let other = FlowSummary { name: "other".to_owned(), ..FlowSummary::default() };
        let summary = Summary { flows: vec![flow, other], ..Summary::default() };
        let column =
            |name: &str, values| SeriesColumn { name: name.to_owned(), flow: Some(0), values };
        let columns = vec![
            column(MEASURED, vec![Some(10.0), None, Some(1000.0)]),
            column(SIMULATED, vec![Some(10.0), Some(7.0), Some(100.0)]),
        ];
        let mut run = RunData::from_summary("a", summary);
        run.series = Some(SeriesData { end_s: vec![1.0, 2.0, 3.0], columns, chips: None });
        run
    }

    #[test]
    fn the_error_stands_beside_the_simulated_mean() {
        let run = run();
        let rows = rows(&run, &run.summary);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].cells[..3], ["measured", "40", "100 µs"]);
        assert_eq!(rows[1].cells[..3], ["simulated", "40", "125 µs"]);
        assert_eq!(rows[1].cells[7], "+25.0 %");
        assert!(is_there(&[run.summary]) && !is_there(&[Summary::default()]));
    }

    #[test]
    fn points_that_agree_lie_on_the_diagonal() {
        let run = run();
        let picture = scatter(&run, &run.summary, 8).expect("two windows have both");
        assert_eq!(picture.points.len(), 2);
        let [agrees, faster] = &picture.points[..] else { panic!("two points") };
        assert_eq!(agrees.x + agrees.y, picture.side);
        assert!(faster.x + faster.y > picture.side, "below the diagonal: faster than measured");
        assert_eq!(picture.ticks.len(), 3, "10, 100 and 1000 us");
        assert!(
            scatter(&RunData::from_summary("a", Summary::default()), &Summary::default(), 8)
                .is_none()
        );
    }
}
