//! Helpers that the tests of several crates share. No program uses this crate.
//!
//! Some tests need data or tools that most checkouts do not have: the full reference runs of the
//! released MQSim and the real traces in `../shared`, or fio and blkparse. Rust's test harness has
//! no way to skip a test, so such a test would pass silently. Here it reports that: [`skip`] and
//! [`skip_part`] write one line to standard error, past the harness's capture of output, and append
//! the line to the file that [`LIST`] names. `make test` prints that file.
//!
//! [`faults`] is the list of the faults that `make planted-faults` plants.

pub mod faults;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable with the path of the file that collects one line for every skipped test.
/// Nothing is collected where it is not set.
pub const LIST: &str = "FLASHLANE_SKIPPED_TESTS";

/// Environment variable with the path of the folder that is used in place of `../shared`.
pub const SHARED: &str = "FLASHLANE_SHARED";

/// Reports that the running test was skipped because `needs` is absent.
pub fn skip(needs: &str) {
    say(&format!("skipped: {}: needs {needs}", test_name()));
}

/// Reports that a part of the running test was skipped because `needs` is absent. The rest of the
/// test runs. `part` completes the sentence "… was not done", for example "the comparison with
/// fio".
pub fn skip_part(part: &str, needs: &str) {
    say(&format!("skipped in part: {}: {part}: needs {needs}", test_name()));
}

/// The path of a file or folder of `../shared`, whether it exists or not.
#[must_use]
pub fn shared_path(inside: &str) -> PathBuf {
    // The manifest is in REPOSITORY/crates/flashlane-testing, and `shared` beside the repository.
    let beside = || {
        let outside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3);
        outside.expect("the repository lies in a folder").join("shared")
    };
    std::env::var_os(SHARED).map_or_else(beside, PathBuf::from).join(inside)
}

/// The path of a file or folder of `../shared`. If it is absent: `None`, and the running test
/// reports that it is skipped. `what`: a short description of the data.
#[must_use]
pub fn shared(inside: &str, what: &str) -> Option<PathBuf> {
    let path = shared_path(inside);
    if !path.exists() {
        skip(&format!("../shared/{inside} ({what})"));
        return None;
    }
    Some(path)
}

/// Runs the named tests of a module of the running test program again, each alone and without
/// `../shared`. `module` is what `module_path!()` gives there.
///
/// # Panics
///
/// If a test fails, or does not report exactly once that it is skipped.
pub fn assert_skipped_without_shared(module: &str, tests: &[&str]) {
    let empty = tempfile::tempdir().expect("a temporary folder");
    let program = std::env::current_exe().expect("the program that runs has a path");
    // The harness does not name the program.
    let module = module.split_once("::").map_or(String::new(), |(_, inside)| format!("{inside}::"));
    for test in tests {
        let test = &format!("{module}{test}");
        let list = empty.path().join(format!("{test}.txt"));
        let run = Command::new(&program)
            .args(["--exact", test, "--include-ignored", "--test-threads=2"])
            .env(SHARED, empty.path().join("shared"))
            .env(LIST, &list)
            .output()
            .expect("the test program starts");
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{test} fails without ../shared:\n{said}");
        let listed = std::fs::read_to_string(&list).unwrap_or_default();
        let lines: Vec<&str> = listed.lines().collect();
        assert!(
            matches!(lines[..], [line] if line.starts_with("skipped: ") && line.contains(test)),
            "{test} passes without ../shared, and lists itself as skipped so: {lines:?}"
        );
        assert!(said.contains(lines[0]), "{test} does not say so on standard error: {said}");
    }
}

/// Test program and test: `slow::oracle::the_released_mqsim_is_met`.
fn test_name() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let stem = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // Cargo adds a hash to the name of a test program.
    let program = stem.rsplit_once('-').map_or(stem.as_str(), |(name, _)| name);
    // The harness names the thread of a test after the test. With one thread it has none.
    let thread = std::thread::current();
    match thread.name() {
        Some(test) if test != "main" => format!("{program}::{test}"),
        _ => program.to_owned(),
    }
}

/// Writes a line to standard error, which the harness does not capture when it is written directly,
/// and to the list.
fn say(line: &str) {
    let line = format!("{line}\n");
    // If standard error is closed, the message is lost.
    let _ = std::io::stderr().write_all(line.as_bytes());
    let Some(list) = std::env::var_os(LIST) else { return };
    let file = OpenOptions::new().create(true).append(true).open(&list);
    // A single write, because tests of several programs append to one file.
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .unwrap_or_else(|error| panic!("{}: {error}", list.display()));
}
