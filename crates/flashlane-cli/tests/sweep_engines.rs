//! A sweep on many machines: a job array of Slurm on one node that the test starts, and what is
//! handed to the Python package for Dask, whose own tests run there.

use std::path::Path;
use std::process::Command;

use crate::common::{flashlane, folder_with, names, repository, succeeds, text};
use flashlane_testing::skip;

const WORKLOAD: &str = r#"
[[flow]]
name = "reader"
synthetic = { queue_depth = 1, read_ratio = 1.0, requests = 300 }
"#;

/// One point of three is refused.
const GRID: &str = r#"
device = "tiny"
workload = "w.toml"
[axes]
scheduler = ["fcfs", "no-such", "out-of-order"]
seed = { from = 1, to = 20, steps = 20 }
"#;

fn folder() -> tempfile::TempDir {
    let folder = folder_with("w.toml", WORKLOAD);
    std::fs::write(folder.path().join("grid.toml"), GRID).expect("written");
    folder
}

/// Runs the command beside a Slurm of one node; says why not where there is none.
fn beside_slurm(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let script = repository().join("scripts/slurm_node.py");
    let run = Command::new("python3")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_flashlane"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("python3: {error}"))?;
    let said = text(&run.stderr);
    match run.status.code() {
        Some(0) => Ok(()),
        Some(77) => Err(said),
        other => panic!("exit status {other:?}: {said}"),
    }
}

#[test]
fn a_job_array_gives_the_table_of_one_machine() {
    let folder = folder();
    let folder = folder.path();
    let table =
        |out: &str| std::fs::read(folder.join(out).join("results.parquet")).expect("a table");
    succeeds(folder, &["sweep", "grid.toml", "--out", "alone", "--quiet"]);
    let array = ["sweep", "grid.toml", "--out", "parts", "--engine", "slurm", "--parts", "4"];
    if let Err(why) = beside_slurm(folder, &array) {
        return skip(&format!("Slurm: {}", why.replace('\n', " ")));
    }
    assert!(table("parts") == table("alone"));
    let logs: Vec<String> = (1..=4).map(|part| format!("part-{part}.log")).collect();
    assert_eq!(names(&folder.join("parts/slurm")), logs);
    let script = std::fs::read_to_string(folder.join("parts/sweep.sbatch")).expect("written");
    assert!(script.contains("--shard \"$SLURM_ARRAY_TASK_ID/4\""), "{script}");
    // Parts that lost points are submitted again, and no others.
    let points = folder.join("parts/points");
    let lost: Vec<String> =
        names(&points).into_iter().filter(|name| name.ends_with(".json")).collect();
    std::fs::remove_file(points.join(&lost[0])).expect("it was there");
    std::fs::remove_dir_all(folder.join("parts/slurm")).expect("it was there");
    beside_slurm(folder, &array).expect("it ran before");
    assert_eq!(names(&folder.join("parts/slurm")).len(), 1, "one part was lost");
    assert!(table("parts") == table("alone"));
}

#[test]
fn without_slurm_the_program_that_is_missing_is_named() {
    let folder = folder();
    let output = Command::new(env!("CARGO_BIN_EXE_flashlane"))
        .args(["sweep", "grid.toml", "--out", "out", "--engine", "slurm"])
        .current_dir(folder.path())
        .env("PATH", folder.path())
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("--engine slurm: found no program `sbatch`"), "{said}");
}

#[test]
fn dask_is_left_to_the_python_package() {
    let folder = folder();
    let run = |python: &str, more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_flashlane"))
            .args(["sweep", "grid.toml", "--out", "out", "--engine", "dask", "--workers", "2"])
            .args(more)
            .current_dir(folder.path())
            .env("PYTHON", python)
            .output()
            .expect("it starts")
    };
    let output = run("echo", &["--memory", "1KiB", "--format", "csv", "--states", "off"]);
    assert_eq!(
        text(&output.stdout).trim(),
        "-P -m flashlane.cluster grid.toml --out out --cluster local --workers 2 --memory 1024 --states off \
         --format csv"
    );
    let output = run("false", &[]);
    assert_eq!(output.status.code(), Some(2));
    let output = run("a-program-that-is-not-there", &[]);
    assert!(text(&output.stderr).contains("flashlane[dask]"), "{}", text(&output.stderr));
    let parts = ["sweep", "grid.toml", "--out", "out", "--engine", "dask", "--shard", "1/2"];
    let output = flashlane(folder.path(), &parts);
    assert!(text(&output.stderr).contains("--shard, --merge: found with another engine"));
}

#[test]
fn a_search_is_left_to_the_python_package() {
    let folder = folder();
    let run = |python: &str, more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_flashlane"))
            .args(["search", "study.toml", "--out", "out"])
            .args(more)
            .current_dir(folder.path())
            .env("PYTHON", python)
            .output()
            .expect("it starts")
    };
    let output = run("echo", &["--trials", "30", "--memory", "1KiB", "--quiet"]);
    assert_eq!(
        text(&output.stdout).trim(),
        "-P -m flashlane.search study.toml --out out --jobs 0 --trials 30 --memory 1024 --quiet"
    );
    assert_eq!(run("false", &[]).status.code(), Some(2));
    let output = run("a-program-that-is-not-there", &[]);
    assert!(text(&output.stderr).contains("flashlane[search]"), "{}", text(&output.stderr));
}
