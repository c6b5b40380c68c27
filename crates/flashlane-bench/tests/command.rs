//! The command from outside.

use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flashlane-bench")).args(arguments).output().unwrap()
}

#[test]
fn a_case_is_measured_in_a_process_of_its_own() {
    let output = bench(&["--requests", "2000", "backend-2-256"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let row = text.lines().find(|line| line.starts_with("backend-2-256 ")).unwrap();
    let requests: u64 = row.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!((2_000..3_000).contains(&requests), "{row}");
}

#[test]
fn a_run_on_the_small_drive_prints_its_requests() {
    let output = bench(&["small", "xpoint-qd1", "1000"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "1000\n");
}

#[test]
fn what_is_unknown_is_refused() {
    for (arguments, part) in [
        (&["backend"][..], "allowed: --requests, --runs, --record, backend-2-2"),
        (&["--requests", "many"], "allowed: a number"),
        (&["--record", "xpoint-qd1"], "takes all cases"),
    ] {
        let output = bench(arguments);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(part), "{said}");
    }
}
