//! A sweep with a policy that fails, as one of somebody else may: each fault ends the process, the
//! sweep starts again by itself, and the fault is a row of its table.
//!
//! This program is the test, and with `FAULTY_COMMAND` set the command with that policy.

use std::path::Path;
use std::process::{Command, ExitCode};

use flashlane::policy::{Arbiter, Arbitration, ArbitrationConfig, PolicyDoc, QueueSet};

/// Has no parameters.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct FaultyConfig {}

impl PolicyDoc for FaultyConfig {
    const SUMMARY: &'static str = "fails at the first command";
    const SOURCE: &'static str = "this test";
}

impl ArbitrationConfig for FaultyConfig {
    fn build(&self, _: &[u8]) -> Box<dyn Arbiter> {
        Box::new(Faulty)
    }
}

#[derive(Clone)]
struct Faulty;

impl Arbiter for Faulty {
    fn next(&mut self, ready: &QueueSet) -> Option<usize> {
        panic!("{} queues are ready", ready.iter().count());
    }
}

const WORKLOAD: &str =
    "[[flow]]\nname = 'a'\nsynthetic = { queue_depth = 1, read_ratio = 1.0, requests = 20 }\n";

const GRID: &str = r#"
device = "tiny"
workload = "w.toml"
[axes]
interface.arbitration = ["round-robin", "faulty", "weighted-round-robin"]
seed = [1, 2]
"#;

fn main() -> ExitCode {
    if std::env::var_os("FAULTY_COMMAND").is_some() {
        Arbitration::register::<FaultyConfig>("faulty").expect("a free name");
        return flashlane_cli::main();
    }
    let asked = |option| std::env::args().any(|argument| argument == option);
    // A process cannot start anew elsewhere.
    let ignored = !cfg!(unix);
    if asked("--list") {
        if ignored || !asked("--ignored") {
            println!("a_fault_of_the_simulator_is_a_row: test");
        }
        return ExitCode::SUCCESS;
    }
    if ignored {
        println!(
            "test a_fault_of_the_simulator_is_a_row ... ignored, a process cannot start anew here"
        );
        return ExitCode::SUCCESS;
    }
    a_fault_of_the_simulator_is_a_row();
    println!("test a_fault_of_the_simulator_is_a_row ... ok");
    ExitCode::SUCCESS
}

/// Runs the sweep: its table, and what it said.
fn sweep(folder: &Path) -> (String, String) {
    let program = std::env::current_exe().expect("this program");
    let run = Command::new(program)
        .current_dir(folder)
        .args(["sweep", "grid.toml", "--out", "out", "--states", "off", "--quiet"])
        .env("FAULTY_COMMAND", "1")
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(0), "{said}");
    (std::fs::read_to_string(folder.join("out/results.csv")).expect("the table"), said)
}

fn a_fault_of_the_simulator_is_a_row() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("w.toml"), WORKLOAD).expect("written");
    std::fs::write(folder.path().join("grid.toml"), GRID).expect("written");
    let (csv, said) = sweep(folder.path());
    let failed = csv.lines().filter(|row| row.contains(",internal,")).count();
    assert_eq!((failed, csv.lines().count()), (2, 1 + 6), "{csv}");
    assert!(csv.contains("1 queues are ready"), "{csv}");
    assert_eq!(said.matches("internal fault: ").count(), 2, "each fault once: {said}");
    // Another sweep tries these points again, and finds the others.
    let (again, said) = sweep(folder.path());
    assert_eq!(again, csv);
    assert_eq!(said.matches("internal fault: ").count(), 2, "{said}");
}
