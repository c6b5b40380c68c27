//! Against the released MQSim: every ideal-mapping read case of the reference results.
//!
//! With the compatibility switches on, the mean device response time of each flow is equal to five
//! digits, requests and pages read are equal. Skipped where the reference results are absent.

use std::path::{Path, PathBuf};

use flashlane::config::CompatConfig;
use flashlane::config::mqsim_xml::{load_device, load_scenarios};
use flashlane::metrics::Summary;
use flashlane::{RunOptions, simulate};
use serde_json::Value;

fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracle");
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: the reference results are not present at ../shared/oracle");
    None
}

fn run(inputs: &Path, compat: CompatConfig) -> Summary {
    let (mut device, _) = load_device(&inputs.join("ssdconfig.xml")).expect("device loads");
    let (scenarios, _) = load_scenarios(&inputs.join("workload.xml")).expect("workload loads");
    device.compat = compat;
    let options = RunOptions { check: false, ..RunOptions::default() };
    simulate(&device, &scenarios[0], &options, &|_| {}).expect("the run finishes")
}

/// All flows only read, and the reference run finished.
fn is_read_case(case: &Value) -> bool {
    case["status"] == "ok"
        && case["flows_full"]
            .as_array()
            .is_some_and(|flows| flows.iter().all(|f| f["Read_Percentage"] == "100"))
        && case["device_non_default"]["Ideal_Mapping_Table"] == "true"
}

fn pages_requested(summary: &Summary) -> u64 {
    summary.flash.user_reads
}

#[test]
fn read_cases_match() {
    let Some(root) = shared() else { return };
    let only = std::env::var("ORACLE_CASE").ok();
    let (mut count, mut failures) = (0, Vec::new());
    println!("{:<40} {:>12} {:>12} {:>9}", "case, flow", "MQSim us", "ours us", "diff %");
    for group in [
        "g1_backend",
        "g1_qfs16",
        "g1_qfs1024",
        "g2_latency_floor",
        "g3_qd_sweep",
        "g4_plane_alloc",
    ] {
        let text = std::fs::read_to_string(root.join(format!("{group}.json"))).expect("readable");
        let data: Value = serde_json::from_str(&text).expect("valid JSON");
        for case in data["cases"].as_array().expect("a list of cases") {
            let name = format!("{group}/{}", case["case"].as_str().unwrap_or("?"));
            if !is_read_case(case) || only.as_ref().is_some_and(|o| !name.contains(o.as_str())) {
                continue;
            }
            let inputs = root.join(case["inputs"].as_str().expect("inputs are named"));
            let summary = run(&inputs, CompatConfig::mqsim());
            for (index, flow) in case["out"]["flows"].as_array().expect("flows").iter().enumerate()
            {
                count += 1;
                let theirs = flow["device_response_mean_us_exact"].as_f64().expect("a mean");
                let ours = summary.flows[index].response_time_us.mean;
                let difference = 100.0 * (ours / theirs - 1.0);
                println!("{name:<38} {index:>1} {theirs:>12.3} {ours:>12.3} {difference:>9.3}");
                // Far below the 1 % asked for: the runs are equal event for event.
                let tolerance_us = 1e-5 * theirs;
                if (ours - theirs).abs() > tolerance_us {
                    failures.push(format!("{name} flow {index}: {ours} us, MQSim {theirs} us"));
                }
                let requests = summary.flows[index].requests.read;
                let expected = flow["serviced"].as_u64().expect("a count");
                if requests != expected {
                    failures
                        .push(format!("{name} flow {index}: {requests} of {expected} requests"));
                }
            }
            let pages = case["out"]["flash_transactions"]["user_read_pages"].as_u64();
            let ours = pages_requested(&summary);
            if let Some(pages) = pages
                && ours != pages
            {
                failures.push(format!("{name}: {ours} pages read, MQSim {pages}"));
            }
        }
    }
    println!("{count} flows compared, {} outside", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Turns one switch off.
type TurnOff = fn(&mut CompatConfig);

/// Every switch, in the order in which the table turns them off.
const SWITCHES: [(&str, TurnOff); 10] = [
    ("random_generators", |c| c.random_generators = false),
    ("padded_sqe", |c| c.padded_sqe = false),
    ("truncated_link_time", |c| c.truncated_link_time = false),
    ("truncated_bus_clock", |c| c.truncated_bus_clock = false),
    ("flash_unwritten_reads", |c| c.flash_unwritten_reads = false),
    ("dram_formula", |c| c.dram_formula = false),
    ("unordered_programs", |c| c.unordered_programs = false),
    ("data_before_commands", |c| c.data_before_commands = false),
    ("one_die_per_dispatch", |c| c.one_die_per_dispatch = false),
    ("zero_firmware_time", |c| c.zero_firmware_time = false),
];

/// From the released MQSim to our defaults, one switch after the other: what each changes, and that
/// nothing but the switches makes the difference.
#[test]
fn defaults_differ_by_the_switches_only() {
    let Some(root) = shared() else { return };
    println!(
        "| case | MQSim us | {} | default us | remainder % |",
        SWITCHES.map(|s| s.0).join(" | ")
    );
    for case in [
        "g2_latency_floor/off_read_rand_4K",
        "g2_latency_floor/off_read_rand_8K",
        "g2_latency_floor/off_read_rand_512K",
        "g3_qd_sweep/read4k_qd16",
        "g3_qd_sweep/read8k_qd64",
        "g3_qd_sweep/read8k_qd256",
        "g4_plane_alloc/PDWC_seq8k_qd8",
        "g1_qfs16/s4_flow-1-flow-2",
    ] {
        let (group, name) = case.split_once('/').expect("group and case");
        let text = std::fs::read_to_string(root.join(format!("{group}.json"))).expect("readable");
        let data: Value = serde_json::from_str(&text).expect("valid JSON");
        let found = data["cases"].as_array().expect("cases").iter().find(|c| c["case"] == name);
        let found = found.expect("the case exists");
        let inputs = root.join(found["inputs"].as_str().expect("inputs are named"));
        let flow = &found["out"]["flows"][0];
        let theirs = flow["device_response_mean_us_exact"].as_f64().expect("a mean");
        let mean =
            |compat: &CompatConfig| run(&inputs, compat.clone()).flows[0].response_time_us.mean;
        let mut compat = CompatConfig::mqsim();
        let first = mean(&compat);
        let mut last = first;
        let mut steps = Vec::new();
        for (_, turn_off) in SWITCHES {
            turn_off(&mut compat);
            let next = mean(&compat);
            steps.push(next - last);
            last = next;
        }
        assert_eq!(compat, CompatConfig::default(), "the table covers every switch");
        let remainder = 100.0 * (last - steps.iter().sum::<f64>() - theirs) / theirs;
        let steps: Vec<String> = steps.iter().map(|s| format!("{s:+.3}")).collect();
        println!("| {case} | {theirs:.3} | {} | {last:.3} | {remainder:+.4} |", steps.join(" | "));
        assert!(remainder.abs() < 1.0, "{case}: {remainder} % of the difference has no switch");
    }
}
