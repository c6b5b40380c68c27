//! Against the released MQSim: every ideal-mapping read case of the reference results.
//!
//! With the compatibility switches on, the mean device response time of each flow is within 1 %, and
//! within 10 ns at queue depth 1. Skipped where the reference results are absent.

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
                let depth = case["flows_full"][index]["Average_No_of_Reqs_in_Queue"].as_str();
                let difference = 100.0 * (ours / theirs - 1.0);
                println!("{name:<38} {index:>1} {theirs:>12.3} {ours:>12.3} {difference:>9.3}");
                let tolerance_us = if depth == Some("1") && summary.flows.len() == 1 {
                    0.010
                } else {
                    0.01 * theirs
                };
                if (ours - theirs).abs() > tolerance_us {
                    failures.push(format!("{name} flow {index}: {ours} us, MQSim {theirs} us"));
                }
                let requests = summary.flows[index].requests.read;
                let expected = flow["serviced"].as_u64().expect("a count");
                if requests.abs_diff(expected) as f64 > 0.01 * expected as f64 {
                    failures
                        .push(format!("{name} flow {index}: {requests} of {expected} requests"));
                }
            }
            let pages = case["out"]["flash_transactions"]["user_read_pages"].as_u64();
            let ours = pages_requested(&summary);
            if let Some(pages) = pages
                && ours.abs_diff(pages) as f64 > 0.01 * pages as f64
            {
                failures.push(format!("{name}: {ours} pages read, MQSim {pages}"));
            }
        }
    }
    println!("{count} flows compared, {} outside", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
