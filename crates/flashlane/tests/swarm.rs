//! A swarm of random configurations: whatever validation accepts must finish, with every audit on.
//!
//! `SWARM=2000` runs that many instead of 300; `SWARM_SEED=n` runs one alone and prints it.

#[path = "swarm/generate.rs"]
mod generate;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flashlane::config::validate::validate;
use flashlane::config::{CacheMode, MappingKind, OnEnd, Technology};
use flashlane::isolation::Isolation;
use flashlane::metrics::Summary;
use flashlane::metrics::summary::{BreakdownSummary, Latency};
use flashlane::{RunOptions, Warmup, simulate};
use generate::{Case, case};

/// Wall time after which a run counts as endless.
const ENDLESS: Duration = Duration::from_secs(180);

thread_local! {
    /// Message and place of the last panic of a worker.
    static FAULT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps panics for the report instead of printing a trace of each.
fn keep_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let text = info.payload_as_str().unwrap_or("a panic without a message");
        FAULT.set(format!("{place}: {text}"));
    }));
}

/// What came of a seed.
enum Outcome {
    Refused(String),
    Finished { requests: u64, wall: Duration },
    Failed(String),
}

fn run(seed: u64) -> Outcome {
    let case = case(seed);
    let problems = validate(&case.device, &case.workload);
    if let Some(problem) = problems.first() {
        return Outcome::Refused(format!("{problem}"));
    }
    let start = Instant::now();
    let progress = |_: f64| assert!(start.elapsed() < ENDLESS, "the run takes for ever");
    let result = catch_unwind(AssertUnwindSafe(|| {
        let summary = simulate(&case.device, &case.workload, &case.options, &progress)
            .unwrap_or_else(|error| panic!("{error}"));
        check(&case, &summary);
        run_untimed(&case, &summary, &progress);
        summary.requests_completed
    }));
    match result {
        Ok(requests) => Outcome::Finished { requests, wall: start.elapsed() },
        Err(_) => Outcome::Failed(FAULT.take()),
    }
}

/// The same without time: finishes with its audits, or is refused by name.
fn run_untimed(case: &Case, timed: &Summary, progress: &(dyn Fn(f64) + Sync)) {
    let warmup = match case.options.warmup {
        Warmup::Time(_) => Warmup::None,
        other => other,
    };
    let base = case.options.clone();
    let options = RunOptions { waf_only: true, alone: false, windows: None, warmup, ..base };
    let device = &case.device;
    let compat = &device.compat;
    let refused = matches!(device.isolation, Isolation::Upi(_))
        || device.ftl.mapping.kind == MappingKind::Hybrid
        || device.flash.technology == Technology::InPlace
        || compat.collection_per_block
        || compat.unprogrammed_mapping
        || compat.flash_unwritten_reads && compat.unordered_programs;
    let summary = match simulate(device, &case.workload, &options, progress) {
        Ok(summary) => summary,
        Err(flashlane::Error::Config(problems)) if refused => {
            assert!(!problems.is_empty());
            return;
        }
        Err(error) => panic!("without time: {error}"),
    };
    assert!(!refused, "what needs time is refused");
    let flash = &summary.flash;
    let started = flash.gc_invocations + flash.wear_leveling_moves;
    assert!(flash.erases <= started, "every erase ends a collection");
    let host: u64 = summary.flows.iter().map(|flow| flow.transactions.count).sum();
    assert_eq!(host, flash.user_reads + flash.user_programs, "host pages by flow and in all");
    let (extra, programs) = (
        summary.waf_only.as_ref().expect("a run without time"),
        flash.user_programs + flash.gc_programs + flash.mapping_programs,
    );
    assert_eq!(extra.page_writes, programs, "pages by flow and in all");
    assert_eq!(timed.flows.len(), summary.flows.len());
}

fn stage_sum(stages: &BreakdownSummary) -> f64 {
    stages.submission
        + stages.transfer_in
        + stages.firmware
        + stages.cache
        + stages.mapping
        + stages.flash_queue
        + stages.flash_bus
        + stages.flash_array
        + stages.transfer_out
}

fn check_latency(latency: &Latency, what: &str) {
    if latency.count == 0 {
        return;
    }
    let steps = [latency.p50, latency.p90, latency.p95, latency.p99, latency.p99_9, latency.p99_99];
    assert!(steps.is_sorted(), "percentiles of {what} grow: {latency:?}");
    assert!(latency.min <= latency.mean * 1.000_001, "{what}: {latency:?}");
    assert!(latency.mean <= latency.max * 1.000_001, "{what}: {latency:?}");
    assert!(latency.p99_99 <= latency.max * 1.003, "{what}: {latency:?}");
}

/// Everything that must hold of any summary.
fn check(case: &Case, summary: &Summary) {
    assert_eq!(summary.requests_generated, summary.requests_completed, "every request completes");
    for (flow, config) in summary.flows.iter().zip(&case.workload.flows) {
        let name = &flow.name;
        let (sum, mean) = (stage_sum(&flow.breakdown_us), flow.response_time_us.mean);
        assert!(
            (sum - mean).abs() < 1e-3,
            "stages of {name} sum to {sum} us, the mean is {mean} us"
        );
        assert!(flow.end_to_end_us.mean >= mean - 1e-6, "{name} arrives before it is enqueued");
        check_latency(&flow.response_time_us, name);
        check_latency(&flow.end_to_end_us, name);
        let requests = &flow.requests;
        let count = requests.read + requests.write + requests.trim + requests.flush;
        assert_eq!(count, flow.response_time_us.count, "requests of {name} by kind");
        assert_eq!(requests.read, flow.read_response_time_us.count);
        assert_eq!(requests.write, flow.write_response_time_us.count);
        for (bytes, count) in [(flow.bytes.read, requests.read), (flow.bytes.write, requests.write)]
        {
            assert!(bytes.is_multiple_of(512), "{name} moves whole sectors");
            assert!(bytes >= count * 512 && bytes <= count * (16 << 20), "{name}: {bytes} bytes");
        }
        assert!(
            flow.write_amplification == 0.0 || flow.write_amplification >= 1.0,
            "write amplification of {name} is {}",
            flow.write_amplification
        );
        if config.cache == CacheMode::Off {
            assert_eq!(flow.cache.hits + flow.cache.misses, 0, "{name} uses no cache");
        }
    }
    if let Some(over_time) = &summary.slowdown_over_time {
        for (index, flow) in summary.flows.iter().enumerate() {
            let requests = over_time.windows.iter().map(|window| window.flows[index].requests);
            assert_eq!(requests.sum::<u64>(), flow.end_to_end_us.count, "windows of {}", flow.name);
        }
    }
    assert_eq!(summary.slowdown_over_time.is_some(), case.options.windows.is_some());
    check_flash(case, summary);
    check_shares(summary);
    check_sets(case, summary);
    let stops =
        case.workload.flows.len() == 1 && case.workload.flows[0].on_end != Some(OnEnd::Repeat);
    if let (true, Some(synthetic)) = (stops, &case.workload.flows[0].synthetic)
        && synthetic.duration.is_none()
    {
        assert_eq!(Some(summary.requests_generated), synthetic.requests, "a pass is complete");
    }
}

fn check_flash(case: &Case, summary: &Summary) {
    let flash = &summary.flash;
    let host: u64 = summary.flows.iter().map(|flow| flow.transactions.count).sum();
    assert_eq!(host, flash.user_reads + flash.user_programs, "host pages by flow and in all");
    assert!(flash.gc_programs <= flash.gc_reads, "collection writes what it read");
    let jobs = flash.gc_invocations + flash.wear_leveling_moves;
    assert_eq!(jobs, flash.erases, "every collection ends with its erase");
    assert!(flash.copybacks <= flash.gc_programs, "copybacks are programs of collection");
    let written_back =
        if case.device.compat.unprogrammed_mapping { 0 } else { summary.cmt.writebacks };
    assert_eq!(flash.mapping_programs, written_back, "every write-back is programmed");
    if case.device.ftl.mapping.ideal {
        assert_eq!(flash.mapping_reads + flash.mapping_programs, 0, "the ideal table is in DRAM");
    }
    if flash.user_programs > 0 {
        let programs = flash.user_programs + flash.gc_programs + flash.mapping_programs;
        let expected = programs as f64 / flash.user_programs as f64;
        assert!((flash.write_amplification - expected).abs() < 1e-9);
        assert!(flash.write_amplification >= 1.0);
    }
    let uncached = case.workload.flows.iter().all(|flow| flow.cache == CacheMode::Off);
    if uncached {
        let page = case.device.flash.page_size.0;
        let written: u64 = summary.flows.iter().map(|flow| flow.bytes.write).sum();
        assert!(flash.user_programs >= written.div_ceil(page), "uncached writes reach the flash");
    }
}

/// Sets are disjoint and cover the drive, but for the chips that the configuration says; every flow keeps a
/// chip of its own.
fn check_sets(case: &Case, summary: &Summary) {
    let Isolation::Upi(upi) = &case.device.isolation else {
        assert!(summary.isolation_sets.is_none(), "sets that change are those of upi");
        return;
    };
    let found = summary.isolation_sets.as_ref().expect("upi reports its sets");
    let mut writers = vec![0; summary.chips.len()];
    found.sets.iter().flatten().for_each(|&chip| writers[chip as usize] += 1);
    for (chip, &writers) in (0..).zip(&writers) {
        let expected = match (upi.shared_chips.contains(&chip), upi.read_only_chips.contains(&chip))
        {
            (true, _) => summary.flows.len(),
            (_, true) => 0,
            _ => 1,
        };
        assert_eq!(writers, expected, "flows that write to chip {chip}");
    }
    let shared = upi.shared_chips.len();
    let own = writers.len() - shared - upi.read_only_chips.len();
    for window in &found.windows {
        let sizes = window.chips.iter().map(|&chips| chips as usize);
        assert_eq!(sizes.clone().sum::<usize>(), own + shared * found.sets.len(), "{window:?}");
        assert!(sizes.min() > Some(shared), "every flow keeps a chip: {window:?}");
    }
    assert!(found.transfers <= found.ended_windows, "at most one chip a window");
    assert!(upi.overflow || found.overflow_pages == 0);
}

fn check_shares(summary: &Summary) {
    for channel in &summary.channels {
        assert!((0.0..=1.0).contains(&channel.busy_fraction), "{channel:?}");
    }
    for chip in &summary.chips {
        assert!((0.0..=1.0).contains(&chip.busy_fraction), "{chip:?}");
        assert!(chip.mean_queue_length <= chip.max_queue_length as f64, "{chip:?}");
    }
    let erases: u64 = summary.chips.iter().map(|chip| chip.erases).sum();
    assert_eq!(erases, summary.flash.erases, "erases of all chips");
}

#[test]
fn accepted_configurations_finish() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect(name));
    if let Some(seed) = number("SWARM_SEED") {
        println!("{:#?}", case(seed));
        match run(seed) {
            Outcome::Refused(why) => panic!("refused: {why}"),
            Outcome::Failed(_) => panic!("the seed fails"),
            Outcome::Finished { requests, wall } => println!("{requests} requests in {wall:?}"),
        }
        return;
    }
    keep_panics();
    let runs = number("SWARM").unwrap_or(300);
    let next = AtomicU64::new(number("SWARM_START").unwrap_or(0));
    let end = next.load(Ordering::Relaxed) + runs;
    let outcomes = Mutex::new(BTreeMap::new());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(4));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let outcome = run(seed);
                    if let Outcome::Failed(why) = &outcome {
                        let line = why.lines().next().unwrap_or_default();
                        println!(
                            "SWARM_SEED={seed} cargo test -p flashlane --test swarm  # {line}"
                        );
                    }
                    outcomes.lock().expect("no worker panics").insert(seed, outcome);
                }
            });
        }
    });
    drop(std::panic::take_hook());
    report(&outcomes.into_inner().expect("no worker panics"));
}

fn report(outcomes: &BTreeMap<u64, Outcome>) {
    let (mut finished, mut requests, mut failed) = (0_usize, 0, Vec::new());
    let mut slowest = (Duration::ZERO, 0);
    let mut refusals: BTreeMap<String, u32> = BTreeMap::new();
    for (&seed, outcome) in outcomes {
        match outcome {
            Outcome::Finished { requests: count, wall } => {
                finished += 1;
                requests += count;
                slowest = slowest.max((*wall, seed));
            }
            Outcome::Failed(_) => failed.push(seed),
            Outcome::Refused(why) => {
                let place = why.split(':').next().unwrap_or_default().to_owned();
                *refusals.entry(place).or_default() += 1;
            }
        }
    }
    let accepted = finished + failed.len();
    let share = accepted as f64 / outcomes.len() as f64;
    println!(
        "{} configurations, {accepted} accepted ({:.0} %), {finished} finished, {requests} requests, \
         slowest seed {} in {:?}; refusals by key: {refusals:?}",
        outcomes.len(),
        share * 100.0,
        slowest.1,
        slowest.0
    );
    assert!(failed.is_empty(), "{} of {accepted} failed: seeds {failed:?}", failed.len());
    assert!(share > 0.6, "only {share} of the configurations are valid");
}
