//! `flashlane compare` and reports.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn flashlane(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flashlane")).args(arguments).output().expect("it starts")
}

fn succeeds(arguments: &[&str]) -> (String, String) {
    let output = flashlane(arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    (stdout, stderr)
}

fn refused(arguments: &[&str]) -> String {
    let output = flashlane(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).expect("UTF-8")
}

const WORKLOAD: &str = "
[[flow]]
name = 'light'
[flow.synthetic]
queue_depth = 1
read_ratio = 1.0
requests = 100
[[flow]]
name = 'heavy'
[flow.synthetic]
queue_depth = 16
read_ratio = 0.5
requests = 1000
";

/// A run of the pair under a scheduler, in a folder of its own.
fn run(root: &Path, scheduler: &str, more: &[&str]) -> String {
    let workload = root.join("pair.toml");
    std::fs::write(&workload, WORKLOAD).expect("written");
    let out = root.join(scheduler).to_string_lossy().into_owned();
    let workload = workload.to_string_lossy().into_owned();
    let mut arguments =
        vec!["run", "--device", "tiny", "--workload", &workload, "--scheduler", scheduler];
    arguments.extend(["--alone", "--quiet", "--out", &out]);
    arguments.extend(more);
    succeeds(&arguments);
    out
}

#[test]
fn two_runs_stand_side_by_side() {
    let folder = tempfile::tempdir().expect("a folder");
    let (a, b) = (run(folder.path(), "fcfs", &[]), run(folder.path(), "out-of-order", &[]));
    let page = folder.path().join("both.html").to_string_lossy().into_owned();
    let summary = format!("{b}/summary.json");
    let (stdout, table) = succeeds(&["compare", &a, &summary, "--report", &page]);
    assert_eq!(stdout, "");
    let head = table.lines().next().expect("a head");
    assert!(head.contains("fcfs") && head.contains("out-of-order"), "{table}");
    assert!(table.contains("light: slowdown") && table.contains("fairness"), "{table}");
    let page = std::fs::read_to_string(page).expect("the page is there");
    assert!(page.contains("id=\"comparison\""));
    let (lines, _) = succeeds(&["compare", &a, &b, "--format", "json"]);
    let schedulers: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["scheduler"].clone())
        .collect();
    assert_eq!(schedulers, ["fcfs", "out-of-order"]);
}

#[test]
fn what_is_no_result_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::create_dir(at("empty")).expect("made");
    std::fs::write(at("x.json"), "{}").expect("written");
    std::fs::write(at("x.html"), "<html></html>").expect("written");
    let good = run(folder.path(), "fcfs", &[]);
    for (bad, word) in [
        ("nowhere", "cannot be read"),
        ("empty", "holds no report.html and no summary.json"),
        ("x.json", "is no summary.json"),
        ("x.html", "carries no data"),
    ] {
        let said = refused(&["compare", &good, &at(bad)]);
        assert!(said.contains(bad) && said.contains(word), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let said = refused(&["compare", &good, &good, "--report", &at("no/such.html")]);
    assert!(said.contains("cannot be written"), "{said}");
    assert!(refused(&["compare", &good]).contains("RESULT"));
}

#[test]
fn a_report_goes_to_the_folder_of_results_and_is_compared_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = run(folder.path(), "fcfs", &["--report"]);
    let text = std::fs::read_to_string(format!("{out}/report.html")).expect("the page is there");
    assert!(text.contains("light suffers most"), "who suffers");
    assert!(text.contains("heavy causes"), "who causes it");
    assert!(text.contains("--scheduler fcfs"), "the command that repeats it");
    assert!(text.contains("queue_depth"), "the configuration");
    let page = folder.path().join("both.html").to_string_lossy().into_owned();
    succeeds(&["compare", &out, &out, "--report", &page]);
    let both = std::fs::read_to_string(page).expect("the page is there");
    assert!(both.contains("fcfs (1)") && both.contains("fcfs (2)"), "runs are told apart");
    assert!(both.contains("data-chart=\"blame\""), "blame comes along");
    let workload = folder.path().join("pair.toml").to_string_lossy().into_owned();
    let said = refused(&["run", "--device", "tiny", "--workload", &workload, "--report"]);
    assert!(said.contains("--out"), "{said}");
}
