//! `flashlane trace clone`: parameters, synthetic traces, fits, and what is refused.

use std::path::Path;

use crate::common::{names, refused, succeeds};

/// Standard output of a command that succeeds.
fn good(folder: &Path, arguments: &[&str]) -> String {
    succeeds(folder, arguments).0
}

const WORKLOAD: &str = "[[flow]]\nname = 'a'\n[flow.clone]\nof = 'mine.toml'\nrequests = 200\n";

#[test]
fn built_in_clones_are_listed_and_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = good(folder.path(), &["trace", "clone", "--list"]);
    assert_eq!(list.matches("synthetic, Table 2").count(), 20, "{list}");
    assert_eq!(list.matches("synthetic, UPI Table 2").count(), 3, "{list}");
    assert!(list.contains("FLIN (ISCA 2018), Table 2"), "{list}");
    let shown = good(folder.path(), &["trace", "clone", "PRN_0"]);
    let tree: toml::Table = toml::from_str(&shown).expect("TOML");
    assert_eq!(tree["name"].as_str(), Some("prn-0"));
    assert_eq!(tree["read"]["gap_ms"].as_float(), Some(34.2));
}

#[test]
fn a_synthetic_trace_is_fitted_and_its_clone_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let run = |arguments: &[&str]| good(folder, &[&["trace", "clone"][..], arguments].concat());
    run(&["tpcc", "--generate", "20000", "--seed", "7", "--out", "made.csv.zst", "--quiet"]);
    let plain = run(&["tpcc", "--generate", "20000", "--seed", "7"]);
    assert!(plain.starts_with("# synthetic, Table 2 tpcc"), "{}", &plain[..200]);
    assert!(plain.contains("20000 requests, time scale 1, seed 7"), "{}", &plain[..2000]);
    assert!(plain.contains("\n# read_ratio = 0.65\n"), "{}", &plain[..2000]);
    assert_eq!(plain.lines().filter(|line| !line.starts_with('#')).count(), 20_000);
    let fast = run(&["tpcc", "--generate", "20000", "--seed", "7", "--time-scale", "0.5"]);
    let last = |trace: &str| -> f64 {
        let line = trace.lines().last().expect("a request");
        line.split(',').next().expect("a time").parse().expect("a number")
    };
    assert!((last(&fast) * 2.0 / last(&plain) - 1.0).abs() < 1e-6);
    // The file describes itself: no format is named.
    run(&["made.csv.zst", "--out", "mine.toml", "--quiet"]);
    let file = std::fs::read_to_string(folder.join("mine.toml")).expect("a file");
    assert!(file.starts_with("# clone of: made.csv.zst\n# requests"), "{file}");
    let tree: toml::Table = toml::from_str(&file).expect("TOML");
    assert_eq!(tree["name"].as_str(), Some("made"));
    assert!(tree["summary"].as_str().expect("text").starts_with("synthetic"));
    let read_ratio = tree["read_ratio"].as_float().expect("a number");
    assert!((read_ratio - 0.65).abs() < 0.02, "{read_ratio}");
    // A flow uses it, from another folder too.
    std::fs::write(folder.join("workload.toml"), WORKLOAD).expect("a file");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let workload = folder.join("workload.toml").display().to_string();
    let run = ["run", "--device", "tiny", "--workload", &workload, "--format", "json", "--quiet"];
    let summary: serde_json::Value =
        serde_json::from_str(&good(elsewhere.path(), &run)).expect("JSON");
    assert_eq!(summary["requests_completed"], 200);
}

#[test]
fn what_is_wrong_is_refused_with_file_and_key_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let shown = good(folder, &["trace", "clone", "tpcc"]);
    std::fs::write(folder.join("workload.toml"), WORKLOAD).expect("a file");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write(
        "mine.toml",
        &shown.replace("kappa = 0.12", "kappa = 1.5").replace("seq1 = 0.02", "seq1 = 0.5"),
    );
    let day = |daily: &str| format!("{shown}daily = {daily}\n");
    write("day.toml", &day("[[25.0, 1.0], [3.0, 0.0]]"));
    write("unknown.toml", &shown.replace("kappa", "kapa"));
    write("short.csv", "# columns: t=1[us],op=2,off=3,len=4\n1,R,0,512\n");
    write("bare.trace", "1 0 0 8 1\n");
    let of_workload = ["check", "workload.toml"];
    let clone = |rest: &[&'static str]| [&["trace", "clone"][..], rest].concat();
    for (arguments, expected) in [
        (clone(&["mine.toml"]), vec!["mine.toml:", "kappa", "found 1.5, allowed: 0 to 1"]),
        (clone(&["mine.toml"]), vec!["write.seq1", "allowed: 0 to seq32"]),
        (clone(&["day.toml"]), vec!["write.daily[0][0]", "found 25", "from 0 to below 24"]),
        (clone(&["day.toml"]), vec!["write.daily[1][0]", "found 3", "in ascending order"]),
        (clone(&["day.toml"]), vec!["write.daily[1][1]", "found 0", "allowed: 0.001 to 1000"]),
        (of_workload.to_vec(), vec!["mine.toml:", "found 1.5"]),
        (clone(&["unknown.toml"]), vec!["unknown.toml:", "kapa"]),
        (clone(&["tpcx"]), vec!["no clone is called \"tpcx\""]),
        (clone(&["none.toml"]), vec!["none.toml: no such file"]),
        (clone(&["none.csv"]), vec!["none.csv: no such file"]),
        (
            clone(&["short.csv", "--out", "o.toml"]),
            vec!["found 1 reads and writes, allowed: at least"],
        ),
        (clone(&["bare.trace"]), vec!["name the format"]),
        (clone(&["bare.trace", "--from", "msq"]), vec!["format `msq` is unknown"]),
        (clone(&["tpcc", "--generate", "0"]), vec!["--generate"]),
        (clone(&["tpcc", "--generate", "5", "--time-scale", "0"]), vec!["--time-scale: found 0"]),
        (clone(&["tpcc", "--out", "no/such/o.toml"]), vec!["no/such/o.toml: cannot be written"]),
        (clone(&["tpcc", "--out", "."]), vec![".: is a folder"]),
        (clone(&[]), vec!["required"]),
    ] {
        let message = refused(folder, &arguments);
        for part in expected {
            assert!(message.contains(part), "{arguments:?}: {part}: {message}");
        }
    }
    let names = names(folder);
    assert_eq!(names.len(), 6, "nothing was written: {names:?}");
}
