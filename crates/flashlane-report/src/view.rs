//! Turns numbers into the texts, shares and colours that the template prints.

use flashlane::metrics::{Latency, Summary};
use serde::Serialize;

use crate::baseline::baseline_sentence;
use crate::data::RunData;
use crate::diagram::Diagram;
use crate::goals::Goal;
use crate::matrices::{
    ChannelRow, Matrix, RemovalRow, chip_heads, chip_rows, matrix, most_waited_for, removal_rows,
};
use crate::side_by_side::{Compared, Figure, Row, collection, comparison};
use crate::tradeoff::tradeoffs;
use crate::{breakdown, choices, diagram, measured, operations, placement, spark, spending};
use flashlane_verdict as verdict;
use flashlane_verdict::words::{number, starred, time};

/// Number of colours of flows; beyond them, the lines of charts are dashed.
const COLOURS: usize = 8;
/// Columns of the summary table after the name.
const SUMMARY_HEADS: [&str; 11] = [
    "tenant",
    "IOPS",
    "MB/s",
    "mean",
    "p50",
    "p90",
    "p99",
    "p99.9",
    "read mean",
    "write mean",
    "slowdown",
];
/// The whole page.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    title: String,
    version: String,
    several: bool,
    sections: Vec<Section>,
    summary_heads: [&'static str; 11],
    operation_heads: [&'static str; 9],
    /// Operations that occur, with their names in curves and in words.
    operations: Vec<(&'static str, &'static str)>,
    spending_heads: [&'static str; 8],
    stages: [&'static str; 9],
    has_blame: bool,
    has_series: bool,
    has_seeds: bool,
    /// Sentences that come before any number.
    warnings: Vec<Warning>,
    /// True if some figures have a star.
    has_stars: bool,
    comparison: Option<Vec<Row<Compared>>>,
    /// Gain and cost of each run after the first.
    tradeoffs: Vec<String>,
    /// Which runs alone slowdowns are against.
    baseline: Option<String>,
    collection: Vec<Row<String>>,
    /// Policies to choose from.
    schedulers: Vec<String>,
    isolations: Vec<String>,
    /// By run: ways to give each tenant a placement handle, as JSON.
    handles: Option<String>,
    runs: Vec<RunView>,
}

#[derive(Debug, Serialize)]
struct Warning {
    /// Label of the run, if there are several.
    label: Option<String>,
    sentence: String,
}

#[derive(Debug, Serialize)]
struct Section {
    id: &'static str,
    name: &'static str,
}

#[derive(Debug, Serialize)]
struct RunView {
    label: String,
    command: String,
    configuration: String,
    origin: String,
    sufferer: Option<String>,
    headline: String,
    cause: String,
    remedy: String,
    facts: String,
    seeds: Option<String>,
    fairness: Option<String>,
    flows: Vec<FlowCard>,
    summary_rows: Vec<Row<String>>,
    operation_rows: Vec<Row<String>>,
    measured: measured::View,
    blame: Option<Matrix>,
    removals: Vec<RemovalRow>,
    diagram: Option<Diagram>,
    breakdown: Vec<breakdown::Bar>,
    chip_heads: Vec<u32>,
    chip_rows: Vec<ChannelRow>,
    spending: Vec<Row<String>>,
    placement: Option<placement::View>,
}

#[derive(Debug, Serialize)]
struct FlowCard {
    name: String,
    colour: usize,
    suffers: bool,
    slowdown: Option<String>,
    mean: String,
    p99: String,
    throughput: String,
    culprit: Option<String>,
    /// Mean response time over the run, as the points of a line of 100 by 24.
    spark: Option<String>,
    goals: Vec<Goal>,
}

/// The page of these runs for the template.
///
/// # Errors
/// As [`RunData::shown_summary`].
pub(crate) fn page(runs: &[RunData], what_if: bool) -> Result<Page, String> {
    let several = runs.len() > 1;
    let first = &runs[0].summary;
    let title = if several {
        let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
        format!("Comparison: {}", labels.join(", "))
    } else {
        format!("{} on {}, scheduler {}", runs[0].label, first.device, first.scheduler)
    };
    let shown = runs.iter().map(RunData::shown_summary).collect::<Result<Vec<_>, _>>()?;
    let removed = |run: &RunData| run.summary.flows.iter().any(|flow| flow.without.is_some());
    let has_blame = runs.iter().any(|run| run.blame.is_some() || removed(run));
    let has_series = runs.iter().any(|run| run.series.is_some());
    let comparison = several.then(|| comparison(runs, &shown));
    let warnings = runs.iter().flat_map(|run| {
        let label = several.then(|| run.label.clone());
        run.verdict().into_iter().map(move |sentence| Warning { label: label.clone(), sentence })
    });
    let sections = [
        ("comparison", "Side by side", several),
        ("tenants", "Tenants", true),
        ("measured", "Measured and simulated", measured::is_there(&shown)),
        ("blame", "Who keeps whom waiting", has_blame),
        ("latency", "Latency", true),
        ("breakdown", "Where the time goes", true),
        ("time", "Over time", has_series),
        ("flash", "Channels and chips", true),
        ("collection", "Collection and wear", true),
        ("placement", "Placement", shown.iter().any(placement::is_there)),
        ("what-if", "What if", what_if),
        ("again", "How to get this again", true),
    ];
    Ok(Page {
        title,
        version: first.version.clone(),
        several,
        sections: sections
            .into_iter()
            .filter_map(|(id, name, there)| there.then_some(Section { id, name }))
            .collect(),
        summary_heads: SUMMARY_HEADS,
        operation_heads: operations::HEADS,
        operations: operations::present(&shown),
        stages: breakdown::STAGES,
        spending_heads: spending::HEADS,
        has_blame,
        has_series,
        has_seeds: runs.iter().any(|run| run.seeds.is_some()),
        warnings: warnings.collect(),
        has_stars: shown.iter().any(|summary| summary.depends_on_length()),
        comparison,
        tradeoffs: tradeoffs(runs),
        baseline: baseline_sentence(runs),
        collection: collection(&shown),
        schedulers: choices::schedulers(),
        isolations: choices::isolations(),
        handles: choices::handles(runs).filter(|_| what_if),
        runs: runs.iter().zip(&shown).map(|(run, summary)| run_view(run, summary)).collect(),
    })
}

/// The part of a run for the template. `summary`: means, if the run has several seeds.
fn run_view(run: &RunData, summary: &Summary) -> RunView {
    let verdict = verdict::of(summary, run.blame.as_ref());
    let sufferer = verdict.sufferer.as_deref();
    let remedy = run.tried();
    let remedy = remedy.unwrap_or_else(|| verdict::remedy(summary, run.blame.as_ref(), sufferer));
    let flows = (0..summary.flows.len()).map(|index| flow_card(run, summary, index, sufferer));
    let flows = flows.collect();
    let compat = summary.compat.as_ref().map(|mode| format!(", compat {mode}"));
    RunView {
        label: run.label.clone(),
        command: run.command.clone(),
        configuration: run.configuration.clone(),
        origin: format!(
            "Flashlane {}, {}{}. The same input and seed give the same result on any machine.",
            summary.version,
            seeds_of(run),
            compat.unwrap_or_default()
        ),
        sufferer: verdict.sufferer,
        headline: verdict.headline,
        cause: verdict.cause,
        remedy,
        facts: facts(run, summary),
        seeds: seeds(run),
        fairness: fairness(summary),
        flows,
        summary_rows: (0..summary.flows.len())
            .map(|flow| summary_row(run, summary, flow))
            .collect(),
        operation_rows: operations::rows(run, summary),
        measured: measured::view(run, summary, COLOURS),
        blame: run.blame.as_ref().map(|blame| matrix(blame, summary)),
        removals: removal_rows(summary, run.blame.as_ref()),
        diagram: run.blame.as_ref().and_then(diagram::of),
        breakdown: breakdown::bars(summary),
        chip_heads: chip_heads(&summary.chips),
        chip_rows: chip_rows(summary),
        spending: spending::rows(summary),
        placement: placement::view(run, summary),
    }
}

/// The card of a tenant.
fn flow_card(run: &RunData, summary: &Summary, index: usize, sufferer: Option<&str>) -> FlowCard {
    let flow = &summary.flows[index];
    FlowCard {
        name: flow.name.clone(),
        colour: index % COLOURS,
        suffers: sufferer == Some(flow.name.as_str()),
        slowdown: flow.slowdown.map(|value| starred(number(value) + "×", flow.depends_on_length())),
        mean: starred(time(flow.response_time_us.mean), flow.depends_on_length()),
        p99: starred(time(flow.response_time_us.p99), flow.depends_on_length()),
        throughput: format!(
            "{} IOPS, {} MB/s",
            number(flow.iops),
            number(flow.bandwidth_bytes_per_s / 1e6)
        ),
        culprit: run.blame.as_ref().and_then(|blame| most_waited_for(blame, &flow.name)),
        spark: spark::line(run.series.as_ref(), index),
        goals: flow.slo.iter().flat_map(|slo| slo.goals.iter().map(Goal::of)).collect(),
    }
}

/// `seed 1`, or `seeds 1, 2, 3`.
fn seeds_of(run: &RunData) -> String {
    match &run.seeds {
        None => format!("seed {}", run.summary.seed),
        Some(seeds) => {
            let all: Vec<String> = seeds.seeds.iter().map(u64::to_string).collect();
            format!("seeds {}", all.join(", "))
        }
    }
}

/// Explanation of the figures of a run with several seeds.
fn seeds(run: &RunData) -> Option<String> {
    let seeds = run.seeds.as_ref()?;
    Some(format!(
        "Figures are means over {} seeds; ± is half the width of the 95 % interval of the mean. \
         The distribution of latencies is that of seed {}.",
        seeds.seeds.len(),
        run.summary.seed
    ))
}

fn facts(run: &RunData, summary: &Summary) -> String {
    let facts = format!(
        "Device {}, scheduler {}, isolation {}, {}; {} simulated, window {} to {}; write amplification {}.",
        summary.device,
        summary.scheduler,
        summary.isolation,
        seeds_of(run),
        time(summary.simulated_s * 1e6),
        time(summary.window_start_s * 1e6),
        time(summary.window_end_s * 1e6),
        number(summary.flash.write_amplification),
    );
    [vec![facts], summary.partial_writes()].concat().join(" ")
}

fn fairness(summary: &Summary) -> Option<String> {
    let all = &summary.fairness;
    let shown = |text| starred(text, summary.depends_on_length());
    Some(format!(
        "Fairness {} (smallest over largest slowdown), largest slowdown {}, standard deviation {}, weighted \
         speedup {}.",
        shown(format!("{:.3}", all.fairness?)),
        shown(number(all.max_slowdown?)),
        shown(number(all.stdev_slowdown?)),
        shown(number(all.weighted_speedup?)),
    ))
}

/// A row of the summary table. `summary`: means, if the run has several seeds.
fn summary_row(run: &RunData, summary: &Summary, index: usize) -> Row<String> {
    let flow = &summary.flows[index];
    let all = &flow.response_time_us;
    let (reads, writes) = (&flow.read_response_time_us, &flow.write_response_time_us);
    let cell = |key: &str, value: Option<f64>, text: fn(f64) -> String| {
        let figure = Figure::of(run, &format!("flows[{index}].{key}"), value);
        let rate = ["iops", "bandwidth_bytes_per_s"].contains(&key);
        let marked = |figure: Figure| figure.marked(flow.depends_on_length() && !rate).text(text);
        figure.map_or("–".to_owned(), marked)
    };
    let mean = |key: &str, latency: &Latency| {
        if latency.count == 0 {
            return "–".to_owned();
        }
        cell(&format!("{key}.mean"), Some(latency.mean), time)
    };
    let us = |key: &str, value: f64| cell(&format!("response_time_us.{key}"), Some(value), time);
    Row {
        name: flow.name.clone(),
        cells: vec![
            cell("iops", Some(flow.iops), number),
            cell("bandwidth_bytes_per_s", Some(flow.bandwidth_bytes_per_s), |v| number(v / 1e6)),
            mean("response_time_us", all),
            us("p50", all.p50),
            us("p90", all.p90),
            us("p99", all.p99),
            us("p99_9", all.p99_9),
            mean("read_response_time_us", reads),
            mean("write_response_time_us", writes),
            cell("slowdown", flow.slowdown, number),
        ],
    }
}
