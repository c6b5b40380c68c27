//! Tables whose cells are coloured by value: blame, channels and chips.

use flashlane::metrics::{ChipSummary, FlowSummary, Summary};
use flashlane::observe::Blame;
use serde::Serialize;

use flashlane_verdict as verdict;
use flashlane_verdict::removal::removals;
use flashlane_verdict::words::{cause, number, percent, starred, time};

#[derive(Debug, Serialize)]
pub(crate) struct Matrix {
    culprits: Vec<String>,
    rows: Vec<MatrixRow>,
    causes: Vec<CauseRow>,
}

#[derive(Debug, Serialize)]
pub(crate) struct MatrixRow {
    name: String,
    cells: Vec<Heat>,
    waiting: String,
}

/// What a flow costs another one.
#[derive(Debug, Serialize)]
pub(crate) struct RemovalRow {
    victim: String,
    other: String,
    beside: String,
    without: String,
    difference: String,
    /// Empty without blame.
    blamed: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct CauseRow {
    victim: String,
    culprit: String,
    cause: String,
    time: String,
    share: String,
}

/// A cell with a background for its value.
#[derive(Debug, Serialize)]
pub(crate) struct Heat {
    /// Depth of the colour. Range: 0..=100.
    share: u32,
    text: String,
    cause: Option<String>,
    title: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct ChannelRow {
    channel: u32,
    bus: Heat,
    chips: Vec<Heat>,
    queues: Vec<Heat>,
}

fn heat(share: f64, text: String, cause: Option<String>, title: String) -> Heat {
    Heat { share: (share.clamp(0.0, 1.0) * 100.0).round() as u32, text, cause, title }
}

pub(crate) fn matrix(blame: &Blame, summary: &Summary) -> Matrix {
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
        let waiting = time(total / 1e6 / row.requests.max(1) as f64);
        let saturated = |flow: &FlowSummary| flow.depends_on_length() && flow.name == row.flow;
        MatrixRow {
            name: row.flow.clone(),
            cells: cells.collect(),
            waiting: starred(waiting, summary.flows.iter().any(saturated)),
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

/// Rows of the runs without each flow.
pub(crate) fn removal_rows(summary: &Summary, blame: Option<&Blame>) -> Vec<RemovalRow> {
    let rows = removals(summary, blame).into_iter().map(|one| RemovalRow {
        beside: time(one.beside),
        without: time(one.without),
        difference: time(one.difference()),
        blamed: one.blamed.map(time).unwrap_or_default(),
        victim: one.victim,
        other: one.other,
    });
    rows.collect()
}

pub(crate) fn chip_heads(chips: &[ChipSummary]) -> Vec<u32> {
    let count = chips.iter().map(|chip| chip.chip + 1).max().unwrap_or(0);
    (0..count).collect()
}

pub(crate) fn chip_rows(summary: &Summary) -> Vec<ChannelRow> {
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
/// The culprit that a tenant waits for most, which may be itself, and its share of the tenant's
/// wait.
pub(crate) fn most_waited_for(blame: &Blame, name: &str) -> Option<String> {
    let own = verdict::own_share(blame, name);
    match verdict::culprit_of(blame, name) {
        Some(culprit) if culprit.share >= own => {
            Some(format!("{} {}", culprit.name, percent(culprit.share)))
        }
        _ if own > 0.0 => Some(format!("itself {}", percent(own))),
        _ => None,
    }
}
