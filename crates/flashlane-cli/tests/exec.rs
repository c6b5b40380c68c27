//! `flashlane exec`: inputs, files, the table.
#![cfg(feature = "exec")]

use std::path::Path;
use std::process::Output;

use crate::common::text;
use flashlane_exec::programs;
use serde_json::Value;

fn exec(folder: &Path, arguments: &[&str]) -> Output {
    let all: Vec<&str> = ["exec"].iter().chain(arguments).copied().collect();
    crate::common::flashlane(folder, &all)
}

/// The message that a configuration ends with.
fn refused(config: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("c.toml"), config).expect("a file");
    std::fs::write(folder.path().join("text"), "no program").expect("a file");
    let run = exec(folder.path(), &["c.toml"]);
    assert_eq!(run.status.code(), Some(2), "{config}");
    assert!(run.stdout.is_empty());
    text(&run.stderr)
}

#[test]
fn wrong_inputs_are_one_message_with_place_value_and_rule() {
    let program = "[[program]]\nname = \"a\"\nelf = \"text\"\n";
    for (config, parts) in [
        ("", vec!["c.toml:1: missing field `device`"]),
        ("device = \"tiny\"\nsede = 1\n", vec!["c.toml:2: unknown field `sede`, expected one of"]),
        (
            "device = \"tiny\"\nprogram = []",
            vec!["c.toml: program: found none, allowed: one or more"],
        ),
        (
            &format!("device = \"tiny\"\n{program}"),
            vec!["text: found no ELF file; allowed: a 64-bit"],
        ),
        (&format!("device = \"tinny\"\n{program}"), vec!["no file is named `tinny`", "tiny"]),
        (
            &format!("device = \"tiny\"\n[core]\nipc = 0\n{program}"),
            vec!["c.toml: core.ipc: found 0, allowed: 0.001 to 100"],
        ),
        (
            &format!("device = \"tiny\"\n[host]\ncache = \"8KiB\"\n{program}"),
            vec!["c.toml: host.cache: found 8192, allowed:"],
        ),
        (
            &format!("device = \"tiny\"\n{program}{program}"),
            vec!["program[1].name: found `a` again, allowed: each name once"],
        ),
        (
            &format!("device = \"tiny\"\n{program}keep = [\"a\"]\n"),
            vec!["program[0].keep: found `a`, allowed: paths that begin with `/`"],
        ),
        (&format!("device = \"tiny\"\n{program}host = {{ cache = 1 }}"), vec!["c.toml:5:", "unit"]),
    ] {
        let message = refused(config);
        for part in parts {
            assert!(message.contains(part), "{part} in {message}");
        }
    }
    let run = exec(Path::new("."), &["--device", "tiny", "--program", "a"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains("--program: found `a`, allowed: NAME=ELF"));
}

#[test]
fn a_run_gives_a_table_files_and_a_trace_that_replays() {
    if let Some(missing) = programs::missing() {
        flashlane_testing::skip(&missing);
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let built = programs::build("odirect_loop", path).expect("the program is built");
    let program = format!("--program=one={},reads=50,file=256k", built.display());
    let other = format!("--program=two={},reads=50,file=256k,seed=2", built.display());
    let set = "--set=ftl.precondition.enabled=false";
    let arguments = ["--device=tiny", set, &program, &other];
    let more = ["--alone", "--blame", "--out=out", "--capture=pair.csv"];
    let all: Vec<&str> = arguments.iter().chain(&more).copied().collect();
    let run = exec(path, &all);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let table = text(&run.stdout);
    assert!(table.contains("slowdown") && table.contains("fairness"), "{table}");
    assert!(text(&run.stderr).contains("one: 50 reads in "));
    let json = std::fs::read(path.join("out/exec.json")).expect("exec.json");
    let json: Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["schema"], "flashlane.exec/1");
    assert_eq!(json["programs"][1]["requests"]["read"], 50);
    assert!(json["programs"][0]["slowdown"].as_f64().is_some_and(|slowdown| slowdown >= 1.0));
    for name in ["summary.json", "blame.json"] {
        assert!(path.join("out").join(name).exists(), "{name}");
    }
    let flow = |name: &str, device: u32| {
        let trace = format!("[flow.trace]\npath = \"pair.csv\"\ndevices = [{device}]\n");
        format!("[[flow]]\nname = \"{name}\"\non_end = \"stop\"\n{trace}")
    };
    let workload = format!("window = \"whole-run\"\n{}{}", flow("one", 0), flow("two", 1));
    std::fs::write(path.join("pair.toml"), workload).expect("a file");
    let arguments =
        ["run", "--device=tiny", set, "--workload=pair.toml", "--format=json", "--quiet"];
    let run = crate::common::flashlane(path, &arguments);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let replayed: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let summary = std::fs::read(path.join("out/summary.json")).expect("a file");
    let summary: Value = serde_json::from_slice(&summary).expect("JSON");
    for flow in 0..2 {
        let of = |summary: &Value| summary["flows"][flow]["response_time_us"].clone();
        assert_eq!(of(&replayed), of(&summary));
    }
}

#[test]
#[cfg(unix)]
fn a_program_is_a_file_that_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    for (program, what) in [("a=/dev/zero", "a device or a pipe"), ("a=/", "a folder")] {
        let run = exec(folder.path(), &["--device", "tiny", "--program", program]);
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("found {what}, allowed: a file with a program")), "{said}");
    }
}
