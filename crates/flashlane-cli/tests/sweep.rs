//! Sweeps from the command line: kill them, break their points, split them, and get the same table.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::{flashlane, folder_with, names, succeeds, text};
use serde_json::Value;

const WORKLOAD: &str = r#"
[[flow]]
name = "replay"
[flow.trace]
path = "good.trace"
format = "mqsim"
[[flow]]
name = "writer"
[flow.synthetic]
queue_depth = 2
read_ratio = 0.0
requests = 40
"#;

/// Requests that last a little longer than simulated time, with some seeds.
const LATE: &str = "[[flow]]\nname = 'slow'\nsynthetic = { iops = 0.001, requests = 18400 }\n";

/// A thousand points. One has a trace that cannot be read, one cannot finish.
const GRID: &str = r#"
device = "tiny"
workload = "w.toml"

[run]
warmup = 2

[axes]
scheduler = ["fcfs", "out-of-order"]
interface.queue_fetch_size = [1, 2, 4, 8]
seed = { from = 1, to = 125, steps = 125 }

[[when]]
if = { scheduler = "fcfs", "interface.queue_fetch_size" = 1, seed = 60 }
axes."flow.replay.trace.path" = ["bad.trace"]

[[when]]
if = { scheduler = "fcfs", "interface.queue_fetch_size" = 8, seed = 3 }
axes.workload = ["late.toml"]
"#;

fn folder() -> tempfile::TempDir {
    let folder = folder_with("w.toml", WORKLOAD);
    let line = |n: u64| format!("{} 0 {} 8 1\n", n * 20_000, 8 * (n % 512));
    let write = |name: &str, text: String| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    write("good.trace", (0..40).map(line).collect());
    write("bad.trace", "20 0 8 8 1\n10 0 8 8 1\n".to_owned());
    write("late.toml", LATE.to_owned());
    write("grid.toml", GRID.to_owned());
    folder
}

fn arguments<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["sweep", "grid.toml", "--states", "off", "--quiet", "--out", out], more].concat()
}

fn start(folder: &Path, out: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_flashlane"))
        .current_dir(folder)
        .args(arguments(out, &[]))
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts")
}

fn points(folder: &Path, out: &str) -> Vec<String> {
    let folder = folder.join(out).join("points");
    if !folder.is_dir() {
        return Vec::new();
    }
    let whole = |name: &String| name.starts_with("point-") && name.ends_with(".json");
    names(&folder).into_iter().filter(whole).collect()
}

fn table(folder: &Path, out: &str) -> (String, Vec<u8>) {
    let read = |name: &str| std::fs::read(folder.join(out).join(name)).expect("it was written");
    (text(&read("results.csv")), read("results.parquet"))
}

/// The page of the sweep has axes, charts, the best rows and what failed.
fn check_page(folder: &Path, out: &str) {
    let page = std::fs::read(folder.join(out).join("sweep.html")).expect("it was written");
    let page = text(&page);
    let parts = ["Small multiples", "Best rows", "What failed", "uPlot", "flashlane-sweep"];
    assert!(parts.iter().all(|part| page.contains(part)), "{page}");
    assert!(page.contains("under up to 125 seeds"), "seeds are aggregated");
    assert!(page.len() < 150_000 && !page.contains("src=\"http"), "{} bytes", page.len());
}

#[test]
fn a_sweep_that_is_killed_three_times_gives_the_table_of_an_undisturbed_one() {
    let folder = folder();
    let folder = folder.path();
    let output = flashlane(folder, &arguments("one", &["--jobs", "1"]));
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let undisturbed = table(folder, "one");
    check_page(folder, "one");
    let mut random = u64::from(std::process::id());
    let mut share = |from: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        from + (random >> 33) % 250
    };
    for kill in 0..3 {
        let mut sweep = start(folder, "two");
        let enough = share(250 * kill) as usize;
        while points(folder, "two").len() < enough {
            assert!(sweep.try_wait().expect("a child").is_none(), "it is killed in the middle");
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        sweep.kill().expect("it runs");
        sweep.wait().expect("it ends");
        assert!(!folder.join("two/results.csv").exists(), "no table before the end");
    }
    let kept = points(folder, "two");
    let when = |name: &String| {
        let data = std::fs::metadata(folder.join("two/points").join(name)).expect("a file");
        data.modified().expect("a time")
    };
    let before: Vec<_> = kept.iter().map(when).collect();
    assert!((1..1000).contains(&kept.len()), "{} points", kept.len());
    succeeds(folder, &arguments("two", &[]));
    assert!(table(folder, "two") == undisturbed, "the same table");
    assert_eq!(
        kept.iter().map(when).collect::<Vec<_>>(),
        before,
        "what was there was not run again"
    );
    assert_eq!(points(folder, "two").len(), 1000);
    let left: Vec<String> = names(&folder.join("two/points"));
    assert_eq!(left.len(), 1000, "nothing temporary is left");
    let rows: Vec<&str> = undisturbed.0.lines().collect();
    assert_eq!(rows.len(), 1 + 2 * 998 + 2, "two tenants a point, one row for a failure");
    for (kind, part) in [("trace", "bad.trace"), ("stuck", "the device cannot finish the work")] {
        let row: Vec<&&str> =
            rows.iter().filter(|row| row.contains(&format!(",{kind},"))).collect();
        assert!(row.len() == 1 && row[0].contains(part), "{kind}: {row:?}");
    }
}

#[test]
fn parts_of_a_sweep_merge_to_the_whole() {
    let folder = folder();
    let folder = folder.path();
    let grid = GRID.replace("to = 125, steps = 125", "to = 5, steps = 5");
    std::fs::write(folder.join("grid.toml"), grid).expect("written");
    succeeds(folder, &arguments("one", &[]));
    let refused = flashlane(folder, &arguments("parts", &["--merge"]));
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("40 of 40 points have no result"));
    for part in ["2/3", "1/3"] {
        succeeds(folder, &arguments("parts", &["--shard", part]));
        assert!(!folder.join("parts/results.csv").exists(), "not all parts are done");
    }
    assert_eq!(points(folder, "parts").len(), 27);
    let (json, _) = succeeds(folder, &arguments("parts", &["--shard", "3/3", "--format", "json"]));
    assert!(table(folder, "parts") == table(folder, "one"), "the last part writes the table");
    let lines: Vec<Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 40);
    assert_eq!(lines[0]["point"]["scheduler"], "fcfs");
    assert_eq!(lines[0]["summary"]["seed"], 1);
    std::fs::remove_file(folder.join("parts/results.csv")).expect("it was there");
    let (csv, _) = succeeds(folder, &arguments("parts", &["--merge", "--format", "csv"]));
    assert_eq!(csv, table(folder, "one").0);
    // Another trace is another point: its results are made anew, and the others stay.
    let trace = std::fs::read_to_string(folder.join("good.trace")).expect("it is there");
    std::fs::write(folder.join("good.trace"), trace.replace("\n20000 ", "\n19000 "))
        .expect("written");
    let output = flashlane(folder, &arguments("one", &[])[..6]);
    assert_eq!(output.status.code(), Some(2), "--out needs its folder");
    let loud = ["sweep", "grid.toml", "--states", "off", "--out", "one"];
    let output = flashlane(folder, &loud);
    assert!(
        text(&output.stderr).contains("40 points: 39 run, 1 found"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn points_that_are_refused_do_not_keep_parts_from_merging() {
    let folder = folder();
    let folder = folder.path();
    let grid = "device = 'tiny'\nworkload = 'w.toml'\n[axes]\nscheduler = ['fcfs', 'no-such']\nseed = [1, 2]\n";
    std::fs::write(folder.join("grid.toml"), grid).expect("written");
    succeeds(folder, &arguments("one", &[]));
    for part in ["1/2", "2/2"] {
        succeeds(folder, &arguments("parts", &["--shard", part]));
    }
    assert!(table(folder, "parts") == table(folder, "one"), "the last part writes the table");
    std::fs::remove_file(folder.join("parts/results.csv")).expect("it was there");
    succeeds(folder, &arguments("parts", &["--merge"]));
    let (csv, _) = table(folder, "parts");
    assert_eq!(csv.lines().filter(|row| row.contains(",config,")).count(), 2, "{csv}");
}

#[test]
fn files_of_axes_start_at_the_folder_of_the_grid() {
    let folder = folder();
    let folder = folder.path();
    let grid = "device = 'tiny'\nworkload = 'w.toml'\n[axes]\nworkload = ['w.toml', 'late.toml']\nseed = [2]\n";
    std::fs::create_dir(folder.join("elsewhere")).expect("made");
    std::fs::write(folder.join("grid.toml"), grid).expect("written");
    let sweep = ["sweep", "../grid.toml", "--states", "off", "--quiet", "--out", "out"];
    succeeds(&folder.join("elsewhere"), &sweep);
    let (csv, _) = table(&folder.join("elsewhere"), "out");
    let flows = ["replay", "writer", "slow"].map(|flow| csv.contains(&format!(",{flow},")));
    assert_eq!(flows, [true; 3], "{csv}");
}

#[test]
fn memory_is_a_limit() {
    let folder = folder_with("w.toml", WORKLOAD);
    let folder = folder.path();
    let line = |n: u64| format!("{} 0 {} 8 1\n", n * 20_000, 8 * (n % 512));
    std::fs::write(folder.join("good.trace"), (0..40).map(line).collect::<String>())
        .expect("written");
    // Page tables of 16 and of 64 million pages.
    let grid = r#"
device = "fast18"
workload = "w.toml"
[set]
ftl.precondition.enabled = false
[axes]
flash.blocks_per_plane = [512, 2048]
seed = [1, 2, 3]
"#;
    std::fs::write(folder.join("grid.toml"), grid).expect("written");
    let limit: u64 = 320 << 20;
    let memory = format!("{limit}B");
    let mut sweep = Command::new(env!("CARGO_BIN_EXE_flashlane"))
        .current_dir(folder)
        .args(arguments("out", &["--jobs", "4", "--memory", &memory]))
        .spawn()
        .expect("it starts");
    let mut peak = 0;
    while sweep.try_wait().expect("a child").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", sweep.id()));
        let line = status.ok().and_then(|text| {
            text.lines().find(|line| line.starts_with("VmHWM:")).map(str::to_owned)
        });
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) * 1024);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let (csv, _) = table(folder, "out");
    let failed = csv.lines().filter(|row| row.contains(",memory,")).count();
    assert_eq!(failed, 3, "the large drives need more than there is: {csv}");
    assert!(peak > 0, "the system tells how much memory a process takes");
    assert!(peak < limit, "{} MiB of {} MiB", peak >> 20, limit >> 20);
}

#[test]
fn grids_are_checked_before_anything_runs() {
    let folder = folder();
    let folder = folder.path();
    let (shown, _) = succeeds(folder, &arguments("out", &["--dry-run"]));
    assert!(
        shown.starts_with("1000 points over scheduler, interface.queue_fetch_size, seed"),
        "{shown}"
    );
    assert_eq!(shown.lines().count(), 12);
    assert!(!folder.join("out").exists());
    std::fs::write(folder.join("grid.toml"), "device = 'tiny'\n[axes]\n").expect("written");
    let output = flashlane(folder, &arguments("out", &[]));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("grid.toml"), "{}", text(&output.stderr));
    assert!(!folder.join("out").exists(), "nothing is left");
}

#[test]
fn a_sweep_without_any_result_fails_and_still_writes_its_tables() {
    let workload = "[[flow]]\nname = 'a'\nsynthetic = { queue_depth = 1, requests = 10 }\n";
    let folder = folder_with("w.toml", workload);
    let head = "device = 'tiny'\nworkload = 'w.toml'\n[axes]\n";
    let run = |axes: &str, out: &str| {
        std::fs::write(folder.path().join("g.toml"), format!("{head}{axes}")).expect("room");
        let run = flashlane(folder.path(), &["sweep", "g.toml", "--out", out]);
        assert!(folder.path().join(out).join("results.csv").is_file());
        (run.status.code(), text(&run.stderr))
    };
    let (status, said) = run("scheduler = ['nope', 'nada']\n", "all");
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("all 2 points failed (2 config)"), "{said}");
    let (status, said) = run("scheduler = ['nope', 'fcfs']\n", "half");
    assert_eq!(status, Some(0), "{said}");
    let deep = vec!["a"; 40_000].join(".");
    let (status, said) = run(&format!("\"{deep}\" = [1, 2]\n"), "deep");
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("levels") && said.contains("allowed: 32 at most"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_point_that_memory_does_not_suffice_for_is_a_row() {
    let workload = "[[flow]]\nname = 'a'\nsynthetic = { queue_depth = 1, requests = 10 }\n";
    let folder = folder_with("w.toml", workload);
    let grid = "device = 'tiny'\nworkload = 'w.toml'\n[axes]\ndevice = ['tiny', 'fast18']\n";
    std::fs::write(folder.path().join("g.toml"), grid).expect("room");
    let script =
        "ulimit -v 400000; exec \"$0\" sweep g.toml --out o --jobs 1 --memory 8GiB --quiet";
    let run = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_flashlane")])
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let table = std::fs::read_to_string(folder.path().join("o/results.csv")).expect("a table");
    let row = table.lines().find(|line| line.contains("fast18")).expect("a row");
    assert!(row.contains("memory") && row.contains("ulimit -v"), "{row}");
    assert!(!row.contains("internal"), "{row}");
}
