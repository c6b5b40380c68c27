//! Tells the program which commit it is built from, where there is a repository.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    println!("cargo::rerun-if-changed=../../.git/logs/HEAD");
    let git = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let commit = git.ok().filter(|done| done.status.success());
    let commit = commit.and_then(|done| String::from_utf8(done.stdout).ok());
    let version = std::env::var("CARGO_PKG_VERSION").expect("Cargo tells it");
    let shown = match commit.as_deref().map(str::trim) {
        Some(commit) if !commit.is_empty() => format!("{version} ({commit})"),
        _ => version,
    };
    println!("cargo::rustc-env=FLASHLANE_VERSION={shown}");
}
