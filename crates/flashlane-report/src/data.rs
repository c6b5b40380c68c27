//! The data of a run in a page.

use flashlane::metrics::{Latency, SeedStatistics, Summary};
use flashlane::observe::{Blame, DevicePoint, FlowPoint, SeriesWindow, TimeSeries};
use flashlane::{Details, visible_json};
use serde::{Deserialize, Serialize};

use crate::chip_heat::ChipHeat;
use crate::{choices, measured};

/// Most points of a curve, as many as a screen can show.
const CURVE_POINTS: usize = 400;
/// Share of slower requests at which a curve ends.
const TAIL_MIN: f64 = 1e-7;
/// Most windows of a time series.
const WINDOWS: usize = 600;
/// Text before and after the numbers in a page.
const OPENING: &str = "<script type=\"application/json\" id=\"flashlane-data\">";
const CLOSING: &str = "</script>";

/// A run as a page shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunData {
    /// Name of the run for the reader.
    pub label: String,
    /// True if the reader chose the label; false if it was made from the workload.
    #[serde(default)]
    pub named: bool,
    /// The command that repeats the run; empty if there is none.
    pub command: String,
    /// Device and workload with every key, as TOML.
    pub configuration: String,
    /// Summary of the run; with several seeds, that of the first one.
    pub summary: Summary,
    /// Every metric over several seeds; `None` for a run of one seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<SeedStatistics>,
    /// Label of the run whose tenants alone the slowdowns are against; `None` for the run itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Distributions of response times: all, reads, writes of each flow.
    pub curves: Vec<Curve>,
    /// Windows over time, if they were asked for.
    pub series: Option<SeriesData>,
    /// Which tenant delays which, if that was asked for.
    pub blame: Option<Blame>,
    /// What helps, in sentences, if that was tried (`run --advise`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<String>,
}

/// Distribution of the response times of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Index of the flow.
    pub flow: usize,
    /// `all`, `read`, `write`, `trim` or `flush`.
    pub op: String,
    /// Latencies in rising order. Unit: microseconds.
    pub us: Vec<f64>,
    /// Share of requests that take longer, in falling order. Range: above 0, to 1.
    pub slower: Vec<f64>,
}

/// Windows over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesData {
    /// End of each window, from the start of the run. Unit: seconds.
    pub end_s: Vec<f64>,
    /// Figures of the windows.
    pub columns: Vec<SeriesColumn>,
    /// Busy shares of the chips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chips: Option<ChipHeat>,
}

/// A figure over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesColumn {
    /// Name of the figure, for example `p99_us`.
    pub name: String,
    /// Index of the flow; `None` for the device.
    pub flow: Option<usize>,
    /// Values by window; null if there is none.
    pub values: Vec<Option<f64>>,
}

impl RunData {
    /// The changes that were tried for the tenants, if some were.
    pub(crate) fn tried(&self) -> Option<String> {
        (!self.advice.is_empty()).then(|| format!("Tried: {}", self.advice.join(" ")))
    }

    /// The data of a run. `configuration`: device and workload as TOML.
    #[must_use]
    pub fn new(
        label: &str,
        command: &str,
        configuration: &str,
        summary: &Summary,
        details: &Details,
    ) -> Self {
        let curves = details.by_operation().into_iter().flat_map(|(op, flows)| {
            let there = flows.iter().enumerate().filter(|(_, points)| !points.is_empty());
            there.map(move |(flow, points)| Curve::new(flow, op, points))
        });
        Self {
            label: label.to_owned(),
            named: false,
            command: command.to_owned(),
            configuration: configuration.to_owned(),
            summary: summary.clone(),
            seeds: None,
            baseline: None,
            curves: curves.collect(),
            series: details.time_series.as_ref().map(|series| SeriesData::new(series, summary)),
            blame: details.blame.clone(),
            advice: Vec::new(),
        }
    }

    /// A run of which only the summary is known; its curves come from percentiles.
    #[must_use]
    pub fn from_summary(label: &str, summary: Summary) -> Self {
        let curves = summary.flows.iter().enumerate().flat_map(|(flow, one)| {
            let kinds = [("all", &one.response_time_us)].into_iter().chain(one.by_operation());
            let there = kinds.filter(|(_, latency)| latency.count > 0);
            there.map(move |(op, latency)| Curve::from_percentiles(flow, op, latency))
        });
        Self {
            label: label.to_owned(),
            named: false,
            command: String::new(),
            configuration: String::new(),
            curves: curves.collect(),
            summary,
            seeds: None,
            baseline: None,
            series: None,
            blame: None,
            advice: Vec::new(),
        }
    }

    /// Combines the runs of one scenario under several seeds, in their order, to one run. Curves,
    /// time series and blame are those of the first run.
    ///
    /// # Errors
    /// A message if the runs have different scenarios, or if two have the same seed.
    pub fn over_seeds(runs: Vec<Self>) -> Result<Self, String> {
        let summaries: Vec<Summary> = runs.iter().map(|run| run.summary.clone()).collect();
        let mut runs = runs.into_iter();
        let mut first = runs.next().ok_or("found no run, allowed: one for each seed")?;
        if runs.len() == 0 {
            // A single run, which may have been of several seeds.
            return Ok(first);
        }
        let what = |s: &Summary| {
            let flows: Vec<String> = s.flows.iter().map(|flow| flow.name.clone()).collect();
            let policies = [&s.scheduler, &s.isolation].map(String::clone);
            (s.workload.clone(), s.device.clone(), policies, s.compat.clone(), flows)
        };
        let mut seeds = Vec::new();
        for (summary, run) in summaries.iter().zip([&first].into_iter().chain(runs.as_slice())) {
            if what(summary) != what(&first.summary) || run.configuration != first.configuration {
                return Err(format!(
                    "the run with seed {} differs from the first one in more than its seed",
                    summary.seed
                ));
            }
            if run.seeds.is_some() {
                return Err(
                    "found a run of several seeds among others, allowed: one seed each".into()
                );
            }
            if seeds.contains(&summary.seed) {
                return Err(format!("found seed {} twice, allowed: once", summary.seed));
            }
            seeds.push(summary.seed);
        }
        first.seeds = (seeds.len() > 1).then(|| SeedStatistics::of(&summaries));
        Ok(first)
    }

    /// True if a page can run it again: every key is known, no part comes from a file or from a
    /// policy of the program, and the run has time.
    pub(crate) fn runs_again(&self) -> bool {
        let files = ["[flow.trace]", "[flow.mqsim", ".toml\""];
        self.configuration.contains(choices::WORKLOAD_MARK)
            && self.summary.waf_only.is_none()
            && choices::has(&self.summary)
            && !files.iter().any(|part| self.configuration.contains(part))
    }

    /// The summary to show: with several seeds, the mean of each metric.
    ///
    /// # Errors
    /// As [`SeedStatistics::mean_summary`].
    pub fn shown_summary(&self) -> Result<Summary, String> {
        match &self.seeds {
            Some(seeds) => seeds.mean_summary(&self.summary),
            None => Ok(self.summary.clone()),
        }
    }

    /// Sentences that come before any number; with several seeds, over all of them.
    #[must_use]
    pub fn verdict(&self) -> Vec<String> {
        match &self.seeds {
            Some(seeds) => seeds.verdict(&self.summary),
            None => self.summary.verdict(),
        }
    }

    /// The runs in a page that [`crate::render`] made.
    ///
    /// # Errors
    /// A message that names the fault of the page.
    pub fn from_page(page: &str) -> Result<Vec<Self>, String> {
        let island = page
            .split_once(OPENING)
            .and_then(|(_, rest)| rest.split_once(CLOSING))
            .ok_or("is not a report of flashlane: it carries no data")?;
        #[derive(Deserialize)]
        struct Island {
            runs: Vec<RunData>,
        }
        serde_json::from_str::<Island>(island.0)
            .map(|island| island.runs)
            .map_err(|error| format!("its data cannot be read: {error}"))
    }
}

/// The numbers of a page as JSON. Its text cannot end the element that contains it.
pub(crate) fn island(runs: &[RunData]) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Island<'a> {
        runs: &'a [RunData],
    }
    let text = serde_json::to_string(&Island { runs })?.replace('<', "\\u003c");
    Ok(visible_json(&text).into_owned())
}

/// Rounds to four significant digits, which is all that a chart can show.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

impl Curve {
    /// From latencies in rising order, each with the share of requests at or below it.
    fn new(flow: usize, op: &str, points: &[(f64, f64)]) -> Self {
        let mut curve = Self { flow, op: op.to_owned(), us: Vec::new(), slower: Vec::new() };
        // The first point is that of the fastest request, and no request is faster.
        let mut above = 1.0_f64;
        // Steps of equal width on an axis with a stretched tail.
        let step = libm::log(TAIL_MIN).abs() / CURVE_POINTS as f64;
        let mut next = f64::INFINITY;
        for (index, &(us, share)) in points.iter().enumerate() {
            let last = index + 1 == points.len();
            let (x, y) = (libm::log(above), above);
            if (x <= next || last) && y >= TAIL_MIN {
                curve.us.push(rounded(us));
                curve.slower.push(rounded(y));
                next = x - if above > 0.5 { step / 4.0 } else { step };
            }
            above = (1.0 - share).max(0.0);
        }
        curve
    }

    fn from_percentiles(flow: usize, op: &str, latency: &Latency) -> Self {
        let points = [
            (latency.min, 1.0),
            (latency.p50, 0.5),
            (latency.p90, 0.1),
            (latency.p95, 0.05),
            (latency.p99, 0.01),
            (latency.p99_9, 1e-3),
            (latency.p99_99, 1e-4),
        ];
        let (us, slower) = points.iter().copied().unzip();
        Self { flow, op: op.to_owned(), us, slower }
    }
}

impl SeriesData {
    /// From a time series. If a screen cannot show all windows, several are combined.
    fn new(series: &TimeSeries, summary: &Summary) -> Self {
        let stride = series.windows.len().div_ceil(WINDOWS).max(1);
        let groups: Vec<&[SeriesWindow]> = series.windows.chunks(stride).collect();
        let mut columns = Vec::new();
        for flow in 0..series.flows.len() {
            let mut add = |name: &str, figure: &dyn Fn(&FlowPoint) -> (Option<f64>, f64)| {
                let values = groups.iter().map(|group| {
                    mean(group.iter().map(|window| (figure(&window.flows[flow]), window)))
                });
                columns.push(SeriesColumn {
                    name: name.to_owned(),
                    flow: Some(flow),
                    values: values.collect(),
                });
            };
            let requests = |point: &FlowPoint| point.requests as f64;
            add("mean_us", &|p| (p.response_mean_us, requests(p)));
            add("p99_us", &|p| (p.response_p99_us, requests(p)));
            if series.windows.iter().any(|window| window.flows[flow].measured_mean_us.is_some()) {
                add(measured::SIMULATED, &|p| (p.end_to_end_mean_us, requests(p)));
                add(measured::MEASURED, &|p| (p.measured_mean_us, requests(p)));
            }
            add("slowdown", &|p| (p.slowdown, requests(p)));
            add("iops", &|p| (Some(p.read_iops + p.write_iops), 0.0));
            add("bytes_per_s", &|p| (Some(p.read_bytes_per_s + p.write_bytes_per_s), 0.0));
            add("queue", &|p| (Some(p.waiting_requests + p.device_requests), 0.0));
            add("chips", &|p| (p.set_chips.map(f64::from), 0.0));
        }
        let mut device = |name: &str, figure: &dyn Fn(&DevicePoint, f64) -> Option<f64>| {
            let values = groups.iter().map(|group| {
                mean(group.iter().map(|window| {
                    ((figure(&window.device, window.end_s - window.start_s), 0.0), window)
                }))
            });
            columns.push(SeriesColumn {
                name: name.to_owned(),
                flow: None,
                values: values.collect(),
            });
        };
        device("write_amplification", &|p, _| p.write_amplification);
        device("free_blocks", &|p, _| Some(p.free_blocks as f64));
        device("gc_pages_per_s", &|p, s| (s > 0.0).then(|| p.gc_programs as f64 / s));
        device("busy", &|p, _| Some(p.chips_busy));
        let end_s = groups.iter().map(|group| rounded(group[group.len() - 1].end_s));
        let chips = ChipHeat::new(&series.windows, &summary.chips);
        Self { end_s: end_s.collect(), columns, chips }
    }
}

/// Weighted mean of values; by length of the window if all weights are 0.
fn mean<'a>(values: impl Iterator<Item = ((Option<f64>, f64), &'a SeriesWindow)>) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for ((value, weight), window) in values {
        let weight = if weight > 0.0 { weight } else { (window.end_s - window.start_s).max(1e-12) };
        if let Some(value) = value {
            sum += value * weight;
            weights += weight;
        }
    }
    (weights > 0.0).then(|| rounded(sum / weights))
}
