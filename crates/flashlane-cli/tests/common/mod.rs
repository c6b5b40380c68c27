//! Runs the command, and Python beside it, in a folder.

// Every test file uses a part of it.
#![allow(dead_code)]

#[cfg(target_os = "linux")]
pub(crate) mod served;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) fn flashlane(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flashlane"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("the command starts")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Standard output and standard error of a command that succeeds.
pub(crate) fn succeeds(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = flashlane(folder, arguments);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    (stdout, stderr)
}

/// Standard error of a command that is refused, and prints nothing.
pub(crate) fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = flashlane(folder, arguments);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", text(&output.stdout));
    assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
    stderr
}

/// A new folder with one file.
pub(crate) fn folder_with(name: &str, content: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(name), content).expect("room");
    folder
}

/// Names of what is in a folder but for its manifest, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|name| name != flashlane_files::MANIFEST)
        .collect();
    names.sort();
    names
}

/// Root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("it is there")
}

/// Whether fio with its nbd engine is installed. Where it is not, the running test says that it
/// skips a part.
pub(crate) fn has_fio_with_nbd(part: &str) -> bool {
    let engines = Command::new("fio").arg("--enghelp").output();
    let names_it = |it: Output| text(&it.stdout).lines().any(|line| line.trim() == "nbd");
    let found = engines.is_ok_and(names_it);
    if !found {
        flashlane_testing::skip_part(part, "fio with the nbd engine");
    }
    found
}

/// Runs a script where Python has what it imports, and gives its standard output. Elsewhere:
/// nothing, and the running test says that it skips this part. The interpreter is `PYTHON`, or that
/// of `make test`, or any.
pub(crate) fn python(folder: &Path, imports: &str, script: &str) -> Option<String> {
    let made = repository().join("target/python-env/bin/python");
    let python = std::env::var_os("PYTHON").map(PathBuf::from);
    let python =
        python.or(made.exists().then_some(made)).unwrap_or_else(|| PathBuf::from("python3"));
    let run = |text: &str| Command::new(&python).current_dir(folder).args(["-c", text]).output();
    if !run(imports).is_ok_and(|output| output.status.success()) {
        let needs = format!("a Python that can `{imports}`");
        flashlane_testing::skip_part("the part in Python", &needs);
        return None;
    }
    let output = run(&format!("{imports}\n{script}")).expect("it started before");
    assert!(output.status.success(), "{}", text(&output.stderr));
    Some(text(&output.stdout))
}
