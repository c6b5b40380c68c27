//! Traces that come through pipes, and what signals leave behind. Unix only: other systems have no
//! such pipes.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Requests of the trace.
const REQUESTS: u64 = 300;

fn trace() -> String {
    let line = |index: u64| {
        let op = if index.is_multiple_of(3) { 'R' } else { 'W' };
        format!("{}.000,{op},{},4096,0\n", index * index % 7 + 50 * index, index * 7 % 64 * 4096)
    };
    let header = "# t_us,op(R/W),offset_bytes,size_bytes,device\n";
    header.to_owned() + &(0..REQUESTS).map(line).collect::<String>()
}

fn flashlane(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

fn workload(folder: &Path, path: &str) {
    let text = format!("[[flow]]\nname = \"a\"\n[flow.trace]\npath = \"{path}\"\n");
    fs::write(folder.join("w.toml"), text).expect("a file");
}

/// Runs the command with the trace on standard input, through a real pipe.
fn with_stdin(folder: &Path, arguments: &[&str]) -> Output {
    let trace = folder.join("trace.csv");
    let mut cat = Command::new("cat").arg(trace).stdout(Stdio::piped()).spawn().expect("cat runs");
    let pipe = cat.stdout.take().expect("a pipe");
    let output = flashlane(folder, arguments).stdin(pipe).output().expect("it runs");
    cat.wait().expect("cat ends");
    output
}

/// Runs the command while another process writes the trace to `fifo`.
fn with_fifo(folder: &Path, arguments: &[&str]) -> Output {
    let mut shell = Command::new("sh");
    shell.current_dir(folder).args(["-c", "exec cat trace.csv > fifo"]);
    let mut writer = shell.spawn().expect("sh runs");
    let output = flashlane(folder, arguments).output().expect("it runs");
    // Where nobody opened the pipe the writer still waits.
    let _ = writer.kill();
    let _ = writer.wait();
    output
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("trace.csv"), trace()).expect("a file");
    let made =
        Command::new("mkfifo").arg(folder.path().join("fifo")).status().expect("mkfifo runs");
    assert!(made.success());
    folder
}

#[test]
fn a_trace_from_a_pipe_gives_what_the_file_gives() {
    let folder = folder();
    let path = folder.path();
    let commands: [(&[&str], bool); 5] = [
        (&["trace", "inspect", "TRACE"], false),
        (&["trace", "convert", "TRACE", "made.log", "--to", "fio-v3"], false),
        (&["trace", "clone", "TRACE", "--name", "mine"], false),
        (&["check", "w.toml"], true),
        (
            &[
                "run",
                "--device",
                "tiny",
                "--workload",
                "w.toml",
                "--alone",
                "--quiet",
                "--out",
                "out",
            ],
            true,
        ),
    ];
    for (arguments, uses_workload) in commands {
        let of = |name: &str| -> Vec<String> {
            arguments.iter().map(|argument| argument.replace("TRACE", name)).collect()
        };
        let mut outputs = Vec::new();
        for name in ["trace.csv", "/dev/stdin", "fifo"] {
            workload(path, name);
            let owned = of(name);
            let list: Vec<&str> = owned.iter().map(String::as_str).collect();
            let output = match name {
                "fifo" => with_fifo(path, &list),
                "/dev/stdin" => with_stdin(path, &list),
                _ => flashlane(path, &list).output().expect("it runs"),
            };
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{list:?}: {stderr}");
            // The name of the source stands in some outputs.
            let made = fs::read_to_string(path.join("made.log")).unwrap_or_default();
            let _ = fs::remove_file(path.join("made.log"));
            let text = String::from_utf8_lossy(&output.stdout).replace(name, "SOURCE") + &made;
            outputs.push(text);
            if uses_workload && arguments[0] == "run" {
                let summary = fs::read_to_string(path.join("out/summary.json")).expect("written");
                let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
                assert_eq!(summary["requests_completed"], REQUESTS, "{name}");
                assert!(summary["flows"][0]["slowdown"].is_number(), "{name}");
            }
        }
        if !uses_workload {
            assert!(
                !outputs[0].is_empty() && outputs[0] == outputs[1] && outputs[0] == outputs[2],
                "{arguments:?}: {outputs:#?}"
            );
        }
    }
}

#[test]
fn signals_leave_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "[[flow]]\nname = \"a\"\n[flow.synthetic]\nqueue_depth = 8\nrequests = 1000000000\n";
    fs::write(folder.path().join("w.toml"), text).expect("a file");
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        let arguments =
            ["run", "--device", "tiny", "--workload", "w.toml", "--requests", "--out", "new/out"];
        let mut run = flashlane(folder.path(), &arguments);
        run.stderr(File::create(folder.path().join("stderr")).expect("a file"));
        let mut run = run.spawn().expect("it runs");
        let out = folder.path().join("new/out");
        let begun = Instant::now();
        let staged = || fs::read_dir(&out).is_ok_and(|entries| entries.count() > 0);
        while !staged() {
            assert!(begun.elapsed() < Duration::from_secs(120), "nothing is written");
            std::thread::sleep(Duration::from_millis(20));
        }
        let name = fs::read_dir(&out).expect("a folder").next().expect("a file").expect("a name");
        assert!(name.file_name().to_string_lossy().starts_with(".flashlane-"));
        let kill = Command::new("kill").args([format!("-{signal}"), run.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let status = run.wait().expect("it ends");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(number));
        assert!(!folder.path().join("new").exists(), "the folders that it made are gone too");
    }
}
