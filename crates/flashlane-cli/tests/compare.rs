//! `flashlane compare` and reports.

use std::path::Path;

use crate::common::{folder_with, refused, succeeds};
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
    let (table, stderr) = succeeds(folder, &compared);
    assert_eq!(stderr, "");
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

/// The cells of a line of a table that starts with a name.
fn cells(table: &str, name: &str) -> Vec<String> {
    let line = table.lines().find(|line| line.starts_with(name)).expect("the line is there");
    let words = line[name.len()..].split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    words.map(str::to_owned).collect()
}

#[test]
fn all_seeds_of_a_folder_are_compared() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    let values = |name: &str, path: &str| -> Value {
        let text = std::fs::read_to_string(folder.join(name).join("seeds.json")).expect("written");
        serde_json::from_str::<Value>(&text).expect("JSON")[path].clone()
    };
    run(folder, "fcfs", &["--seeds", "3"]);
    run(folder, "out-of-order", &["--seeds", "3", "--seed", "5"]);
    assert_eq!(values("fcfs", "seeds"), serde_json::json!([1, 2, 3]));
    let iops = values("out-of-order", "flows[1].iops");
    let each: Vec<f64> = serde_json::from_value(iops["values"].clone()).expect("numbers");
    assert_eq!(each.len(), 3);
    for (value, seed) in each.iter().zip(["5", "6", "7"]) {
        let one = ["run", "--device", "tiny", "--workload", "pair.toml", "--alone", "--quiet"];
        let of = ["--scheduler", "out-of-order", "--seed", seed, "--format", "json"];
        let (line, _) = succeeds(folder, &[&one[..], &of].concat());
        let summary: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(summary["flows"][1]["iops"], *value, "seed {seed}");
    }
    assert!(values("fcfs", "channels[1].channel").is_null(), "an identity is no metric");
    let (table, _) =
        succeeds(folder, &["compare", "fcfs", "out-of-order", "--report", "both.html"]);
    let mean = iops["mean"].as_f64().expect("a mean");
    let shown = &cells(&table, "heavy: IOPS")[1];
    assert!(shown.contains('±'), "{table}");
    let number: f64 = shown.split(' ').next().expect("a mean").parse().expect("a number");
    assert!((number - mean).abs() <= 0.5 + mean * 1e-3, "{number} {mean}");
    assert!(table.contains("fcfs: means over 3 seeds"), "{table}");
    let page = std::fs::read_to_string(folder.join("both.html")).expect("the page is there");
    assert!(page.contains("Figures are means over 3 seeds"));
    let row = page.split("heavy: IOPS").nth(1).and_then(|rest| rest.split("</tr>").next());
    assert_eq!(row.expect("a row").matches('±').count(), 2, "both columns have intervals");
    let (lines, _) = succeeds(folder, &["compare", "fcfs", "both.html", "--format", "json"]);
    let means: Vec<f64> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .map(|line| line["seeds"]["flows[1].iops"]["mean"].as_f64().expect("a mean"))
        .collect();
    assert_eq!((means.len(), means[2]), (3, mean), "a page carries the seeds");
}

#[test]
fn columns_are_named_by_what_differs() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    for (out, name, scheduler) in [
        ("A/scenario-1", "day", "fcfs"),
        ("A/scenario-2", "night", "fcfs"),
        ("B/scenario-1", "day", "out-of-order"),
    ] {
        let set = format!("workload.name=\"{name}\"");
        let run = ["run", "--device", "tiny", "--workload", "pair.toml", "--quiet", "--set", &set];
        succeeds(folder, &[&run[..], &["--scheduler", scheduler, "--out", out]].concat());
    }
    let head = |arguments: &[&str]| {
        let (table, _) = succeeds(folder, &[&["compare"], arguments].concat());
        cells(&table, "side by side")
    };
    assert_eq!(head(&["A", "B"]), ["day, fcfs", "night, fcfs", "day, out-of-order"]);
    assert_eq!(head(&["A/scenario-1", "A/scenario-2"]), ["day", "night"]);
    assert_eq!(head(&["A/scenario-1", "B/scenario-1"]), ["fcfs", "out-of-order"]);
    assert_eq!(head(&["A/scenario-1", "A/scenario-1"]), ["scenario-1 (1)", "scenario-1 (2)"]);
    std::fs::create_dir(folder.join("C")).expect("made");
    std::fs::rename(folder.join("B"), folder.join("C/old")).expect("moved");
    let run = ["run", "--device", "tiny", "--workload", "pair.toml", "--quiet"];
    let more = ["--set", "workload.name=\"day\"", "--scheduler", "out-of-order"];
    succeeds(folder, &[&run[..], &more, &["--out", "C/new/scenario-1"]].concat());
    assert_eq!(head(&["C/old", "C/new"]), ["old", "new"], "folders tell equal runs apart");
}

#[test]
fn files_of_different_runs_in_one_folder_are_refused() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    let (seeds, report) = (folder.join("fcfs/seeds.json"), folder.join("fcfs/report.html"));
    let read = |path| std::fs::read_to_string(path).expect("it is there");
    run(folder, "fcfs", &["--seeds", "2"]);
    let of_first = read(&seeds);
    // A run removes the files of an earlier one; people put them together again.
    run(folder, "fcfs", &["--set", "flow.light.synthetic.requests=50"]);
    std::fs::write(&seeds, of_first).expect("room");
    let said = refused(folder, &["compare", "fcfs", "fcfs"]);
    assert!(said.contains("seeds.json: belongs to another summary.json"), "{said}");
    std::fs::remove_file(&seeds).expect("it is there");
    run(folder, "fcfs", &["--report"]);
    let of_first = read(&report);
    run(folder, "fcfs", &["--set", "flow.light.synthetic.requests=60"]);
    std::fs::write(&report, of_first).expect("room");
    let said = refused(folder, &["compare", "fcfs", "fcfs"]);
    assert!(said.contains("report.html: is of another run"), "{said}");
}

const OVERLOAD: &str = "
[[flow]]
name = 'busy'
cache = 'off'
[flow.synthetic]
iops = 200000.0
read_ratio = 0.0
size = '4KiB'
duration = '20ms'
[[flow]]
name = 'calm'
[flow.synthetic]
queue_depth = 1
read_ratio = 1.0
duration = '20ms'
";

/// The verdict on a drive that cannot keep up comes before all numbers, column by column.
#[test]
fn the_verdict_of_every_column_stands_first() {
    let folder = folder_with("pair.toml", OVERLOAD);
    let folder = folder.path();
    run(folder, "fcfs", &[]);
    run(folder, "out-of-order", &["--seeds", "2"]);
    let calm = OVERLOAD.replace("iops = 200000.0", "iops = 500.0");
    std::fs::write(folder.join("pair.toml"), calm).expect("room");
    run(folder, "read-priority", &[]);
    let all = ["compare", "fcfs", "out-of-order", "read-priority", "--report", "all.html"];
    let (table, _) = succeeds(folder, &all);
    let at = |text: &str| table.find(text).unwrap_or_else(|| panic!("no {text}: {table}"));
    let said = "Saturated: the drive does not keep up with flow busy (";
    assert!(
        at(&format!("fcfs: {said}offered ")) < at(&format!("out-of-order: {said}in 2 of 2 seeds;"))
    );
    assert!(at("out-of-order: Saturated") < at("side by side"), "{table}");
    assert!(!table.contains("read-priority: "), "{table}");
    for name in
        ["busy: mean response, us", "busy: p99 response, us", "busy: slowdown", "largest slowdown"]
    {
        let cells = cells(&table, name);
        let starred: Vec<bool> = cells.iter().map(|cell| cell.ends_with('*')).collect();
        assert_eq!(starred, [true, true, false], "{name}: {table}");
    }
    for name in ["busy: IOPS", "calm: slowdown", "calm: mean response, us", "write amplification"] {
        assert!(!cells(&table, name).concat().contains('*'), "{name}: {table}");
    }
    assert!(at("* depends on the length of the run") > at("write amplification"));
    let page = std::fs::read_to_string(folder.join("all.html")).expect("the page is there");
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(at("<b>fcfs:</b> Saturated") < at("<b>out-of-order:</b> Saturated"));
    assert!(at("<b>out-of-order:</b> Saturated") < at("id=\"comparison\""));
    assert!(!page.contains("<b>read-priority:</b>"));
}

#[test]
fn the_trade_off_comes_first_and_the_table_has_other_forms() {
    let folder = folder_with(
        "w.toml",
        "[[flow]]\nname = 'reader'\nsynthetic = { queue_depth = 1, read_ratio = 1.0, requests = 300 }\n\
         [[flow]]\nname = 'writer'\nsynthetic = { queue_depth = 16, read_ratio = 0.0, requests = 900 }\n",
    );
    let folder = folder.path();
    for scheduler in ["fcfs", "read-priority"] {
        let run = ["run", "--device", "tiny", "--workload", "w.toml", "--scheduler", scheduler];
        succeeds(folder, &[&run[..], &["--seeds", "3", "--out", scheduler, "--quiet"]].concat());
    }
    let compared =
        |more: &[&str]| succeeds(folder, &[&["compare", "fcfs", "read-priority"], more].concat());
    let (said, _) = compared(&[]);
    assert!(said.starts_with("Against fcfs, read-priority cuts reader's "), "{said}");
    let (csv, _) = compared(&["--format", "csv"]);
    assert!(
        csv.starts_with("side by side,fcfs,read-priority\n\"reader: mean response, us\","),
        "{csv}"
    );
    let (markdown, _) = compared(&["--format", "markdown"]);
    assert!(
        markdown.starts_with("| side by side | fcfs | read-priority |\n| --- | ---: | ---: |\n")
    );
    let (latex, _) = compared(&["--format", "latex"]);
    assert!(latex.starts_with("\\begin{tabular}{lrr}\n") && latex.contains("$\\pm$"), "{latex}");
    let rows = |text: &str, extra: usize| text.lines().count() - extra;
    assert!(rows(&csv, 1) == rows(&markdown, 2) && rows(&csv, 1) == rows(&latex, 6), "{csv}");
}
