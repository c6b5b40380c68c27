//! Files of the user stay: no command replaces or removes what Flashlane did not write.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{flashlane, folder_with, names, succeeds, text};

const WORKLOAD: &str = "[[flow]]\nname = \"ä😀\"\nsynthetic = { queue_depth = 2, requests = 60 }\n";
const GRID: &str = "device = \"tiny\"\nworkload = \"w.toml\"\n[axes]\nseed = [1, 2]\n";
const CURVES: &str = "op,pattern,size,depth,metric,value\nread,random,4KiB,1,mean_us,80\n\
                      read,random,4KiB,16,kiops,165\n";
const RUN: [&str; 7] = ["run", "--device", "tiny", "--workload", "w.toml", "--quiet", "--out"];

fn folder() -> tempfile::TempDir {
    let folder = folder_with("w.toml", WORKLOAD);
    for (name, text) in [
        ("grid.toml", GRID),
        ("curves.csv", CURVES),
        ("t.csv", "# t_us,op(R/W),offset_bytes,size_bytes,device\n1,R,0,4096,0\n2,W,0,4096,0\n"),
    ] {
        fs::write(folder.path().join(name), text).expect("room");
    }
    folder
}

/// Refused with exit status 2; what it says.
fn refused(output: &Output) -> String {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    stderr
}

#[test]
fn a_run_refuses_by_name_what_it_did_not_write() {
    let folder = folder();
    let folder = folder.path();
    let mine = [
        "report.html",
        "requests.parquet",
        "timeline.pftrace",
        "seeds.json",
        "steady.json",
        "blame.json",
        "timeseries.parquet",
        "summary.json",
    ];
    fs::create_dir_all(folder.join("mine/scenario-2")).expect("room");
    for name in mine.into_iter().chain(["notes.txt", "scenario-2/report.html"]) {
        fs::write(folder.join("mine").join(name), "mine").expect("room");
    }
    let all_are_mine = || {
        for name in mine.into_iter().chain(["notes.txt", "scenario-2/report.html"]) {
            let text = fs::read_to_string(folder.join("mine").join(name)).expect("it is there");
            assert_eq!(text, "mine", "{name}");
        }
        assert_eq!(names(&folder.join("mine")).len(), 10, "nothing is left of the try");
    };
    let said = refused(&flashlane(folder, &[&RUN[..], &["mine"]].concat()));
    for name in mine {
        let words = format!("mine/{name}: flashlane did not write it");
        assert!(said.contains(&words) && said.contains("--overwrite"), "{said}");
    }
    all_are_mine();
    // With the word for it a run replaces what it writes, and removes nothing.
    succeeds(folder, &[&RUN[..], &["mine", "--overwrite"]].concat());
    let summary = fs::read_to_string(folder.join("mine/summary.json")).expect("it is there");
    fs::write(folder.join("mine/summary.json"), "mine").expect("room");
    all_are_mine();
    assert!(summary.contains("flashlane.summary"));
    // A file that was changed since belongs to the user again.
    let said = refused(&flashlane(folder, &[&RUN[..], &["mine"]].concat()));
    assert!(said.contains("mine/summary.json: changed since flashlane wrote it"), "{said}");
}

#[test]
fn a_folder_of_an_earlier_version_is_refused_by_name() {
    let folder = folder();
    let folder = folder.path();
    let run = [&RUN[..], &["old"]].concat();
    succeeds(folder, &run);
    fs::remove_file(folder.join("old").join(flashlane_files::MANIFEST)).expect("there is one");
    let said = refused(&flashlane(folder, &run));
    assert!(said.contains("old/summary.json: flashlane did not write it"), "{said}");
    succeeds(folder, &[&run[..], &["--overwrite"]].concat());
    succeeds(folder, &run);
}

/// A command, a place that it writes, and the word for it.
const PLACES: &[(&[&str], &str)] = &[
    (&["demo", "--quiet", "--out", "o"], "o/report.html"),
    (&["demo", "--quiet", "--out", "o"], "o/fcfs/summary.json"),
    (&["plan", "--device", "tiny", "--workload", "w.toml", "--out", "o"], "o/plan.json"),
    (&["sweep", "grid.toml", "--states", "off", "--out", "o"], "o/results.csv"),
    (
        &["sweep", "grid.toml", "--states", "off", "--out", "o", "--shard", "1/2"],
        "o/results.parquet",
    ),
    (&["reproduce", "fast18", "--smoke", "--out", "o"], "o/results.json"),
    (&["fit", "curves.csv", "--base", "zn540", "--out", "mine.toml"], "mine.toml"),
    (&["fit", "curves.csv", "--base", "zn540", "--out", "o/mine.toml"], "o/fit.html"),
    (
        &["probe", "simulated:tiny", "--only", "idle-latency", "--out", "o"],
        "o/idle-latency.parquet",
    ),
    (&["man", "--out", "o"], "o/flashlane-run.1"),
    (&["compare", "a", "b", "--report", "page.html"], "page.html"),
    (&["trace", "convert", "t.csv", "mine.csv"], "mine.csv"),
    (&["trace", "clone", "tpcc", "--out", "mine.toml"], "mine.toml"),
    (&["trace", "clone", "tpcc", "--generate", "9", "--out", "mine.csv"], "mine.csv"),
    (
        &["run", "--device", "tiny", "--workload", "w.toml", "--format", "mqsim-xml", "--out", "o"],
        "o/w_scenario_1.xml",
    ),
];

#[cfg(feature = "exec")]
const EXEC: &[(&[&str], &str)] = &[
    (&["exec", "--device", "tiny", "--program", "a=t.csv", "--out", "o"], "o/exec.json"),
    (&["exec", "--device", "tiny", "--program", "a=t.csv", "--capture", "mine.csv"], "mine.csv"),
];

#[cfg(not(feature = "exec"))]
const EXEC: &[(&[&str], &str)] = &[];

#[test]
fn every_command_refuses_by_name_what_it_did_not_write() {
    let folder = folder();
    let folder = folder.path();
    for run in ["a", "b"] {
        succeeds(folder, &[&RUN[..], &[run]].concat());
    }
    for (arguments, place) in PLACES.iter().chain(EXEC) {
        let path = folder.join(place);
        fs::create_dir_all(path.parent().expect("a folder")).expect("room");
        fs::write(&path, "mine").expect("room");
        let said = refused(&flashlane(folder, arguments));
        let words = format!("{place}: flashlane did not write it");
        assert!(said.contains(&words) && said.contains("--overwrite"), "{arguments:?}: {said}");
        assert_eq!(fs::read(&path).expect("it is there"), b"mine", "{arguments:?}");
        fs::remove_file(&path).expect("it was there");
        let _ = fs::remove_dir_all(folder.join("o"));
    }
    // Once more and with the word for it, where that is quick.
    for (arguments, place) in
        PLACES.iter().filter(|(all, _)| matches!(all[0], "man" | "trace" | "compare" | "sweep"))
    {
        let path = folder.join(place);
        let _ = fs::remove_file(&path);
        succeeds(folder, arguments);
        succeeds(folder, arguments);
        fs::write(&path, "mine").expect("room");
        succeeds(folder, &[arguments, &["--overwrite"][..]].concat());
        assert_ne!(fs::read(&path).expect("it is there"), b"mine", "{arguments:?}");
    }
}

#[test]
fn no_output_takes_the_place_of_an_input() {
    let folder = folder();
    let folder = folder.path();
    for run in ["a", "b"] {
        succeeds(folder, &[&RUN[..], &[run, "--report"]].concat());
    }
    let before = |place: &str| fs::read(folder.join(place)).expect("it is there");
    succeeds(folder, &["trace", "clone", "tpcc", "--out", "ours.toml"]);
    succeeds(folder, &["trace", "convert", "t.csv", "ours.csv"]);
    std::os::unix::fs::symlink("ours.csv", folder.join("link.csv")).expect("room");
    let inputs: [(&[&str], &str); 7] = [
        (&["compare", "a", "b", "--report", "a/report.html"], "a/report.html"),
        (&["compare", "a", "b", "--report", "./b/../b/summary.json"], "b/summary.json"),
        (&["compare", "a/report.html", "b", "--report", "a/report.html"], "a/report.html"),
        (&["trace", "convert", "ours.csv", "./ours.csv"], "ours.csv"),
        (&["trace", "convert", "link.csv", "ours.csv"], "ours.csv"),
        (&["trace", "clone", "ours.toml", "--out", "./ours.toml"], "ours.toml"),
        (&["fit", "curves.csv", "--base", "ours.toml", "--out", "ours.toml"], "ours.toml"),
    ];
    for (arguments, place) in inputs {
        let whole = before(place);
        let said = refused(&flashlane(folder, &[arguments, &["--overwrite"]].concat()));
        assert!(said.contains("input") && said.contains("; allowed: another file"), "{said}");
        assert!(before(place) == whole, "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn two_runs_never_write_one_folder_at_a_time() {
    let folder = folder();
    let folder = folder.path();
    let endless =
        "[[flow]]\nname = \"a\"\nsynthetic = { queue_depth = 8, requests = 1000000000 }\n";
    fs::write(folder.join("long.toml"), endless).expect("room");
    let mut long = Command::new(env!("CARGO_BIN_EXE_flashlane"));
    long.current_dir(folder).args(["run", "--device", "tiny", "--workload", "long.toml"]);
    let mut long = long.args(["--out", "out"]).stderr(Stdio::null()).spawn().expect("it runs");
    let begun = Instant::now();
    while !folder.join("out/.flashlane-lock").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no lock");
        std::thread::sleep(Duration::from_millis(10));
    }
    let run = [&RUN[..], &["out"]].concat();
    let second = flashlane(folder, &run);
    let other = flashlane(folder, &[&RUN[..], &["other"]].concat());
    long.kill().expect("it runs");
    long.wait().expect("it ends");
    let said = refused(&second);
    let words = format!("out: process {}", long.id());
    assert!(said.contains(&words) && said.contains("writes results there"), "{said}");
    assert!(other.status.success(), "another folder is free");
    // The lock died with its process.
    succeeds(folder, &run);
    assert_eq!(names(&folder.join("out")), ["summary.json"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error_of_every_output_and_stays_a_device() {
    let folder = folder();
    let folder = folder.path();
    for run in ["a", "b"] {
        succeeds(folder, &[&RUN[..], &[run]].concat());
    }
    let is_full = || {
        let kind = fs::metadata("/dev/full").expect("it is there").file_type();
        std::os::unix::fs::FileTypeExt::is_char_device(&kind)
    };
    for arguments in [
        &["compare", "a", "b", "--report", "/dev/full"][..],
        &["trace", "convert", "t.csv", "/dev/full", "--to", "csv"],
        &["trace", "convert", "t.csv", "/dev/full", "--to", "parquet", "--overwrite"],
        &["trace", "clone", "tpcc", "--out", "/dev/full"],
        &["trace", "clone", "tpcc", "--generate", "100000", "--quiet", "--out", "/dev/full"],
        &["man", "--out", "/dev/full"],
        &["run", "--device", "tiny", "--workload", "w.toml", "--out", "/dev/full"],
    ] {
        let said = refused(&flashlane(folder, arguments));
        assert!(said.contains("/dev/full: "), "{arguments:?}: {said}");
        assert!(is_full(), "{arguments:?}");
    }
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["run", "--help"],
        &["policies"],
        &["preset", "list"],
        &["preset", "show", "tiny"],
        &["schema", "device"],
        &["completions", "bash"],
        &["trace", "formats"],
        &["trace", "inspect", "t.csv"],
        &["trace", "clone", "--list"],
        &["trace", "clone", "tpcc", "--generate", "10"],
        &["check", "w.toml"],
        &["states", "list", "--states", "s"],
        &["reproduce", "list"],
        &["compare", "a", "b"],
        &["compare", "a", "b", "--format", "csv"],
        &["run", "--device", "tiny", "--workload", "w.toml", "--quiet"],
        &["run", "--device", "tiny", "--workload", "w.toml", "--dry-run"],
        &["run", "--device", "tiny", "--workload", "w.toml", "--quiet", "--format", "mqsim-xml"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
        let output = command.current_dir(folder).args(arguments).stdout(full).output();
        let said = refused(&output.expect("it runs"));
        assert!(said.contains("standard output: cannot be written"), "{arguments:?}: {said}");
    }
    // A file that is already open is written directly.
    let (stdout, _) =
        succeeds(folder, &["trace", "convert", "t.csv", "/dev/stdout", "--to", "csv"]);
    assert!(stdout.contains("4096"), "{stdout}");
}

/// A write beyond the largest file that is allowed is an error, and leaves nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_the_size_of_files_leaves_nothing() {
    let folder = folder();
    let long = "[[flow]]\nname = \"a\"\nsynthetic = { queue_depth = 8, requests = 200000 }\n";
    fs::write(folder.path().join("w.toml"), long).expect("room");
    for arguments in [
        &["run", "--device", "tiny", "--workload", "w.toml", "--requests", "--out", "new"][..],
        &["trace", "clone", "tpcc", "--generate", "100000", "--quiet", "--out", "new"],
    ] {
        let output = Command::new("bash")
            .args(["-c", "ulimit -f 16 && exec \"$@\"", "bash", env!("CARGO_BIN_EXE_flashlane")])
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        let said = refused(&output);
        assert!(said.contains("File too large"), "{said}");
        assert_eq!(names(folder.path()), ["curves.csv", "grid.toml", "t.csv", "w.toml"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_and_devices_are_no_points_of_a_sweep() {
    let folder = folder();
    let folder = folder.path();
    let made = Command::new("mkfifo").arg(folder.join("fifo")).status().expect("mkfifo runs");
    assert!(made.success());
    fs::write(folder.join("pipe.toml"), "[[flow]]\nname = \"a\"\ntrace = { path = \"fifo\" }\n")
        .expect("room");
    let grid = "device = \"tiny\"\nworkload = \"w.toml\"\n[axes]\n";
    for (axis, failed) in [
        ("device = [\"tiny\", \"fifo\", \"/dev/zero\"]", 2),
        ("workload = [\"w.toml\", \"fifo\", \"/dev/full\", \"pipe.toml\"]", 3),
    ] {
        fs::write(folder.join("pipes.toml"), format!("{grid}{axis}\n")).expect("room");
        let output = Command::new("timeout")
            .args(["60", env!("CARGO_BIN_EXE_flashlane"), "sweep", "pipes.toml", "--out", "o"])
            .args(["--states", "off"])
            .current_dir(folder)
            .output()
            .expect("it runs");
        let said = text(&output.stderr);
        assert!(said.contains(&format!("{failed} failed ({failed} config)")), "{axis}: {said}");
        assert!(
            said.contains("is no regular file; allowed: a file that can be read more"),
            "{said}"
        );
        fs::remove_dir_all(folder.join("o")).expect("it was there");
    }
}

#[test]
fn mqsim_results_are_the_ascii_that_they_declare() {
    let folder = folder();
    let run = ["run", "--device", "tiny", "--workload", "w.toml", "--quiet"];
    let (xml, _) = succeeds(folder.path(), &[&run[..], &["--format", "mqsim-xml"]].concat());
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"us-ascii\"?>") && xml.is_ascii());
    assert!(xml.contains(".&#228;&#128512;</Name>"), "{xml}");
}

/// A package of the name in the current folder, which leaves a file where it is loaded.
fn traps(folder: &Path) {
    let trap = "open(__file__ + '.loaded', 'w').close()\n";
    let package = folder.join("flashlane");
    fs::create_dir(&package).expect("room");
    for name in ["flashlane/__init__.py", "flashlane/search.py", "flashlane/cluster.py", "json.py"]
    {
        fs::write(folder.join(name), trap).expect("room");
    }
}

#[test]
fn python_loads_nothing_from_the_current_folder() {
    let folder = folder();
    traps(folder.path());
    for arguments in [
        &["search", "grid.toml", "--out", "o"][..],
        &["sweep", "grid.toml", "--out", "o", "--engine", "dask"],
    ] {
        // Empty entries of the variable mean the current folder, too.
        for path in [None, Some(""), Some(":"), Some("/nowhere:")] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
            command.current_dir(folder.path()).args(arguments).env_remove("PYTHONPATH");
            command.envs(path.map(|path| ("PYTHONPATH", path)));
            // With the package or without it: the study is refused.
            refused(&command.output().expect("it runs"));
            let loaded = |folder: &Path| names(folder).iter().any(|one| one.ends_with(".loaded"));
            assert!(!loaded(folder.path()), "{arguments:?} {path:?}");
            assert!(!loaded(&folder.path().join("flashlane")), "{arguments:?} {path:?}");
        }
    }
}
