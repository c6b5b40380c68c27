//! Speed of the simulator, measured as `docs/performance.md` says.
//!
//! ```text
//! flashlane-bench [--requests N] [--runs N] [--record] [NAME…] whole runs, a process each
//! flashlane-bench instructions [--record] [NAME…]           instructions per request
//! flashlane-bench check                                     the same, beside the kept counts
//! flashlane-bench traces                                    records per second, by trace format
//! flashlane-bench traces FILE[=FORMAT]…                     of these files, beside their replay
//! flashlane-bench scale [flows|chips|depth|writes|requests…] cost as the problem grows
//! ```

mod allocations;
mod calibration;
mod cases;
mod child;
mod instructions;
mod measure;
mod record;
mod scale;
mod table;
mod traces;
mod workloads;

use std::process::ExitCode;

use cases::{CASES, Case};
use instructions::{Tool, Verdict};

/// Requests of a run unless the command line or the case says otherwise.
const REQUESTS: u64 = 10_000_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("child") => run_child(&arguments[1..]),
        Some("small") => run_small(&arguments[1..]),
        Some("instructions") => Options::new(&arguments[1..]).and_then(|options| count(&options)),
        Some("check") => check(),
        Some("traces") if arguments.len() > 1 => traces::replays(&arguments[1..]),
        Some("traces") => traces::traces(),
        Some("scale") => scale::scale(&arguments[1..]),
        Some("point") => run_point(&arguments[1..]),
        _ => Options::new(&arguments).and_then(|options| bench(&options)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("flashlane-bench: {message}");
            ExitCode::from(2)
        }
    }
}

/// Options of the command line.
struct Options {
    requests: u64,
    runs: u32,
    record: bool,
    names: Vec<String>,
}

impl Options {
    fn new(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self { requests: REQUESTS, runs: 1, record: false, names: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--requests" => options.requests = number(argument, arguments.next())?.max(1_000),
                "--runs" => options.runs = number(argument, arguments.next())?.clamp(1, 100) as u32,
                "--record" => options.record = true,
                name => options.names.push(known(name)?.name.to_owned()),
            }
        }
        if options.record && !options.names.is_empty() {
            return Err("--record: takes all cases".to_owned());
        }
        Ok(options)
    }
}

fn number(name: &str, text: Option<&String>) -> Result<u64, String> {
    let text = text.ok_or(format!("{name} takes a number"))?;
    text.parse().map_err(|_| format!("{name}: found {text:?}, allowed: a number"))
}

fn known(name: &str) -> Result<&'static Case, String> {
    cases::find(name).ok_or_else(|| {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        format!("found {name:?}, allowed: --requests, --runs, --record, {}", names.join(", "))
    })
}

/// Case and number of requests of a child.
fn child_arguments(arguments: &[String]) -> Result<(&'static Case, u64), String> {
    let name = arguments.first().ok_or("the name of a case is missing")?;
    Ok((known(name)?, number("requests", arguments.get(1))?))
}

fn run_child(arguments: &[String]) -> Result<(), String> {
    let (case, requests) = child_arguments(arguments)?;
    let told = child::run(case, requests)?;
    println!("{}", serde_json::to_string(&told).map_err(|error| error.to_string())?);
    Ok(())
}

fn run_small(arguments: &[String]) -> Result<(), String> {
    let (case, requests) = child_arguments(arguments)?;
    println!("{}", child::run_small(case, requests)?);
    Ok(())
}

fn run_point(arguments: &[String]) -> Result<(), String> {
    let [axis, value, requests] = arguments else {
        return Err("an axis, a value and a number of requests are wanted".to_owned());
    };
    let (value, requests) = (number("value", Some(value))?, number("requests", Some(requests))?);
    println!("{}", scale::run_point(axis, value, requests)?);
    Ok(())
}

fn bench(options: &Options) -> Result<(), String> {
    let commit = record::commit();
    table::head();
    let mut rows = Vec::new();
    for case in CASES {
        if options.names.is_empty() || options.names.iter().any(|name| name == case.name) {
            let row = measure::measure(case, case.requests(options.requests), options.runs)?;
            table::line(&row);
            rows.push(row);
        }
    }
    table::foot(&rows);
    if options.record { record::keep(commit, rows) } else { Ok(()) }
}

fn count(options: &Options) -> Result<(), String> {
    let tool = Tool::found().ok_or("neither perf with counters nor valgrind is here")?;
    let counts = instructions::count(tool, &options.names)?;
    println!("instructions per request, counted by {tool:?}");
    for (name, instructions) in &counts.instructions_per_request {
        println!("{name:<20} {instructions:>9.0}");
    }
    if options.record { record::commit_counts(&counts) } else { Ok(()) }
}

/// Fails if a case takes over 2 % more instructions than committed.
fn check() -> Result<(), String> {
    let committed = record::committed()?;
    let tool = committed.tool;
    if !tool.works() {
        println!("skipped: the committed counts are by {tool:?}, which does not work here");
        return Ok(());
    }
    let counts = instructions::count(tool, &[])?;
    let history = record::history(tool)?;
    let mut failed = false;
    println!(
        "instructions per request, counted by {tool:?}: committed, counted, above the fewest ever"
    );
    for (name, &counted) in &counts.instructions_per_request {
        let before = committed.instructions_per_request.get(name).copied();
        let verdict = instructions::verdict(counted, before);
        failed |= matches!(verdict, Verdict::More | Verdict::NotCommitted);
        let note = match verdict {
            Verdict::Same => "",
            Verdict::Fewer => "fewer: record them with make bench-record",
            Verdict::More => "MORE THAN 2 % MORE",
            Verdict::NotCommitted => "NOT COMMITTED",
        };
        let fewest = history.get(name).map_or(counted, |span| span.fewest.min(counted));
        let above = (counted / fewest - 1.0) * 100.0;
        let before = before.unwrap_or(f64::NAN);
        println!("{name:<20} {before:>9.0} {counted:>9.0} {above:>6.1} %  {note}");
    }
    scale::check_depth(tool)?;
    if failed { Err("instructions per request went up".to_owned()) } else { Ok(()) }
}
