//! `flashlane compare` and reports.

mod common;

use std::path::Path;

use common::{folder_with, refused, succeeds};
use serde_json::Value;

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

/// A run of the pair under a scheduler, in a folder of that name.
fn run(folder: &Path, scheduler: &str, more: &[&str]) {
    let run = ["run", "--device", "tiny", "--workload", "pair.toml", "--alone", "--quiet"];
    let of = ["--scheduler", scheduler, "--out", scheduler];
    succeeds(folder, &[&run[..], &of, more].concat());
}

#[test]
fn two_runs_stand_side_by_side() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    run(folder, "fcfs", &[]);
    run(folder, "out-of-order", &[]);
    let compared = ["compare", "fcfs", "out-of-order/summary.json", "--report", "both.html"];
    let (stdout, table) = succeeds(folder, &compared);
    assert_eq!(stdout, "");
    let head = table.lines().next().expect("a head");
    assert!(head.contains("fcfs") && head.contains("out-of-order"), "{table}");
    assert!(table.contains("light: slowdown") && table.contains("fairness"), "{table}");
    let page = std::fs::read_to_string(folder.join("both.html")).expect("the page is there");
    assert!(page.contains("id=\"comparison\""));
    let (lines, _) = succeeds(folder, &["compare", "fcfs", "out-of-order", "--format", "json"]);
    let schedulers: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["scheduler"].clone())
        .collect();
    assert_eq!(schedulers, ["fcfs", "out-of-order"]);
}

#[test]
fn what_is_no_result_is_refused_by_name() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    std::fs::create_dir(folder.join("empty")).expect("made");
    std::fs::write(folder.join("x.json"), "{}").expect("written");
    std::fs::write(folder.join("x.html"), "<html></html>").expect("written");
    run(folder, "fcfs", &[]);
    for (bad, word) in [
        ("nowhere", "cannot be read"),
        ("empty", "holds no report.html and no summary.json"),
        ("x.json", "is no summary.json"),
        ("x.html", "carries no data"),
    ] {
        let said = refused(folder, &["compare", "fcfs", bad]);
        assert!(said.contains(bad) && said.contains(word), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let said = refused(folder, &["compare", "fcfs", "fcfs", "--report", "no/such.html"]);
    assert!(said.contains("cannot be written"), "{said}");
    assert!(refused(folder, &["compare", "fcfs"]).contains("RESULT"));
}

#[test]
fn a_report_goes_to_the_folder_of_results_and_is_compared_whole() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    run(folder, "fcfs", &["--report"]);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the page is there");
    let text = read("fcfs/report.html");
    assert!(text.contains("light suffers most"), "who suffers");
    assert!(text.contains("heavy causes"), "who causes it");
    assert!(text.contains("--scheduler fcfs"), "the command that repeats it");
    assert!(text.contains("queue_depth"), "the configuration");
    succeeds(folder, &["compare", "fcfs", "fcfs", "--report", "both.html"]);
    let both = read("both.html");
    assert!(both.contains("fcfs (1)") && both.contains("fcfs (2)"), "runs are told apart");
    assert!(both.contains("data-chart=\"blame\""), "blame comes along");
    let run = ["run", "--device", "tiny", "--workload", "pair.toml", "--report"];
    let said = refused(folder, &run);
    assert!(said.contains("--out"), "{said}");
}
