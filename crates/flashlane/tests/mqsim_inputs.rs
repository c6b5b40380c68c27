//! Every MQSim input of the reference runs is either read or refused for a reason that we know.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flashlane::Error;
use flashlane::config::mqsim_xml::{load_device, load_scenarios};
use flashlane::config::{MqsimFlowConfig, WorkloadConfig};
use flashlane::layout::Layout;
use flashlane::workload::mqsim::{GeneratorMode, MqsimSource};
use flashlane::workload::{RequestOp, RequestSource};
use flashlane_engine::Time;

/// Tags that may ask for something that is not built.
const REFUSED_TAGS: [&str; 3] =
    ["<HostInterface_Type>", "<Caching_Mechanism>", "<Address_Mapping>"];

/// The folder of the reference runs. Where it is not there: `None`, and the running test says that
/// it is skipped.
fn oracle() -> Option<PathBuf> {
    flashlane_testing::shared("oracle", "the full reference runs of the released MQSim")
}

/// Folders of all cases, sorted.
fn cases(oracle: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path()).filter(|p| p.is_dir()).collect()
    };
    let mut cases: Vec<PathBuf> =
        inside(&oracle.join("inputs")).iter().flat_map(|group| inside(group)).collect();
    cases.sort();
    cases
}

fn refused_tag(case: &Path, error: &Error) -> &'static str {
    let text = error.to_string();
    let tag = REFUSED_TAGS.iter().find(|tag| text.contains(**tag));
    tag.unwrap_or_else(|| panic!("{}: refused without a known reason: {text}", case.display()))
}

#[test]
fn every_reference_input_is_read_or_refused_for_a_known_reason() {
    let Some(oracle) = oracle() else { return };
    let (mut read, mut scenarios, mut flows) = (0, 0, 0);
    let mut refused: BTreeMap<&str, u32> = BTreeMap::new();
    let mut warnings: BTreeMap<String, u32> = BTreeMap::new();
    let cases = cases(&oracle);
    for case in &cases {
        let workload = load_scenarios(&case.join("workload.xml"));
        let (workloads, notes) = workload.unwrap_or_else(|e| panic!("{}: {e}", case.display()));
        let device = match load_device(&case.join("ssdconfig.xml")) {
            Ok((device, more)) => {
                for warning in notes.iter().chain(&more) {
                    let text = warning.rsplit(".xml:").next().expect("a part");
                    let text = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
                    *warnings.entry(text.to_owned()).or_default() += 1;
                }
                device
            }
            Err(error) => {
                *refused.entry(refused_tag(case, &error)).or_default() += 1;
                continue;
            }
        };
        read += 1;
        scenarios += workloads.len();
        for workload in &workloads {
            flows += workload.flows.len();
            let layout = workload.layout(&device);
            assert!(layout.flows.iter().all(|flow| flow.sectors > 0), "{}", case.display());
        }
    }
    let count = cases.len();
    println!(
        "{count} inputs: {read} read ({scenarios} scenarios, {flows} flows), refused {refused:?}"
    );
    for (warning, count) in &warnings {
        println!("{count:4} x {warning}");
    }
    assert!(read > 0);
    assert_eq!(read + refused.values().sum::<u32>(), count as u32);
}

/// Reads among the first `count` requests of the first flow of a case.
fn reads_of(workload: &WorkloadConfig, layout: &Layout, count: u64) -> u64 {
    let Some(MqsimFlowConfig::Synthetic(config)) = &workload.flows[0].mqsim else {
        panic!("a synthetic flow is due");
    };
    let mut source =
        MqsimSource::new(config, &layout.flows[0], GeneratorMode::Mqsim { device_aligned: false });
    let is_read = |_| {
        let request = source.next(Time::ZERO).expect("no error").expect("not over");
        u64::from(request.op == RequestOp::Read)
    };
    (0..count).map(is_read).sum()
}

/// The released MQSim counted its reads; so do we, of as many requests.
#[test]
fn mixed_flows_read_and_write_in_the_order_of_the_released_mqsim() {
    let Some(oracle) = oracle() else { return };
    let mut compared = 0;
    for group in ["g3_qd_sweep", "g6_traces", "g8_suspend"] {
        let text = std::fs::read_to_string(oracle.join(format!("{group}.json"))).expect("a file");
        let runs: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for run in runs["cases"].as_array().expect("a list") {
            let flow = &run["out"]["flows"][0];
            let synthetic = flow["name"].as_str().is_some_and(|name| name.contains("Synth"));
            let (Some(count), Some(reads)) = (flow["requests"].as_u64(), flow["reads"].as_u64())
            else {
                continue;
            };
            if !synthetic || reads == 0 || reads == count {
                continue;
            }
            let name = run["case"].as_str().expect("a name");
            let case = oracle.join("inputs").join(group).join(name);
            let (device, _) = load_device(&case.join("ssdconfig.xml")).expect("a device");
            let (workloads, _) = load_scenarios(&case.join("workload.xml")).expect("a workload");
            let layout = workloads[0].layout(&device);
            assert_eq!(reads_of(&workloads[0], &layout, count), reads, "{group}/{name}");
            compared += 1;
        }
    }
    println!("{compared} runs with the same number of reads");
    assert!(compared > 20);
}

#[test]
fn without_the_shared_data_tests_say_that_they_are_skipped() {
    flashlane_testing::assert_skipped_without_shared(
        module_path!(),
        &[
            "every_reference_input_is_read_or_refused_for_a_known_reason",
            "mixed_flows_read_and_write_in_the_order_of_the_released_mqsim",
        ],
    );
}
