//! Flows that use zones, with time and without, and what of them is refused.

use crate::common::Scenario;
use crate::zones::{PAGES, WORD_LINES};
use flashlane::config::validate::validate;
use flashlane::metrics::Summary;
use flashlane::{Problem, RunOptions, simulate};

/// A flow that uses zones, and a reader of full ones.
fn flows(zones: &str) -> String {
    format!(
        r#"
[[flow]]
name = "log"
[flow.synthetic]
queue_depth = 8
size = "16KiB"
read_ratio = 0
requests = 20000
zones = {{ {zones} }}
[[flow]]
name = "reader"
occupancy = 1
[flow.synthetic]
queue_depth = 2
size = "4KiB"
read_ratio = 1
requests = 2000
"#
    )
}

/// The summaries of a run with time and of one without.
fn both_ways(device: &str, zones: &str) -> [Summary; 2] {
    let scenario = Scenario::new(device, &flows(zones));
    let (device, workload) = scenario.load();
    [false, true].map(|waf_only| {
        let options = RunOptions { check: true, waf_only, ..RunOptions::default() };
        simulate(&device, &workload, &options, &|_| {}).expect("the run ends")
    })
}

#[test]
fn zones_that_are_filled_are_written_once() {
    for device in [PAGES, WORD_LINES] {
        for kind in ["append", "write"] {
            for summary in both_ways(device, &format!("kind = \"{kind}\", active = 3")) {
                let zones = summary.zones.expect("the drive has zones");
                assert!(zones.resets >= 50, "the log goes round the drive: {zones:?}");
                assert_eq!((zones.finishes, zones.active_max), (0, 3));
                assert_eq!(summary.flash.gc_reads, 0);
                assert!((summary.flash.write_amplification - 1.0).abs() < 1e-3, "{zones:?}");
                assert!(summary.flows[1].requests.read >= 2000);
            }
        }
    }
}

#[test]
fn a_finish_fills_its_zone_unless_it_leaves_it() {
    for device in [PAGES, WORD_LINES] {
        for finish in ["fill", "leave"] {
            let device =
                device.replace("max_active = 5", &format!("max_active = 5, finish = \"{finish}\""));
            for summary in both_ways(&device, "finish_after = \"192KiB\"") {
                let zones = summary.zones.expect("the drive has zones");
                assert!(zones.finishes > 500, "{zones:?}");
                assert_eq!(zones.left_bytes, zones.finishes * (zones.capacity_bytes - (192 << 10)));
                let filled = zones.capacity_bytes as f64 / f64::from(192 << 10);
                let expected = if finish == "fill" { filled } else { 1.0 };
                let found = summary.flash.write_amplification;
                assert!((found / expected - 1.0).abs() < 0.01, "{finish}: {found}, not {expected}");
                assert_eq!(summary.flash.gc_reads, 0);
            }
        }
    }
}

#[test]
fn what_breaks_a_rule_of_zones_is_refused() {
    let refused = |device: &str, workload: &str, key: &str, text: &str| {
        let (device, workload) = Scenario::new(device, workload).parsed();
        let problems = validate(&device, &workload);
        let named =
            |problem: &Problem| problem.place.starts_with(key) && problem.message.contains(text);
        assert!(problems.iter().any(named), "{key}, {text}: {problems:?}");
    };
    let uniform = "[[flow]]\nname = \"a\"\n[flow.synthetic]\nqueue_depth = 1\nrequests = 9\n";
    refused(PAGES, uniform, "flow[0].synthetic.zones", "how the flow uses zones");
    let used = flows("active = 6");
    refused(PAGES, &used, "placement.zones.max_active", "6 or more");
    refused("base = \"tiny\"", &flows("active = 1"), "flow[0].synthetic.zones", "placement.mode");
    let cut = flows("active = 1").replace("size = \"16KiB\"", "size = \"6KiB\"");
    refused(PAGES, &cut, "flow[0].synthetic", "mapping unit");
    for (change, with, key) in [
        ("ideal = true", "ideal = false", "placement.mode"),
        ("max_open = 3", "max_open = 6", "placement.zones.max_open"),
        ("max_active = 5", "max_active = 65", "placement.zones.max_active"),
        ("max_active = 5", "max_active = 5, size = \"512KiB\"", "placement.zones.size"),
        (
            "max_active = 5",
            "max_active = 5, random_write_area = \"10KiB\"",
            "placement.zones.random_write_area",
        ),
        ("superblock = \"drive\"", "superblock = \"block\"", "placement.mode"),
    ] {
        refused(&PAGES.replace(change, with), &flows("active = 1"), key, "allowed");
    }
    let unsafe_rows = WORD_LINES.replace("power_loss_protection = true", "");
    refused(&unsafe_rows, &flows("active = 1"), "placement.mode", "power_loss_protection");
    for (policy, name) in [("scheduler = \"flin\"", "flin"), ("isolation = \"upi\"", "isolation")] {
        let device = PAGES.replace("base = \"tiny\"", &format!("base = \"tiny\"\n{policy}"));
        refused(&device, &flows("active = 1"), "ftl.superblock", name);
    }
}
