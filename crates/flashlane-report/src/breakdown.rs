//! Where the time of requests goes: a bar for each tenant, with a part for each stage.

use flashlane::metrics::{BreakdownSummary, FlowSummary, Summary};
use flashlane_verdict::words::{percent, starred, time};
use serde::Serialize;

/// Stages of the breakdown, in the order in which a request meets them.
pub(crate) const STAGES: [&str; 9] = [
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

/// The bar of a tenant.
#[derive(Debug, Serialize)]
pub(crate) struct Bar {
    name: String,
    /// Length relative to the longest bar. Range: 0..=100.
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

/// The bars of all tenants.
pub(crate) fn bars(summary: &Summary) -> Vec<Bar> {
    let total = |flow: &FlowSummary| stages(&flow.breakdown_us).iter().sum::<f64>();
    let longest = summary.flows.iter().map(total).fold(1e-9, f64::max);
    let bar = |flow: &FlowSummary| {
        let all = total(flow);
        let part = |(index, us): (usize, f64)| Part {
            index,
            grow: (us / all.max(1e-9) * 1e4).round() / 10.0,
            time: time(us),
            title: format!("{}: {} ({})", STAGES[index], time(us), percent(us / all.max(1e-9))),
        };
        let parts: Vec<Part> =
            stages(&flow.breakdown_us).into_iter().enumerate().map(part).collect();
        let said: Vec<&str> = parts.iter().map(|part| part.title.as_str()).collect();
        Bar {
            name: flow.name.clone(),
            width: (all / longest * 1e3).round() / 10.0,
            total: starred(time(all), flow.depends_on_length()),
            description: format!("{}: {}", flow.name, said.join(", ")),
            parts,
        }
    };
    summary.flows.iter().map(bar).collect()
}
