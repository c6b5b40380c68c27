//! Files, folders and options that are refused.

use std::process::Command;

use super::{assert_refused, flashlane, good_folder};

/// Options that are refused with good files; more words than one are separate arguments.
const OPTIONS: &[(&[&str], &[&str])] = &[
    (&["--device", "flinn"], &["--device", "no preset", "did you mean `flin`?"]),
    (&["--device", "nowhere.toml"], &["nowhere.toml", "no such file"]),
    (&["--device", "."], &[".: is a folder"]),
    (&["--device", "empty.toml"], &["empty.toml", "is empty"]),
    (&["--device", "binary.toml"], &["binary.toml:2", "0xff", "UTF-8"]),
    (&["--device", "d.toml/inside"], &["d.toml/inside", "cannot be read"]),
    (&["--device", "d.toml", "--workload", "nowhere.toml"], &["nowhere.toml", "no such file"]),
    (&["--device", "d.toml", "--workload", "empty.toml"], &["empty.toml", "is empty"]),
    (&["--device", "d.toml", "--workload", "job.fio"], &["job.fio: found no job"]),
    (&["--device", "d.toml", "--scheduler", "fcfz"], &["--scheduler fcfz", "`fcfs`?"]),
    (&["--device", "d.toml", "--isolation", "unifeid"], &["--isolation", "`unified`?"]),
    (&["--device", "d.toml", "--compat", "ssdsim"], &["--compat", "mqsim"]),
    (&["--device", "d.toml", "--set", "flash.chanels=2"], &["--set flash.chanels=2", "`channels`"]),
    (&["--device", "d.toml", "--set", "nothing"], &["--set nothing", "path.to.key=value"]),
    (&["--device", "d.toml", "--set", "flash.read_time[4]=5us"], &["found [4]", "0 to 0"]),
    (&["--device", "d.toml", "--set", "flow.thrid.priority=low"], &["no element named `thrid`"]),
    (&["--device", "d.toml", "--set", "flow[7].priority=low"], &["found [7]", "0 to 1"]),
    (&["--device", "d.toml", "--warmup", "soon"], &["--warmup", "number of requests"]),
    (&["--device", "d.toml", "--seeds", "0"], &["--seeds", "1..=10000"]),
    (&["--device", "d.toml", "--seed", "-1"], &["-1"]),
    (&["--device", "d.toml", "--format", "yaml"], &["--format", "text, json"]),
    (&["--device", "d.toml", "--waf-only", "--alone"], &["--waf-only", "--alone"]),
    (&["--device", "d.toml", "--waf-only", "--until-steady"], &["--waf-only", "--until-steady"]),
    (&["--device", "d.toml", "--waf-only", "--warmup", "1ms"], &["--warmup", "number of requests"]),
    (
        &["--device", "d.toml", "--waf-only", "--format", "mqsim-xml"],
        &["--format mqsim-xml", "--waf-only"],
    ),
    (&["--device", "xpoint", "--waf-only"], &["flash.technology: found in-place", "amplifies"]),
    (
        &["--device", "d.toml", "--waf-only", "--compat", "mqsim"],
        &["compat.collection_per_block", "compat.unprogrammed_mapping"],
    ),
    (&["--device", "d.toml", "--until-steady", "--alone"], &["--until-steady", "--alone"]),
    (&["--device", "d.toml", "--until-steady", "--round", "0"], &["--round", "above 0"]),
    (&["--device", "d.toml", "--until-steady", "--track", "p99"], &["--track", "latency"]),
    (&["--device", "d.toml", "--timeline=2ms..1ms"], &["--timeline", "after the start"]),
    (&["--device", "d.toml", "--series-window", "0s"], &["--series-window", "above 0"]),
    (&["--device", "d.toml", "--blame", "--seeds", "2"], &["--seeds", "one run is watched"]),
    (&["--device", "d.toml", "--blame", "--waf-only"], &["--blame", "they are about time"]),
    (&["--device", "d.toml", "--format", "fio-json", "--waf-only"], &["--format", "text, json"]),
    (&["--device", "d.toml", "--sheduler", "fcfs"], &["--sheduler", "--scheduler"]),
    (&[], &["--device"]),
];

/// Output folders that cannot be used.
const FOLDERS: &[(&str, &[&str])] = &[
    ("d.toml", &["d.toml", "is not a folder"]),
    ("d.toml/inside", &["d.toml", "is not a folder"]),
    ("/dev/full", &["/dev/full", "is not a folder"]),
    ("/proc/flashlane", &["/proc/flashlane", "cannot be made"]),
    ("/proc", &["/proc", "cannot be written"]),
];

#[test]
fn options_and_files() {
    let folder = good_folder();
    std::fs::write(folder.path().join("empty.toml"), " \n").expect("written");
    std::fs::write(folder.path().join("binary.toml"), b"name = \"x\"\n\xff\xfe").expect("written");
    std::fs::write(folder.path().join("job.fio"), "[global]\n").expect("written");
    for (options, says) in OPTIONS {
        let mut arguments = vec!["run", "--out", "o"];
        if !options.contains(&"--workload") {
            arguments.extend(["--workload", "w.toml"]);
        }
        arguments.extend(*options);
        assert_refused(folder.path(), &arguments, says);
    }
}

#[test]
fn output_folders() {
    let folder = good_folder();
    for (out, says) in FOLDERS {
        let arguments =
            ["run", "--device", "d.toml", "--workload", "w.toml", "--out", out, "--quiet"];
        assert_refused(folder.path(), &arguments, says);
    }
}

/// A disk that takes no more bytes, played by a file size limit of zero.
#[test]
#[cfg(unix)]
fn a_full_disk() {
    let folder = good_folder();
    let script = "trap '' XFSZ; ulimit -f 0; \
        exec \"$0\" run --device d.toml --workload w.toml --out o/deep --format json 2>&1";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_flashlane")])
        .current_dir(folder.path())
        .output()
        .expect("sh starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("o/deep: cannot be written"), "{text}");
    assert!(!folder.path().join("o").exists(), "the folder is taken back");
}

#[test]
fn a_closed_standard_output() {
    let folder = good_folder();
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = Command::new(env!("CARGO_BIN_EXE_flashlane"))
        .args(["preset", "show", "flin"])
        .current_dir(folder.path())
        .stdout(full)
        .output()
        .expect("the command starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("standard output"), "{stderr}");
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let script = "\"$0\" schema device | head -c 1 >/dev/null; \"$0\" policies | true; \
        \"$0\" preset list 2>&1 >&- | cat";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_flashlane")])
        .output()
        .expect("sh starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("panicked") && !text.contains("internal fault"), "{text}");
}

#[test]
fn check_reports_every_file() {
    let folder = good_folder();
    std::fs::write(folder.path().join("bad.toml"), "[flsh]\nchannels = 1\n").expect("written");
    std::fs::write(folder.path().join("worse.toml"), "[[flwo]]\nname = 1\n").expect("written");
    let output = flashlane(folder.path(), &["check", "d.toml", "bad.toml", "worse.toml", "w.toml"]);
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stdout.contains("d.toml: OK (device good)"), "{stdout}");
    assert!(stdout.contains("w.toml: OK (workload, 1 scenario(s), 2 flow(s)"), "{stdout}");
    assert!(
        stderr.contains("bad.toml:1: flsh: unknown key `flsh`; did you mean `flash`?"),
        "{stderr}"
    );
    assert!(
        stderr.contains("worse.toml:1: flwo: unknown key `flwo`; did you mean `flow`?"),
        "{stderr}"
    );
}

/// Errors that are found only when the trace is read.
#[test]
fn traces_that_cannot_be_replayed() {
    let good = "0 0 0 8 1\n1000 0 8 8 1\n2000 0 16 8 1\n";
    let cases: &[(&str, Vec<u8>, &str, &[&str])] = &[
        ("t.trace", Vec::new(), "", &["t.trace", "no record"]),
        ("t.trace", b"\x00\x01\x02\xff\xfe\x00\x00".repeat(99), "", &["t.trace"]),
        ("t.gz", vec![0x1f, 0x8b, 8, 0, 0, 0], "", &["t.gz"]),
        ("t.zst", vec![0x28, 0xb5, 0x2f, 0xfd, 0x04], "", &["t.zst"]),
        (
            "t.trace",
            good.replace(" 16 ", " 99999999999 ").into_bytes(),
            "out_of_range = \"refuse\"\n",
            &["t.trace: line 3", "exceeds", "wrap"],
        ),
    ];
    for (name, bytes, more, says) in cases {
        let folder = good_folder();
        std::fs::write(folder.path().join(name), bytes).expect("written");
        let workload = format!(
            "[[flow]]\nname = \"t\"\n[flow.trace]\nformat = \"mqsim\"\npath = \"{name}\"\n{more}"
        );
        std::fs::write(folder.path().join("w.toml"), workload).expect("written");
        let dry = ["run", "--dry-run", "--device", "d.toml", "--workload", "w.toml"];
        assert_refused(folder.path(), &dry, says);
        let wet = ["run", "--device", "d.toml", "--workload", "w.toml", "--out", "o"];
        assert_refused(folder.path(), &wet, says);
    }
}

/// A clock that steps back is refused unless the workload says otherwise.
#[test]
fn event_traces_that_cannot_be_replayed() {
    let good = "DiskRead, 100, a ( 1), 1, 0x1, 0x0, 0x1000, 40, 0\n";
    let cases = [
        (good.replace("0x1000", "4k"), &["t.csv: line 3: bad length in `DiskRead, 100"][..]),
        (good.replace("0x1,", "irp,"), &["t.csv: line 3: bad request pointer"]),
        (good.replace("DiskRead,", "DiskRead;"), &["t.csv: found no record in 3 lines"]),
    ];
    let workload = "[[flow]]\nname = \"t\"\n[flow.trace]\npath = \"t.csv\"\n";
    for (event, says) in cases {
        let folder = good_folder();
        let text = format!("BeginHeader\nEndHeader\n{event}");
        std::fs::write(folder.path().join("t.csv"), text).expect("written");
        std::fs::write(folder.path().join("w.toml"), workload).expect("written");
        let wet = ["run", "--device", "d.toml", "--workload", "w.toml", "--out", "o"];
        assert_refused(folder.path(), &wet, says);
    }
}

#[test]
fn a_trace_whose_clock_steps_back() {
    let folder = good_folder();
    let trace = "0 0 0 8 1\n9000 0 8 8 1\n100 0 8 8 1\n";
    std::fs::write(folder.path().join("t.trace"), trace).expect("written");
    let workload = "[[flow]]\nname = \"t\"\n[flow.trace]\nformat = \"mqsim\"\npath = \"t.trace\"\n";
    std::fs::write(folder.path().join("w.toml"), workload).expect("written");
    let arguments = ["run", "--device", "d.toml", "--workload", "w.toml", "--out", "o"];
    assert_refused(folder.path(), &arguments, &["t.trace", "line 3"]);
}

/// MQSim's files.
#[test]
fn mqsim_files_that_are_refused() {
    let cases: &[(&str, &[&str])] = &[
        ("<Execution_Parameter_Set><Host_Parameter_Set>", &["d.xml"]),
        ("<Execution_Parameter_Set></Execution_Parameter_Set>", &["d.xml"]),
        ("<Something></Something>", &["d.xml", "Execution_Parameter_Set"]),
    ];
    for (text, says) in cases {
        let folder = good_folder();
        std::fs::write(folder.path().join("d.xml"), text).expect("written");
        let arguments = ["run", "--device", "d.xml", "--workload", "w.toml", "--out", "o"];
        assert_refused(folder.path(), &arguments, says);
    }
}
