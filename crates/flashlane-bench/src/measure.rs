//! The parent process: a child for every run, and a row for every case.

use std::process::Command;
use std::time::Instant;

use flashlane::metrics::FlashSummary;
use serde::{Deserialize, Serialize};

use crate::cases::Case;
use crate::child::ChildReport;

/// Measurements of a case. Rates are those of the whole process, including start-up and
/// preconditioning.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) requests: u64,
    pub(crate) transactions: u64,
    pub(crate) events: u64,
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: Option<f64>,
    /// Wall time of the slowest run divided by that of the fastest, which is the one shown.
    pub(crate) slowest_over_fastest: f64,
    pub(crate) requests_per_s: f64,
    pub(crate) transactions_per_s: f64,
    pub(crate) events_per_s: f64,
    /// Rate of the calibration loop during the run.
    pub(crate) holds_per_s: f64,
    pub(crate) holds_per_cpu_s: Option<f64>,
    /// Rates divided by that of the loop, both by processor time if the system reports it,
    /// otherwise by wall time.
    pub(crate) requests_per_hold: f64,
    pub(crate) transactions_per_hold: f64,
    pub(crate) events_per_hold: f64,
    pub(crate) events_per_request: f64,
    pub(crate) ns_per_request: f64,
    pub(crate) peak_rss_bytes: u64,
    pub(crate) allocations_per_million: Option<f64>,
    pub(crate) physical_pages: u64,
    pub(crate) table_bytes_per_page: f64,
    /// Peak memory of the process divided by the pages of the drive.
    pub(crate) rss_bytes_per_page: f64,
    pub(crate) precondition_s: f64,
    /// Pages of the drive, divided by the holds that fit into the time of its preconditioning.
    pub(crate) precondition_pages_per_hold: f64,
    pub(crate) write_amplification: f64,
    /// Pages programmed per second of processor time, or of wall time if the system does not report
    /// that.
    #[serde(default)]
    pub(crate) page_writes_per_s: f64,
}

/// Page operations of the flash, for hosts, mapping and collection.
fn transactions(flash: &FlashSummary) -> u64 {
    flash.user_reads
        + flash.user_programs
        + flash.gc_reads
        + flash.gc_programs
        + flash.mapping_reads
        + flash.mapping_programs
        + flash.erases
}

/// Pages programmed.
fn page_writes(flash: &FlashSummary) -> u64 {
    flash.user_programs + flash.gc_programs + flash.mapping_programs
}

/// Runs a case as often as asked for.
pub(crate) fn measure(case: &Case, requests: u64, runs: u32) -> Result<Row, String> {
    let mut rows = (0..runs).map(|_| once(case, requests)).collect::<Result<Vec<_>, _>>()?;
    rows.sort_by(|a, b| a.wall_s.total_cmp(&b.wall_s));
    let slowest_over_fastest = rows[rows.len() - 1].wall_s / rows[0].wall_s;
    Ok(Row { slowest_over_fastest, ..rows.swap_remove(0) })
}

fn once(case: &Case, requests: u64) -> Result<Row, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let start = Instant::now();
    let output = Command::new(program)
        .args(["child", case.name, &requests.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    let elapsed = start.elapsed().as_secs_f64();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {} {said}", case.name, output.status));
    }
    let report: ChildReport =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    Ok(row(case, elapsed - report.calibration_s, &report))
}

fn row(case: &Case, wall_s: f64, report: &ChildReport) -> Row {
    let summary = &report.summary;
    let (requests, events) = (summary.requests_completed, summary.events);
    // The wall time is for the whole run.
    let whole = |of: fn(&FlashSummary) -> u64| {
        of(&summary.before_window.flash) + of(&summary.flash) + of(&summary.after_window.flash)
    };
    let transactions = whole(transactions);
    let pages = summary.memory.physical_pages;
    let rate = |amount: u64| amount as f64 / wall_s;
    let (busy_s, holds_per_busy_s) =
        report.cpu_s.zip(report.holds_per_cpu_s).unwrap_or((wall_s, report.holds_per_s));
    let holds = busy_s * holds_per_busy_s;
    let per_hold = |amount: u64| amount as f64 / holds;
    let precondition_holds = holds * summary.precondition_wall_s / wall_s;
    Row {
        case: case.name.to_owned(),
        requests,
        transactions,
        events,
        wall_s,
        cpu_s: report.cpu_s,
        slowest_over_fastest: 1.0,
        requests_per_s: rate(requests),
        transactions_per_s: rate(transactions),
        events_per_s: rate(events),
        holds_per_s: report.holds_per_s,
        holds_per_cpu_s: report.holds_per_cpu_s,
        requests_per_hold: per_hold(requests),
        transactions_per_hold: per_hold(transactions),
        events_per_hold: per_hold(events),
        events_per_request: events as f64 / requests as f64,
        ns_per_request: wall_s * 1e9 / requests as f64,
        peak_rss_bytes: report.peak_rss_bytes,
        allocations_per_million: report.allocations_per_million,
        physical_pages: pages,
        table_bytes_per_page: summary.memory.page_table_bytes as f64 / pages as f64,
        rss_bytes_per_page: report.peak_rss_bytes as f64 / pages as f64,
        precondition_s: summary.precondition_wall_s,
        precondition_pages_per_hold: pages as f64 / precondition_holds,
        write_amplification: summary.flash.write_amplification,
        page_writes_per_s: whole(page_writes) as f64 / busy_s,
    }
}
