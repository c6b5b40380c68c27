//! The document under MQSim's tags against files that the released MQSim wrote. Skipped where the
//! reference results are absent.

use flashlane::config::CompatConfig;
use flashlane::config::mqsim_xml::{load_device, load_scenarios};
use flashlane::metrics::mqsim_results;
use flashlane::observe::{Observe, QueueStatistics};
use flashlane::{RunOptions, simulate_in_detail};
use serde_json::Value;

/// The text of a tag, or the value of an attribute.
fn value<'a>(document: &'a str, name: &str) -> &'a str {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    if let Some((_, rest)) = document.split_once(&start) {
        return rest.split_once(&end).expect("the tag ends").0;
    }
    let start = format!(" {name}=\"");
    let (_, rest) = document.split_once(&start).unwrap_or_else(|| panic!("no {name}"));
    rest.split_once('"').expect("the attribute ends").0
}

/// The queues of the scheduler, those of a kind together.
fn check_queues(name: &str, queues: &[QueueStatistics], case: &Value, chips: usize) {
    for (kind, theirs) in case["out"]["tsu"].as_object().expect("queues by kind") {
        let kind = kind.trim_end_matches("_TR_Queue");
        let ours: Vec<_> = queues.iter().filter(|queue| queue.kind == kind).collect();
        let sum = |of: fn(&QueueStatistics) -> u64| ours.iter().map(|q| of(q)).sum::<u64>();
        assert_eq!(sum(|q| q.enqueued), theirs["enqueued"], "{name} {kind}");
        assert_eq!(sum(|q| q.dequeued), theirs["dequeued"], "{name} {kind}");
        let longest = ours.iter().map(|q| q.max_wait_us).fold(0.0, f64::max);
        assert_eq!(longest.floor(), theirs["max_wait_raw"], "{name} {kind}");
        let most = ours.iter().map(|q| q.max_length).max().expect("queues");
        assert_eq!(most, theirs["max_len"], "{name} {kind}");
        // The release's mean leaves out the time after the last change.
        let mean = ours.iter().map(|q| q.mean_length).sum::<f64>() / chips as f64;
        let expected = theirs["mean_avg_len"].as_f64().expect("a number");
        assert!((mean / expected - 1.0).abs() < 1e-5, "{name} {kind}: {mean} {expected}");
    }
}

#[test]
fn the_document_says_what_mqsim_wrote() {
    let what = "the full reference runs of the released MQSim";
    let Some(root) = flashlane_testing::shared("oracle", what) else { return };
    for (group, name) in [
        ("g2_latency_floor", "off_read_rand_512K"),
        ("g4_plane_alloc", "PDWC_seq8k_qd8"),
        ("g3_qd_sweep", "read8k_qd64"),
    ] {
        let text = std::fs::read_to_string(root.join(format!("{group}.json"))).expect("readable");
        let data: Value = serde_json::from_str(&text).expect("valid JSON");
        let cases = data["cases"].as_array().expect("cases");
        let case = cases.iter().find(|case| case["case"] == name).expect("the case exists");
        let inputs = root.join(case["inputs"].as_str().expect("inputs are named"));
        let (mut device, _) = load_device(&inputs.join("ssdconfig.xml")).expect("device loads");
        let (scenarios, _) = load_scenarios(&inputs.join("workload.xml")).expect("workload loads");
        device.compat = CompatConfig::mqsim();
        let observe = Observe { queues: true, ..Observe::default() };
        let options = RunOptions { observe, ..RunOptions::default() };
        let (summary, details) =
            simulate_in_detail(&device, &scenarios[0], &options, &|_| {}).expect("it finishes");
        let queues = &details.queues;
        let document = mqsim_results(&summary, queues, &device, &scenarios[0]);
        check_queues(name, queues, case, summary.chips.len());
        let tag = "<SSDDevice.TSU.User_Read_TR_Queue Name=\"User_Read_TR_Queue@0@0\" ";
        assert!(document.contains(tag), "{name}");
        let flow = &case["out"]["flows"][0];
        assert_eq!(value(&document, "Name"), flow["name"].as_str().expect("a name"), "{name}");
        let response = &flow["device_response_us"];
        for (tag, expected) in [
            ("Request_Count", &flow["requests"]),
            ("Read_Request_Count", &flow["reads"]),
            ("Write_Request_Count", &flow["writes"]),
            ("Device_Response_Time", &response["mean"]),
            ("Min_Device_Response_Time", &response["min"]),
            ("Max_Device_Response_Time", &response["max"]),
            ("End_to_End_Request_Delay", &flow["end_to_end_us"]["mean"]),
        ] {
            assert_eq!(value(&document, tag), expected.to_string(), "{name} {tag}");
        }
        match flow["mqsim_IOPS"].as_f64() {
            Some(expected) => {
                let ours: f64 = value(&document, "IOPS").parse().expect("a number");
                assert!((ours / expected - 1.0).abs() < 1e-6, "{name}: {ours} {expected}");
            }
            None => assert_eq!(value(&document, "IOPS"), "inf", "{name}"),
        }
        let translation = &case["out"]["ftl"];
        for tag in [
            "Issued_Flash_Read_CMD",
            "Issued_Flash_Multiplane_Read_CMD",
            "Issued_Flash_Program_CMD",
            "Issued_Flash_Erase_CMD",
            "CMT_Hits",
            "Total_CMT_Queries",
        ] {
            assert_eq!(value(&document, tag), translation[tag].to_string(), "{name} {tag}");
        }
    }
}

#[test]
fn without_the_shared_data_tests_say_that_they_are_skipped() {
    flashlane_testing::assert_skipped_without_shared(
        module_path!(),
        &["the_document_says_what_mqsim_wrote"],
    );
}
