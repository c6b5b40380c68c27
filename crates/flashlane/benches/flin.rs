//! What FLIN costs the simulator, beside `out-of-order` on the same load: wall time per request.
//!
//! The runs of the policies take turns in one process and the fastest of each counts, so that what
//! else the machine does matters little. Reads of an empty drive that are really done; flows of
//! unlike depth, so that insertion has something to weigh.
//!
//! ```text
//! cargo bench -p flashlane --bench flin -- [--requests N] [--runs N] [--json] [--only CASE]
//! ```
//!
//! `--only 0` runs the first case once and prints nothing, to count its instructions.
//! `--json` writes `benches/flin.json` beside this file.

use std::process::ExitCode;
use std::time::Instant;

use flashlane::config::load::{self, Overrides};
use flashlane::metrics::Summary;
use flashlane::{RunOptions, simulate};
use serde_json::{Value, json};

const DRIVE: &str = r#"
base = "flin"
[interface]
queue_depth = 65535
queue_fetch_size = 65535
[ftl]
unwritten_read = "flash"
precondition.enabled = false
"#;

/// Keys that leave one unit of one plane.
const ONE_UNIT: &[&str] =
    &["flash.channels=1", "flash.chips_per_channel=1", "flash.planes_per_die=1"];

/// One measured run: policy, outstanding requests, keys of the drive.
struct Case {
    scheduler: String,
    depth: u32,
    keys: &'static [&'static str],
}

impl Case {
    fn new(scheduler: &str, depth: u32, keys: &'static [&'static str]) -> Self {
        Self { scheduler: scheduler.to_owned(), depth, keys }
    }

    fn run(&self, requests: u64, alone: bool) -> Result<Summary, String> {
        let text = |error: flashlane::Error| error.to_string();
        let mut sets: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
        sets.push(format!("scheduler={}", self.scheduler));
        let overrides = Overrides { sets, ..Overrides::default() };
        let device = load::device_from_toml(DRIVE, "bench device", &overrides).map_err(text)?;
        let none = Overrides::default();
        let flows = flows(self.depth, requests);
        let workload = load::workload_from_toml(&flows, "bench workload", &none).map_err(text)?;
        let options = RunOptions { alone, ..RunOptions::default() };
        simulate(&device.config, &workload.config, &options, &|_| {}).map_err(text)
    }
}

/// Four closed loops of random page reads that share a depth; the deepest one ends the run.
fn flows(depth: u32, requests: u64) -> String {
    let parts = [(70, "stop"), (20, "repeat"), (8, "repeat"), (2, "repeat")];
    parts
        .iter()
        .enumerate()
        .map(|(flow, (percent, on_end))| {
            let depth = (depth * percent / 100).max(1);
            format!(
                "[[flow]]\nname = \"flow-{flow}\"\ncache = \"off\"\non_end = \"{on_end}\"\n\
                 synthetic = {{ queue_depth = {depth}, read_ratio = 1.0, size = \"8KiB\", \
                 align = \"8KiB\", requests = {requests} }}\n"
            )
        })
        .collect()
}

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("flin: {message}");
            ExitCode::from(2)
        }
    }
}

fn measure() -> Result<(), String> {
    let (mut requests, mut runs, mut write, mut only) = (200_000, 5, false, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || -> Result<u64, String> {
            let text = arguments.next().ok_or(format!("{argument} takes a number"))?;
            text.parse().map_err(|_| format!("{argument}: found {text:?}, allowed: a number"))
        };
        match argument.as_str() {
            // Cargo says so to every benchmark.
            "--bench" => {}
            "--requests" => requests = number()?.max(1_000),
            "--runs" => runs = number()?.clamp(1, 100),
            "--json" => write = true,
            "--only" => only = Some(number()? as usize),
            other => return Err(format!("unknown option {other}")),
        }
    }
    // All four are of high intensity: one unit is slow, and those of low intensity would shut out
    // others.
    let flin = "{ flin = { read_intensity = '100kB/s' } }";
    let limited =
        |limit: u32| format!("{{ flin = {{ read_intensity = '100kB/s', scan_limit = {limit} }} }}");
    let mut cases = vec![Case::new("out-of-order", 256, &[]), Case::new("flin", 256, &[])];
    for depth in [100, 1_000, 10_000] {
        cases.push(Case::new("out-of-order", depth, ONE_UNIT));
        cases.push(Case::new(flin, depth, ONE_UNIT));
    }
    cases.extend([8, 32, 128].map(|limit| Case::new(&limited(limit), 10_000, ONE_UNIT)));
    if let Some(case) = only {
        let case = cases.get(case).ok_or(format!("--only takes 0 to {}", cases.len() - 1))?;
        return case.run(requests, false).map(|_| ());
    }
    let mut best = vec![f64::INFINITY; cases.len()];
    let mut last = vec![Summary::default(); cases.len()];
    for _ in 0..runs {
        for (at, case) in cases.iter().enumerate() {
            let start = Instant::now();
            let summary = case.run(requests, false)?;
            let ns = start.elapsed().as_secs_f64() * 1e9 / summary.requests_completed as f64;
            best[at] = best[at].min(ns);
            last[at] = summary;
        }
    }
    println!(
        "{:<56} {:>6} {:>6} {:>8} {:>10} {:>10} {:>9} {:>8}",
        "policy", "units", "depth", "ns/req", "positions", "most", "fairness", "largest"
    );
    let mut rows = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let fairness = case.run(requests.min(100_000), true)?.fairness;
        let units = if case.keys.is_empty() { 32 } else { 1 };
        let overhead = last[at].scheduler_overhead.unwrap_or_default();
        let row = json!({
            "scheduler": case.scheduler,
            "units": units,
            "depth": case.depth,
            "ns_per_request": best[at].round(),
            "positions_scanned_mean": overhead.positions_scanned_mean,
            "positions_scanned_max": overhead.positions_scanned_max,
            "fairness": fairness.fairness,
            "max_slowdown": fairness.max_slowdown,
        });
        let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
        println!(
            "{:<56} {units:>6} {:>6} {:>8.0} {:>10.1} {:>10} {:>9.3} {:>8.2}",
            case.scheduler,
            case.depth,
            number("ns_per_request"),
            number("positions_scanned_mean"),
            overhead.positions_scanned_max,
            number("fairness"),
            number("max_slowdown"),
        );
        rows.push(row);
    }
    if write {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/flin.json");
        let text = serde_json::to_string_pretty(&Value::from(rows)).map_err(|e| e.to_string())?;
        std::fs::write(path, text + "\n").map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}
