//! Runs from the command line on the smallest device.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Fields that differ from run to run.
const CLOCKS: &[&str] = &["wall_s", "precondition_wall_s", "requests_per_wall_s", "peak_rss_bytes"];

const WORKLOAD: &str = r#"
[[flow]]
name = "reader"
[flow.synthetic]
queue_depth = 2
read_ratio = 1.0
requests = 300
[[flow]]
name = "writer"
[flow.synthetic]
iops = 500.0
requests = 100
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary folder");
    std::fs::write(folder.path().join("w.toml"), WORKLOAD).expect("written");
    folder
}

fn run(folder: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flashlane"))
        .current_dir(folder)
        .args(["run", "--device", "tiny", "--workload", "w.toml"])
        .args(more)
        .output()
        .expect("the command starts")
}

/// Standard output as lines of JSON, without what differs from run to run.
fn json(folder: &Path, more: &[&str]) -> Vec<Value> {
    let output = run(folder, &[&["--format", "json", "--quiet"], more].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(stderr, "", "--quiet with JSON says nothing");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| without_clocks(serde_json::from_str(line).expect("JSON"))).collect()
}

fn without_clocks(mut summary: Value) -> Value {
    let fields = summary.as_object_mut().expect("an object");
    for clock in CLOCKS {
        assert!(fields.remove(*clock).is_some(), "{clock}");
    }
    summary
}

#[test]
fn text_goes_to_standard_error_and_json_to_standard_output() {
    let folder = folder();
    let output = run(folder.path(), &["--alone"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(output.stdout.is_empty());
    for word in ["reader", "writer", "p99.9", "slowdown", "fairness", "flash queue", "write ampl"] {
        assert!(stderr.contains(word), "{word:?} in {stderr}");
    }
    let lines = json(folder.path(), &["--check"]);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["schema"], "flashlane.summary/1");
    assert_eq!(lines[0]["flows"][1]["name"], "writer");
}

#[test]
fn threads_never_change_a_result() {
    let folder = folder();
    let with = |threads: &str| {
        json(folder.path(), &["--alone", "--seeds", "3", "--seed", "7", "--threads", threads])
    };
    let one = with("1");
    assert_eq!(one, with("2"));
    assert_eq!(one, with("0"));
    assert_eq!(one[0]["seed"], 7);
}

#[test]
fn seeds_give_estimates_of_every_metric() {
    let folder = folder();
    let lines = json(folder.path(), &["--seeds", "3", "--out", "o"]);
    let file = |name: &str| -> Value {
        let text = std::fs::read_to_string(folder.path().join("o").join(name)).expect(name);
        serde_json::from_str(&text).expect("JSON")
    };
    let estimate = &lines[0]["seeds"]["flows[0].response_time_us.mean"];
    assert_eq!(estimate["n"], 3);
    let of = |key: &str| estimate[key].as_f64().expect("a number");
    assert!(of("ci95_low") <= of("mean") && of("mean") <= of("ci95_high"));
    assert!(lines[0]["seeds"]["wall_s"].is_null() && lines[0]["seeds"]["seed"].is_null());
    assert_eq!(file("seeds.json"), lines[0]["seeds"]);
    let mut summary = without_clocks(file("summary.json"));
    let first = json(folder.path(), &["--seed", "1"]).remove(0);
    assert_eq!(summary, first, "summary.json is that of the first seed");
    summary["seeds"] = lines[0]["seeds"].clone();
    assert_eq!(summary, lines[0]);
}

#[test]
fn output_is_written_whole_and_replaces_the_old_one() {
    let folder = folder();
    let out = folder.path().join("deep/er");
    std::fs::create_dir_all(&out).expect("made");
    std::fs::write(out.join("summary.json"), "old").expect("written");
    let output = run(folder.path(), &["--out", "deep/er", "--quiet"]);
    assert_eq!(output.status.code(), Some(0));
    let text = std::fs::read_to_string(out.join("summary.json")).expect("readable");
    let _: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(std::fs::read_dir(&out).expect("readable").count(), 1, "no temporary file is left");
}

#[test]
fn a_summary_has_exactly_the_keys_of_its_schema() {
    let folder = folder();
    let summary = json(folder.path(), &[]).remove(0);
    let output = Command::new(env!("CARGO_BIN_EXE_flashlane"))
        .args(["schema", "summary"])
        .output()
        .expect("the command starts");
    let schema: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let documented = schema["properties"].as_object().expect("an object").keys();
    for key in documented.filter(|key| !CLOCKS.contains(&key.as_str())) {
        assert!(summary.get(key).is_some(), "{key} is documented but absent");
    }
    for key in summary.as_object().expect("an object").keys() {
        assert!(schema["properties"].get(key).is_some(), "{key} is not documented");
    }
}

/// A trace that ends in the middle of its compressed data is found only while it is read.
#[test]
fn a_trace_that_breaks_off_leaves_no_output() {
    let folder = folder();
    let lines: String = (0..40_000).map(|i| format!("{} 0 {} 8 1\n", i * 9973, i % 99)).collect();
    let path = folder.path().join("t.trace");
    std::fs::write(&path, lines).expect("written");
    let packed = Command::new("gzip").arg("-k").arg(&path).status();
    if !packed.is_ok_and(|status| status.success()) {
        return; // No gzip here.
    }
    let packed = folder.path().join("t.trace.gz");
    let bytes = std::fs::read(&packed).expect("readable");
    std::fs::write(&packed, &bytes[..bytes.len() / 2]).expect("written");
    let workload = "[[flow]]\nname = \"t\"\n[flow.trace]\nformat = \"mqsim\"\n\
        path = \"t.trace.gz\"\ntime_scale = 1000.0\n";
    std::fs::write(folder.path().join("w.toml"), workload).expect("written");
    let output = run(folder.path(), &["--out", "o", "--format", "json"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("t.trace.gz"), "{stderr}");
    assert!(output.stdout.is_empty() && !folder.path().join("o").exists());
}
