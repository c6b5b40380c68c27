//! The full reference runs as jobs: every distinct pair of input files once, with the cases that it
//! answers. The runs are not part of the project; [`oracle`] finds them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flashlane::config::mqsim_xml::{load_device, load_scenarios};
use flashlane::config::{CompatConfig, DeviceConfig, MqsimFlowConfig, WorkloadConfig};
use serde_json::Value;

use super::judge::{Case, Closeness, Figures, Reference};

/// A pair of input files and the cases that it answers.
pub(crate) struct Job {
    pub(crate) inputs: PathBuf,
    pub(crate) cases: Vec<Case>,
}

/// The folder with the full reference runs. Where it is absent: `None`, and the running test says
/// that it is skipped.
pub(crate) fn oracle() -> Option<PathBuf> {
    flashlane_testing::shared("oracle", "the full reference runs of the released MQSim")
}

/// All jobs of the groups, and how many cases the reference itself did not finish.
/// `ORACLE_CASE=text` picks cases by name.
pub(crate) fn jobs(root: &Path, groups: &[(&str, Closeness)]) -> (Vec<Job>, usize) {
    let only = std::env::var("ORACLE_CASE").unwrap_or_default();
    let mut jobs: BTreeMap<Vec<u8>, Job> = BTreeMap::new();
    let mut unusable = 0;
    for &(group, closeness) in groups {
        let text = std::fs::read_to_string(root.join(format!("{group}.json"))).expect("readable");
        let data: Value = serde_json::from_str(&text).expect("valid JSON");
        for value in data["cases"].as_array().expect("a list of cases") {
            let name = format!("{group}/{}", value["case"].as_str().expect("a name"));
            if !name.contains(&only) {
                continue;
            }
            let served = value["out"]["flows"][0]["serviced"].as_u64();
            if value["status"] != "ok" || served == Some(0) {
                unusable += 1;
                continue;
            }
            let folder = value["inputs"].as_str().map_or(format!("inputs/{name}"), str::to_owned);
            let inputs = root.join(folder);
            let read = |file: &str| std::fs::read(inputs.join(file)).expect("inputs are readable");
            let key = [read("ssdconfig.xml"), read("workload.xml")].concat();
            let (device, workload) = load(&inputs, CompatConfig::mqsim());
            let case = Case::new(name, closeness, &device, &workload, figures(value));
            jobs.entry(key).or_insert(Job { inputs, cases: Vec::new() }).cases.push(case);
        }
    }
    let mut jobs: Vec<Job> = jobs.into_values().collect();
    jobs.sort_by(|a, b| a.cases[0].name.cmp(&b.cases[0].name));
    (jobs, unusable)
}

fn figures(value: &Value) -> Figures {
    let transactions = &value["out"]["flash_transactions"];
    let pages = [
        "user_read_pages",
        "user_program_pages",
        "gc_read_pages",
        "gc_program_pages",
        "mapping_read_pages",
        "mapping_program_pages",
        "erases",
    ]
    .map(|key| transactions[key].as_u64());
    Figures {
        flows: value["out"]["flows"].as_array().expect("flows").iter().map(reference).collect(),
        lossy: lost_requests(value),
        pages: pages.iter().all(Option::is_some).then(|| pages.map(Option::unwrap_or_default)),
    }
}

/// Requests that met the barrier of collection, or that waited for a free block to the end.
fn lost_requests(value: &Value) -> bool {
    let count = |key: &str| value["internal"][key].as_u64().unwrap_or(0);
    count("user_or_any_reads_released_at_gc_barrier") + count("writes_released_at_gc_barrier") > 0
        || count("writes_parked_overfull_plane") > count("writes_unparked")
}

fn reference(flow: &Value) -> Reference {
    let percentiles = |key: &str| {
        Some([flow[key]["p50"].as_f64()?, flow[key]["p99"].as_f64()?]).filter(|p| p[0] > 0.0)
    };
    let exact = flow["device_response_mean_us_exact"].as_f64();
    let requests = flow["serviced"].as_u64().or(flow["requests"].as_u64()).expect("a count");
    Reference {
        requests,
        mean: exact.or(flow["device_response_us"]["mean"].as_f64()).expect("a mean"),
        stock: None,
        cut: if exact.is_some() { 0.0 } else { 1.0 },
        reads: percentiles("read_device_response_us"),
        writes: percentiles("write_device_response_us"),
    }
}

/// The configurations of a job, with the given switches.
pub(crate) fn load(inputs: &Path, compat: CompatConfig) -> (DeviceConfig, WorkloadConfig) {
    let (mut device, _) = load_device(&inputs.join("ssdconfig.xml")).expect("device loads");
    let (mut scenarios, _) = load_scenarios(&inputs.join("workload.xml")).expect("workload loads");
    assert_eq!(scenarios.len(), 1, "one scenario a case");
    let mut workload = scenarios.remove(0);
    let root = inputs.ancestors().nth(3).expect("inputs are three folders down");
    for flow in &mut workload.flows {
        if let Some(MqsimFlowConfig::Trace(trace)) = &mut flow.mqsim {
            trace.path = root.join(&trace.path);
        }
    }
    device.compat = compat;
    (device, workload)
}
