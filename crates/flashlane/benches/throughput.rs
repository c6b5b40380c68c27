//! Requests per second of the whole process, start-up and preconditioning included.
//!
//! Every run is a child process of its own, so that its wall time and its peak memory are those of
//! one simulation. `cargo bench` prints a table; nothing is written unless asked for:
//!
//! ```text
//! cargo bench -p flashlane --bench throughput -- [--requests N] [--runs N] [--json] [NAME…]
//! ```
//!
//! `B/page` is what the page tables of the model cost per physical page, touched or not; `precond.` is
//! the share of the wall time that went into preconditioning.
//!
//! `--json` writes `benches/throughput.json` beside this file; a name runs the cases that contain it.

use std::process::{Command, ExitCode};
use std::time::Instant;

use flashlane::config::load::{self, Overrides};
use flashlane::config::validate;
use flashlane::metrics::Summary;
use flashlane::{RunOptions, simulate};
use serde_json::{Value, json};

/// Requests of a run unless the command line says otherwise.
const REQUESTS: u64 = 2_000_000;
/// Runs of a case; the table shows the fastest one and how far the slowest is behind it.
const RUNS: u32 = 3;

/// Back-end contention of FAST'18: nothing but link, interface, scheduler and flash; reads of an empty
/// drive that are really done.
const CONTENTION_DEVICE: &str = r#"
base = "fast18"
[ftl]
unwritten_read = "flash"
mapping.ideal = true
precondition.enabled = false
"#;

/// A drive of an eighth of the size, full, with collection under way from the first write on.
const WRITE_DEVICE: &str = r#"
base = "fast18"
[ftl]
mapping.ideal = true
[flash]
blocks_per_plane = 256
"#;

/// One measured workload.
struct Case {
    name: &'static str,
    device: &'static str,
    workload: fn(u64) -> String,
}

const CASES: &[Case] = &[
    Case {
        name: "back-end contention, QD 2/2",
        device: CONTENTION_DEVICE,
        workload: |n| readers(2, n / 2, 2, n / 2),
    },
    Case {
        name: "back-end contention, QD 2/256",
        device: CONTENTION_DEVICE,
        workload: |n| readers(2, n, 256, n),
    },
    Case { name: "cached writes with GC, QD 32", device: WRITE_DEVICE, workload: writer },
];

/// Two closed loops of random reads, past the cache. The run ends with the second flow.
fn readers(first_depth: u32, first: u64, second_depth: u32, second: u64) -> String {
    let flow = |name: &str, depth: u32, requests: u64, end: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\ncache = \"off\"\non_end = \"{end}\"\n\
             synthetic = {{ queue_depth = {depth}, read_ratio = 1.0, size = \"4KiB\", \
             requests = {requests} }}\n"
        )
    };
    flow("first", first_depth, first, "repeat") + &flow("second", second_depth, second, "stop")
}

/// A closed loop of random page writes through the cache.
fn writer(requests: u64) -> String {
    format!(
        "[[flow]]\nname = \"writer\"\ncache = \"write\"\n\
         synthetic = {{ queue_depth = 32, read_ratio = 0.0, size = \"8KiB\", align = \"8KiB\", \
         requests = {requests} }}\n"
    )
}

/// What the command line asks for.
struct Options {
    requests: u64,
    runs: u32,
    json: bool,
    names: Vec<String>,
    /// Run this case here and print its summary: the child's side.
    child: Option<usize>,
}

fn main() -> ExitCode {
    let done = options().and_then(|options| match options.child {
        Some(case) => child(&CASES[case], options.requests),
        None => parent(&options),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("throughput: {message}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options =
        Options { requests: REQUESTS, runs: RUNS, json: false, names: Vec::new(), child: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || -> Result<u64, String> {
            let text = arguments.next().ok_or(format!("{argument} takes a number"))?;
            text.parse().map_err(|_| format!("{argument}: found {text:?}, allowed: a number"))
        };
        match argument.as_str() {
            // Cargo says so to every benchmark.
            "--bench" => {}
            "--requests" => options.requests = number()?.max(1_000),
            "--runs" => options.runs = number()?.clamp(1, 100) as u32,
            "--child" => options.child = Some(number()? as usize % CASES.len()),
            "--json" => options.json = true,
            name if !name.starts_with('-') => options.names.push(name.to_owned()),
            other => return Err(format!("unknown option {other}")),
        }
    }
    Ok(options)
}

/// Simulates one case and prints its summary.
fn child(case: &Case, requests: u64) -> Result<(), String> {
    let none = Overrides::default();
    let text = |error: flashlane::Error| error.to_string();
    let device = load::device_from_toml(case.device, "bench device", &none).map_err(text)?;
    let flows = (case.workload)(requests);
    let workload = load::workload_from_toml(&flows, "bench workload", &none).map_err(text)?;
    validate::check_pair(&device, &workload).map_err(text)?;
    let summary = simulate(&device.config, &workload.config, &RunOptions::default(), &|_| {})
        .map_err(text)?;
    println!("{}", serde_json::to_string(&summary).map_err(|error| error.to_string())?);
    Ok(())
}

/// One run of a case as its parent saw it.
struct Measured {
    wall_s: f64,
    summary: Summary,
}

/// Runs a case in a process of its own.
fn measure(case: usize, requests: u64) -> Result<Measured, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let start = Instant::now();
    let output = Command::new(program)
        .args(["--child", &case.to_string(), "--requests", &requests.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    let wall_s = start.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let summary = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    Ok(Measured { wall_s, summary })
}

fn parent(options: &Options) -> Result<(), String> {
    println!(
        "{:<30} {:>9} {:>11} {:>7} {:>8} {:>8} {:>9} {:>6} {:>6} {:>8}",
        "whole process",
        "requests",
        "requests/s",
        "spread",
        "ev/req",
        "ns/req",
        "peak MiB",
        "B/page",
        "WAF",
        "precond."
    );
    let mut results = Vec::new();
    for (index, case) in CASES.iter().enumerate() {
        let wanted = options.names.is_empty()
            || options.names.iter().any(|name| case.name.contains(name.as_str()));
        if wanted {
            results.push(bench(index, case, options)?);
        }
    }
    if options.json {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/throughput.json");
        let text = serde_json::to_string_pretty(&results).map_err(|error| error.to_string())?;
        std::fs::write(path, text + "\n").map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

/// Runs a case as often as asked for, prints its row and returns it.
fn bench(index: usize, case: &Case, options: &Options) -> Result<Value, String> {
    let mut runs = Vec::new();
    for _ in 0..options.runs {
        runs.push(measure(index, options.requests)?);
    }
    runs.sort_by(|a, b| a.wall_s.total_cmp(&b.wall_s));
    let Measured { wall_s, summary } = &runs[0];
    let slowest = runs[runs.len() - 1].wall_s;
    let requests = summary.requests_completed;
    let per_request = |amount: f64| amount / requests as f64;
    let memory = summary.memory;
    let row = json!({
        "case": case.name,
        "requests": requests,
        "requests_per_wall_s": requests as f64 / wall_s,
        "slowest_over_fastest": slowest / wall_s,
        "events_per_request": per_request(summary.events as f64),
        "ns_per_request": per_request(wall_s * 1e9),
        "peak_rss_bytes": summary.peak_rss_bytes,
        "table_bytes_per_page": memory.page_table_bytes as f64 / memory.physical_pages as f64,
        "partial_page_bytes": memory.partial_page_bytes,
        "write_amplification": summary.flash.write_amplification,
        "precondition_share": summary.precondition_wall_s / wall_s,
    });
    let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
    println!(
        "{:<30} {:>9} {:>11.0} {:>6.0}% {:>8.2} {:>8.0} {:>9.0} {:>6.2} {:>6.2} {:>7.0}%",
        case.name,
        requests,
        number("requests_per_wall_s"),
        100.0 * (number("slowest_over_fastest") - 1.0),
        number("events_per_request"),
        number("ns_per_request"),
        number("peak_rss_bytes") / f64::from(1 << 20),
        number("table_bytes_per_page"),
        number("write_amplification"),
        100.0 * number("precondition_share"),
    );
    Ok(row)
}
