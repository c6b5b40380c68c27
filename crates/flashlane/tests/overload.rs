//! The verdict about saturation on runs of known load: open loops at fractions of the rate that a
//! closed loop completes. `cargo test -p flashlane-tests --test slow overload:: -- --ignored
//! --nocapture` prints the table of docs/model-measures.md.

use crate::common::Scenario;

/// Small enough that collection works for as long as anybody writes.
const DRIVE: &str = "base = \"tiny\"\n[flash]\nblocks_per_plane = 64\n";

/// Requests of a run; also those that count.
const REQUESTS: f64 = 20_000.0;

/// Read ratio, and whether the load comes in bursts: on and off with a period of a fiftieth of the
/// run, beside a steady half.
const KINDS: [(&str, f64, bool); 4] = [
    ("reads", 1.0, false),
    ("writes with collection", 0.0, false),
    ("reads and writes", 0.5, false),
    ("bursts of reads", 1.0, true),
];

const STABLE: [f64; 5] = [0.5, 0.7, 0.8, 0.9, 0.95];
const OVERLOADED: [f64; 5] = [1.05, 1.1, 1.25, 1.5, 3.0];

/// The rate that the drive completes with so much outstanding that no die is ever idle.
fn capacity(read_ratio: f64, seed: u64) -> f64 {
    let flow = format!(
        "[[flow]]\nname = 'all'\ncache = 'off'\n[flow.synthetic]\nqueue_depth = 1024\n\
         read_ratio = {read_ratio:?}\nsize = '4KiB'\nrequests = 40000\n"
    );
    let mut scenario = Scenario::new(DRIVE, &flow).seed(seed);
    scenario.options.warmup = flashlane::Warmup::Requests(10_000);
    scenario.run().flows[0].iops
}

/// A trace of reads that come in bursts: in three tenths of each period.
fn bursts(rate: f64, seed: u64) -> String {
    let mut random = flashlane_engine::Rng::stream(seed, "test.overload", 0);
    let period = REQUESTS / rate / 50.0;
    let (mut at, mut lines) = (0.0_f64, String::new());
    for _ in 0..REQUESTS as u64 {
        at += random.exponential() / rate;
        let start = (at / period).floor() * period;
        let page = random.below(2_000);
        lines += &format!("{:.3},R,{},4096,0\n", (start + (at - start) * 0.3) * 1e6, page * 4096);
    }
    lines
}

/// The drive is said to be saturated by an open loop at a fraction of its capacity.
fn found((_, read_ratio, in_bursts): (&str, f64, bool), rate: f64, seed: u64) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let flow = if in_bursts {
        let path = folder.path().join("bursts.csv");
        std::fs::write(&path, bursts(rate, seed)).expect("room");
        let path = path.display();
        format!(
            "[[flow]]\nname = 'load'\ncache = 'off'\n[flow.trace]\npath = '{path}'\nformat = 'csv'\n"
        )
    } else {
        format!(
            "[[flow]]\nname = 'load'\ncache = 'off'\n[flow.synthetic]\niops = {rate:.3}\n\
             read_ratio = {read_ratio:?}\nsize = '4KiB'\nrequests = {REQUESTS}\n"
        )
    };
    Scenario::new(DRIVE, &flow).seed(seed).run().saturated
}

/// False alarms and misses of some kinds and fractions over seeds, by kind and fraction.
fn table(kinds: &[(&'static str, f64, bool)], seeds: u64) -> Vec<(String, f64, u64)> {
    let mut rows = Vec::new();
    for &kind in kinds {
        let capacity = capacity(kind.1, 1);
        for fraction in STABLE.into_iter().chain(OVERLOADED) {
            let said = (1..=seeds).filter(|&seed| found(kind, fraction * capacity, seed)).count();
            rows.push((kind.0.to_owned(), fraction, said as u64));
        }
    }
    rows
}

#[test]
#[ignore = "200 runs: `cargo test -p flashlane-tests --test slow overload:: -- --ignored --nocapture`"]
fn error_rates_on_two_hundred_runs() {
    const SEEDS: u64 = 5;
    let rows = table(&KINDS, SEEDS);
    let (mut alarms, mut misses) = (0, 0);
    for (kind, fraction, said) in &rows {
        println!("| {kind} | {fraction} | {said} of {SEEDS} |");
        if *fraction < 1.0 { alarms += said } else { misses += SEEDS - said }
    }
    let half = SEEDS * rows.len() as u64 / 2;
    println!("false alarms {alarms} of {half}, misses {misses} of {half}");
    assert!(alarms * 20 <= half, "false alarms: {alarms} of {half}");
    assert!(misses * 20 <= half, "misses: {misses} of {half}");
}

/// A sample of that table: clear cases, where the verdict is never wrong.
#[test]
fn clear_overload_is_found_and_a_stable_load_is_not() {
    for kind in KINDS {
        let capacity = capacity(kind.1, 1);
        for (fraction, expected) in [(0.5, false), (0.8, false), (1.25, true), (3.0, true)] {
            assert_eq!(found(kind, fraction * capacity, 1), expected, "{} at {fraction}", kind.0);
        }
    }
}

/// The drive of FLIN's trace studies (`flashlane reproduce flin`).
const TRACE_DRIVE: &str = r#"
base = "flin"
[flash]
channels = 8
blocks_per_plane = 128
suspend = { program = true, erase = true, program_time = "20us", program_min_left = "20us", erase_time = "100us", erase_min_left = "100us" }
[ftl]
precondition = { occupancy = 0.86, open_blocks = true }
gc = { threshold = "10 blocks", hard_threshold = "4 blocks" }
[interface]
queue_fetch_size = 65535
"#;

/// Two of FLIN's mixes, with tpcc and tpce together: more than the drive serves. Beside the
/// backlogs that grow, the traces come in bursts.
#[test]
#[ignore = "minutes: mixes of 27 s"]
fn mixes_that_the_drive_does_not_keep_up_with_are_found() {
    for mix in [["msnfs", "tpcc", "src1-0", "tpce"], ["tpce", "tpcc", "src1-0", "stg-0"]] {
        let flows = mix.map(|name| {
            format!(
                "[[flow]]\nname = '{name}'\ncache = 'off'\n[flow.clone]\nof = '{name}'\nduration = '27s'\n"
            )
        });
        let mut scenario = Scenario::new(TRACE_DRIVE, &flows.concat());
        scenario.options.warmup = flashlane::Warmup::Time(9_000_000_000_000);
        scenario.options.check = false;
        let summary = scenario.run();
        let found = summary.flows.iter().filter(|flow| flow.saturated);
        let found: Vec<&str> = found.map(|flow| &*flow.name).collect();
        println!("{mix:?}: {found:?}");
        assert!(found.contains(&"tpcc") && found.contains(&"tpce"), "{mix:?}: {found:?}");
    }
}
