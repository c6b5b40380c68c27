//! What helps the tenants of a drive, found by trying it.

use std::path::Path;

use crate::common::{flashlane, folder_with, refused};
use serde_json::Value;

const WORKLOAD: &str = r#"
[[flow]]
name = "reader"
cache = "off"
[flow.synthetic]
queue_depth = 2
read_ratio = 1.0
duration = "10ms"
[[flow]]
name = "writer"
cache = "off"
[flow.synthetic]
queue_depth = 16
read_ratio = 0.0
duration = "10ms"
"#;

const DRIVE: [&str; 8] = [
    "--device",
    "tiny",
    "--set",
    "flash.blocks_per_plane=256",
    "--set",
    "ftl.unwritten_read=flash",
    "--workload",
    "w.toml",
];

/// Runs `advise` with exit status `status`. Returns its answer.
fn advise(folder: &Path, more: &[&str], status: i32) -> Value {
    let arguments = [&["advise"], &DRIVE[..], &["--format", "json", "--quiet"], more].concat();
    let output = flashlane(folder, &arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn with_verdict<'a>(answer: &'a Value, verdict: &str) -> Vec<&'a Value> {
    let all = answer["candidates"].as_array().expect("candidates");
    all.iter().filter(|one| one["verdict"] == verdict).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn a_setting_is_found_that_runs_confirm() {
    let folder = folder_with("w.toml", WORKLOAD);
    let answer = advise(folder.path(), &["--out", "a"], 0);
    assert_eq!(
        (&answer["schema"], &answer["goal"]),
        (&"flashlane.advice/1".into(), &"fairness".into())
    );
    assert_eq!((&answer["answer"], &answer["victim"]), (&"helps".into(), &"reader".into()));
    let winner = with_verdict(&answer, "winner")[0];
    let (before, after) = (number(&winner["before"]["median"]), number(&winner["value"]["median"]));
    assert!(after < 0.8 * before, "{before} to {after}");
    assert_eq!(winner["seeds"], serde_json::json!([6, 7, 8, 9, 10, 11]), "fresh seeds");
    let text = std::fs::read_to_string(folder.path().join("a/advice.json")).expect("written");
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), answer);
    let csv = std::fs::read_to_string(folder.path().join("a/advice.csv")).expect("written");
    assert!(csv.starts_with("label,settings,verdict,") && csv.lines().count() > 40, "{csv}");
    // The figures are those of `run` with the same settings.
    let mut arguments =
        [&["run"], &DRIVE[..], &["--alone", "--seed", "6", "--seeds", "6"]].concat();
    let before_it =
        flashlane(folder.path(), &[&arguments[..], &["--out", "before", "--quiet"]].concat());
    assert!(before_it.status.success());
    let sets = winner["sets"].as_array().expect("settings");
    for set in sets {
        arguments.extend(["--set", set.as_str().expect("a text")]);
    }
    arguments.extend(["--baseline", "before", "--out", "after", "--quiet"]);
    assert!(flashlane(folder.path(), &arguments).status.success());
    let seeds = std::fs::read_to_string(folder.path().join("after/seeds.json")).expect("written");
    let seeds: Value = serde_json::from_str(&seeds).expect("JSON");
    let values = seeds["fairness.max_slowdown"]["values"].as_array().expect("one for each seed");
    let mut values: Vec<f64> = values.iter().map(number).collect();
    values.sort_by(f64::total_cmp);
    let run = f64::midpoint(values[2], values[3]);
    assert!((run / after - 1.0).abs() < 1e-9, "run has {run}, advise {after}");
}

#[test]
fn the_advice_is_the_same_on_any_number_of_threads_and_after_an_end() {
    let folder = folder_with("w.toml", WORKLOAD);
    let file =
        |out: &str| std::fs::read(folder.path().join(out).join("advice.json")).expect("read");
    advise(folder.path(), &["--out", "one", "--jobs", "1", "--seeds", "3"], 0);
    advise(folder.path(), &["--out", "two", "--jobs", "3", "--seeds", "3"], 0);
    assert!(file("one") == file("two"));
    // As if the command had ended early: half of the results are there.
    let points = folder.path().join("one/points");
    let mut kept: Vec<_> = std::fs::read_dir(&points)
        .expect("results")
        .map(|one| one.expect("a file").path())
        .collect();
    kept.sort();
    for path in kept.iter().step_by(2) {
        std::fs::remove_file(path).expect("removed");
    }
    let arguments = [&["advise"], &DRIVE[..], &["--out", "one", "--seeds", "3"]].concat();
    let output = flashlane(folder.path(), &arguments);
    assert!(output.status.success());
    let found = format!("{} of the runs were found", kept.len() / 2);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(&found), "{found}: {stderr}");
    assert!(file("one") == file("two"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.lines().all(|line| line.chars().count() <= 102), "{text}");
    assert!(text.contains("what helps") && text.contains(" simulations"), "{text}");
}

#[test]
fn goals_that_cannot_be_met_are_exit_status_4() {
    let folder = folder_with("w.toml", WORKLOAD);
    let answer =
        advise(folder.path(), &["--slo", "reader:p99=1us", "--out", "a", "--seeds", "2"], 4);
    assert_eq!((&answer["goal"], &answer["answer"]), (&"slo".into(), &"missed".into()));
    let said = answer["said"][0].as_str().expect("a sentence");
    assert!(said.starts_with("No setting that was tried meets every goal"), "{said}");
    let answer = advise(folder.path(), &["--slo", "reader:p99=1s", "--out", "b"], 0);
    assert_eq!(answer["answer"], "met-already");
    assert_eq!(answer["simulations"], 2, "nothing else has to be tried");
}

#[test]
fn the_loosest_limit_that_meets_a_goal_is_found() {
    let folder = folder_with("w.toml", WORKLOAD);
    let whole = advise(
        folder.path(),
        &["--goal", "mean:reader", "--keep", "writer:iops=10%", "--out", "a"],
        0,
    );
    let limits: Vec<&Value> = {
        let all = whole["candidates"].as_array().expect("candidates");
        let families = |one: &Value| one["families"] == serde_json::json!(["limit of writer"]);
        all.iter().filter(|one| families(one) && one["value"].is_object()).collect()
    };
    assert!(limits.len() >= 3, "some levels were tried");
    let values: Vec<f64> = limits.iter().map(|one| number(&one["value"]["median"])).collect();
    let (low, high) = values.iter().fold((f64::MAX, 0.0_f64), |(a, b), &v| (a.min(v), b.max(v)));
    assert!(low < 0.9 * high, "limits matter here: {values:?}");
}

#[test]
fn listed_candidates_are_tried_alone_and_in_pairs() {
    let folder = folder_with("w.toml", WORKLOAD);
    let list = "[[candidate]]\nlabel = 'apart'\nset = ['isolation = \"partitioned\"']\n\
                [[candidate]]\nlabel = 'interrupt'\nset = ['flash.suspend.program = true']\n\
                [[candidate]]\nlabel = 'wrong'\nset = ['flash.suspend.program = 7']\n";
    std::fs::write(folder.path().join("c.toml"), list).expect("written");
    let answer = advise(folder.path(), &["--candidates", "c.toml", "--out", "a"], 0);
    let labels: Vec<&str> = answer["candidates"]
        .as_array()
        .expect("candidates")
        .iter()
        .map(|one| one["label"].as_str().expect("a text"))
        .collect();
    assert!(labels.contains(&"apart") && labels.contains(&"interrupt"), "{labels:?}");
    assert!(labels.len() <= 4, "nothing else is tried: {labels:?}");
    let wrong = with_verdict(&answer, "refused");
    assert_eq!(wrong.len(), 1);
    let why = wrong[0]["reason"].as_str().expect("a reason");
    assert!(why.contains("flash.suspend.program"), "{why}");
}

#[test]
fn what_is_kept_bars_candidates() {
    let folder = folder_with("w.toml", WORKLOAD);
    let free =
        advise(folder.path(), &["--keep", "writer:iops=0%", "--out", "a", "--seeds", "2"], 0);
    let tight =
        advise(folder.path(), &["--keep", "writer:iops=97%", "--out", "b", "--seeds", "2"], 0);
    let loss = |answer: &Value| {
        with_verdict(answer, "winner").first().map_or(0.0, |one| number(&one["loss"]))
    };
    assert!(loss(&free) > 0.05, "{}", loss(&free));
    assert!(loss(&tight) < 0.05, "{}", loss(&tight));
    assert!(!with_verdict(&tight, "breaks").is_empty());
}

#[test]
fn bad_input_is_one_clear_error() {
    let folder = folder_with("w.toml", WORKLOAD);
    std::fs::write(folder.path().join("c.toml"), "[[candidate]]\nlabel = 'x'\n").expect("written");
    for (more, part) in [
        (&["--goal", "p98:reader"][..], "--goal p98:reader: found the time `p98`; allowed: mean"),
        (&["--goal", "p99:nobody"], "no tenant `nobody`; allowed: reader, writer"),
        (&["--goal", "slo"], "--goal: found slo, but no tenant has a goal"),
        (&["--keep", "writer=1"], "--keep writer=1: write NAME:FIGURE=BOUND"),
        (&["--candidates", "c.toml"], "c.toml:1: missing field `set`"),
        (&["--candidates", "none.toml"], "none.toml"),
        (&["--budget", "soon"], "--budget"),
        (&["--seeds", "1"], "--seeds"),
        (&["--set", "flash.chanels=4"], "flash.chanels"),
    ] {
        let arguments = [&["advise"], &DRIVE[..], &["--out", "a"], more].concat();
        let text = refused(folder.path(), &arguments);
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn after_its_time_no_round_starts() {
    let folder = folder_with("w.toml", WORKLOAD);
    let answer = advise(folder.path(), &["--budget", "0s", "--out", "a"], 0);
    assert_eq!(answer["cut_short"], true);
    let arguments = [&["advise"], &DRIVE[..], &["--budget", "0s", "--out", "a"]].concat();
    let output = flashlane(folder.path(), &arguments);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("The time was over before everything was tried"), "{text}");
}

/// A log that is written in order, and a table that is written at random, on a drive that fills
/// soon.
const PLACED: [&str; 2] = [
    r#"
name = "small"
ftl.superblock = "drive"
ftl.over_provisioning = 0.3
[ftl.gc]
threshold = "6 blocks"
hard_threshold = "4 blocks"
max_concurrent_per_plane = 1
[flash]
technology = "tlc"
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 72
pages_per_block = 24
page_size = "16KiB"
channel_rate = "1200MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#,
    r#"
[[flow]]
name = "log"
[flow.synthetic]
queue_depth = 8
read_ratio = 0.1
size = "64KiB"
address = "streaming"
requests = 5000
[[flow]]
name = "table"
[flow.synthetic]
queue_depth = 8
read_ratio = 0.2
size = "16KiB"
requests = 16000
"#,
];

#[test]
fn handles_have_their_amplification_in_the_answer() {
    let folder = folder_with("w.toml", PLACED[1]);
    let at = folder.path();
    std::fs::write(at.join("d.toml"), PLACED[0]).expect("written");
    let sets = "set = ['placement.mode=\"fdp\"', 'placement.handles=2', 'flow.log.placement=0', \
                'flow.table.placement=1']";
    let candidates = format!("[[candidate]]\nlabel = 'a handle each'\n{sets}\n");
    std::fs::write(at.join("c.toml"), candidates).expect("written");
    let device = ["--device", "d.toml", "--workload", "w.toml", "--out", "a"];
    let more = ["--candidates", "c.toml", "--goal", "p99:table", "--format", "json", "--quiet"];
    let output = flashlane(at, &[&["advise"], &device[..], &more[..]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let tried = &answer["candidates"][0];
    let [before, now] = [0, 1].map(|at| number(&tried["amplification"][at]));
    assert!(now < 0.95 * before, "handles keep the log apart: {before} to {now}");
    let seed = tried["seeds"][0].to_string();
    let run = ["run", "--seed", &seed, "--quiet", "--format", "json"];
    let output = flashlane(at, &[&run[..], &device[..4]].concat());
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let one = number(&summary["flash"]["write_amplification"]);
    assert!((one / before - 1.0).abs() < 0.05, "a seed has {one}, the median is {before}");
}
