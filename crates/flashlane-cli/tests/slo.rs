//! Promises to tenants: what is said of them, and the exit status.

use std::path::Path;
use std::process::Output;

use crate::common::{flashlane, folder_with};
use serde_json::Value;

const WORKLOAD: &str = r#"
[[flow]]
name = "reader"
count = 2
slo = { p99 = "10ms", min_iops = 10 }
[flow.synthetic]
queue_depth = 2
read_ratio = 1.0
requests = 300
[[flow]]
name = "writer"
[flow.synthetic]
iops = 5000.0
requests = 100
"#;

fn run(folder: &Path, more: &[&str]) -> (Output, String) {
    let output =
        flashlane(folder, &[&["run", "--device", "tiny", "--workload", "w.toml"], more].concat());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, stderr)
}

#[test]
fn promises_that_are_kept_are_no_error() {
    let folder = folder_with("w.toml", WORKLOAD);
    let (output, stderr) = run(folder.path(), &["--out", "out", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    for row in ["reader-1: p99, us", "reader-2: IOPS", "at most 10000", "at least 10.00"] {
        assert!(stderr.contains(row), "{row}: {stderr}");
    }
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let slo = &summary["flows"][1]["slo"];
    assert_eq!((&slo["met"], slo["goals"].as_array().expect("goals").len()), (&true.into(), 2));
    assert_eq!(slo["goals"][0]["value"], summary["flows"][1]["end_to_end_us"]["p99"]);
    assert!(summary["flows"][2].get("slo").is_none(), "nothing was promised");
}

#[test]
fn a_promise_that_is_missed_is_exit_status_4_after_everything_is_written() {
    let folder = folder_with("w.toml", WORKLOAD);
    let slo = ["--slo", "reader:p99=1us", "--slo", "writer:slowdown=1,p99_9=1s"];
    let (output, stderr) = run(folder.path(), &[&["--out", "out"], &slo[..]].concat());
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    for line in ["error: SLO missed: reader-1: p99, us: found ", "writer: slowdown"] {
        assert!(stderr.contains(line), "{line}: {stderr}");
    }
    let text = std::fs::read_to_string(folder.path().join("out/summary.json")).expect("written");
    let summary: Value = serde_json::from_str(&text).expect("JSON");
    let writer = &summary["flows"][2];
    assert_eq!(writer["slo"]["goals"][0]["met"], true, "p99.9");
    assert_eq!(writer["slo"]["goals"][1]["value"], writer["slowdown"]);
    assert!(writer["slowdown"].as_f64() > Some(1.0), "the flows ran alone, too");
    // Over several seeds the means decide.
    let (output, stderr) = run(folder.path(), &["--seeds", "3", "--slo", "reader:p99=1us"]);
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("± ") || table.contains(" ±"), "{table}");
}

#[test]
fn goals_that_cannot_be_judged_are_refused() {
    let folder = folder_with("w.toml", WORKLOAD);
    for (more, part) in [
        (&["--waf-only"][..], "flow.reader-1.slo: found goals"),
        (&["--slo", "writer:slowdown=0.5"], "found 0.5, allowed: 1 to"),
        (&["--slo", "writer:slowdown=2", "--until-steady"], "does not run flows alone"),
        (&["--slo", "writers:p99=1ms"], "did you mean `writer`"),
    ] {
        let (output, stderr) = run(folder.path(), more);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
}
