//! From numbers to what the template prints: text, shares and colours.

use flashlane::metrics::{BreakdownSummary, ChipSummary, FlowSummary, Latency, Summary};
use flashlane::observe::Blame;
use serde::Serialize;

use crate::data::RunData;
use crate::side_by_side::{Compared, Row, collection, comparison};
use crate::verdict;
use crate::words::{cause, number, percent, time};

/// Colours of flows; beyond them the lines of charts are dashed.
const COLOURS: usize = 8;
/// Figures of the summary table beside the name.
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
/// Stages of the breakdown, in the order in which a request meets them.
const STAGES: [&str; 9] = [
    "submission",
    "transfer in",
    "firmware",
    "cache",
    "mapping",
    "flash queue",
    "flash bus",
    "flash array",
    "transfer out",
];

/// The whole page.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    title: String,
    version: String,
    several: bool,
    sections: Vec<Section>,
    summary_heads: [&'static str; 11],
    stages: [&'static str; 9],
    has_blame: bool,
    has_series: bool,
    comparison: Option<Vec<Row<Compared>>>,
    collection: Vec<Row<String>>,
    runs: Vec<RunView>,
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
    facts: String,
    fairness: Option<String>,
    flows: Vec<FlowCard>,
    summary_rows: Vec<Row<String>>,
    blame: Option<Matrix>,
    breakdown: Vec<Bar>,
    chip_heads: Vec<u32>,
    chip_rows: Vec<ChannelRow>,
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
}

#[derive(Debug, Serialize)]
struct Matrix {
    culprits: Vec<String>,
    rows: Vec<MatrixRow>,
    causes: Vec<CauseRow>,
}

#[derive(Debug, Serialize)]
struct MatrixRow {
    name: String,
    cells: Vec<Heat>,
    waiting: String,
}

#[derive(Debug, Serialize)]
struct CauseRow {
    victim: String,
    culprit: String,
    cause: String,
    time: String,
    share: String,
}

/// A cell whose background says how much.
#[derive(Debug, Serialize)]
struct Heat {
    /// Depth of the colour. Range: 0..=100.
    share: u32,
    text: String,
    cause: Option<String>,
    title: String,
}

#[derive(Debug, Serialize)]
struct Bar {
    name: String,
    /// Length against the longest bar. Range: 0..=100.
    width: f64,
    total: String,
    description: String,
    parts: Vec<Part>,
}

#[derive(Debug, Serialize)]
struct Part {
    index: usize,
    grow: f64,
    time: String,
    title: String,
}

#[derive(Debug, Serialize)]
struct ChannelRow {
    channel: u32,
    bus: Heat,
    chips: Vec<Heat>,
    queues: Vec<Heat>,
}

/// What the template prints of these runs.
pub(crate) fn page(runs: &[RunData]) -> Page {
    let several = runs.len() > 1;
    let first = &runs[0].summary;
    let title = if several {
        let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
        format!("Comparison: {}", labels.join(", "))
    } else {
        format!("{} on {}, scheduler {}", runs[0].label, first.device, first.scheduler)
    };
    let has_blame = runs.iter().any(|run| run.blame.is_some());
    let has_series = runs.iter().any(|run| run.series.is_some());
    let comparison = several.then(|| comparison(runs));
    let sections = [
        ("comparison", "Side by side", several),
        ("tenants", "Tenants", true),
        ("blame", "Who keeps whom waiting", has_blame),
        ("latency", "Latency", true),
        ("breakdown", "Where the time goes", true),
        ("time", "Over time", has_series),
        ("flash", "Channels and chips", true),
        ("collection", "Collection and wear", true),
        ("again", "How to get this again", true),
    ];
    Page {
        title,
        version: first.version.clone(),
        several,
        sections: sections
            .into_iter()
            .filter_map(|(id, name, there)| there.then_some(Section { id, name }))
            .collect(),
        summary_heads: SUMMARY_HEADS,
        stages: STAGES,
        has_blame,
        has_series,
        comparison,
        collection: collection(runs),
        runs: runs.iter().map(run_view).collect(),
    }
}

fn run_view(run: &RunData) -> RunView {
    let summary = &run.summary;
    let verdict = verdict::of(summary, run.blame.as_ref());
    let chips = |flow: &FlowSummary| {
        let culprit = run.blame.as_ref().and_then(|blame| verdict::culprit_of(blame, &flow.name));
        culprit.map(|culprit| format!("{} {}", culprit.name, percent(culprit.share)))
    };
    let flows = summary.flows.iter().enumerate().map(|(index, flow)| FlowCard {
        name: flow.name.clone(),
        colour: index % COLOURS,
        suffers: verdict.sufferer.as_ref() == Some(&flow.name),
        slowdown: flow.slowdown.map(number),
        mean: time(flow.response_time_us.mean),
        p99: time(flow.response_time_us.p99),
        throughput: format!(
            "{} IOPS, {} MB/s",
            number(flow.iops),
            number(flow.bandwidth_bytes_per_s / 1e6)
        ),
        culprit: chips(flow),
    });
    let flows = flows.collect();
    let compat = summary.compat.as_ref().map(|mode| format!(", --compat {mode}"));
    RunView {
        label: run.label.clone(),
        command: run.command.clone(),
        configuration: run.configuration.clone(),
        origin: format!(
            "Flashlane {}, seed {}{}. The same input and seed give the same result on any machine.",
            summary.version,
            summary.seed,
            compat.unwrap_or_default()
        ),
        sufferer: verdict.sufferer,
        headline: verdict.headline,
        cause: verdict.cause,
        facts: facts(summary),
        fairness: fairness(summary),
        flows,
        summary_rows: summary.flows.iter().map(summary_row).collect(),
        blame: run.blame.as_ref().map(matrix),
        breakdown: breakdown(summary),
        chip_heads: chip_heads(&summary.chips),
        chip_rows: chip_rows(summary),
    }
}

fn facts(summary: &Summary) -> String {
    format!(
        "Device {}, scheduler {}, isolation {}, seed {}; {} simulated, window {} to {}; write amplification {}.",
        summary.device,
        summary.scheduler,
        summary.isolation,
        summary.seed,
        time(summary.simulated_s * 1e6),
        time(summary.window_start_s * 1e6),
        time(summary.window_end_s * 1e6),
        number(summary.flash.write_amplification),
    )
}

fn fairness(summary: &Summary) -> Option<String> {
    let all = &summary.fairness;
    Some(format!(
        "Fairness {:.3} (smallest over largest slowdown), largest slowdown {}, standard deviation {}, weighted \
         speedup {}.",
        all.fairness?,
        number(all.max_slowdown?),
        number(all.stdev_slowdown?),
        number(all.weighted_speedup?),
    ))
}

fn summary_row(flow: &FlowSummary) -> Row<String> {
    let all = &flow.response_time_us;
    let mean =
        |latency: &Latency| if latency.count == 0 { "–".to_owned() } else { time(latency.mean) };
    let slowdown = flow.slowdown.map_or("–".to_owned(), number);
    Row {
        name: flow.name.clone(),
        cells: vec![
            number(flow.iops),
            number(flow.bandwidth_bytes_per_s / 1e6),
            mean(all),
            time(all.p50),
            time(all.p90),
            time(all.p99),
            time(all.p99_9),
            mean(&flow.read_response_time_us),
            mean(&flow.write_response_time_us),
            slowdown,
        ],
    }
}

fn heat(share: f64, text: String, cause: Option<String>, title: String) -> Heat {
    Heat { share: (share.clamp(0.0, 1.0) * 100.0).round() as u32, text, cause, title }
}

fn matrix(blame: &Blame) -> Matrix {
    let mut culprits = blame.flows.clone();
    let others = blame.victims.iter().flat_map(|row| &row.cells);
    for cell in others.filter(|cell| cell.ps > 0) {
        if !culprits.contains(&cell.culprit) {
            culprits.push(cell.culprit.clone());
        }
    }
    let rows = blame.victims.iter().map(|row| {
        let total: f64 = row.cells.iter().map(|cell| cell.ps as f64).sum::<f64>().max(1.0);
        let cells = culprits.iter().map(|culprit| {
            let of = || row.cells.iter().filter(|cell| cell.culprit == *culprit && cell.ps > 0);
            let share = of().map(|cell| cell.ps as f64).sum::<f64>() / total;
            let title: Vec<String> = of()
                .map(|cell| format!("{} {}", cause(&cell.cause), percent(cell.ps as f64 / total)))
                .collect();
            let most = of().max_by_key(|cell| cell.ps).map(|cell| cause(&cell.cause));
            let most = most.filter(|_| share >= 0.005);
            heat(share, percent(share), most, title.join(", "))
        });
        MatrixRow {
            name: row.flow.clone(),
            cells: cells.collect(),
            waiting: time(total / 1e6 / row.requests.max(1) as f64),
        }
    });
    let mut causes = Vec::new();
    for row in &blame.victims {
        let total: f64 = row.cells.iter().map(|cell| cell.ps as f64).sum::<f64>().max(1.0);
        let mut cells: Vec<_> = row.cells.iter().filter(|cell| cell.ps > 0).collect();
        cells.sort_by_key(|cell| std::cmp::Reverse(cell.ps));
        causes.extend(cells.into_iter().map(|cell| CauseRow {
            victim: row.flow.clone(),
            culprit: cell.culprit.clone(),
            cause: cause(&cell.cause),
            time: time(cell.ps as f64 / 1e6 / row.requests.max(1) as f64),
            share: percent(cell.ps as f64 / total),
        }));
    }
    Matrix { rows: rows.collect(), culprits, causes }
}

fn stages(breakdown: &BreakdownSummary) -> [f64; 9] {
    [
        breakdown.submission,
        breakdown.transfer_in,
        breakdown.firmware,
        breakdown.cache,
        breakdown.mapping,
        breakdown.flash_queue,
        breakdown.flash_bus,
        breakdown.flash_array,
        breakdown.transfer_out,
    ]
}

fn breakdown(summary: &Summary) -> Vec<Bar> {
    let total = |flow: &FlowSummary| stages(&flow.breakdown_us).iter().sum::<f64>();
    let longest = summary.flows.iter().map(total).fold(1e-9, f64::max);
    let bar = |flow: &FlowSummary| {
        let all = total(flow);
        let parts: Vec<Part> = stages(&flow.breakdown_us)
            .into_iter()
            .enumerate()
            .map(|(index, us)| Part {
                index,
                grow: (us / all.max(1e-9) * 1e4).round() / 10.0,
                time: time(us),
                title: format!("{}: {} ({})", STAGES[index], time(us), percent(us / all.max(1e-9))),
            })
            .collect();
        let said: Vec<&str> = parts.iter().map(|part| part.title.as_str()).collect();
        Bar {
            name: flow.name.clone(),
            width: (all / longest * 1e3).round() / 10.0,
            total: time(all),
            description: format!("{}: {}", flow.name, said.join(", ")),
            parts,
        }
    };
    summary.flows.iter().map(bar).collect()
}

fn chip_heads(chips: &[ChipSummary]) -> Vec<u32> {
    let count = chips.iter().map(|chip| chip.chip + 1).max().unwrap_or(0);
    (0..count).collect()
}

fn chip_rows(summary: &Summary) -> Vec<ChannelRow> {
    let longest = summary.chips.iter().map(|chip| chip.mean_queue_length).fold(1e-9, f64::max);
    let row = |channel: &flashlane::metrics::ChannelSummary| {
        let of = || summary.chips.iter().filter(|chip| chip.channel == channel.channel);
        let bus = channel.busy_fraction;
        let busy = |chip: &ChipSummary| {
            let by = &chip.busy_by_source;
            let title = format!(
                "channel {} chip {}: host {}, collection {}, mapping {}; {} erases",
                chip.channel,
                chip.chip,
                percent(by.host),
                percent(by.gc),
                percent(by.mapping),
                chip.erases
            );
            heat(chip.busy_fraction, percent(chip.busy_fraction), None, title)
        };
        let queue = |chip: &ChipSummary| {
            let title = format!(
                "channel {} chip {}: mean {}, most {}",
                chip.channel,
                chip.chip,
                number(chip.mean_queue_length),
                chip.max_queue_length
            );
            heat(chip.mean_queue_length / longest, number(chip.mean_queue_length), None, title)
        };
        ChannelRow {
            channel: channel.channel,
            bus: heat(bus, percent(bus), None, String::new()),
            chips: of().map(busy).collect(),
            queues: of().map(queue).collect(),
        }
    };
    summary.channels.iter().map(row).collect()
}
