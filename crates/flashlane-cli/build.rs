//! Tells the program which commit it is built from, where there is a repository.

use std::path::Path;
use std::process::Command;

/// What git says; none without git or a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let done = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(done.stdout).ok()?.trim().to_owned();
    (done.status.success() && !text.is_empty()).then_some(text)
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A commit or a checkout writes a line there. A missing file would mean a build each time.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    if let Some(log) = log.filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    let version = std::env::var("CARGO_PKG_VERSION").expect("Cargo tells it");
    let shown = match git(&["rev-parse", "--short=12", "HEAD"]) {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo::rustc-env=FLASHLANE_VERSION={shown}");
}
