//! `flashlane reproduce`: files, shape of the results, and the same result on any number of
//! threads.

use std::path::Path;
use std::process::Output;

use crate::common::text;
use flashlane_reproduce::{Bound, Row};
use serde_json::Value;

fn flashlane(arguments: &[&str]) -> Output {
    crate::common::flashlane(Path::new("."), arguments)
}

fn smoke(paper: &str, jobs: &str, out: &Path) -> Output {
    let out = out.to_str().expect("a path in UTF-8");
    flashlane(&["reproduce", paper, "--smoke", "--quiet", "--jobs", jobs, "--out", out])
}

/// Name and content of every file of a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let content = |name: &String| std::fs::read(folder.join(name)).expect("a file");
    crate::common::names(folder).into_iter().map(|name| (name.clone(), content(&name))).collect()
}

/// On two threads only: it takes as long as the other papers together, which show that the number
/// changes nothing.
#[test]
fn every_experiment_of_fast18_gives_rows_and_data() {
    let known = [
        ("backend", "flow-1.slowdown at depth 256", 14.4),
        ("cmt", "flow-1.slowdown at 100 % randomness", 2.1),
        ("write-cache", "weighted speedup, depth 8 to 256", -0.5),
    ];
    every_experiment_gives_rows_and_data("fast18", &["2"], &known);
}

#[test]
fn every_experiment_of_flin_gives_rows_and_data_on_any_number_of_threads() {
    let known = [
        ("intensity", "base slowdown beside 1024 MB/s, 8 KiB", 49.0),
        ("access-pattern", "base slowdown beside a random flow", 2.4),
        ("gc", "base slowdown beside 64 MB/s, default collection", 3.5),
        ("policies", "fairness, 50 % high, flin against sprinkler", 2.5),
        ("policies", "weighted speedup, 50 % high, flin against sprinkler-fairness", 0.32),
        ("overhead", "DRAM, 64 chips, 128 flows, 262,144 transactions", 1.13),
    ];
    every_experiment_gives_rows_and_data("flin", &["1", "2"], &known);
}

#[test]
fn every_experiment_of_upi_gives_rows_and_data_on_any_number_of_threads() {
    let known = [
        ("isolation", "das-as.p99.upi-vs-unified", -0.385),
        ("isolation", "das-as.p99.partitioned-vs-unified", -0.477),
        ("isolation", "lm-tbe.mean.upi-vs-partitioned", -0.161),
        ("isolation", "lm-tbe.mean.unified-vs-partitioned", -0.138),
    ];
    every_experiment_gives_rows_and_data("upi", &["1", "2"], &known);
}

#[test]
fn every_experiment_of_warp_gives_rows_and_data_on_any_number_of_threads() {
    let known = [
        ("one-stream", "drive A, real", 2.035),
        ("three-streams", "80/20, handles: each", 2.267),
        ("cache-engines", "40 % small, handles: each", 1.62),
    ];
    every_experiment_gives_rows_and_data("warp", &["1", "2"], &known);
}

/// The experiments of the study of placement at full size: they run without time, in seconds.
#[test]
fn placement_amplifies_as_on_the_drives_of_the_study() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let arguments = ["reproduce", "warp", "--quiet", "--out", out.to_str().expect("UTF-8")];
    let run = flashlane(&arguments);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let results = std::fs::read(out.join("results.json")).expect("results");
    let rows: Vec<Value> = serde_json::from_slice(&results).expect("a list");
    let mut series = 0;
    for row in &rows {
        let experiment = row["experiment"].as_str().expect("a name");
        let (paper, ours) = (row["paper"].as_f64(), row["ours"].as_f64().expect("a number"));
        assert_eq!(row["verdict"], "agrees", "{row}");
        let allowed = match (experiment, row["metric"].as_str().expect("a name")) {
            ("one-stream", "drive A, real" | "drive B, real") => 0.03,
            ("one-stream" | "three-streams", _) => 0.1,
            _ => continue,
        };
        if let Some(paper) = paper {
            assert!((ours / paper - 1.0).abs() < allowed, "{row}");
            series += 1;
        }
    }
    assert_eq!(series, 13, "four drives of one stream, nine series of three");
}

const VERDICTS: [&str; 6] =
    ["agrees", "same-direction", "other-magnitude", "disagrees", "no-effect", "no-reference"];

/// Verdicts of prepared numbers, as they stand in `results.json`: paper, ours by seed, neutral
/// value, verdict.
#[test]
fn verdicts_of_prepared_numbers_can_fail() {
    let cases: [(f64, &[f64], f64, &str); 10] = [
        (54.0, &[50.0], 1.0, "agrees"),
        (54.0, &[22.0], 1.0, "same-direction"),
        (54.0, &[4.5], 1.0, "other-magnitude"),
        (3231.0, &[5.0], 1.0, "other-magnitude"),
        (54.0, &[0.8], 1.0, "disagrees"),
        (-0.385, &[-0.36, -0.38, -0.40], 0.0, "agrees"),
        (-0.385, &[-0.15, -0.16, -0.14], 0.0, "same-direction"),
        (-0.385, &[-0.10, -0.11, -0.09], 0.0, "other-magnitude"),
        (-0.385, &[-0.3, 0.1, -0.2], 0.0, "disagrees"),
        (0.176, &[0.69], 0.0, "other-magnitude"),
    ];
    for (paper, ours, neutral, verdict) in cases {
        let row = Row::number_over_seeds("case", "metric", paper, ours, neutral, "x", "");
        let json = serde_json::to_value(&row).expect("JSON");
        assert_eq!(json["verdict"], verdict, "{ours:?} beside {paper}");
    }
}

#[test]
fn statements_need_a_margin_beyond_noise() {
    let verdict = |values: &[f64], bound| {
        let row = Row::statement_over_seeds("case", "metric", values, bound, "x", "");
        serde_json::to_value(&row).expect("JSON")["verdict"].clone()
    };
    assert_eq!(verdict(&[1.4, 1.5, 1.45], Bound::AtLeast(1.02)), "agrees");
    assert_eq!(verdict(&[0.9, 1.9, 1.4], Bound::AtLeast(1.02)), "disagrees");
    assert_eq!(verdict(&[60.0, 70.0, 65.0], Bound::AtMost(80.0)), "agrees");
    assert_eq!(verdict(&[60.0, 90.0, 75.0], Bound::AtMost(80.0)), "disagrees");
}

fn every_experiment_gives_rows_and_data(
    paper: &str,
    threads: &[&str],
    known: &[(&str, &str, f64)],
) {
    let folder = tempfile::tempdir().expect("a folder");
    let ran = |threads: &&str| {
        let out = folder.path().join(threads);
        let run = smoke(paper, threads, &out);
        assert!(run.status.success(), "{}", text(&run.stderr));
        (files(&out), text(&run.stdout))
    };
    let runs: Vec<_> = threads.iter().map(ran).collect();
    let (files, stdout) = &runs[0];
    assert!(runs.iter().all(|run| *run == runs[0]), "threads change nothing");
    let results = files.iter().find(|(name, _)| name == "results.json").expect("results");
    let rows: Vec<Value> = serde_json::from_slice(&results.1).expect("a list");
    let checks = files.iter().find(|(name, _)| name == "checks.json").expect("checks");
    let checks: Vec<Value> = serde_json::from_slice(&checks.1).expect("a list");
    let list = text(&flashlane(&["reproduce", paper, "list"]).stdout);
    let names: Vec<&str> = list.lines().filter_map(|line| line.split(' ').next()).collect();
    let least = if paper == "warp" { 4 } else { 5 };
    assert!(names.len() >= least, "{names:?}");
    for name in names {
        if stdout.contains(&format!("\nskipped: reproduce {paper} {name}: ")) {
            flashlane_testing::skip_part(
                &format!("experiment {name}"),
                "a cross compiler for RISC-V",
            );
            continue;
        }
        assert!(stdout.contains(&format!("\n{name}, ")), "{name} is shown");
        let mut all = rows.iter().chain(&checks);
        assert!(all.any(|row| row["experiment"] == name), "{name} has rows");
        let stem = format!("{name}-");
        let own = |file: &str| file == format!("{name}.csv") || file.starts_with(&stem);
        assert!(files.iter().any(|(file, _)| own(file)), "{name} has data");
    }
    for row in rows.iter().chain(&checks) {
        let keys: Vec<&String> = row.as_object().expect("an object").keys().collect();
        let expected =
            ["experiment", "metric", "paper", "ours", "interval", "unit", "verdict", "note"];
        assert_eq!(keys, expected);
        assert!(row["paper"].is_null() || row["paper"].is_number());
        assert!(row["ours"].is_null() || row["ours"].is_number());
        let verdict = row["verdict"].as_str().expect("a word");
        assert!(VERDICTS.contains(&verdict), "{verdict}");
    }
    for (experiment, metric, number) in known {
        let row = rows.iter().find(|r| r["experiment"] == *experiment && r["metric"] == *metric);
        assert_eq!(row.expect("the metric")["paper"], *number);
    }
}

#[test]
fn unknown_papers_and_experiments_are_refused_with_a_hint() {
    for (arguments, hint) in [
        (vec!["reproduce", "fast81"], "fast18"),
        (vec!["reproduce", "fast18", "backends"], "backend"),
    ] {
        let run = flashlane(&arguments);
        assert_eq!(run.status.code(), Some(2));
        assert!(text(&run.stderr).contains(hint), "{}", text(&run.stderr));
    }
}

#[test]
fn traces_of_the_user_take_the_place_of_clones() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = |time: u64, op: &str, at: u64| {
        format!("{},hm,0,{op},{at},8192,100\n", 128_166_385_295_514_663 + time)
    };
    let trace = line(0, "Read", 0) + &line(1000, "Write", 8192) + &line(3000, "Read", 65_536);
    std::fs::write(folder.path().join("TPCC.csv"), trace).expect("a file");
    let (own, out) = (folder.path().to_str().expect("UTF-8"), folder.path().join("out"));
    let run = |own: &str| {
        let out = out.to_str().expect("UTF-8");
        let arguments = ["reproduce", "fast18", "traces", "--smoke", "--quiet"];
        flashlane(&[&arguments[..], &["--traces", own, "--out", out]].concat())
    };
    let ran = run(own);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let said = "traces: yours: tpcc; clones (synthetic): exch, tpce";
    assert!(text(&ran.stdout).contains(said), "{}", text(&ran.stdout));
    let sources = std::fs::read_to_string(out.join("sources.csv")).expect("a file");
    let expected = format!(
        "experiment,trace,source,file\ntraces,exch,clone,\ntraces,tpcc,trace,{own}/TPCC.csv\n\
         traces,tpce,clone,\n"
    );
    assert_eq!(sources, expected);
    let results = |name: &str| std::fs::read_to_string(out.join(name)).expect("a file");
    let with_trace = results("traces.csv");
    let again = flashlane(&[
        "reproduce",
        "fast18",
        "traces",
        "--smoke",
        "--quiet",
        "--out",
        out.to_str().expect("UTF-8"),
    ]);
    assert!(again.status.success());
    assert_ne!(with_trace, results("traces.csv"), "the trace was replayed");

    let empty = tempfile::tempdir().expect("a folder");
    let refused = run(empty.path().to_str().expect("UTF-8"));
    assert_eq!(refused.status.code(), Some(2));
    let message = text(&refused.stderr);
    assert!(message.contains("found no file named after a trace"), "{message}");
}
