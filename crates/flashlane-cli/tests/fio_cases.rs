//! Job files that once ran and meant something else, with the values that fio, or a trace of what
//! fio issues, gives: `../shared/cases/inputs`.

use std::path::Path;

use crate::common::{flashlane, succeeds, text};
use flashlane_testing::shared;
use serde_json::Value;

/// The preset `fast18` with `blocks` blocks in a plane.
fn fast18(blocks: u32) -> Vec<String> {
    let blocks = format!("flash.blocks_per_plane={blocks}");
    ["--device", "fast18", "--set", &blocks].map(str::to_owned).to_vec()
}

/// The file of a case, where there is one.
fn case(name: &str) -> Option<String> {
    let path = shared(&format!("cases/inputs/{name}"), "inputs that once went wrong")?;
    Some(path.to_string_lossy().into_owned())
}

/// Summary and warnings of a case on a device.
fn run(name: &str, device: &[String], more: &[&str]) -> Option<(Value, String)> {
    let path = case(name)?;
    let mut arguments = vec!["run", "--workload", &path, "--format", "json"];
    arguments.extend(device.iter().map(String::as_str));
    arguments.extend(more);
    let folder = tempfile::tempdir().expect("a folder");
    let (stdout, stderr) = succeeds(folder.path(), &arguments);
    let warnings: Vec<&str> = stderr.lines().filter(|line| line.contains("warning")).collect();
    Some((serde_json::from_str(&stdout).expect("JSON"), warnings.join("\n")))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() < share, "{found}, expected {expected}");
}

#[test]
fn reads_and_writes_have_sizes_of_their_own() {
    let Some((found, warnings)) = run("bs_rw.fio", &fast18(64), &[]) else { return };
    let flow = &found["flows"][0];
    let mean = |op: &str| number(&flow["bytes"][op]) / number(&flow["requests"][op]);
    assert_eq!((mean("read"), mean("write")), (4096.0, 65_536.0));
    let bytes = |op: &str| number(&flow["bytes"][op]);
    near(bytes("write") / (bytes("read") + bytes("write")), 0.64, 0.02);
    near(number(&flow["read_response_time_us"]["mean"]), 110.7, 0.05);
    near(number(&flow["write_response_time_us"]["mean"]), 41.6, 0.05);
    assert_eq!(warnings, "");
}

#[test]
fn loops_repeat_their_order() {
    let tiny = ["--device", "tiny"].map(str::to_owned);
    let Some((same, _)) = run("cover_loops.fio", &tiny, &["--waf-only"]) else { return };
    near(number(&same["flows"][0]["write_amplification"]), 1.14, 0.03);
}

#[test]
fn a_flush_after_each_write_is_the_trace_of_it() {
    let Some((job, _)) = run("wal_sync.fio", &fast18(64), &[]) else { return };
    let (trace, _) = run("wal_sync.toml", &fast18(64), &[]).expect("it is beside the job");
    let (job, trace) = (&job["flows"][0], &trace["flows"][0]);
    assert_eq!(job["requests"], trace["requests"]);
    assert_eq!((&job["requests"]["write"], &job["requests"]["flush"]), (&819.into(), &819.into()));
    for key in ["iops", "response_time_us", "flush_response_time_us", "write_response_time_us"] {
        assert_eq!(job[key], trace[key], "{key}");
    }
    near(number(&job["iops"]), 2559.0, 0.01);
    near(number(&job["flush_response_time_us"]["mean"]), 779.0, 0.01);
}

#[test]
fn synchronous_writes_are_on_flash_when_they_return() {
    let Some((found, _)) = run("sync1.fio", &fast18(160), &[]) else { return };
    // Half of the requests are the flushes.
    near(number(&found["flows"][0]["iops"]), 2.0 * 1280.0, 0.03);
    assert_eq!(found["flows"][0]["requests"]["write"], 2000);
}

#[test]
fn pauses_are_those_of_the_job_at_any_depth() {
    let Some((deep, warnings)) = run("think_depth.fio", &fast18(160), &[]) else { return };
    near(number(&deep["flows"][0]["iops"]), 906.0, 0.03);
    assert_eq!(warnings, "");
    let (bursts, _) = run("think_burst.fio", &fast18(160), &[]).expect("it is beside");
    // Ten bursts of 512 begin in the second that is measured.
    near(number(&bursts["flows"][0]["iops"]), 4800.0, 0.08);
}

#[test]
fn a_rate_of_writes_limits_writes_alone() {
    let Some((found, _)) = run("rate_write_only.fio", &fast18(160), &[]) else { return };
    let flow = &found["flows"][0];
    let seconds = number(&flow["bytes"]["write"]) / f64::from(20 << 20);
    assert!((0.05..0.12).contains(&seconds), "{seconds} s of writes");
    assert!(number(&flow["bytes"]["read"]) > 3.0 * number(&flow["bytes"]["write"]));
}

#[test]
fn harmless_options_includes_and_shares_are_accepted() {
    let device = fast18(160);
    for (name, reads, writes) in
        [("disk_util.fio", 100, 0), ("include.fio", 100, 0), ("offset_percent.fio", 0, 1024)]
    {
        let Some((found, warnings)) = run(name, &device, &[]) else { return };
        for flow in found["flows"].as_array().expect("flows") {
            let counted = &flow["requests"];
            assert!(counted["read"] == reads || reads == 0, "{name}: {counted}");
            assert!(counted["write"].as_u64() >= Some(writes), "{name}: {counted}");
        }
        assert_eq!(warnings, "", "{name}");
    }
    let Some((found, _)) = run("replay_redirect.fio", &device, &[]) else { return };
    assert_eq!(found["requests_completed"], 3);
}

#[test]
fn a_group_of_many_jobs_runs_on_every_drive() {
    let Some(path) = case("numjobs64.fio") else { return };
    let job = std::fs::read_to_string(&path).expect("text");
    let many = job.replace("numjobs=64", "numjobs=256").replace("runtime=50ms", "runtime=1ms");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("many.fio"), many).expect("room");
    for preset in flashlane::config::preset::Preset::names() {
        let checked = flashlane(folder.path(), &["check", "many.fio", preset]);
        let said = text(&checked.stderr);
        // The smallest drives have no room for 256 files of 64 MiB.
        let is_small = said.contains("synthetic.region");
        assert!(checked.status.success() || is_small, "{preset}: {said}");
    }
    let Some((found, _)) = run("numjobs64.fio", &fast18(160), &[]) else { return };
    assert_eq!(found["flows"].as_array().map(Vec::len), Some(1));
    assert!(number(&found["flows"][0]["iops"]) > 100_000.0, "64 at a time");
}

#[test]
fn a_job_is_recognised_by_its_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, job: &str| {
        std::fs::write(folder.path().join(name), job).expect("room");
    };
    write("job.ini", "[a]\nrw=randread\nbs=4k\nnumber_ios=50\n");
    write("pasted.txt", "fio --name=a --rw=randread --bs=4k --number_ios=50 \\\n  --direct=1\n");
    write("plain", "; a job\n[a]\nrw=randread\nbs=4k\nnumber_ios=50\n");
    for name in ["job.ini", "pasted.txt", "plain"] {
        let arguments = ["run", "--device", "tiny", "--format", "json", "--workload", name];
        let (stdout, _) = succeeds(folder.path(), &arguments);
        let found: Value = serde_json::from_str(&stdout).expect("JSON");
        assert_eq!(found["requests_completed"], 50, "{name}");
    }
    from_standard_input(folder.path());
}

/// The job of `plain` through a pipe.
#[cfg(unix)]
fn from_standard_input(folder: &Path) {
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_flashlane"))
        .current_dir(folder)
        .args(["run", "--device", "tiny", "--format", "json", "--workload", "/dev/stdin"])
        .stdin(std::fs::File::open(folder.join("plain")).expect("the job"))
        .output()
        .expect("it runs");
    let found: Value = serde_json::from_str(&text(&run.stdout)).expect("JSON");
    assert_eq!(found["requests_completed"], 50, "{}", text(&run.stderr));
}

#[cfg(not(unix))]
fn from_standard_input(_: &Path) {}
