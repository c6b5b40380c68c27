//! The page of a sweep: axes, means over the seeds with their intervals, the best rows, and small
//! multiples.

use std::collections::BTreeMap;

use flashlane::metrics::Estimate;
use flashlane::{Error, visible_json};
use serde::Serialize;
use serde_json::Value;

use crate::page;

const TEMPLATE: &str = include_str!("sweep.html");
const CHARTS: &str = concat!(include_str!("chart_tools.js"), include_str!("sweep.js"));

/// The axis whose values are aggregated.
const SEED: &str = "seed";

/// Rows of a table of the best ones.
const BEST: usize = 3;

/// Most tenants that have tables of their own.
const TENANTS: usize = 8;

/// A point: its keys, and its result as JSON, which has a `summary`, or `error` and `error_kind`.
pub type SweptPoint = (Vec<(String, Value)>, Value);

/// A figure of a tenant or of the drive.
#[derive(Clone, Copy, Serialize)]
struct Figure {
    label: &'static str,
    #[serde(skip)]
    path: &'static str,
    /// True if more is better.
    #[serde(skip)]
    more: bool,
    of_drive: bool,
}

const fn of_flow(label: &'static str, path: &'static str, more: bool) -> Figure {
    Figure { label, path, more, of_drive: false }
}

const fn of_drive(label: &'static str, path: &'static str, more: bool) -> Figure {
    Figure { label, path, more, of_drive: true }
}

/// Paths in an element of `flows`, or in the summary.
const FIGURES: [Figure; 8] = [
    of_flow("p99 (us)", "/response_time_us/p99", false),
    of_flow("mean response time (us)", "/response_time_us/mean", false),
    of_flow("p99.9 (us)", "/response_time_us/p99_9", false),
    of_flow("requests per second", "/iops", true),
    of_flow("bytes per second", "/bandwidth_bytes_per_s", true),
    of_flow("slowdown", "/slowdown", false),
    of_drive("fairness", "/fairness/fairness", true),
    of_drive("write amplification", "/flash/write_amplification", false),
];

/// An axis and its values, in the order of the points.
#[derive(Serialize)]
struct Axis {
    key: String,
    values: Vec<String>,
    /// The values, where all are numbers.
    numbers: Option<Vec<f64>>,
}

/// A mean over the seeds, and its interval.
#[derive(Clone, Copy, Serialize)]
struct Interval {
    mean: f64,
    low: Option<f64>,
    high: Option<f64>,
    #[serde(skip)]
    seeds: usize,
}

/// What all points with the same keys but for the seed have.
#[derive(Default, Serialize)]
struct Setting {
    /// The value on each axis; none where the point has no such key.
    at: Vec<Option<usize>>,
    /// By tenant and figure.
    flows: Vec<Vec<Option<Interval>>>,
    /// Tenants whose backlog grows, or that starve, under some seed.
    #[serde(skip)]
    stars: Vec<bool>,
}

/// What the charts are drawn from.
#[derive(Serialize)]
struct Data<'a> {
    axes: &'a [Axis],
    figures: [Figure; FIGURES.len()],
    flows: &'a [String],
    settings: &'a [Setting],
}

#[derive(Serialize)]
struct View<'a> {
    title: &'a str,
    said: String,
    version: &'static str,
    axes: &'a [Axis],
    figures: Vec<&'static str>,
    flows: &'a [String],
    best: Vec<Best>,
    has_stars: bool,
    failures: Vec<Failure>,
}

/// A table of the best rows.
#[derive(Serialize)]
struct Best {
    caption: String,
    figure: &'static str,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    cells: Vec<String>,
    mean: String,
    interval: String,
    seeds: usize,
}

#[derive(Serialize)]
struct Failure {
    point: String,
    kind: String,
    why: String,
}

/// The page of a sweep. `keys`: the keys of the points, in order.
///
/// # Errors
/// [`Error::Output`] for numbers that JSON cannot represent.
pub fn render_sweep(title: &str, keys: &[String], points: &[SweptPoint]) -> Result<String, Error> {
    let failed = |error: &dyn std::fmt::Display| Error::Output(format!("sweep.html: {error}"));
    let axes = axes(keys, points);
    let flows = flows(points);
    let settings = settings(&axes, &flows, points);
    let failures = failures(points);
    let seeds = settings.iter().flat_map(|one| one.flows.iter().flatten().flatten());
    let seeds = seeds.map(|one| one.seeds).max().unwrap_or(0);
    let said = format!(
        "{} points: {} settings with results under up to {seeds} seeds, {} points failed.",
        points.len(),
        settings.len(),
        failures.len()
    );
    let data = Data { axes: &axes, figures: FIGURES, flows: &flows, settings: &settings };
    // The text cannot end the element that contains it.
    let data = serde_json::to_string(&data).map_err(|error| failed(&error))?;
    let data = visible_json(&data.replace('<', "\\u003c")).into_owned();
    let view = View {
        title,
        said,
        version: env!("CARGO_PKG_VERSION"),
        axes: &axes,
        figures: FIGURES.iter().map(|figure| figure.label).collect(),
        flows: &flows,
        best: best(&axes, &flows, &settings),
        has_stars: settings.iter().any(|one| one.stars.contains(&true)),
        failures,
    };
    page::fill(TEMPLATE, CHARTS, view, &data).map_err(|error| failed(&error))
}

/// A value of a key as text.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn axes(keys: &[String], points: &[SweptPoint]) -> Vec<Axis> {
    let axis = |key: &String| {
        let mut found: Vec<&Value> = Vec::new();
        let of_key = points.iter().flat_map(|(point, _)| point).filter(|(name, _)| name == key);
        for (_, value) in of_key {
            if !found.contains(&value) {
                found.push(value);
            }
        }
        let numbers = found.iter().map(|value| value.as_f64()).collect();
        let values = found.iter().map(|value| text(value)).collect();
        Axis { key: key.clone(), values, numbers }
    };
    keys.iter().filter(|key| *key != SEED).map(axis).collect()
}

fn summary_flows(result: &Value) -> &[Value] {
    result.pointer("/summary/flows").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn name(flow: &Value) -> &str {
    flow["name"].as_str().unwrap_or_default()
}

/// The names of all tenants, in the order in which they appear.
fn flows(points: &[SweptPoint]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for flow in points.iter().flat_map(|(_, result)| summary_flows(result)) {
        if !names.iter().any(|known| known == name(flow)) {
            names.push(name(flow).to_owned());
        }
    }
    names
}

/// The place of a point on each axis.
fn place(axes: &[Axis], point: &[(String, Value)]) -> Vec<Option<usize>> {
    let of_axis = |axis: &Axis| {
        let (_, value) = point.iter().find(|(key, _)| *key == axis.key)?;
        let value = text(value);
        axis.values.iter().position(|one| *one == value)
    };
    axes.iter().map(of_axis).collect()
}

fn settings(axes: &[Axis], flows: &[String], points: &[SweptPoint]) -> Vec<Setting> {
    let mut by_place: BTreeMap<Vec<Option<usize>>, Vec<&Value>> = BTreeMap::new();
    for (point, result) in points.iter().filter(|(_, result)| result.get("summary").is_some()) {
        by_place.entry(place(axes, point)).or_default().push(&result["summary"]);
    }
    let setting = |(at, summaries): (Vec<Option<usize>>, Vec<&Value>)| {
        let of_flow = |flow: &String| -> Vec<Vec<Option<&Value>>> {
            let find = |summary: &&Value| {
                let flows = summary["flows"].as_array()?;
                flows.iter().position(|one| name(one) == flow)
            };
            let values = |figure: &Figure| {
                let of = |summary: &&'_ Value| -> Option<usize> { find(summary) };
                summaries
                    .iter()
                    .map(|summary| match figure.of_drive {
                        true => summary.pointer(figure.path),
                        false => summary["flows"][of(summary)?].pointer(figure.path),
                    })
                    .collect()
            };
            FIGURES.iter().map(values).collect()
        };
        let interval = |values: Vec<Option<&Value>>| {
            let values = values.into_iter().map(|value| value.and_then(Value::as_f64)).collect();
            let Estimate { mean, ci95_low, ci95_high, n, .. } = Estimate::of(values)?;
            Some(Interval { mean, low: ci95_low, high: ci95_high, seeds: n })
        };
        let star = |flow: &String| {
            let rows = summaries.iter().filter_map(|summary| summary["flows"].as_array()).flatten();
            let mut rows = rows.filter(|one| name(one) == flow);
            rows.any(|one| one["saturated"] == true || one["starved"] == true)
        };
        Setting {
            at,
            stars: flows.iter().map(star).collect(),
            flows: flows
                .iter()
                .map(|flow| of_flow(flow).into_iter().map(interval).collect())
                .collect(),
        }
    };
    by_place.into_iter().map(setting).collect()
}

/// Tables of the best settings: by p99 of each tenant, and by the figures of the drive.
fn best(axes: &[Axis], flows: &[String], settings: &[Setting]) -> Vec<Best> {
    let of_tenants = flows.iter().take(TENANTS).enumerate().map(|(at, name)| (0, at, &**name));
    let drive = FIGURES.iter().enumerate().filter(|(_, figure)| figure.of_drive);
    let drive = drive.map(|(figure, _)| (figure, 0, "the drive"));
    let table = |(figure, flow, name): (usize, usize, &str)| {
        let mut found: Vec<(&Setting, Interval)> = settings
            .iter()
            .filter_map(|one| Some((one, (*one.flows.get(flow)?.get(figure)?)?)))
            .collect();
        let Figure { label, more, of_drive, .. } = FIGURES[figure];
        let cost = |one: &Interval| if more { -one.mean } else { one.mean };
        found.sort_by(|a, b| cost(&a.1).total_cmp(&cost(&b.1)));
        let rows = found
            .iter()
            .take(BEST)
            .map(|(setting, one)| row(axes, setting, *one, !of_drive && setting.stars[flow]));
        let best = if more { "largest" } else { "smallest" };
        let caption = format!("{name}: the {best} of {} settings", found.len());
        Best { caption, figure: label, rows: rows.collect() }
    };
    of_tenants.chain(drive).map(table).filter(|table| !table.rows.is_empty()).collect()
}

fn row(axes: &[Axis], setting: &Setting, interval: Interval, star: bool) -> Row {
    let cell = |(axis, at): (&Axis, &Option<usize>)| {
        at.map_or_else(|| "–".to_owned(), |at| axis.values[at].clone())
    };
    let number = flashlane_verdict::words::number;
    let ends = interval.low.zip(interval.high);
    Row {
        cells: axes.iter().zip(&setting.at).map(cell).collect(),
        mean: number(interval.mean) + if star { " *" } else { "" },
        interval: ends.map_or_else(
            || "–".to_owned(),
            |(low, high)| format!("{} to {}", number(low), number(high)),
        ),
        seeds: interval.seeds,
    }
}

fn failures(points: &[SweptPoint]) -> Vec<Failure> {
    let failure = |(point, result): &SweptPoint| {
        let keys = point.iter().map(|(key, value)| format!("{key} = {}", text(value)));
        Some(Failure {
            point: keys.collect::<Vec<_>>().join(", "),
            kind: text(result.get("error_kind").unwrap_or(&Value::Null)),
            why: text(result.get("error")?),
        })
    };
    points.iter().filter_map(failure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn point(depth: u32, scheduler: &str, seed: u32, p99: f64) -> SweptPoint {
        let keys = [
            ("depth".to_owned(), json!(depth)),
            ("scheduler".to_owned(), json!(scheduler)),
            (SEED.to_owned(), json!(seed)),
        ];
        let flow = json!({
            "name": "</script>", "response_time_us": { "p99": p99 }, "saturated": depth == 8
        });
        (keys.to_vec(), json!({ "summary": { "flows": [flow], "fairness": { "fairness": null } } }))
    }

    fn keys() -> Vec<String> {
        ["depth", "scheduler", SEED].map(str::to_owned).to_vec()
    }

    #[test]
    fn seeds_are_aggregated_with_intervals_and_the_best_rows_come_first() {
        let mut points = vec![
            point(1, "fcfs", 1, 10.0),
            point(1, "fcfs", 2, 14.0),
            point(8, "fcfs", 1, 5.0),
            point(8, "flin", 1, 7.0),
        ];
        points.push((points[0].0.clone(), json!({ "error": "found <0>", "error_kind": "config" })));
        let axes = axes(&keys(), &points);
        assert_eq!(axes.len(), 2, "the seed is no axis");
        assert_eq!(axes[0].numbers, Some(vec![1.0, 8.0]));
        assert_eq!((axes[1].numbers.is_none(), axes[1].values.len()), (true, 2));
        let flows = flows(&points);
        let settings = settings(&axes, &flows, &points);
        assert_eq!(settings.len(), 3);
        let two = settings[0].flows[0][0].expect("a figure");
        assert_eq!((two.mean, two.seeds), (12.0, 2));
        // Two values: 12 +- 12.706 * 2.
        let (low, high) = two.low.zip(two.high).expect("an interval");
        assert!((high - 37.41).abs() < 0.01 && (low + 13.41).abs() < 0.01, "{low} {high}");
        let best = best(&axes, &flows, &settings);
        assert_eq!(best.len(), 1, "no figure of the drive has values");
        let means: Vec<&str> = best[0].rows.iter().map(|row| &*row.mean).collect();
        assert!(means[0].starts_with('5') && means[0].ends_with('*'), "{means:?}");
        assert_eq!(best[0].rows[2].seeds, 2);
        let page = render_sweep("a sweep", &keys(), &points).expect("a page");
        assert!(page.contains("5 points: 3 settings with results under up to 2 seeds, 1 points"));
        assert!(page.contains("found &lt;0&gt;") && page.contains("uPlot"), "failures and charts");
        assert!(!page.contains("\"</script>"), "names cannot end the element");
    }

    #[test]
    fn a_sweep_without_results_has_a_page_as_well() {
        let failed = json!({ "error": "no such file", "error_kind": "config" });
        let points = vec![(vec![("device".to_owned(), json!("x"))], failed)];
        let page = render_sweep("nothing", &["device".to_owned()], &points).expect("a page");
        assert!(page.contains("1 points: 0 settings") && page.contains("no such file"));
    }
}
