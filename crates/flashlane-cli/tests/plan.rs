//! How many tenants fit: the answer of an exhaustive scan, with a fifth of its runs.

use std::path::Path;

use crate::common::{flashlane, folder_with, succeeds};
use serde_json::Value;

const WORKLOAD: &str = r#"
[[flow]]
name = "reader"
cache = "off"
slo = { p99 = "500us" }
[flow.synthetic]
iops = 5000.0
read_ratio = 1.0
duration = "20ms"
[[flow]]
name = "writer"
cache = "off"
[flow.synthetic]
iops = 500.0
read_ratio = 0.0
duration = "20ms"
"#;

/// Blocks for as many tenants as there may be.
const DRIVE: [&str; 10] = [
    "--device",
    "tiny",
    "--set",
    "flash.blocks_per_plane=1024",
    "--set",
    "ftl.over_provisioning=0.5",
    "--set",
    "ftl.unwritten_read=flash",
    "--workload",
    "w.toml",
];

fn plan(folder: &Path, more: &[&str]) -> Value {
    let arguments = [&["plan"], &DRIVE[..], &["--format", "json", "--quiet"], more].concat();
    let output = flashlane(folder, &arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*stderr), (Some(0), ""));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// True if `count` readers fit, found by a run.
fn fits(folder: &Path, count: u32) -> bool {
    let count = format!("flow.reader.count={count}");
    let arguments = [&["run"], &DRIVE[..], &["--set", &count, "--seeds", "8", "--quiet"]].concat();
    match flashlane(folder, &arguments).status.code() {
        Some(0) => true,
        Some(4) => false,
        other => panic!("{count}: exit status {other:?}"),
    }
}

#[test]
fn the_count_is_that_of_an_exhaustive_scan() {
    let folder = folder_with("w.toml", WORKLOAD);
    let most = 64;
    let answer = plan(folder.path(), &["--count", "reader", "--seeds", "8", "--max", "64"]);
    let found = answer["answers"][0]["fits"].as_f64().expect("a number") as u32;
    let scan: Vec<bool> = (1..=most).map(|count| fits(folder.path(), count)).collect();
    let first_missed = scan.iter().position(|fits| !fits).expect("64 are too many") as u32;
    assert_eq!(found, first_missed, "{scan:?}");
    assert!(found > 4 && found < 60, "{found}: neither end is an answer worth testing");
    let fit = &answer["answers"][0]["first"];
    let trials = fit["trials"].as_array().expect("trials").len() as u32;
    assert!(5 * trials <= most, "{trials} levels tried, of {most}");
    let limit = &fit["limited_by"];
    assert_eq!(
        (&limit["missed"]["flow"], &limit["missed"]["goal"]),
        (&"reader".into(), &"p99".into())
    );
    let (before, after) = (&limit["grown"]["before_us"], &limit["grown"]["after_us"]);
    assert!(after.as_f64() > before.as_f64(), "{limit}");
    let verdicts: Vec<&str> = fit["trials"]
        .as_array()
        .expect("trials")
        .iter()
        .map(|t| t["verdict"].as_str().expect("text"))
        .collect();
    assert!(verdicts.is_sorted_by_key(|verdict| verdict.starts_with("missed")), "{verdicts:?}");
}

#[test]
fn schedulers_and_drives_are_rows_of_a_table() {
    let folder = folder_with("w.toml", WORKLOAD);
    let more = [
        "--count",
        "reader",
        "--seeds",
        "3",
        "--over",
        "scheduler=fcfs,out-of-order",
        "--drives",
        "1,2",
    ];
    let answer = plan(folder.path(), &more);
    let answers = answer["answers"].as_array().expect("answers");
    assert_eq!(answers.len(), 4);
    let fits = |at: usize| answers[at]["fits"].as_f64().expect("a number");
    assert_eq!(answers[0]["variant"][0], "scheduler=fcfs");
    assert_eq!((answers[0]["drives"].as_u64(), answers[1]["drives"].as_u64()), (Some(1), Some(2)));
    // The second drive has no writer, so that more fit there.
    assert!(fits(1) >= 2.0 * fits(0), "{} and {}", fits(0), fits(1));
    assert_eq!(answers[1]["first"]["fits"], answers[0]["first"]["fits"]);
    let text = {
        let arguments = [&["plan"], &DRIVE[..], &more, &["--out", "out"]].concat();
        let output = flashlane(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    for part in ["scheduler=fcfs, 2 drives", "limited by", "simulations"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let written = std::fs::read_to_string(folder.path().join("out/plan.json")).expect("written");
    assert_eq!(serde_json::from_str::<Value>(&written).expect("JSON"), answer);
}

#[test]
fn goals_of_slowdown_are_held_against_the_first_row() {
    let slow_programs = ["--set", "flash.program_time=['400us']"];
    let workload = WORKLOAD
        .replace("slo = { p99 = \"500us\" }", "slo = { slowdown = 3.0 }")
        .replace("read_ratio = 1.0", "read_ratio = 0.8");
    let folder = folder_with("w.toml", &workload);
    let over = "flash.program_time=['200us'],['400us']";
    let more = ["--count", "reader", "--seeds", "3", "--max", "2", "--over", over];
    let answer = plan(folder.path(), &more);
    let value =
        |at: usize| answer["answers"][at]["first"]["trials"][0]["goals"][0]["value"].clone();
    let run = |more: &[&str]| {
        let fixed = ["run", "--set", "flow.reader.count=1", "--seeds", "3", "--quiet"];
        flashlane(folder.path(), &[&fixed[..], &DRIVE[..], more].concat());
    };
    run(&["--alone", "--out", "first"]);
    run(&[&slow_programs[..], &["--alone", "--out", "own"]].concat());
    run(&[&slow_programs[..], &["--baseline", "first", "--out", "common"]].concat());
    let slowdown = |folder_name: &str| {
        let path = folder.path().join(folder_name).join("seeds.json");
        let seeds: Value =
            serde_json::from_str(&std::fs::read_to_string(path).expect("written")).expect("JSON");
        seeds["flows[0].slowdown"]["mean"].as_f64().expect("a slowdown")
    };
    assert_eq!(value(0).as_f64(), Some(slowdown("first")));
    assert_eq!(value(1).as_f64(), Some(slowdown("common")));
    assert!(slowdown("common") > 1.2 * slowdown("own"), "the test would not tell them apart");
}

#[test]
fn load_is_found_as_a_factor() {
    let folder = folder_with("w.toml", WORKLOAD);
    let answer =
        plan(folder.path(), &["--load", "writer", "--seeds", "1", "--slo", "writer:p99=3ms"]);
    let factor = answer["answers"][0]["fits"].as_f64().expect("a number");
    assert!(factor > 1.0, "{factor}: the writer alone does not fill the drive");
    let run = |factor: f64| {
        let iops = format!("flow.writer.synthetic.iops={}", 500.0 * factor);
        let arguments =
            [&["run"], &DRIVE[..], &["--set", &iops, "--quiet", "--slo", "writer:p99=3ms"]]
                .concat();
        flashlane(folder.path(), &arguments).status.code()
    };
    assert_eq!((run(factor), run(factor * 1.05)), (Some(0), Some(4)));
}

#[test]
fn questions_without_an_answer_are_refused() {
    let folder = folder_with("w.toml", WORKLOAD);
    let bare = WORKLOAD.replace("slo = { p99 = \"500us\" }", "");
    std::fs::write(folder.path().join("bare.toml"), bare).expect("written");
    for (more, part) in [
        (&[][..], "--count: missing, as --load is; allowed: the flow whose number is asked for"),
        (&["--count", "raeder"], "no flow is named `raeder`; did you mean `reader`?"),
        (&["--count", "reader", "--over", "x"], "--over x: write KEY=VALUE,VALUE"),
        (&["--count", "reader", "--over", "scheduler=fifo"], "scheduler"),
        (&["--load", "reader", "--drives", "2"], "--drives: found 2, allowed: 1 with --load"),
        (&["--workload", "bare.toml", "--count", "reader"], "nobody is promised anything"),
    ] {
        let drive = if more.contains(&"--workload") { &DRIVE[..8] } else { &DRIVE[..] };
        let output = flashlane(folder.path(), &[&["plan"], drive, more].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    // A count in the file is no obstacle.
    let counted = WORKLOAD.replace("name = \"reader\"", "name = \"reader\"\ncount = 5");
    std::fs::write(folder.path().join("w.toml"), counted).expect("written");
    let answer = plan(folder.path(), &["--count", "reader", "--seeds", "1", "--max", "2"]);
    assert_eq!(answer["answers"][0]["fits"], 2.0);
    let sure = [&["plan"], &DRIVE[..], &["--count", "reader", "--slo", "reader:p99=1us"]].concat();
    let output = flashlane(folder.path(), &sure);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("Not even one reader fits."), "{said}");
    succeeds(
        folder.path(),
        &[&["plan"], &DRIVE[..], &["--count", "reader", "--max", "2"]].concat(),
    );
}

#[test]
fn combinations_are_counted_before_they_are_made() {
    let folder = crate::common::folder_with("w.toml", WORKLOAD);
    let over = format!("seed={}", vec!["1"; 1000].join(","));
    let mut arguments =
        vec!["plan", "--device", "tiny", "--workload", "w.toml", "--count", "reader"];
    for _ in 0..8 {
        arguments.extend(["--over", &over]);
    }
    let said = crate::common::refused(folder.path(), &arguments);
    assert!(said.contains("--over") && said.contains("allowed: 1 to 10000"), "{said}");
}
