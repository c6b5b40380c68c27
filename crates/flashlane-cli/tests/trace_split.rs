//! `flashlane trace split` and `flashlane run --split`: from a trace to the one who caused it.

use std::fmt::Write as _;
use std::path::Path;

use crate::common::{flashlane, folder_with, names, refused, succeeds, text};
use serde_json::Value;

/// What blkparse prints of a database that reads at random and of a copy that writes.
/// `response_us`: completions come so long after the arrivals.
fn two_processes(response_us: Option<u64>) -> String {
    let mut lines: Vec<(u64, String)> = Vec::new();
    let mut state = 7_u64;
    for index in 0..800_u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let at_us = index * 100;
        let reads = index % 2 == 1;
        let (op, pid, name) = if reads { ("R", 1203, "mysqld") } else { ("W", 4411, "rsync") };
        let place = if reads {
            format!("{} + 8", (state >> 40) % 1_000_000 * 8)
        } else {
            format!("{} + 256", 100_000_000 + index * 128)
        };
        let line = |at_us: u64, pid: u32, action: &str, name: &str| {
            let (s, us) = (at_us / 1_000_000, at_us % 1_000_000);
            format!("259,0 0 1 {s}.{us:06}000 {pid} {action} {op} {place} [{name}]")
        };
        lines.push((at_us, line(at_us, pid, "Q", name)));
        if let Some(response_us) = response_us {
            let at_us = at_us + response_us;
            lines.push((at_us, line(at_us, 0, "C", "0")));
        }
    }
    lines.sort_by_key(|(at_us, _)| *at_us);
    lines.into_iter().fold(String::new(), |mut all, (_, line)| {
        let _ = writeln!(all, "{line}");
        all
    })
}

fn json(folder: &Path, name: &str) -> Value {
    let text = std::fs::read_to_string(folder.join(name)).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_trace_becomes_a_trace_for_each_process_and_a_workload() {
    let folder = folder_with("a.txt", &two_processes(None));
    let folder = folder.path();
    let (stdout, stderr) =
        succeeds(folder, &["trace", "split", "a.txt", "--by", "process", "--out", "t"]);
    assert!(stdout.contains("mysqld") && stdout.contains("rsync"), "{stdout}");
    assert!(stderr.contains("--workload t/workload.toml"), "{stderr}");
    assert_eq!(names(&folder.join("t")), ["mysqld.csv", "rsync.csv", "workload.toml"]);
    let workload = std::fs::read_to_string(folder.join("t/workload.toml")).expect("a file");
    assert!(workload.contains("starts_after = \"100us\""), "mysqld begins later: {workload}");
    succeeds(folder, &["check", "t/workload.toml"]);
    let run = ["run", "--device", "tiny", "--workload", "t/workload.toml", "--format", "json"];
    let (stdout, _) = succeeds(folder, &[&run[..], &["--quiet"]].concat());
    let summary: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(summary["flows"][0]["name"], "mysqld");
    assert_eq!(summary["flows"][0]["requests"]["read"], 400);
    assert_eq!(summary["flows"][1]["requests"]["write"], 400);
    assert!(summary["flows"][0].get("measured_response_time_us").is_none());
}

#[test]
fn the_smallest_tenants_are_joined() {
    let extra = "259,0 0 1 9.000000000 5 Q R 0 + 8 [cron]\n";
    let folder = folder_with("a.txt", &(two_processes(None) + extra));
    let folder = folder.path();
    let split = ["trace", "split", "a.txt", "--by", "pid", "--top", "1", "--out", "t", "--quiet"];
    let (stdout, stderr) = succeeds(folder, &split);
    assert_eq!(stderr, "");
    assert!(stdout.contains("4411, 5"), "{stdout}");
    assert_eq!(names(&folder.join("t")), ["others.csv", "pid-1203.csv", "workload.toml"]);
    // Again: what an earlier split left goes away.
    let again = ["trace", "split", "a.txt", "--by", "device", "--out", "t", "--quiet"];
    succeeds(folder, &again);
    assert_eq!(names(&folder.join("t")), ["device-259-0.csv", "workload.toml"]);
}

#[test]
fn one_command_names_the_cause() {
    let folder = folder_with("a.txt", &two_processes(None));
    let folder = folder.path();
    let run = ["run", "--device", "tiny", "--workload", "a.txt", "--split", "process", "--alone"];
    let (stdout, _) = succeeds(folder, &[&run[..], &["--report", "--out", "why"]].concat());
    let first = stdout.lines().next().unwrap_or_default();
    assert!(first.starts_with("mysqld suffers most"), "{stdout}");
    assert!(first.contains("rsync causes "), "{stdout}");
    let page = std::fs::read_to_string(folder.join("why/report.html")).expect("a report");
    assert!(page.contains("rsync causes "), "the report names it");
    assert!(folder.join("why/tenants/workload.toml").exists());
    let blame = json(folder, "why/blame.json");
    assert!(blame["victims"].as_array().is_some_and(|victims| victims.len() == 2), "{blame}");
    // Without a folder the same comes, and nothing stays.
    let (again, _) = succeeds(folder, &run);
    assert_eq!(again.lines().next(), Some(first));
    assert_eq!(names(folder), ["a.txt", "why"]);
}

#[test]
fn measured_times_stand_beside_simulated_ones() {
    let folder = folder_with("a.txt", &two_processes(Some(40_000)));
    let folder = folder.path();
    let run = ["run", "--device", "tiny", "--workload", "a.txt", "--split", "process", "--report"];
    let (stdout, _) = succeeds(folder, &[&run[..], &["--out", "why"]].concat());
    assert!(stdout.contains("Far off: the mean response time differs"), "{stdout}");
    assert!(stdout.contains("response times of the trace and of the model"), "{stdout}");
    let summary = json(folder, "why/summary.json");
    for flow in summary["flows"].as_array().expect("flows") {
        let measured = &flow["measured_response_time_us"];
        assert_eq!(measured["count"], 400, "{measured}");
        assert!((measured["mean"].as_f64().expect("a mean") - 40_000.0).abs() < 1e-6);
        let simulated = flow["end_to_end_us"]["mean"].as_f64().expect("a mean");
        let error = flow["measured_error"].as_f64().expect("an error");
        assert!((error - (simulated / 40_000.0 - 1.0)).abs() < 1e-9, "{error}");
    }
    let page = std::fs::read_to_string(folder.join("why/report.html")).expect("a report");
    assert!(page.contains("Measured and simulated") && page.contains("<circle"), "a picture");
    let workload = folder.join("why/tenants/workload.toml");
    let csv = ["run", "--device", "tiny", "--format", "csv", "--quiet", "--workload"];
    let path = workload.to_str().expect("UTF-8");
    let (stdout, _) = succeeds(folder, &[&csv[..], &[path]].concat());
    let rows: Vec<Vec<&str>> = stdout.lines().map(|line| line.split(',').collect()).collect();
    let column = rows[0].iter().position(|name| *name == "measured_mean_us").expect("a column");
    assert_eq!(rows[1][column].parse::<f64>().map(f64::round), Ok(40_000.0));
}

#[test]
fn addresses_that_are_used_alike_become_tenants() {
    let folder = folder_with("a.txt", &two_processes(None));
    let folder = folder.path();
    let split = ["trace", "split", "a.txt", "--by", "lba", "--out", "t"];
    let (stdout, stderr) = succeeds(folder, &split);
    assert!(stderr.contains("mean silhouette "), "{stderr}");
    assert!(stdout.contains("random-reads") && stdout.contains("-writes"), "{stdout}");
    let first: Vec<String> = names(&folder.join("t"));
    let bytes = |name: &String| std::fs::read(folder.join("t").join(name)).expect("a file");
    let before: Vec<Vec<u8>> = first.iter().map(bytes).collect();
    succeeds(folder, &split);
    let after: Vec<Vec<u8>> = first.iter().map(bytes).collect();
    assert!(before == after, "the same input gives the same files");
}

#[test]
fn what_cannot_be_split_is_refused() {
    let folder = folder_with("a.csv", "0.000,R,0,512,0\n");
    let folder = folder.path();
    let split = ["trace", "split", "a.csv", "--from", "csv", "--out", "t", "--by"];
    let said = refused(folder, &[&split[..], &["process"]].concat());
    assert!(said.contains("a.csv: found no process in the format csv"), "{said}");
    let said = flashlane(folder, &[&split[..], &["processes"]].concat());
    assert!(text(&said.stderr).contains("allowed: process, pid, cgroup, device, lba"));
    let run = ["run", "--device", "tiny", "--workload", "a.csv", "--split", "process"];
    let said = refused(folder, &[&run[..], &["--from", "csv"]].concat());
    assert!(said.contains("found no process"), "{said}");
    assert_eq!(names(folder), ["a.csv"], "nothing is left");
    std::fs::create_dir(folder.join("t")).expect("room");
    std::fs::write(folder.join("t/workload.toml"), "mine").expect("room");
    let said = refused(folder, &[&split[..], &["device"]].concat());
    assert!(said.contains("workload.toml"), "files of others stay: {said}");
}

#[test]
fn the_incident_of_the_shared_cases_names_rsync() {
    let Some(trace) = flashlane_testing::shared("cases/inputs/incident.txt", "an incident") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace.to_str().expect("UTF-8");
    let run = ["run", "--device", "fast18", "--workload", trace, "--split", "process"];
    let (stdout, _) = succeeds(folder.path(), &[&run[..], &["--report", "--out", "why"]].concat());
    assert!(stdout.lines().next().unwrap_or_default().contains("rsync causes "), "{stdout}");
    let page = std::fs::read_to_string(folder.path().join("why/report.html")).expect("a report");
    assert!(page.contains("rsync causes "), "the report names it");
}

#[test]
fn the_test_with_shared_data_says_that_it_is_skipped() {
    flashlane_testing::assert_skipped_without_shared(
        module_path!(),
        &["the_incident_of_the_shared_cases_names_rsync"],
    );
}
