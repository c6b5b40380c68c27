//! The committed table: one file a group in this folder, one row a case.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::inputs::{Differences, Inputs};
use super::mixed;
use crate::oracle::judge::{Closeness, Figures, GROUPS, Reference};

/// A row: a case by name, its inputs, and what the released MQSim reported.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// Group and name.
    pub(crate) name: String,
    pub(crate) inputs: Inputs,
    pub(crate) figures: Figures,
}

/// A file of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<CaseText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseText {
    name: String,
    #[serde(default)]
    device: String,
    flow: Vec<FlowText>,
    pages: Option<[u64; 7]>,
    #[serde(default)]
    lost_requests: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowText {
    #[serde(default)]
    set: String,
    requests: u64,
    mean_us: f64,
    stock_us: Option<f64>,
    #[serde(default)]
    mean_is_cut: bool,
    reads_us: Option<[f64; 2]>,
    writes_us: Option<[f64; 2]>,
}

const HEAD: &str = "\
# Figures of the released MQSim (commit 7ec40e3). One row a case: its name; the tags of device and flows in which its
# inputs differ from the bases in inputs.rs; and of each flow what the release reported: requests served, mean device
# response time, and [median, 99th percentile] of reads and of writes. Times are in microseconds. `mean_is_cut`: the
# release printed whole microseconds. `stock_us`: what it reported where its draws of normal sizes depend on memory that
# it never sets; `mean_us` then is that of the release with this variable set to 0. `pages`: read and programmed for the host, for collection, for translation
# pages, and erases. `lost_requests`: the release lost requests, so its times mean nothing.
# Written by UPDATE_REFERENCE=1 cargo test -p flashlane-tests --test slow reference::

";

/// The groups of the table: those that are judged case by case, and the mixed one.
pub(crate) fn groups() -> impl Iterator<Item = (&'static str, Closeness)> {
    GROUPS.iter().copied().chain([mixed::MIXED.group])
}

/// All groups: those whose rows come from the full reference runs, and the random one.
pub(crate) fn all_groups() -> impl Iterator<Item = (&'static str, Closeness)> {
    groups().chain([mixed::RANDOM.group])
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("reference")
}

/// All rows, group by group.
///
/// # Panics
/// Where a file is damaged, with its name and the fault.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (group, _) in all_groups() {
        let path = folder().join(format!("{group}.toml"));
        let fail = |error: String| -> ! { panic!("{}: {error}", path.display()) };
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| fail(error.to_string()));
        let file: File = toml::from_str(&text).unwrap_or_else(|error| fail(error.to_string()));
        for case in file.case {
            rows.push(row(group, case).unwrap_or_else(|error| fail(error)));
        }
    }
    rows
}

fn row(group: &str, case: CaseText) -> Result<Row, String> {
    let mut inputs = Inputs { device: Differences::parse(&case.device)?, flows: Vec::new() };
    let mut flows = Vec::new();
    for flow in case.flow {
        inputs.flows.push(Differences::parse(&flow.set)?);
        flows.push(Reference {
            requests: flow.requests,
            mean: flow.mean_us,
            stock: flow.stock_us,
            cut: if flow.mean_is_cut { 1.0 } else { 0.0 },
            reads: flow.reads_us,
            writes: flow.writes_us,
        });
    }
    let figures = Figures { flows, lossy: case.lost_requests, pages: case.pages };
    Ok(Row { name: format!("{group}/{}", case.name), inputs, figures })
}

/// Writes all files anew.
pub(crate) fn write(rows: &[Row]) {
    for (group, _) in groups() {
        let mut text = format!("{HEAD}case = [\n");
        for row in rows {
            if let Some(name) = row.name.strip_prefix(&format!("{group}/")) {
                let _ = writeln!(text, "  {{ {} }},", row_text(name, row));
            }
        }
        let path = folder().join(format!("{group}.toml"));
        std::fs::write(&path, text + "]\n")
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

fn row_text(name: &str, row: &Row) -> String {
    let mut text = format!("name = {name:?}, device = \"{}\", flow = [", row.inputs.device);
    for (at, (set, flow)) in row.inputs.flows.iter().zip(&row.figures.flows).enumerate() {
        let _ = write!(
            text,
            "{}{{ set = \"{set}\", requests = {}, mean_us = {:?}",
            if at > 0 { ", " } else { "" },
            flow.requests,
            flow.mean
        );
        if let Some(stock) = flow.stock {
            let _ = write!(text, ", stock_us = {stock:?}");
        }
        if flow.cut > 0.0 {
            text += ", mean_is_cut = true";
        }
        for (key, times) in [("reads_us", flow.reads), ("writes_us", flow.writes)] {
            if let Some(times) = times {
                let _ = write!(text, ", {key} = {times:?}");
            }
        }
        text += " }";
    }
    text += "]";
    if let Some(pages) = row.figures.pages {
        let _ = write!(text, ", pages = {pages:?}");
    }
    if row.figures.lossy {
        text += ", lost_requests = true";
    }
    text
}
