//! A tenant that gets nothing done while others do is a finding: the run ends with results, and
//! says so before anything else.

use crate::common::Scenario;
use flashlane::metrics::Summary;

/// The interface is the bottleneck: 20 us of firmware a command, one command fetched ahead.
const NARROW: &str = r#"
base = "tiny"
[interface]
arbitration = "weighted-round-robin"
fetch_ahead = 1
firmware_time = "20us"
"#;

fn flow(name: &str, class: &str, load: &str) -> String {
    format!(
        "[[flow]]\nname = \"{name}\"\npriority = \"{class}\"\ncache = \"off\"\n[flow.synthetic]\n\
         read_ratio = 1.0\nsize = \"4KiB\"\n{load}\n"
    )
}

fn says_so(summary: &Summary, names: &[&str]) {
    let found: Vec<&str> =
        summary.flows.iter().filter(|flow| flow.starved).map(|flow| &*flow.name).collect();
    assert_eq!(found, names);
    assert_eq!(summary.starved, !names.is_empty());
    let verdict = summary.verdict();
    assert_eq!(summary.verdict, verdict);
    for name in names {
        assert!(verdict[0].starts_with("Starved: ") && verdict[0].contains(name), "{verdict:?}");
    }
    for flow in &summary.flows {
        assert!(flow.end_to_end_us.mean.is_finite() && flow.iops.is_finite(), "{}", flow.name);
    }
}

/// The urgent class of NVMe goes first, always: a closed loop below it never ends its pass.
#[test]
fn an_urgent_tenant_at_saturation_leaves_the_others_a_result_that_says_so() {
    let urgent = flow("urgent", "urgent", "queue_depth = 32\nrequests = 3000");
    let low = flow("low", "low", "queue_depth = 2\nrequests = 50");
    let summary = Scenario::new(NARROW, &(urgent.clone() + &low)).run();
    says_so(&summary, &["low"]);
    let [first, starved] = &summary.flows[..] else { panic!("two flows") };
    // The urgent tenant has what it has with the drive to itself.
    let alone = Scenario::new(NARROW, &urgent).run();
    assert!((first.iops / alone.flows[0].iops - 1.0).abs() < 0.02, "{}", first.iops);
    let mean = |flow: &flashlane::metrics::FlowSummary| flow.response_time_us.mean;
    assert!((mean(first) / mean(&alone.flows[0]) - 1.0).abs() < 0.1, "{}", mean(first));
    // The other one waits until the load ends.
    let window_s = summary.window_end_s - summary.window_start_s;
    assert!((20.0..22.0).contains(&window_s), "{window_s}");
    assert_eq!(starved.completed_in_window.requests.all(), 0);
    assert_eq!(starved.backlog_at_end, 2);
    assert!(starved.end_to_end_us.min > 20e6, "{:?}", starved.end_to_end_us);
    assert!(summary.simulated_s < window_s + 1.0, "the load ends: {}", summary.simulated_s);
}

/// A short window is enough to see it, with open loops, too.
#[test]
fn a_short_run_says_it_too() {
    let urgent = flow("urgent", "urgent", "queue_depth = 32\nduration = \"200ms\"");
    let low = flow("low", "low", "iops = 1000.0\nduration = \"200ms\"");
    let summary = Scenario::new(NARROW, &(urgent + &low)).run();
    says_so(&summary, &["low"]);
    assert_eq!(summary.flows[1].iops, 0.0);
}

/// With round robin nobody starves, and the same tenants have no such verdict.
#[test]
fn fair_arbitration_starves_nobody() {
    let drive = NARROW.replace("weighted-round-robin", "round-robin");
    let urgent = flow("urgent", "urgent", "queue_depth = 32\nduration = \"200ms\"");
    let low = flow("low", "low", "queue_depth = 2\nduration = \"200ms\"");
    says_so(&Scenario::new(&drive, &(urgent + &low)).run(), &[]);
}
